"""Screening: coarse bounds of the closeness (minus the squared distance, or the product), which hold whatever their
rounding; and which patches can be left out when the greatest is pooled.

1. Distances: |z - c| <= n, |A - a| <= s and y <= |c - a|: |z - A| >= y - n - s, so -|z - A|^2 <= -(y - n - s)^2 if
   y > n + s. The centre, rounded down, is s away from c at most, which adds to n.
2. Products: v = c + w, |w| <= m: <c, a> + <w, a> + <v, e> is at most <c, a> + <w, a> + R s, |v| <= R, |e| <= s. With
   t |c|^2 = <c, a> we have <w, a> = <w, a - t c> + t <w, c> <= m l + |t| o, l^2 >= |a|^2 - <c, a>^2 / |c|^2 and
   o >= |<w, c>|. Where w = u + e and c = g - e, <w, c> = <u, g> - <u, e> + <e, c>.
3. Let one of two closenesses be left out because its upper bound is at most that of the other. Then the greatest
   of the two lies between the low and the high end of the other. A coarse bound h <= floor(most / u)
   has h u <= most, in any unit u > 0.

Proof. 1 is the triangle inequality, 2 Cauchy and Schwarz. 3: the greatest is at least each of them, and at most the
greater of their upper bounds.

Z3 covers all of it, with inner products and lengths as numbers that satisfy Cauchy's and the triangle inequality, hence
in any dimension; of 3 it covers two patches, and more follow by induction.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

D, Y, APART, N, S, OFF = z3.Reals("d y apart n s off")
"""|z - A|, the coarse |c - a|, the true one, the radius, what A is rounded by, and what c is."""
BALL = [D >= 0, N >= 0, S >= 0, 0 <= OFF, OFF <= S, Y <= APART, APART <= D + (N + OFF) + S]
PRODUCT, W, A, M, L, V, E, R, OUT = z3.Reals("product w a m l v e r out")
CAUCHY = [0 <= W, W <= M, 0 <= A, A <= L, PRODUCT <= W * A, 0 <= V, V <= R, 0 <= E, E <= S, OUT <= V * E]
W2, C2, A2, U2, E2 = (z3.Reals(f"{name}_1 {name}_2") for name in "wcaue")
SHARE, LEAN, OWN = z3.Reals("share lean own")
ONE, OTHER, LOW, HIGH, BEYOND = z3.Reals("one other low high beyond")
MOST, UNIT = z3.Reals("most unit")
COARSE = z3.Int("coarse")


def _dot(left: list[z3.ArithRef], right: list[z3.ArithRef]) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


ALONG = [SHARE * _dot(C2, C2) == _dot(C2, A2)]
ASIDE = [a - SHARE * c for a, c in zip(A2, C2, strict=True)]
FOOT = [c + e for c, e in zip(C2, E2, strict=True)]
WAY = [u + e for u, e in zip(U2, E2, strict=True)]
POOL = z3.If(ONE > OTHER, ONE, OTHER)

LEMMA = Lemma(
    rules=("screening",),
    code=("verale/checker/plain/quadratic/coarse.py", "verale/checker/plain/quadratic/greatest.py"),
    cases=(
        Case("1. a distance", [*BALL, Y > N + 2 * S], -D * D <= -((Y - N - 2 * S) ** 2), tactic=NLSAT),
        Case("2. a product", CAUCHY, PRODUCT + OUT <= M * L + R * S, tactic=NLSAT),
        Case("2. along the centre and aside", [], _dot(W2, A2) == _dot(W2, ASIDE) + SHARE * _dot(W2, C2)),
        Case("2. the length aside", ALONG, _dot(ASIDE, ASIDE) == _dot(A2, A2) - SHARE * _dot(C2, A2), tactic=NLSAT),
        Case("2. along the centre", [z3.Abs(LEAN) <= OWN, OWN >= 0], SHARE * LEAN <= z3.Abs(SHARE) * OWN, tactic=NLSAT),
        Case("2. roundings of it", [], _dot(WAY, C2) == _dot(U2, FOOT) - _dot(U2, E2) + _dot(E2, C2)),
        Case(
            "3. one is left out",
            [LOW <= ONE, ONE <= HIGH, OTHER <= BEYOND, BEYOND <= HIGH],
            z3.And(LOW <= POOL, POOL <= HIGH),
        ),
        Case(
            "3. a coarse end",
            [UNIT > 0, z3.ToReal(COARSE) * UNIT <= MOST, BEYOND <= z3.ToReal(COARSE) * UNIT],
            BEYOND <= MOST,
        ),
    ),
    twins=(
        Case("1. what is rounded is left out", [*BALL, Y > N], -D * D <= -((Y - N) ** 2), tactic=NLSAT),
        Case("1. a point within the ball", BALL, -D * D <= -((Y - N - 2 * S) ** 2), tactic=NLSAT),
        Case("2. the centre is left out", ALONG, _dot(W2, A2) == _dot(W2, ASIDE), tactic=NLSAT),
        Case("2. prototypes are not rounded", CAUCHY, PRODUCT + OUT <= M * L, tactic=NLSAT),
        Case("3. one is left out that may be more", [LOW <= ONE, ONE <= HIGH, OTHER <= BEYOND], POOL <= HIGH),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
