"""The interval of `projection` is exact: with exact statements it is a bound, and both ends are attained.

Distances. Let y be the foot of z on the affine hull of the anchors, rho = |z - y|, and p_k - y = q + h with q along the
hull and h orthogonal to it. Then d_k^2 lies in [|q|^2 + (rho - |h|)^2, |q|^2 + (rho + |h|)^2], and as soon as some
direction is orthogonal to the hull, latents at both ends satisfy the same statements. In the notation of
`projection`, with tau and gamma exact: the interval is d_0^2 + g_kk - 2 <gamma, b_k> -+ 2 rho |r|, |r| = |h|.

Products. Let gamma be the foot of u on the span of the anchors, |u| <= R, p_k = q + h likewise, rho^2 = R^2 -
|gamma|^2. Then <u, p_k> is within rho |h| of <gamma, q>, and both ends are attained at a length of exactly R.

Proof. z = y + e with e orthogonal to the hull and |e| = rho, so d_k^2 = |q|^2 + |e - h|^2, and |rho - |h|| <= |e - h|
<= rho + |h|. Any e of that length leaves every |z - p_j|^2 = |y - p_j|^2 + rho^2 as it is. e = -+ rho h / |h|, if h is
not 0, attains the ends; if h = 0, they are the same and every e attains them. Without an orthogonal direction h = 0 and
rho = 0, and again the ends are the same. u = gamma + e with |e| <= rho; <u, p_k> = <gamma, q> + <e, h>. Cauchy and
Schwarz; the same e.

Reduced coordinates: an orthonormal basis of the hull's directions, then h / |h|, then the rest of e. The hull's
part enters through <gamma, q>, |q|, |gamma| and the positions of anchors, two or three vectors at a time. So three
coordinates are enough for any dimension; h = (0, 0, 0, H, 0) with H >= 0, e = (0, 0, 0, x, w). Z3 covers all of it with
these, including the latents at the ends.

What the lemma does not say. A box may also bound the latents of a head. Then the two ranges are intersected, and the
exact range under both conditions together is not computed. A cosine with epsilon > 0 has |u| < 1. Then the ends are
approached: every number between them is attained, but not the ends (the last case and the last twin).

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

X, W, H, RHO, R = z3.Reals("x w h rho r")
FOOT, ANCHOR, Q = (z3.RealVector(name, 3) for name in ("foot", "p_j", "q"))
"""In the hull: y - p_0 or gamma, p_j - p_0 or p_j, and q."""
_Vector: TypeAlias = Sequence[z3.ArithRef | int]


def _inner(left: _Vector, right: _Vector) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


def _square(left: _Vector, right: _Vector) -> z3.ArithRef:
    """The squared distance."""
    off = [x - y for x, y in zip(left, right, strict=True)]
    return _inner(off, off)


def _latent(x: z3.ArithRef, w: z3.ArithRef | int) -> _Vector:
    return [*FOOT, x, w]


P_J: _Vector = [*ANCHOR, 0, 0]
P_K: _Vector = [*(foot + q for foot, q in zip(FOOT, Q, strict=True)), H, 0]  # of a distance
K: _Vector = [*Q, H, 0]  # of a product
Z = _latent(X, W)

SPHERE = [H >= 0, RHO >= 0, X * X + W * W == RHO * RHO]
DISTANCE, QQ = _square(Z, P_K), _inner(Q, Q)
NEAR, FAR = QQ + (RHO - H) * (RHO - H), QQ + (RHO + H) * (RHO + H)
MIDDLE = _inner(Z, Z) + _inner(P_K, P_K) - 2 * _inner([*FOOT, 0, 0], P_K)
"""d_0^2 + g_kk - 2 <gamma, b_k>, with p_0 as the origin."""

BALL = [H >= 0, R >= 0, RHO >= 0, RHO * RHO == R * R - _inner(FOOT, FOOT), _inner(Z, Z) <= R * R]
PRODUCT, CENTRE = _inner(Z, K), _inner(FOOT, Q)

END, LESS, STEP = z3.Reals("end less step")
HALFWAY = [H > 0, RHO > 0, 0 <= LESS, LESS < RHO * H, 2 * STEP * H == RHO * H + LESS]

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/projection.py",),
    cases=(
        Case("distances: the interval holds", SPHERE, z3.And(NEAR <= DISTANCE, DISTANCE <= FAR), tactic=NLSAT),
        Case(
            "distances: attained, with the same statements",
            SPHERE,
            z3.And(
                _square(_latent(RHO, 0), P_K) == NEAR,
                _square(_latent(-RHO, 0), P_K) == FAR,
                _square(_latent(RHO, 0), P_J) == _square(Z, P_J),
                _square(_latent(-RHO, 0), P_J) == _square(Z, P_J),
            ),
            tactic=NLSAT,
        ),
        Case(
            "distances: a target in the hull is known",
            [*SPHERE, H == 0],
            z3.And(NEAR == FAR, DISTANCE == NEAR),
            tactic=NLSAT,
        ),
        Case(
            "distances: it is the interval of projection",
            SPHERE,
            z3.And(MIDDLE - 2 * RHO * H == NEAR, MIDDLE + 2 * RHO * H == FAR),
            tactic=NLSAT,
        ),
        Case(
            "products: the interval holds",
            BALL,
            z3.And(CENTRE - RHO * H <= PRODUCT, PRODUCT <= CENTRE + RHO * H),
            tactic=NLSAT,
        ),
        Case(
            "products: attained at a length of R, with the same statements",
            BALL,
            z3.And(
                *(_inner(_latent(end, 0), _latent(end, 0)) == R * R for end in (RHO, -RHO)),
                *(_inner(_latent(end, 0), P_J) == _inner(Z, P_J) for end in (RHO, -RHO)),
                *(_inner(_latent(end, 0), K) == CENTRE + end * H for end in (RHO, -RHO)),
            ),
            tactic=NLSAT,
        ),
        Case(
            "products: shorter latents pass every number below the end",
            HALFWAY,
            z3.And(0 <= STEP, STEP < RHO, STEP * H > LESS),
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case("distances: Pythagoras, without the cross term", SPHERE, DISTANCE <= QQ + RHO * RHO + H * H, tactic=NLSAT),
        Case("distances: the ends from the lengths alone, |q| forgotten", SPHERE, DISTANCE <= FAR - QQ, tactic=NLSAT),
        Case(
            "distances: the near end attained by any latent of the sphere",
            SPHERE,
            DISTANCE == NEAR,
            tactic=NLSAT,
        ),
        Case(
            "products: a lower end would do for latents shorter than R",
            [*HALFWAY[:2], X * X + W * W < RHO * RHO, 0 <= END, END < RHO * H],
            X * H <= END,
            tactic=NLSAT,
        ),
        Case(
            "products: a latent shorter than R attains the end",
            [H > 0, RHO > 0, X * X + W * W < RHO * RHO],
            X * H == RHO * H,
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
