"""The ends that `span` computes, on the grid. Let an observable be within S of M, in units of the grid,

    M = A + B + G,  S = P + Q^(1/2),   G an integer, P, Q >= 0,

and let m = floor(A) + floor(B) + G and s = floor(P) + isqrt(floor(Q)) + 2. Then it lies in [m - s, m + s + 2].

Proof. floor(y) <= y < floor(y) + 1, so m <= M < m + 2. With t = isqrt(n), n = floor(Q): Q < n + 1 <= (t + 1)^2 as n <
(t + 1)^2 are integers, so Q^(1/2) < t + 1 and S < floor(P) + 1 + t + 1 = s. Hence M - S >= m - s and M + S <= m + 2 +
s.

A is half of the row over g_k and B the mean of the base's ends, P half the sum of the stated widths times their
multipliers, and Q = |r|^2 times what `Reach` calls rho. In Q, |r|^2 (`projection_multipliers`) and
rho^2 are rounded up, so the root is not too small. The floors account for the rounding. Z3 covers all of it,
with roots as numbers whose square is known.

Reference: certificates/v1.md, "Verification": rounded outward.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

A, B, P, Q, ROOT, SWING, X = z3.Reals("a b p q root swing x")
G, N, NEXT, T = z3.Ints("g n next t")
MIDDLE = z3.ToInt(A) + z3.ToInt(B) + G
FOUND = z3.ToInt(P) + T + 2
WITHIN = [P >= 0, T >= 0, ROOT >= 0, ROOT < T + 1, A + B + G - P - ROOT <= X, X <= A + B + G + P + ROOT]

TR, NR = z3.Reals("t n")
"""t = isqrt(n) and n = floor(Q) as reals, n + 1 <= (t + 1)^2 having been proved of integers."""
ISQRT = [TR >= 0, NR >= 0, TR * TR <= NR, ROOT >= 0, ROOT * ROOT == Q, NR <= Q, Q < NR + 1]
WIDER, LONGER, RHO, REST = z3.Reals("wider longer rho rest")

LEMMA = Lemma(
    rules=("projection",),
    code=("verale/checker/rules/projection/span.py",),
    cases=(
        Case("n below the next square is one below it, of integers", [N < NEXT], N + 1 <= NEXT),
        Case("the root", [*ISQRT, NR + 1 <= (TR + 1) * (TR + 1)], ROOT < TR + 1, tactic="qfnra-nlsat"),
        Case("the ends", WITHIN, z3.And(MIDDLE - FOUND <= X, X <= MIDDLE + FOUND + 2)),
        Case(
            "factors of Q rounded up",
            [0 <= RHO, RHO <= WIDER, 0 <= REST, REST <= LONGER],
            RHO * REST <= WIDER * LONGER,
            tactic="qfnra-nlsat",
        ),
    ),
    twins=(
        Case("the lower end with 1 for the two floors of S", WITHIN, MIDDLE - FOUND + 1 <= X),
        Case("the upper end with 1 for the two floors of M", WITHIN, X <= MIDDLE + FOUND + 1),
        Case(
            "the root's floor for the root", [*ISQRT, NR + 1 <= (TR + 1) * (TR + 1)], ROOT <= TR, tactic="qfnra-nlsat"
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
