"""Clauses: the ceilings and floors that an image may have, and what follows from them for all activations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds.lipschitz import Lipschitz
from verale.rounding import Enclosure
from verale.search.costs import Costs

__all__ = ["Clause", "Clauses", "ClausesOf", "Level"]

_SPARSER = 4
"""Of the floors that exempt most prototypes one in so many is tried."""

Level = int | None
"""The index of a ceiling or of a floor; None for none."""


@dataclass(frozen=True, eq=False)
class Clause:
    """A ceiling or a floor.

    Attributes:
        end: no activation of a prototype that is not exempt exceeds it, or falls below it.
        exempt: (P,) bool.
        ends: (P,) upper or lower ends of all activations that follow.
    """

    end: float
    exempt: Tensor
    ends: Tensor

    @property
    def exempts(self) -> tuple[int, ...]:
        """The prototypes that are exempt."""
        return tuple(self.exempt.nonzero()[:, 0].tolist())


@dataclass(frozen=True, eq=False)
class Clauses:
    """At most one ceiling and at most one floor."""

    ceiling: Clause | None = None
    floor: Clause | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        return (self.ceiling is not None) + (self.floor is not None)

    def cost(self, costs: Costs) -> float:
        """What they cost."""
        return (self.ceiling is not None) * costs.ceiling + (self.floor is not None) * costs.floor

    def cut(self, box: Enclosure) -> Enclosure:
        """(P,) ranges of the activations, cut by what the clauses say."""
        return Enclosure.unchecked(
            box.lower if self.floor is None else torch.maximum(box.lower, self.floor.ends),
            box.upper if self.ceiling is None else torch.minimum(box.upper, self.ceiling.ends),
        )


class ClausesOf:
    """The clauses of one image; those that were asked for are known.

    Args:
        observed: (P,) the ends that statements about activations give.
        range: (P,) of the activations over the domain.
        lipschitz: how an activation bounds the others.

    Attributes:
        highest: the ends that a ceiling may have, increasing.
    """

    def __init__(self, observed: Enclosure, range: Enclosure, lipschitz: Lipschitz) -> None:
        self._observed, self._range, self._lipschitz = observed, range, lipschitz
        self.highest = torch.tensor(sorted(set(observed.upper.tolist())), dtype=torch.float64)
        self._lowest = torch.tensor(sorted(set(observed.lower.tolist())), dtype=torch.float64)
        self._ceilings: dict[int, Clause] = {}
        self._floors: dict[int, Clause] = {}

    @property
    def levels(self) -> tuple[list[Level], list[Level]]:
        """The ceilings and floors to try: none first, then the others, those that exempt few or many of them first."""
        high, low = len(self.highest), len(self._lowest)
        ceilings, floors = range(high - 1, (high - 1) // 2 - 1, -1), range(low - 1, -1, -1)
        return [None, *ceilings], [None, *floors[: low // 2], *floors[low // 2 :: _SPARSER]]

    def at(self, levels: tuple[Level, Level]) -> Clauses:
        """A ceiling and a floor by their levels."""
        ceiling, floor = levels
        self.know([] if ceiling is None else [ceiling], [] if floor is None else [floor])
        return Clauses(
            None if ceiling is None else self._ceilings[ceiling], None if floor is None else self._floors[floor]
        )

    def know(self, ceilings: Sequence[int], floors: Sequence[int]) -> None:
        """Find all clauses at some levels at once, which takes little longer than one."""
        if missing := [level for level in ceilings if level not in self._ceilings]:
            ends = self.highest[missing]
            self._ceilings |= zip(missing, self.ceilings_at(ends, self._observed.upper > ends[:, None]), strict=True)
        if missing := [level for level in floors if level not in self._floors]:
            ends = self._lowest[missing]
            self._floors |= zip(missing, self.floors_at(ends, self._observed.lower < ends[:, None]), strict=True)

    def ceilings_at(self, ends: Tensor, exempt: Tensor) -> list[Clause]:
        """Those with G ends (G,), and the prototypes (G, P) that each exempts."""
        high = torch.where(exempt, self._range.upper, self._range.upper.minimum(ends[:, None]))
        return list(map(Clause, ends.tolist(), exempt, self._lipschitz.most(high, exempt)))

    def floors_at(self, ends: Tensor, exempt: Tensor) -> list[Clause]:
        """The same of floors."""
        low = torch.where(exempt, self._range.lower, self._range.lower.maximum(ends[:, None]))
        return list(map(Clause, ends.tolist(), exempt, self._lipschitz.least(low, exempt)))
