"""What a ball says of every target: let r = |z - c| lie in [r_lo, r_hi] and q = |p - c|. Then d = |z - p| has

    max(0, q - r_hi, r_lo - q) <= d <= q + r_hi,

and, squared, with low <= r^2 <= high,

    d^2 <= q^2 + high + 2 q high^(1/2),
    d^2 >= q^2 + high - 2 q high^(1/2)  where q^2 >= high,    d^2 >= q^2 + low - 2 q low^(1/2)  where q^2 <= low.

Proof. |q - r| <= d <= q + r is the triangle inequality for z, c and p. q + r <= q + r_hi; q - r >= q - r_hi; r - q >=
r_lo - q. Squared, (q - r)^2 falls with r up to q and rises after it. So over [r_lo, r_hi] it is least at r_hi
if r_hi <= q, at r_lo if q <= r_lo, and 0 in between.

`hypersphere` has q^2 rounded down to n, and integers low, high, on a grid: n <= q^2 < n + 1. All three still hold with
n + 1 for q^2 in the upper bound, n for q^2 in the lower ones, and for the root an integer s, isqrt + 1, with s^2 at
least (n + 1) high (in the third, (n + 1) low), since q^2 enters the root too. And n >= high says q^2 >= high; n < low,
of integers, says n + 1 <= low and so q^2 < low.

Z3 covers all of it, in the plane. Any three points lie in a plane and only their distances count, so this holds in any
dimension.

The second twin is, for distances, what "Beyond L2", Corollary 2, is for angles. That needs |z - c| = r exactly. For a
ball, where only r <= r_hi is known, |q - r_hi| is not a bound.

Reference: docs/design.md, 3.1, 3.4; Soria et al., arXiv 2511.16588 (hypersphere), 2608.16773, Corollary 2.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

X, Y, Q, R, D, LEAST, MOST = z3.Reals("x y q r d r_lo r_hi")
PLANE = [Q >= 0, R >= 0, D >= 0, R * R == X * X + Y * Y, D * D == (X - Q) * (X - Q) + Y * Y]
SHELL = [*PLANE, 0 <= LEAST, LEAST <= R, R <= MOST]

N, ROOT, END = z3.Reals("n root end")
LOW, HIGH = LEAST * LEAST, MOST * MOST
"""What is known of q^2 and r, where |q - r| <= d <= q + r has been proved: no point is needed."""
ROUNDED = [Q >= 0, N >= 0, N <= Q * Q, Q * Q < N + 1, 0 <= LEAST, LEAST <= R, R <= MOST]


def _polynomial(says: str, given: list[z3.BoolRef], claim: z3.BoolRef) -> Case:
    return Case(says, given, claim, tactic="qfnra-nlsat")


LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/hypersphere.py",),
    cases=(
        _polynomial("d <= q + r_hi", SHELL, D <= Q + MOST),
        _polynomial("d >= q - r_hi", SHELL, D >= Q - MOST),
        _polynomial("d >= r_lo - q", SHELL, D >= LEAST - Q),
        _polynomial(
            "q times an end is at most the root",
            [Q >= 0, Q * Q < N + 1, END >= 0, ROOT >= 0, ROOT * ROOT >= (N + 1) * END * END],
            Q * END <= ROOT,
        ),
        _polynomial("(q + r)^2, rounded", [*ROUNDED, Q * MOST <= ROOT], (Q + R) * (Q + R) <= N + 1 + HIGH + 2 * ROOT),
        _polynomial(
            "(q - r)^2 from outside, rounded",
            [*ROUNDED, Q * MOST <= ROOT, N >= HIGH],
            (Q - R) * (Q - R) >= N + HIGH - 2 * ROOT,
        ),
        _polynomial(
            "(q - r)^2 from inside, rounded",
            [*ROUNDED, Q * LEAST <= ROOT, N + 1 <= LOW],
            (Q - R) * (Q - R) >= N + LOW - 2 * ROOT,
        ),
    ),
    twins=(
        _polynomial("d >= q - r_lo: the wrong end", SHELL, D >= Q - LEAST),
        _polynomial("a ball for a sphere: d >= |q - r_hi|", [*PLANE, R <= MOST], D >= MOST - Q),
        _polynomial(
            "from outside with the lower end",
            [*ROUNDED, Q * LEAST <= ROOT, N >= HIGH],
            (Q - R) * (Q - R) >= N + LOW - 2 * ROOT,
        ),
        _polynomial(
            "the root of n instead of n + 1",
            [Q >= 0, N == 1, Q * Q < N + 1, END >= 0, ROOT >= 0, ROOT * ROOT >= N * END * END],
            Q * END <= ROOT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
