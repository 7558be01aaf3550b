"""One statement bounds every other observable: the Gram form of the triangle inequality, of distances and of cosines.

Distances. With v = z - p_0 and b = p_k - p_0,

    (d_k^2 - d_0^2 - |b|^2)^2 <= 4 d_0^2 |b|^2,  which is  | |b| - d_0 | <= d_k <= |b| + d_0,
    lo + |b|^2 - 2 |b| hi^(1/2) <= d_k^2 <= hi + |b|^2 + 2 |b| hi^(1/2)  where lo <= d_0^2 <= hi.

Inner products and cosines. For |u| <= R, any p with |p| > 0 and any k,

    (<u, k> |p|^2 - <u, p> <p, k>)^2 <= (R^2 |p|^2 - <u, p>^2) (|p|^2 |k|^2 - <p, k>^2),

which for R = 1, unit p and k, <u, p> = cos a and <p, k> = cos t is cos(a + t) <= <u, k> <= cos(a - t), for any a and t,
a + t > pi included.

Proof. Distances: d_k^2 = d_0^2 + |b|^2 - 2 <v, b>, and Cauchy and Schwarz, |<v, b>| <= d_0 |b|: the Gram matrix of v
and b is positive semidefinite. Cosines: let G be the Gram matrix of u, p and k. Then det G |p|^2 is the right side with
|u| for R, less the left side, and det G >= 0 as G is positive semidefinite; the right side does not fall with R. cos a
cos t -+ sin a sin t are the ends, as (1 - cos^2 a)(1 - cos^2 t) = (sin a sin t)^2.

Only inner products occur, so this holds in any dimension. Z3 covers all of it with the entries of the Gram matrices as
free real numbers; of their positive semidefiniteness it uses only the named minors. It covers it once more in
coordinates: three vectors span at most three dimensions, and in an orthonormal basis of their span, taken in their
order (Gram and Schmidt), their matrix is triangular. Sines and cosines are numbers whose squares sum to one.

Reference: docs/design.md, 3.1, 3.4; Soria et al., arXiv 2511.16588 (triangular inequality), 2608.16773 (of angles).
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

VV, VB, BB, LOW, HIGH, B, D0, DK, ROOT = z3.Reals("vv vb bb low high b d_0 d_k root")
PSD_2 = [VV >= 0, BB >= 0, VV * BB >= VB * VB]
DISTANCE = VV - 2 * VB + BB
LENGTHS = [*PSD_2, D0 >= 0, D0 * D0 == VV, B >= 0, B * B == BB, DK >= 0, DK * DK == DISTANCE]
SHELL = [*PSD_2, 0 <= LOW, LOW <= VV, VV <= HIGH, ROOT >= 0, ROOT * ROOT >= BB * HIGH]

UU, UP, UK, PP, PK, KK, RR = z3.Reals("uu up uk pp pk kk rr")
DET = UU * (PP * KK - PK * PK) - UP * (UP * KK - PK * UK) + UK * (UP * PK - PP * UK)
LEFT = (UK * PP - UP * PK) * (UK * PP - UP * PK)
RIGHT = (UU * PP - UP * UP) * (PP * KK - PK * PK)
MINOR = PP * KK >= PK * PK

COS_A, SIN_A, COS_T, SIN_T = z3.Reals("cos_a sin_a cos_t sin_t")
X, Y, W = z3.Reals("x y w")
"""u = (x, y, w), p = (1, 0, 0), k = (cos t, sin t, 0)."""
ANGLES = [COS_T * COS_T + SIN_T * SIN_T == 1, COS_A * COS_A + SIN_A * SIN_A == 1, SIN_A >= 0, SIN_T >= 0, X == COS_A]
COSINE = X * COS_T + Y * SIN_T
SWING = SIN_A * SIN_T

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/triangle.py",),
    cases=(
        Case("distances, in Gram form", PSD_2, (DISTANCE - VV - BB) ** 2 <= 4 * VV * BB, tactic=NLSAT),
        Case(
            "distances: the triangle inequality",
            LENGTHS,
            z3.And(DK <= B + D0, DK >= B - D0, DK >= D0 - B),
            tactic=NLSAT,
        ),
        Case(
            "distances: from an interval",
            SHELL,
            z3.And(LOW + BB - 2 * ROOT <= DISTANCE, DISTANCE <= HIGH + BB + 2 * ROOT),
            tactic=NLSAT,
        ),
        Case("inner products: the determinant", [PP > 0], DET * PP == RIGHT - LEFT),
        Case("inner products: from the determinant", [PP > 0, DET >= 0, DET * PP == RIGHT - LEFT], LEFT <= RIGHT),
        Case(
            "inner products: a longer u",
            [PP > 0, MINOR, LEFT <= RIGHT, UU <= RR],
            LEFT <= (RR * PP - UP * UP) * (PP * KK - PK * PK),
            tactic=NLSAT,
        ),
        Case(
            "cosines: cos(a + t) and cos(a - t)",
            [*ANGLES, X * X + Y * Y + W * W <= 1],
            z3.And(COS_A * COS_T - SWING <= COSINE, COSINE <= COS_A * COS_T + SWING),
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case(
            "distances: the lower end with the root of lo",
            [*PSD_2, 0 <= LOW, LOW <= VV, VV <= HIGH, ROOT >= 0, ROOT * ROOT == BB * LOW],
            LOW + BB - 2 * ROOT <= DISTANCE,
            tactic=NLSAT,
        ),
        Case("cosines: a latent that is longer than 1", ANGLES, COSINE <= COS_A * COS_T + SWING, tactic=NLSAT),
        Case(
            "cosines: <u, p> >= cos a is all that is known",
            [*ANGLES[:-1], COS_A >= 0, X >= COS_A, X * X + Y * Y + W * W <= 1],
            COSINE <= COS_A * COS_T + SWING,
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
