"""The sphere needs no geometry of its own: a latent u with |u| = 1 is a latent at distance 1 from the origin, which is
one more anchor.

a. <u, p> = (d_0^2 + |p|^2 - |u - p|^2) / 2 with d_0 = |u|. On the sphere d_0 = 1: the products and the squared
   distances are affine in each other, one falls as the other rises, and the interval of one gives that of the
   other.
b. The interval of `projection` for distances, with the base p_0 = 0 at d_0^2 = 1, is that for products with |u| <= 1.
c. In the ball, d_0^2 in [0, 1]: for given products with the anchors the interval of <u, p> widens with d_0^2, so that
   the ends for d_0^2 = 1 hold for all of the ball, and the ball's are those of the sphere.

Proof. a: |u - p|^2 = |u|^2 - 2 <u, p> + |p|^2. b: v = u, b_i = p_i; the middle of the squared distance is 1 + g_kk - 2
times that of the product, and its swing 2 rho |r| is twice that of the product, rho^2 = 1 - |gamma|^2 in both. c: rho^2
= d_0^2 - |gamma|^2 rises with d_0^2.

Only inner products occur, so Z3's proofs hold in any dimension. `projection_exact` shows that the ends are attained,
and that for u in the open ball (epsilon > 0) they are approached.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

UU, UP, PP = z3.Reals("uu up pp")
DISTANCE = UU - 2 * UP + PP
VECTORS = [UU >= 0, PP >= 0, UP * UP <= UU * PP]

LOW, HIGH = z3.Reals("low high")
MIDDLE, SWING, GG, REST, LESS = z3.Reals("middle swing gg rest less")
"""<gamma, p> (that of a product), what is put for rho |r|, |gamma|^2, |r|^2 and the swing at a smaller d_0^2."""

SWINGS = [LESS >= 0, LESS * LESS == (UU - GG) * REST, SWING >= 0, SWING * SWING == (1 - GG) * REST]

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/projection.py",),
    cases=(
        Case("a. on the sphere", [*VECTORS, UU == 1], 2 * UP == 1 + PP - DISTANCE, tactic=NLSAT),
        Case("a. in general, with d_0", VECTORS, 2 * UP == UU + PP - DISTANCE, tactic=NLSAT),
        Case(
            "a. an interval of distances is one of products",
            [*VECTORS, UU == 1],
            z3.And(LOW <= DISTANCE, DISTANCE <= HIGH) == z3.And((1 + PP - HIGH) / 2 <= UP, UP <= (1 + PP - LOW) / 2),
        ),
        Case(
            "b. the two intervals are one",
            [*VECTORS, UU == 1, SWING >= 0],
            z3.And(1 + PP - 2 * MIDDLE - 2 * SWING <= DISTANCE, DISTANCE <= 1 + PP - 2 * MIDDLE + 2 * SWING)
            == z3.And(MIDDLE - SWING <= UP, UP <= MIDDLE + SWING),
        ),
        Case(
            "c. the swing rises with d_0^2",
            [0 <= GG, GG <= UU, UU <= 1, REST >= 0, *SWINGS],
            LESS <= SWING,
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case("a. in the ball, as if on the sphere", [*VECTORS, UU <= 1], 2 * UP == 1 + PP - DISTANCE, tactic=NLSAT),
        Case(
            "a. ends taken over in their order",
            [*VECTORS, UU == 1, LOW <= DISTANCE, DISTANCE <= HIGH],
            z3.And((1 + PP - LOW) / 2 <= UP, UP <= (1 + PP - HIGH) / 2),
        ),
        Case("a. a prototype taken for a unit vector", [*VECTORS, UU == 1], 2 * UP == 2 - DISTANCE, tactic=NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
