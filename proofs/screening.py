"""Screening: coarse ranges of the closeness (minus the squared distance, or the product), which hold whatever their
rounding; and which patches can be left out when the greatest is pooled.

1. Distances: z - A = (c - a) + w with n <= |w| <= m and y = |c - a|, in the coarse unit: |z - A|^2 lies in [y^2 + n^2 -
   2 m y, y^2 + m^2 + 2 m y]. Two vectors shorter than s between w and t make |w| differ from |t| by less than 2 s.
2. Products: 2^q v = c + w, |w| <= m: <c, a> + <w, a> + 2^q <v, e> lies within m l + 2^q R s of <c, a>, l >= |a|.
3. Swings: |c - a| is within 2 s of the true distance from the foot, so their squares differ by at most 4 s y + 4 s^2.
   With a doubt of at least that and the stray, peak = doubt - y^2 - n^2 and beside = 2 doubt + m^2 - n^2, the closeness
   lies in [peak - beside - swing, peak + swing].
4. Let one of two closenesses be left out because its high end is at most that of the other. Then the greatest
   of the two lies between the low and the high end of the other. A coarse high end h <= floor(most / u)
   has h u <= most, in any unit u > 0.

Proof. 1 and 2 are Cauchy and Schwarz, with y and l rounded up. 3: |d - y| <= 2 s gives |d^2 - y^2| <= 2 s (2 y + 2 s);
the rest is expansion. 4: the greatest is at least each of them, and at most the greater of their high ends.

Z3 covers all of it, with inner products and lengths as numbers that satisfy Cauchy's inequality, hence in any
dimension; of 4 it covers two patches, and more follow by induction.

What Z3 does not do. If some latent satisfies the statements, no low end of an exact range is greater than its peak. It
follows that screening loses nothing, which minimality compares. Whether the ranges hold does not depend on it.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

PRODUCT, W, Y, UP, N, M, T, S, OFF = z3.Reals("product w y up n m t s off")
CAUCHY = [W >= 0, Y >= 0, PRODUCT <= W * Y, -PRODUCT <= W * Y]
BETWEEN = [N >= 0, N <= W, W <= M, Y <= UP]
V, E, R, OUT = z3.Reals("v e r out")
D, DOUBT, SWING, X, T2, ADDED = z3.Reals("d doubt swing x t_2 added")
SWUNG = [
    S >= 0, Y >= 0, D >= 0, D - Y <= 2 * S, Y - D <= 2 * S, N * N <= T2, T2 <= M * M,
    DOUBT >= 4 * S * Y + 4 * S * S + OFF, OFF >= 0, -SWING - OFF <= ADDED, ADDED <= SWING + OFF, SWING >= 0,
    X == -T2 - D * D + ADDED,
]  # fmt: skip
PEAK, BESIDE = DOUBT - Y * Y - N * N, 2 * DOUBT + M * M - N * N
ONE, OTHER, LOW, HIGH, BEYOND = z3.Reals("one other low high beyond")
MOST, UNIT = z3.Reals("most unit")
COARSE = z3.Int("coarse")
POOL = z3.If(ONE > OTHER, ONE, OTHER)

LEMMA = Lemma(
    rules=("projection", "screening", "minimality"),
    code=(
        "verale/checker/rules/projection/coarse.py",
        "verale/checker/rules/projection/screen.py",
        "verale/checker/rules/projection/span.py",
    ),
    cases=(
        Case(
            "1. the range of a distance",
            [*CAUCHY, *BETWEEN],
            z3.And(
                Y * Y + N * N - 2 * M * UP <= Y * Y + W * W + 2 * PRODUCT,
                Y * Y + W * W + 2 * PRODUCT <= Y * Y + M * M + 2 * M * UP,
            ),
            tactic=NLSAT,
        ),
        Case(
            "1. two vectors shorter than s",
            [W - T <= OFF, T - W <= OFF, OFF < 2 * S],
            z3.And(W < T + 2 * S, W > T - 2 * S),
        ),
        Case(
            "2. the range of a product",
            [*CAUCHY, *BETWEEN, V >= 0, E >= 0, V <= R, E <= S, OUT <= V * E, -OUT <= V * E],
            z3.And(-M * UP - R * S <= PRODUCT + OUT, PRODUCT + OUT <= M * UP + R * S),
            tactic=NLSAT,
        ),
        Case("3. the high end with a swing", SWUNG, X <= PEAK + SWING, tactic=NLSAT),
        Case("3. the low end with a swing", SWUNG, PEAK - BESIDE - SWING <= X, tactic=NLSAT),
        Case(
            "4. one is left out",
            [LOW <= ONE, ONE <= HIGH, OTHER <= BEYOND, BEYOND <= HIGH],
            z3.And(LOW <= POOL, POOL <= HIGH),
        ),
        Case(
            "4. a coarse end",
            [UNIT > 0, z3.ToReal(COARSE) * UNIT <= MOST, BEYOND <= z3.ToReal(COARSE) * UNIT],
            BEYOND <= MOST,
        ),
    ),
    twins=(
        Case(
            "1. half the swing",
            [*CAUCHY, *BETWEEN],
            Y * Y + W * W + 2 * PRODUCT <= Y * Y + M * M + M * UP,
            tactic=NLSAT,
        ),
        Case("3. without the doubt", SWUNG, X <= PEAK - DOUBT + SWING, tactic=NLSAT),
        Case("3. nothing beside", SWUNG, PEAK - SWING <= X, tactic=NLSAT),
        Case("4. one is left out that may be more", [LOW <= ONE, ONE <= HIGH, OTHER <= BEYOND], POOL <= HIGH),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
