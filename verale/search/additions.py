"""What can be added to statements: an activation, a ceiling and a floor; estimates, for the search."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import LinearMargins
from verale.rounding import Enclosure

__all__ = ["Additions"]

_SLACK = 1e-9
"""By so much rounding may move a least margin."""
_MANY = 2**12
"""More places than this are looked at all together."""


@dataclass(frozen=True, eq=False)
class Additions:
    """All ways to add one of P activations or none, one of G ceilings and one of F floors: their places.

    A place is an index into (P + 1, G, F), flattened.

    Attributes:
        linear: the margins of the image.
        table: (P, P) row k has the ranges that follow from the statement about a_k.
        uppers: (G, P) upper ends with each ceiling.
        lowers: (F, P) lower ends with each floor.
        costs: (P + 1, G, F) what the added statements cost.
    """

    linear: LinearMargins
    table: Enclosure
    uppers: Tensor
    lowers: Tensor
    costs: Tensor

    def least(self, own: Enclosure) -> Tensor:
        """(P + 1, G, F) the least margin with each addition.

        Args:
            own: (P,) the ranges of the activations without it.
        """
        against, favour = self._sides(own)
        least = torch.full_like(self.costs, torch.inf)
        for one, other in zip(against, favour, strict=True):
            torch.minimum(least, one[:, :, None] + other[:, None], out=least)
        return least

    def promising(self, own: Enclosure) -> Tensor:
        """(P,) bool, whether an activation may leave all margins positive with a further one, a ceiling and a floor.

        What the further one gains a margin after the first it would gain without it: no end is bounded twice. So the
        margin of both is at most that of the first and the most that any other gains.
        """
        against, favour = self._sides(own)
        most = torch.full_like(self.costs, torch.inf)
        for one, other in zip(against, favour, strict=True):
            margin = one[:, :, None] + other[:, None]
            torch.minimum(most, margin + (margin.amax(0) - margin[-1]), out=most)
        return (most[:-1] > -_SLACK).flatten(1).any(1)

    def places(self, own: Enclosure, within: Tensor | None) -> Tensor | None:
        """Where the least margin may be positive; None where these are too many to list.

        Args:
            own: (P,) the ranges of the activations without an addition.
            within: places outside of which it is not; None for all.
        """
        if within is None:
            found = (self.least(own).flatten() > -_SLACK).nonzero()[:, 0]
            return found if len(found) <= _MANY else None
        ceilings, floors = len(self.uppers), len(self.lowers)
        first, floor = within // floors, within % floors
        added, ceiling = first // ceilings, first % ceilings
        high, low = self._ends(own)
        against = torch.minimum(high[added], self.uppers[ceiling]) @ self.linear.negative[0]
        favour = torch.maximum(low[added], self.lowers[floor]) @ self.linear.positive[0]
        return within[(against + favour + self._fixed > -_SLACK).all(1)]

    def _ends(self, own: Enclosure) -> tuple[Tensor, Tensor]:
        """(P + 1, P) upper and lower ends with each activation and with none."""
        high = torch.minimum(torch.cat([self.table.upper, own.upper[None]]), own.upper)
        low = torch.maximum(torch.cat([self.table.lower, own.lower[None]]), own.lower)
        return high, low

    def _sides(self, own: Enclosure) -> tuple[Tensor, Tensor]:
        """(K, P + 1, G) and (K, P + 1, F), whose sums are the margins of the K rivals."""
        high, low = self._ends(own)
        against = torch.minimum(high[:, None], self.uppers) @ self.linear.negative[0]
        favour = torch.maximum(low[:, None], self.lowers) @ self.linear.positive[0]
        rivals = self._fixed.isfinite()  # and not the class itself, whose margin is infinite
        return (
            (against + self._fixed).movedim(-1, 0)[rivals].contiguous(),
            favour.movedim(-1, 0)[rivals].contiguous(),
        )

    @property
    def _fixed(self) -> Tensor:
        return (self.linear.bias - 2 * self.linear.error)[0]
