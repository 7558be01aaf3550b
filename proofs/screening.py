"""Screening: a target that a patch does not matter for gets a range without a root of its own, and rounded on a coarse
grid.

1. tau = 0 in `projection_identity`: <v, b_k> is within |v - gamma| |b_k| of <gamma, b_k>. With rho >= |v - gamma| and l
   >= |b_k| the swing is at most rho l; both roots are taken once, not once for each pair.
2. Let M be the middle in units of the coarse grid, S the swing, x the observable, |x - M| <= S. What is computed are
   integers m with |M - m| <= 5 and s >= S - 2 + 256, so m - s <= x <= m + s.
3. Distances, of which the pool takes the smallest. Other patches give the pooled ends low, high; m - s > floor(low)
   says x > low. So [low, m + s] holds x, and the pool's lower end is low with either range. If m - 256 > floor(high) as
   well, then M > high, hence so is the upper end of any range with x within some S' >= 0 of M, and m + s > high too:
   the pool's upper end is high with any of them, also after all of them are cut at the same place. Products: the same
   turned round, with the greatest.

Proof. 1 is Cauchy and Schwarz. 2: M is the sum of four numbers that are rounded down, each by less than 1, one of which
comes from a vector whose coordinates are rounded down: by sum_d delta_d A_kd with 0 <= delta_d < 1, less than sum_d
|A_kd| < 2^guard in units that are 2^-guard and less. So -1 < M - m < 5. S loses less than 1 in each of two places and
gains 256. 3: m - s >= floor(low) + 1 > low, as they are integers, and x >= m - s. min(low, y) = low for every y >= low.

Z3 covers all three, 1 in inner products and so in any dimension, one coordinate of the rounded vector for any number of
them.

What Z3 does not do. That a patch's own range, with tau = X g_k, has a middle within 250 units of M is true of an X as
good as `multipliers` makes it, not of any: on it rests that screening loses nothing (and so what minimality compares),
never that the ranges hold.

Reference: DESIGN 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"
SLACK = 256

PRODUCT, OFF, OWN, RHO, LENGTH = z3.Reals("product off own rho length")
CAUCHY = [OFF >= 0, OWN >= 0, PRODUCT * PRODUCT <= OFF * OWN, RHO >= 0, LENGTH >= 0, LENGTH * LENGTH >= OWN]

X, M, S, LOW, HIGH, CUT, REACH = z3.Reals("x middle swing low high cut reach")
C, D, E, F, ERROR, DELTA, ENTRY = z3.Reals("c d e f error delta entry")
MIDDLE, SWING = z3.Ints("m s")
FLOORS = [MIDDLE == z3.ToInt(C) + z3.ToInt(D) + z3.ToInt(E) + z3.ToInt(F), -1 < ERROR, ERROR < 1]
NEAR = [M - S <= X, X <= M + S, S >= 0, M - MIDDLE > -1, M - MIDDLE < 5]
ROUNDED = [*NEAR, SWING >= S - 2 + SLACK]
FAR = [*ROUNDED, MIDDLE - SWING > z3.ToInt(LOW), MIDDLE - SLACK > z3.ToInt(HIGH), LOW <= HIGH, REACH >= 0]


def _min(*values: z3.ArithRef) -> z3.ArithRef:
    least = values[0]
    for value in values[1:]:
        least = z3.If(value < least, value, least)
    return least


LEMMA = Lemma(
    rules=("projection", "triangle", "minimality"),
    code=("verale/checker/rules/span.py", "verale/checker/rules/gram.py"),
    cases=(
        Case(
            "1. without a root of its own",
            [*CAUCHY, RHO * RHO >= OFF],
            z3.And(-RHO * LENGTH <= PRODUCT, PRODUCT <= RHO * LENGTH),
            tactic=NLSAT,
        ),
        Case(
            "2. a coordinate, rounded down",
            [0 <= DELTA, DELTA < 1],
            z3.And(DELTA * ENTRY <= z3.If(ENTRY > 0, ENTRY, -ENTRY), -DELTA * ENTRY <= z3.If(ENTRY > 0, ENTRY, -ENTRY)),
        ),
        Case(
            "2. the floors of a middle", [*FLOORS, M == C + D + E + F + ERROR], z3.And(M - MIDDLE > -1, M - MIDDLE < 5)
        ),
        Case("2. the range", ROUNDED, z3.And(MIDDLE - SWING <= X, X <= MIDDLE + SWING)),
        Case("3. the range that is given holds", [*ROUNDED, MIDDLE - SWING > z3.ToInt(LOW)], LOW <= X),
        Case(
            "3. the pool's lower end is that of other patches",
            FAR,
            z3.And(_min(LOW, M - S) == LOW, _min(LOW, LOW) == LOW),
        ),
        Case(
            "3. the pool's upper end is that of other patches, cut or not",
            FAR,
            z3.And(
                _min(HIGH, M + REACH) == HIGH,
                _min(HIGH, MIDDLE + SWING) == HIGH,
                _min(HIGH, CUT, M + REACH) == _min(HIGH, CUT, MIDDLE + SWING),
            ),
        ),
    ),
    twins=(
        Case("1. with a rho that is too small", [*CAUCHY, RHO * RHO <= OFF], PRODUCT <= RHO * LENGTH, tactic=NLSAT),
        Case("2. without slack", [*NEAR, SWING >= S - 2], MIDDLE - SWING <= X),
        Case(
            "3. a patch is left out whose middle is beyond others' lower end, its own lower end not",
            [*ROUNDED, MIDDLE > z3.ToInt(LOW)],
            LOW <= X,
        ),
        Case(
            "3. the pool's upper end, where only the lower one was looked at",
            [*ROUNDED, MIDDLE - SWING > z3.ToInt(LOW), LOW <= HIGH],
            _min(HIGH, M) == HIGH,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
