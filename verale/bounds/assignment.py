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
    bounds, chunk = [], max(1, _PRODUCTS_AT_ONCE // rows.top[0].numel() // gap.shape[1])
    for start in range(0, len(images), chunk):
        some = slice(start, start + chunk)
        image = images[some]
        paid = top.new_zeros(len(image), size)
        for row, of_rival in zip(paid, prices[some], strict=True):
            row[list(of_rival)] = row.new_tensor(list(of_rival.values()))
        weight = -margins.negative[image, :, rivals[some]]
        needed = max(1, int((weight > 0).sum(1).max()))
        weight, columns = weight.topk(needed, dim=1)
        # The difference of two weights was rounded once; where it is 0 it is exact.
        weight, price = up(weight), paid.gather(1, columns).masked_fill(weight == 0, 0.0)
        gaps = gap[image].gather(2, columns[:, None].expand(-1, gap.shape[1], -1))
        excess = up(up(weight[:, None] * gaps) - price[:, None]).clamp(min=0).amax(2).sum(1)
        terms = needed + gap.shape[1]
        total = up(price.sum(1) + excess)
        bounds.append(up(total + up(total * gamma(terms + 2) + terms * UNDERFLOW)))
    return down(without - torch.cat(bounds))
