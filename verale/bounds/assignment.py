"""Assignment: a patch can spend its remaining mass only once (softmax heads)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from verale.bounds.margin import LinearMargins
from verale.bounds.simplex import Simplex, SimplexRows
from verale.errors import UsageError
from verale.head import Head, Identity
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["Assignment", "assignment_margins"]

_WEIGHTS_AT_ONCE = 2**22
"""So many weights of rivals are looked at at once."""
_PRODUCTS_AT_ONCE = 2**20
"""So many products of patches and prototypes are bounded at once."""


class Assignment(Simplex):
    """The bounds of `Simplex`, patch by patch; rivals that these leave open are bounded by `assignment_margins`."""

    name = "assignment"

    @classmethod
    def require(cls, head: Head) -> None:
        """Raise UsageError unless the activations of a softmax head are greatest masses, of which the bound speaks."""
        super().require(head)
        if not (head.pooling.is_maximum and isinstance(head.similarity, Identity)):
            raise UsageError(
                "paradigm 'assignment' needs max pooling of masses as they are; for this head use 'simplex'"
            )


def assignment_margins(
    rows: SimplexRows, margins: LinearMargins, images: Tensor, rivals: Tensor, prices: Sequence[Mapping[int, float]]
) -> Tensor:
    """Lower bounds of o_predicted - o_c for some rivals of some images, from prices of prototypes.

    With w_k = W_ck - W_pred,k, o_k the largest stated mass of k, R_l the remaining mass of patch l, and any v_k >= 0:
        sum_k w_k a_k <= sum_{w_k <= 0} w_k a_k^low + sum_{w_k > 0} (w_k o_k + v_k)
                         + sum_l max(0, max {w_k (R_l - o_k)^+ - v_k : k unstated at l, w_k > 0}).

    Args:
        rows: the N * L patches of all images, image by image, with their statements entered.
        margins: of these images, with all classes.
        images, rivals: (B,) whose margins to bound.
        prices: for each of them the prices v_k >= 0, 0 where there is none; those with w_k <= 0 are ignored.

    Returns:
        (B,) float64.

    Soundness: the bound holds for any prices (proof: `verale.checker.reading.masses`), and grows with R and o. Both
    are rounded up in `rows`; each difference and product is rounded up here; the sums have terms >= 0, so that they
    lie within gamma, relative, in any order.
    """
    count, size = len(margins.predicted), rows.top.shape[1]
    top = rows.top.view(count, -1, size).amax(1)
    lower = rows.lower.view(count, -1, size).amax(1)
    without = margins.lower(Enclosure(lower[:, None], top[:, None]))[:, 0][images, rivals]
    gap = up(rows.remainder.view(count, -1)[..., None] - top[:, None]).clamp(min=0)
    gap = gap.masked_fill(rows.stated.view_as(gap), 0.0)
    bounds = torch.zeros_like(without)
    for image in sorted(set(images.tolist())):
        (pairs,) = (images == image).nonzero(as_tuple=True)
        for some in torch.split(pairs, max(1, _WEIGHTS_AT_ONCE // size)):
            weight = -margins.negative[image].index_select(1, rivals[some]).T
            paid = torch.zeros_like(weight)
            for row, pair in zip(paid, some.tolist(), strict=True):
                row[list(prices[pair])] = row.new_tensor(list(prices[pair].values()))
            bounds[some] = _most(weight, paid, gap[image])
    return down(without - bounds)


def _most(weight: Tensor, paid: Tensor, gap: Tensor) -> Tensor:
    """(B,) sum_k v_k + sum_l max(0, max_k w_k gap_lk - v_k) over the k with w_k > 0, or more.

    Args:
        weight, paid: (B, P) w, whose entries were rounded once, and v.
        gap: (L, P) (R_l - o_k)^+, 0 where k is stated, or more.
    """
    needed = max(1, int((weight > 0).sum(1).max()))
    weight, columns = weight.topk(needed, dim=1)
    # The difference of two weights was rounded once; where it is 0 it is exact.
    weight, price = up(weight), paid.gather(1, columns).masked_fill(weight == 0, 0.0)
    parts = (torch.split(rows, max(1, _PRODUCTS_AT_ONCE // needed // len(gap))) for rows in (weight, price, columns))
    excess = torch.cat(
        [
            up(up(w[:, None] * gap[:, chosen].transpose(0, 1)) - v[:, None]).clamp(min=0).amax(2).sum(1)
            for w, v, chosen in zip(*parts, strict=True)
        ]
    )
    terms = needed + len(gap)
    total = up(price.sum(1) + excess)
    return up(total + up(total * gamma(terms + 2) + terms * UNDERFLOW))
