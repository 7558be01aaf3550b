"""The greatest cosine with p_k within a cap of radius r about p_int, delta being the angle of p_int and p_k.

**Published** (Beyond L2, Corollary 2, as docs/design.md reports it): it is at most cos(delta - r).
**Corrected.** That holds if the angle of z and p_int *is* r. If it is at most r, the bound is
cos(max(0, delta - r)), which is attained: 1 if p_k itself lies in the cap.
*Proof.* The angle of z and p_k is at least delta - angle(z, p_int) >= delta - r, and at least 0; the cosine falls on
[0, pi]. If delta >= r, the point at the angle r on the arc from p_int to p_k attains it, otherwise p_k does. With the
angle equal to r, |delta - r| is a lower bound, and cos |delta - r| = cos(delta - r).

In coordinates p_int = (1, 0), p_k = (c, s) with s >= 0, cos r = k, sin r = h, z = (x, y) and w along all that is
orthogonal to both, so any dimension: cos(delta - r) = c k + s h. delta >= r is c <= k.

Reference: docs/design.md, 3.4 item 2.
"""

from __future__ import annotations

import z3

from ..lemma import Case, Lemma, main

C, S, K, H, X, Y, W = z3.Reals("c s k h x y w")
UNIT = [C * C + S * S == 1, S >= 0, K * K + H * H == 1, H >= 0, X * X + Y * Y + W * W == 1]
COSINE, PUBLISHED = C * X + S * Y, C * K + S * H

LEMMA = Lemma(
    rules=("search",),
    code=("verale/checker/reading/facts.py",),
    cases=(
        Case("at the angle r", [*UNIT, X == K], COSINE <= PUBLISHED, "qfnra-nlsat"),
        Case(
            "within the angle r, p_k outside or on the rim", [*UNIT, X >= K, C <= K], COSINE <= PUBLISHED, "qfnra-nlsat"
        ),
        Case("within the angle r, p_k inside", [*UNIT, X >= K, C >= K], COSINE <= 1, "qfnra-nlsat"),
        Case("p_k inside attains 1", [*UNIT, C >= K, X == C, Y == S], z3.And(X >= K, COSINE == 1), "qfnra-nlsat"),
    ),
    twins=(
        Case("within the angle r (as published)", [*UNIT, X >= K], COSINE <= PUBLISHED, "qfnra-nlsat"),
        Case(
            "the one of errata.md: z = p_k",
            [*UNIT, X >= K, X == C, Y == S, C == z3.Q(4, 5), K == z3.Q(3, 5)],
            COSINE <= PUBLISHED,
            "qfnra-nlsat",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
