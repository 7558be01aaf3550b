"""Linked: whether the class may follow without one of the statements of an explanation by activations.

The bounds of `top_k` and `sparse` take activations one by one, and so do the reference ranges by which minimality is
defined. But an activation bounds those of prototypes that lie near its own (`verale.bounds.lipschitz`), and the proved
checker uses that under every paradigm. So it may prove the class without a statement that the reference ranges need.
Such an explanation does not claim minimality.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from verale.bounds import TopK, margins_of
from verale.bounds.lipschitz import Lipschitz
from verale.certificate import Statement
from verale.errors import UsageError
from verale.head import Head
from verale.rounding import Enclosure
from verale.search.problem import NOISE
from verale.search.stated import Stated

__all__ = ["Linked"]


class Linked:
    """What statements about activations of one head prove together, of images of L patches.

    Args:
        head: the head.
        patches: L.

    Raises:
        UsageError: activations of this head say nothing of each other.
    """

    def __init__(self, head: Head, patches: int) -> None:
        self._lipschitz = Lipschitz(head)
        self._head, self._patches, self._range = head, patches, TopK.of(head, patches).range

    @classmethod
    def of(cls, head: Head, patches: int) -> Linked | None:
        """The same; None where activations say nothing of each other."""
        try:
            return cls(head, patches)
        except UsageError:
            return None

    def may_lose_one(self, predicted: int, statements: Sequence[Statement]) -> bool:
        """Whether the class may follow without one of the statements, also for a checker that rounds less.

        Args:
            predicted: the class.
            statements: an explanation by activations, as it is written.
        """
        stated = Stated.of(statements, self._head.size)
        margins = margins_of(self._head, torch.tensor([predicted]), self._patches)
        least = -NOISE * float(margins.error[0].amax())

        def proves(boxes: Enclosure) -> Tensor:
            return (margins.lower(boxes[None])[0] > least).all(1)

        fewer = [_without(stated, stated.prototypes[index]) for index in _true(proves(self._within_each(stated)))]
        fewer += [replace(stated, upper=_with_last(stated.upper, math.inf))] * stated.has_ceiling
        fewer += [replace(stated, lower=_with_last(stated.lower, -math.inf))] * stated.has_floor
        return any(bool(proves(self.box(each)[None])) for each in fewer)

    def box(self, stated: Stated) -> Enclosure:
        """(P,) ranges of the activations: those over the domain, cut by what is stated of each, and by what one other
        activation says of it.

        Soundness: the Lipschitz rule, from ranges that hold.
        """
        every = Enclosure.cat([self._without_own(stated)[None], self._rows(stated)])
        return Enclosure.unchecked(every.lower.amax(0), every.upper.amin(0))

    def _within_each(self, stated: Stated) -> Enclosure:
        """(S, P) boxes without the statement about each of S activations, or tighter: what the lost one says of those
        that a clause exempts is not taken away."""
        rows, alone = self._rows(stated), self._without_own(stated)
        if len(rows.lower) < 2:
            return Enclosure.unchecked(*(end.expand(len(rows.lower), -1) for end in (alone.lower, alone.upper)))
        lower, upper = -_least_of_others(-rows.lower), _least_of_others(rows.upper)
        return Enclosure.unchecked(torch.maximum(lower, alone.lower), torch.minimum(upper, alone.upper))

    def _rows(self, stated: Stated) -> Enclosure:
        """(S, P) what each statement about one activation says of all, its own among them."""
        own = torch.zeros_like(stated.below)
        own[stated.prototypes] = True
        return self._lipschitz.ranges(self._range.intersect(stated.ends), own)

    def _without_own(self, stated: Stated) -> Enclosure:
        """(P,) ranges by the domain and the clauses; those that a clause exempts are cut by what all others say."""
        floor, ceiling = stated.clauses
        known = self._range.intersect(stated.ends)
        lower, upper = torch.maximum(self._range.lower, floor), torch.minimum(self._range.upper, ceiling)
        if stated.has_ceiling:
            upper = torch.minimum(upper, self._lipschitz.most_by_others(known.upper, ~stated.below))
        if stated.has_floor:
            lower = torch.maximum(lower, self._lipschitz.least_by_others(known.lower, ~stated.above))
        return Enclosure.unchecked(lower, upper)


def _least_of_others(rows: Tensor) -> Tensor:
    """(S, P) for each row the least of all others."""
    two = rows.topk(2, dim=0, largest=False)
    is_least = torch.arange(len(rows))[:, None] == two.indices[0]
    return torch.where(is_least, two.values[1], two.values[0])


def _without(stated: Stated, prototype: int) -> Stated:
    lower, upper = stated.lower.clone(), stated.upper.clone()
    lower[prototype], upper[prototype] = -math.inf, math.inf
    return stated.with_ends(lower, upper)


def _with_last(ends: Tensor, end: float) -> Tensor:
    return torch.cat([ends[:-1], ends.new_tensor([end])])


def _true(values: Tensor) -> list[int]:
    indices: list[int] = values.nonzero()[:, 0].tolist()
    return indices
