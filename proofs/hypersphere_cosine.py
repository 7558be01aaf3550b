"""What a centre says about a cosine. Let c be any vector, n = |c|^2, s = <u, c> in [low, high], |u| <= 1, g = <c, A>.
Then

    n <u, A> lies between min(low g, high g) - w and max(low g, high g) + w,
    w^2 = (n - l^2) (n |A|^2 - g^2),  l = max(0, low, -high),

w may be rounded up by any amount, and quotients by n > 0 outward. If c = 0, 1 may replace n. Since |s| <= n^(1/2), no
latent has a negative n - l^2, and 0 may replace it.

Proof. u - (s / n) c and A - (g / n) c are orthogonal to c; their squares are |u|^2 - s^2 / n <= 1 - s^2 / n and |A|^2 -
g^2 / n, and their product is <u, A> - s g / n: Cauchy and Schwarz, times n. This is `one_statement` with c for p. l <=
|s|, so n - s^2 <= n - l^2; s g lies between its values at low and high. If c = 0, then s = g = 0 and the claim is |<u,
A>| <= |A|.

Z3 covers it in coordinates: u, c and A span at most three dimensions, so c = (a, 0, 0), A = (b, d, 0) and u = (x, y, z)
in an orthonormal basis of their span, and this covers any dimension. That s = sum w_i <u, A_i> lies between its ends is
`ball_interval`.

The first twin is the papers' form for an equality, used for an interval: the swing at the end of s that is farther from
0 does not hold for other values of s.

Reference: docs/design.md, 3.1, 3.4; Soria et al., arXiv 2608.16773.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

A, B, D, X, Y, Z = z3.Reals("a b d x y z")
N, S, G, SQUARE = A * A, X * A, A * B, B * B + D * D
PRODUCT = X * B + Y * D
UNIT = [X * X + Y * Y + Z * Z <= 1, A > 0]

LOW, HIGH, GG, SS, W, NN, REST, OTHER, UA, LEAST = z3.Reals("low high g s w n rest other ua l")
"""The same in numbers: the inequality of the first case is given, with OTHER = n |A|^2 - g^2 >= 0."""
SHELL = [LOW <= SS, SS <= HIGH, NN > 0, OTHER >= 0, SS * SS <= NN, (UA * NN - SS * GG) ** 2 <= (NN - SS * SS) * OTHER]
NEAREST = [LEAST == z3.If(LOW > 0, LOW, z3.If(HIGH < 0, -HIGH, 0)), REST == NN - LEAST * LEAST]
ROOTED = [W >= 0, W * W >= REST * OTHER]
FIRST, LAST = z3.If(LOW * GG < HIGH * GG, LOW * GG, HIGH * GG), z3.If(LOW * GG < HIGH * GG, HIGH * GG, LOW * GG)
RANGE = z3.And(FIRST - W <= UA * NN, UA * NN <= LAST + W)
T = z3.Int("t")
QUOTIENT = z3.Real("quotient")

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/hypersphere.py",),
    cases=(
        Case(
            "what the span of c leaves",
            UNIT,
            z3.And(
                PRODUCT * N - S * G == N * (Y * D),
                N * SQUARE - G * G == N * (D * D),
                N - S * S == N * (1 - X * X),
                (Y * D) ** 2 <= (1 - X * X) * (D * D),
                S * S <= N,
            ),
            tactic=NLSAT,
        ),
        Case(
            "l is the least |s|",
            [LOW <= SS, SS <= HIGH, *NEAREST, SS * SS <= NN],
            z3.And(LEAST >= 0, LEAST * LEAST <= SS * SS, NN - SS * SS <= REST),
            tactic=NLSAT,
        ),
        Case(
            "the swing with it",
            [
                OTHER >= 0,
                0 <= NN - SS * SS,
                NN - SS * SS <= REST,
                (UA * NN - SS * GG) ** 2 <= (NN - SS * SS) * OTHER,
                *ROOTED,
            ],
            z3.And(UA * NN - SS * GG <= W, SS * GG - UA * NN <= W),
            tactic=NLSAT,
        ),
        Case("s g between its ends", [LOW <= SS, SS <= HIGH], z3.And(FIRST <= SS * GG, SS * GG <= LAST), tactic=NLSAT),
        Case(
            "c = 0: 1 for n, whatever interval holds s = 0",
            [X * X + Y * Y + Z * Z <= 1, LOW <= 0, 0 <= HIGH, W >= 0, W * W >= 1 * (1 * SQUARE - 0)],
            z3.And(0 - W <= PRODUCT * 1, PRODUCT * 1 <= 0 + W),
            tactic=NLSAT,
        ),
        Case(
            "the quotient rounded down",
            [NN > 0, FIRST - W <= UA * NN, QUOTIENT * NN <= FIRST - W],
            QUOTIENT <= UA,
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case(
            "the swing at the greatest |s| for all of an interval",
            [*SHELL, 0 < LOW, REST == NN - HIGH * HIGH, REST >= 0, *ROOTED],
            RANGE,
            tactic=NLSAT,
        ),
        Case(
            "a latent longer than 1",
            [A > 0, X * X <= 1],
            (Y * D) ** 2 <= (1 - X * X) * (D * D),
            tactic=NLSAT,
        ),
        Case(
            "s g at the ends in the order of s, whatever the sign of g",
            [LOW <= SS, SS <= HIGH],
            LOW * GG <= SS * GG,
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
