"""All statements of a patch entered at once: the directions of `verale.bounds.projection` by one factorisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from verale.rounding import UNIT, gamma

__all__ = ["INFLATE", "Directions", "directions_of", "duals_of"]

INFLATE = 1 + 2.0**-30
"""Error terms are sums of products >= 0, computed with fewer than 2**20 roundings: their own error is below this."""


@dataclass(frozen=True, eq=False)
class Directions:
    """R patches with M directions each, some of which may be missing at the end; see `Hulls`.

    Attributes:
        coefficients: (R, M, M) lower triangular, 0 where a direction is missing.
        centre, centre_error: (R, M).
        dual_error: (R, M).
        defect: (R,).
        along: (R, P).
        squares: (R, P) the sum of the squares of <e_i, b_k>.
    """

    coefficients: Tensor
    centre: Tensor
    centre_error: Tensor
    dual_error: Tensor
    defect: Tensor
    along: Tensor
    squares: Tensor


class _DualSums(NamedTuple):
    """What is needed of the duals <e_i, b_k>.

    Attributes:
        along: (R, P) sum_i w_i <e_i, b_k>.
        squares: (R, P) sum_i <e_i, b_k>^2.
        products: (R, M, M) <e_i, b_anchor(j)>, the very numbers that were summed.
    """

    along: Tensor
    squares: Tensor
    products: Tensor


def directions_of(
    gram: Tensor,
    base: Tensor | None,
    anchors: Tensor,
    present: Tensor,
    offset: Tensor,
    offset_error: Tensor,
    largest: float,
    depth_operations: int,
    dependent: float,
    least_residual: float,
) -> tuple[Directions, Tensor]:
    r"""Directions that span the anchors of each patch.

    Let K be the Gram matrix of the anchors b_j. Its Cholesky factor F gives coefficients: e_i = sum_j (F^-1)_ij b_j.
    The duals <e_i, b_k> come straight from the Gram matrix of all prototypes.

    Args:
        gram: (P, P).
        base: (R,) prototypes that vectors are relative to; None for the origin.
        anchors: (R, M) prototypes b_j; any where there is none.
        present: (R, M) which anchors there are.
        offset, offset_error: (R, M) <b_j, z - x_0>, centre and radius.
        largest: the greatest |x_k|^2, rounded up.
        depth_operations: the rounded operations of an entry of the Gram matrix.
        dependent, least_residual: an anchor is not used that adds less than this share of its length, or than this.

    Returns:
        The directions, and (R,) which patches have them: not those with an anchor that would not be used.

    Soundness: whatever floats F^-1 is made of, the coefficients define the directions. The errors are counted term by
    term: each <e_i, b_k> is a sum of at most 2 M + 2 products of a coefficient and an entry of the Gram matrix, in some
    order, of magnitude 4 |coefficients| `largest`; w_i is one of M; and of (<e_i, e_j>) - identity each entry on and
    below the diagonal is one of M, counted twice off it.
    """
    room = anchors.shape[1]
    both = present[:, :, None] & present[:, None, :]
    inner = gram[anchors[:, :, None], anchors[:, None, :]]
    if base is not None:
        corner = gram[anchors, base[:, None]] - gram[base, base][:, None]
        inner = inner - corner[:, :, None] - gram[anchors, base[:, None]][:, None, :]
    identity = torch.eye(room, dtype=gram.dtype)
    factor, failed = torch.linalg.cholesky_ex(torch.where(both, inner, identity))
    residual, reach = factor.diagonal(dim1=1, dim2=2).square(), inner.diagonal(dim1=1, dim2=2)
    usable = (residual > dependent * reach) & (residual > least_residual) | ~present
    whole = usable.all(1) & (failed == 0)
    factor = torch.where(whole[:, None, None], factor, identity)
    coefficients = torch.linalg.solve_triangular(factor, identity.expand_as(factor), upper=False).tril()
    coefficients = torch.where(both, coefficients, 0.0)

    operations = 2 * room + 16
    length = coefficients.abs().sum(2)
    dual_error = INFLATE * 4 * length * largest * gamma(depth_operations + operations)
    offset, offset_error = (torch.where(present, each, 0.0) for each in (offset, offset_error))
    centre = _times(coefficients, offset)
    spoiled = _times(coefficients.abs(), offset_error + gamma(operations) * offset.abs())

    sums = _dual_sums(gram, base, anchors, coefficients, centre)
    products = sums.products
    rounding = gamma(2 * room + 4) * products.abs().amax(2)
    deviation = torch.bmm(products, coefficients.transpose(1, 2)) - identity
    deviation = INFLATE * (deviation.abs() + length[:, None, :] * (dual_error + rounding)[:, :, None] + 4 * UNIT)
    squares = torch.where(both, deviation.square(), 0.0).tril()
    defect = INFLATE * (2 * squares.sum((1, 2)) - squares.diagonal(dim1=1, dim2=2).sum(1))
    directions = Directions(
        coefficients=coefficients,
        centre=centre,
        centre_error=torch.where(present, INFLATE * spoiled, 0.0),
        dual_error=torch.where(present, dual_error, 0.0),
        defect=defect,
        along=sums.along,
        squares=sums.squares,
    )
    return directions, whole


def _dual_sums(gram: Tensor, base: Tensor | None, anchors: Tensor, coefficients: Tensor, centre: Tensor) -> _DualSums:
    """Sums of the duals of R patches' directions.

    Args:
        gram, base, anchors: see `directions_of`.
        coefficients: (R, M, M) of the directions.
        centre: (R, M) w_i.
    """
    duals = duals_of(gram, base, anchors, coefficients)
    products = duals.gather(2, anchors[:, None].expand(-1, anchors.shape[1], -1))
    return _DualSums(torch.bmm(centre[:, None], duals)[:, 0], duals.square_().sum(1), products)


def duals_of(gram: Tensor, base: Tensor | None, anchors: Tensor, coefficients: Tensor) -> Tensor:
    """(R, M, P) the duals <e_i, b_k>; see `_dual_sums`."""
    if base is None:
        return torch.bmm(coefficients, gram[anchors])
    # b_k = x_k - x_0 is not formed: the base enters with minus the sum of the coefficients.
    corner = gram[anchors, base[:, None]] - gram[base, base][:, None]
    weights = torch.cat([coefficients, -coefficients.sum(2, keepdim=True)], 2)
    duals = torch.bmm(weights, gram[torch.cat([anchors, base[:, None]], 1)])
    return duals.sub_(_times(coefficients, corner)[:, :, None])


def _times(matrix: Tensor, vector: Tensor) -> Tensor:
    """(R, M) products of matrices (R, M, M) and vectors (R, M)."""
    return torch.einsum("rij,rj->ri", matrix, vector)
