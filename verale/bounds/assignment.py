"""Assignment: a patch can spend its remaining mass only once (softmax heads)."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.bounds.margin import LinearMargins
from verale.bounds.simplex import Simplex, SimplexRows
from verale.errors import UsageError
from verale.head import Head, Identity
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["Assignment", "assignment_margins"]

_RIVALS_AT_ONCE = 16


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


def assignment_margins(rows: SimplexRows, margins: LinearMargins, prices: Tensor) -> Tensor:
    """Lower bounds of o_predicted - o_c for one image from prices of its prototypes.

    With w_k = W_ck - W_pred,k, o_k the largest stated mass of k, R_l the remaining mass of patch l, and any v_k >= 0:
        sum_k w_k a_k <= sum_{w_k <= 0} w_k a_k^low + sum_{w_k > 0} (w_k o_k + v_k)
                         + sum_l max(0, max {w_k (R_l - o_k)^+ - v_k : k unstated at l, w_k > 0}).

    Args:
        rows: the L patches of one image, with its statements entered.
        margins: of this image alone, with K rivals.
        prices: (K, P) v >= 0; entries of prototypes with w_k <= 0 are ignored.

    Returns:
        (K,) float64.

    Soundness: the bound holds for any prices (proof: `verale.checker.reading.masses`), and grows with R and o. Both
    are rounded up in `rows`; each difference and product is rounded up here; the sums have terms >= 0.
    """
    top = rows.top.amax(0)
    gap = up(rows.remainder[:, None] - top).clamp(min=0).masked_fill(rows.stated, 0.0)
    weight = -margins.negative[0].T
    needed = max(1, int((weight > 0).sum(1).max()))
    weight, columns = weight.topk(needed, dim=1)
    # The difference of two weights was rounded once; where it is 0 it is exact.
    weight, price = up(weight), prices.gather(1, columns).masked_fill(weight == 0, 0.0)
    excess = torch.cat(
        [
            up(up(w * gap[:, chosen].transpose(0, 1)) - v).clamp(min=0).amax(2).sum(1)
            for w, v, chosen in zip(
                torch.split(weight[:, None], _RIVALS_AT_ONCE),
                torch.split(price[:, None], _RIVALS_AT_ONCE),
                torch.split(columns, _RIVALS_AT_ONCE),
                strict=True,
            )
        ]
    )
    terms = needed + len(gap)
    given = up(price.sum(1) + excess)
    given = up(given + up(given * gamma(terms + 2) + terms * UNDERFLOW))
    known = margins.lower(Enclosure(rows.lower.amax(0)[None, None], top[None, None]))[0, 0]
    return down(known - given)
