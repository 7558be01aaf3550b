"""Two caps, or two balls: their intersection lies in the one about the foot, if the foot is between the centres.

Unit vectors p_1, p_2, z; the caps <z, p_i> >= k_i. The foot q = a p_1 + b p_2 is the point of their span with
<q, p_i> = k_i; p_int = q / |q|, and cos r_int = |q|. The claim <z, p_int> >= cos r_int is <z, q> >= |q|^2.

**Published** (Beyond L2, Lemma 1, as docs/design.md reports it): it holds for all z in both caps.
**Corrected.** It holds if a, b >= 0, that is, if the angle from p_1 to the foot lies in [0, d_12]; and for any a,
b if <z, p_i> = k_i. If b < 0 < s, it fails at z = k_1 p_1 + (1 - k_1^2)^(1/2) e, e the unit vector from p_1
towards p_2, s = (1 - <p_1, p_2>^2)^(1/2); if a < 0, likewise with 1 and 2 exchanged. Then the cap of p_1 alone (b <
0), or that of p_2 alone (a < 0), holds, and no cap with a smaller radius does, if that radius is at most a right angle:
both caps contain k_1 p_1 +- (1 - k_1^2)^(1/2) f, f orthogonal to p_1 and p_2, opposite each other on its rim.
*Proof.* <z, q> = a <z, p_1> + b <z, p_2>, and |q|^2 = a k_1 + b k_2: the difference is a (<z, p_1> - k_1) + b (<z, p_2>
- k_2), 0 with equalities, and not negative if a, b >= 0. For the converse let t = b s be q's part along e, q = k_1
p_1 + t e; |q| <= 1 if the circles intersect. With h = (1 - k_1^2)^(1/2) >= |t|, <z, q> - |q|^2 = t (h - t) < 0 unless h
= t, while <z, p_2> - k_2 = s (h - t) >= 0.

**Balls.** The same with |z - p_i|^2 <= R_i, d = |p_1 - p_2|, the foot at p_1 + (alpha / d) (p_2 - p_1),
alpha = (R_1 - R_2 + d^2) / (2 d) and r_int^2 = R_1 - alpha^2: it holds if 0 <= alpha <= d, and for any alpha if
|z - p_i|^2 = R_i.
*Proof.* With w = alpha / d, |z - foot|^2 = (1 - w) |z - p_1|^2 + w |z - p_2|^2 - w (1 - w) d^2, and the right side with
R_i for |z - p_i|^2 is R_1 - alpha^2.

A statement with any width is a pair of caps, or a shell; `ball_identity` covers those with multipliers of either sign.

Reference: docs/design.md, 3.4 item 1. Inner products are free numbers in the cases, so they hold in any dimension.
"""

from __future__ import annotations

import z3

from ..lemma import Case, Lemma, main

A, B, C, K1, K2, X1, X2 = z3.Reals("a b c k1 k2 x1 x2")
FOOT = [A + B * C == K1, A * C + B == K2, C * C < 1]  # <q, p_i> = k_i
SQUARE = A * A + B * B + 2 * A * B * C
IN_CAPS = [X1 >= K1, X2 >= K2]  # X_i is <z, p_i>
IN_FOOT_CAP = A * X1 + B * X2 >= SQUARE

# Coordinates, for a model: p_1 = (1, 0), p_2 = (c, s), z = (x, y) and w along the rest.
S, T, X, Y, W = z3.Reals("s t x y w")
PLANE = [C * C + S * S == 1, S > 0, X * X + Y * Y + W * W == 1, K2 == C * K1 + S * T]
CROSSING = [K1 * K1 + T * T > 0, K1 * K1 + T * T < 1]
COORDINATES = [*PLANE, *CROSSING, X >= K1, C * X + S * Y >= K2]
LIES_WITHIN = X * K1 + Y * T >= K1 * K1 + T * T

# Balls: p_1 = (0, 0), p_2 = (d, 0), z = (x, y), y the part off the line.
D, ALPHA, R1, R2 = z3.Reals("d alpha R1 R2")
BALLS = [D > 0, 2 * D * ALPHA == R1 - R2 + D * D, ALPHA * ALPHA <= R1]
FIRST, SECOND = X * X + Y * Y, (X - D) * (X - D) + Y * Y
IN_BALL = (X - ALPHA) * (X - ALPHA) + Y * Y <= R1 - ALPHA * ALPHA

LEMMA = Lemma(
    rules=("search",),
    code=("verale/checker/reading/facts.py",),
    cases=(
        Case("caps, the foot between the centres", [*FOOT, *IN_CAPS, A >= 0, B >= 0], IN_FOOT_CAP, "qfnra-nlsat"),
        Case("caps, equalities, the foot anywhere", [*FOOT, X1 == K1, X2 == K2], IN_FOOT_CAP),
        Case(
            "caps, the foot beyond p_1: the point of the first cap's rim towards p_2 is in both caps, and outside",
            [*PLANE, *CROSSING, T < 0, X == K1, Y >= 0, W == 0],
            z3.And(C * X + S * Y >= K2, z3.Not(LIES_WITHIN)),
            "qfnra-nlsat",
        ),
        Case(
            "balls, the foot between the centres",
            [*BALLS, FIRST <= R1, SECOND <= R2, ALPHA >= 0, ALPHA <= D],
            IN_BALL,
            "qfnra-nlsat",
        ),
        Case("balls, equalities, the foot anywhere", [*BALLS, FIRST == R1, SECOND == R2], IN_BALL, "qfnra-nlsat"),
    ),
    twins=(
        Case("caps, the foot anywhere (as published)", COORDINATES, LIES_WITHIN, "qfnra-nlsat"),
        Case(
            "caps, the one of errata.md: z = p_1",
            [*COORDINATES, X == 1, C == z3.Q(4, 5), K1 == z3.Q(3, 5), T == z3.Q(-3, 5)],
            LIES_WITHIN,
            "qfnra-nlsat",
        ),
        Case("balls, the foot anywhere", [*BALLS, FIRST <= R1, SECOND <= R2], IN_BALL, "qfnra-nlsat"),
        Case(
            "balls, the one of errata.md: z = p_1",
            [*BALLS, FIRST <= R1, SECOND <= R2, D == 1, R1 == z3.Q(1, 16), R2 == z3.Q(3, 2), X == 0, Y == 0],
            IN_BALL,
            "qfnra-nlsat",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
