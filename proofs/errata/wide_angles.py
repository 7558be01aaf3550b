"""The least cosine with p_k, if the angle of z and p_j is alpha and that of p_j and p_k is beta.

**Published** (the angular triangle inequality of Beyond L2, as docs/design.md reports it; in the released
`explain/extended_explainers.py`, commit 79b81cb, `CosineSimFormalExplanation`): the lower bound is cos(alpha + beta)
if alpha + beta <= pi, and -1 if it is more. That is sound, but -1 is not the best bound.
**Corrected.** cos(alpha + beta) is a lower bound for all alpha and beta in [0, pi], and attained. Beyond pi it is more
than -1 by 2 cos((alpha + beta) / 2)^2, and -1 itself is never attained. The angle has to *be* alpha: if it is
at most alpha, -1 is right beyond pi.
*Proof.* With s = cos alpha, c = cos beta, |<z, p_k> - s c| <= ((1 - s^2) (1 - c^2))^(1/2) = sin alpha sin beta by
Cauchy and Schwarz for the parts orthogonal to p_j; the point of their plane on the far side attains it. A unit z with
<z, p_k> = -1 is -p_k, whose angle with p_j is pi - beta, not alpha. If the angle is at most alpha > pi - beta, -p_k
is allowed.

alpha + beta > pi is s + c < 0. In coordinates p_j = (1, 0), p_k = (c, h), h = sin beta >= 0, z = (s, y) and w along all
that is orthogonal to both; sin alpha = g >= 0.

Reference: docs/design.md, 3.4 item 3.
"""

from __future__ import annotations

import z3

from ..lemma import Case, Lemma, main

S, G, C, H, X, Y, W = z3.Reals("s g c h x y w")
ANGLES = [S * S + G * G == 1, G >= 0, C * C + H * H == 1, H >= 0, X * X + Y * Y + W * W == 1]
BEYOND = S + C < 0
OF_ERRATA = [S == z3.Q(-3, 5), C == z3.Q(-3, 5)]
COSINE, BOUND = C * X + H * Y, S * C - G * H

LEMMA = Lemma(
    rules=("search",),
    code=("verale/checker/reading/facts.py",),
    cases=(
        Case("cos(alpha + beta), any angles", [*ANGLES, X == S], COSINE >= BOUND, "qfnra-nlsat"),
        Case("cos(alpha + beta) beyond pi", [*ANGLES, X == S, BEYOND], COSINE >= BOUND, "qfnra-nlsat"),
        Case("attained", [*ANGLES, X == S, Y == -G], COSINE == BOUND, "qfnra-nlsat"),
        Case("beyond pi no z gives -1", [*ANGLES, X == S, BEYOND], COSINE > -1, "qfnra-nlsat"),
    ),
    twins=(
        Case(
            "beyond pi the least cosine is -1 (as published)",
            [*ANGLES, X == S, Y == -G, BEYOND],
            COSINE == -1,
            "qfnra-nlsat",
        ),
        Case(
            "the one of errata.md: its least cosine",
            [*ANGLES, *OF_ERRATA, X == S, Y == -G],
            COSINE == -1,
            "qfnra-nlsat",
        ),
        Case("cos(alpha + beta), for an angle of at most alpha", [*ANGLES, X >= S], COSINE >= BOUND, "qfnra-nlsat"),
        Case(
            "the one of errata.md: z = -p_k",
            [*ANGLES, *OF_ERRATA, X >= S, X == -C, Y == -H],
            COSINE >= BOUND,
            "qfnra-nlsat",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
