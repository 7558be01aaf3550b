"""The ball lemma: for multipliers lam_j that sum to one, c = sum lam_j p_j and kappa = sum lam_j |p_j|^2 - |c|^2,

    sum lam_j |z - p_j|^2 = |z - c|^2 + kappa                                           for every z.

Proof. sum lam_j |z - p_j|^2 = |z|^2 sum lam_j - 2 <z, sum lam_j p_j> + sum lam_j |p_j|^2 = |z|^2 - 2 <z, c> +
sum lam_j |p_j|^2, and |z - c|^2 = |z|^2 - 2 <z, c> + |c|^2.

Only inner products occur, so Z3 proves it with <z, z>, <z, p_j> and <p_i, p_j> as free real numbers, which is any
dimension at once; the number of anchors is one to four. The condition that lam sums to one is necessary.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main


def _identity(anchors: int) -> tuple[z3.ArithRef, z3.BoolRef]:
    """The sum of the multipliers, and the identity in inner products."""
    zz = z3.Real("zz")
    lam = z3.RealVector("lam", anchors)
    zp = z3.RealVector("zp", anchors)
    pp = [[z3.Real(f"pp_{min(i, j)}_{max(i, j)}") for j in range(anchors)] for i in range(anchors)]
    distances = z3.Sum([lam[j] * (zz - 2 * zp[j] + pp[j][j]) for j in range(anchors)])
    centre = z3.Sum([lam[i] * lam[j] * pp[i][j] for i in range(anchors) for j in range(anchors)])
    to_centre = zz - 2 * z3.Sum([lam[j] * zp[j] for j in range(anchors)]) + centre
    kappa = z3.Sum([lam[j] * pp[j][j] for j in range(anchors)]) - centre
    return z3.Sum(lam), distances == to_centre + kappa


def _case(anchors: int) -> Case:
    total, identity = _identity(anchors)
    return Case(f"the identity, {anchors} anchors, any dimension", [total == 1], identity)


_TOTAL, _IDENTITY = _identity(2)

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/projection.py", "verale/bounds/hypersphere.py"),
    cases=tuple(_case(anchors) for anchors in (1, 2, 3, 4)),
    twins=(Case("the identity where the multipliers sum to two", [_TOTAL == 2], _IDENTITY),),
)

if __name__ == "__main__":
    main(LEMMA)
