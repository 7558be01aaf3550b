"""Explanations by statements about activations: what is stated, what can be dropped, and which sides are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.certificate import ActivationStatement, Statement
from verale.rounding import Enclosure
from verale.search.covers import Clauses, Cover, Covers
from verale.search.problem import NOISE, Problem
from verale.search.stated import Stated

__all__ = ["CEILING", "FLOOR", "ActivationExplanation", "Activations", "Item"]

Item = int | str
"""A prototype whose activation is stated, or a clause: `CEILING` or `FLOOR`."""

CEILING, FLOOR = "ceiling", "floor"

_KEPT = 0.5
"""The share of the least margin that stays when statements lose a side."""

_DRIFT = 2
"""Estimated margins are off by at most so many of their rounding errors."""


@dataclass(frozen=True)
class ActivationExplanation:
    """An explanation by statements about activations.

    Attributes:
        statements: those about single activations first, then the clauses.
        margins: (C,) proved.
        minimal: whether every statement is needed: without it, the bounds miss the class by more than rounding can
            explain.
    """

    statements: list[Statement]
    margins: Tensor
    minimal: bool


class Activations:
    """The activations of one image, and what statements about them prove.

    Attributes:
        problem: the image.
        observed: (P,) the ends that statements give.
        range: (P,) over the domain.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.observed = problem.stated_activations()[0]
        self.range = activation_range(problem.head, problem.patches)

    @cached_property
    def covers(self) -> Covers | None:
        """The search for the fewest statements; None where the readout is not linear."""
        margins = self.problem.margins
        if not isinstance(margins, LinearMargins):
            return None
        return Covers(margins, self.observed, self.problem.prototypes_left, self.problem.costs)

    @property
    def clauses(self) -> Clauses:
        """What ceilings and floors leave to the activations."""
        return Clauses.alone(self.observed, self.range)

    def state(self, prototypes: list[int]) -> Stated:
        """The statements about some activations."""
        stated = torch.zeros_like(self.observed.lower, dtype=torch.bool)
        stated[prototypes] = True
        return Stated.box(
            self.observed.lower.masked_fill(~stated, -torch.inf), self.observed.upper.masked_fill(~stated, torch.inf)
        )

    def cover(self, cover: Cover) -> Stated:
        """What a cover states. A clause exempts just the activations for which it would not be true."""
        stated = self.state(cover.stated).under(cover.ceiling, self.observed.upper <= cover.ceiling)
        return stated.over(cover.floor, self.observed.lower >= cover.floor)

    def box(self, stated: Stated) -> Enclosure:
        """(P,) bounds of the activations."""
        return self.range.intersect(stated.ends)

    def margins(self, stated: Stated) -> Tensor:
        """(C,) proved margins."""
        return self.problem.margins.lower(self.box(stated)[None, None])[0, 0]

    def least(self, stated: Stated) -> float:
        """The least of them."""
        return float(self.margins(stated).amin())

    def cost(self, stated: Stated) -> float:
        """What the statements cost; their number, where they have no costs."""
        costs = self.problem.costs
        each = costs.of_prototypes(self.problem.head.size)
        clauses = costs.ceiling * stated.has_ceiling, costs.floor * stated.has_floor
        return math.fsum([*map(each.__getitem__, stated.prototypes), *clauses])

    def smallest(self, starts: list[tuple[Stated, list[int]]], cover: Cover | None) -> ActivationExplanation:
        """The cheapest explanation that is left of some that entail the class, and of a cover.

        With costs it may also be left of all statements about activations that may be made, with the cover's clauses:
        from these, dropping the costliest first gives what an order asks for.

        Args:
            starts: what each states, and the prototypes in the order in which they matter.
            cover: an estimate, tried too if it is proved.
        """
        if cover is not None and self.least(self.cover(cover)) > 0:
            starts = [*starts, (self.cover(cover), cover.stated)]
        if self.problem.costs:
            starts = [*starts, self._everything(starts[-1][0])]
        return self.explanation(*min((self.shrunk(*start) for start in starts), key=lambda left: self.cost(left[0])))

    def _everything(self, start: Stated) -> tuple[Stated, list[int]]:
        """All statements about activations that may be made, the greatest activation first, and a start's clauses."""
        left = self.problem.avoid.prototypes_left(self.problem.head.size)
        order = sorted(left, key=self.observed.upper.tolist().__getitem__, reverse=True)
        stated = self.state(order)
        return stated.under(float(start.upper[-1]), start.below).over(float(start.lower[-1]), start.above), order

    def shrunk(self, stated: Stated, order: list[int]) -> tuple[Stated, bool]:
        """Drop each statement if the class still follows without it: the clauses first, then the last prototypes first;
        with costs, the costliest first.

        Returns:
            What is left, and whether every statement is needed: without it, the bounds miss the class by more than
            rounding can explain.

        Soundness: bounds are monotone in E, so one pass leaves nothing that can be dropped. What is left is proved;
        where that fails, each deletion is.
        """
        costs, each = self.problem.costs, self.problem.costs.of_prototypes(self.problem.head.size)
        items: list[tuple[float, Item]] = [(costs.ceiling, CEILING), (costs.floor, FLOOR)]
        items += [(each[j], j) for j in reversed(order)]
        return self.without_needless(stated, [item for _, item in sorted(items, key=lambda item: -item[0])])

    def without_needless(self, stated: Stated, items: Sequence[Item]) -> tuple[Stated, bool]:
        """Drop each of some items, one after the other, if the class still follows without it.

        Returns:
            What is left, and whether everything that was tried and is left is needed: see `shrunk`.
        """
        for exact in (False, True):
            left, minimal, margins = stated, True, self.margins(stated)
            for item in items:
                fewer = _without(left, item)
                if fewer is None:
                    continue
                after, drift = self._after(left, fewer, item, margins, exact)
                if float(after.amin()) > drift:
                    left, margins = fewer, after
                else:
                    minimal &= float(after.amin()) < -NOISE * self._error - drift
            if self.least(left) > 0:
                break
        return left, minimal

    def one_sided(self, stated: Stated) -> Stated:
        """Drop sides that are hardly needed: those whose loss, one after the other, leaves enough of the least margin.

        Soundness: E only gets weaker: a statement that was needed still is. What is left is proved.
        """
        margins = self.margins(stated)
        kept = _KEPT * float(margins.amin())
        sides = [(j, lower) for j in stated.prototypes for lower in (False, True)]
        for exact in (False, True):
            alone = []
            for j, lower in sides:
                fewer = _without(stated, j, lower, not lower)
                if fewer is not None:
                    after, _ = self._after(stated, fewer, j, margins, exact)
                    alone.append((float(after.amin()), j, lower))
            left, now, sided = stated, margins, set[int]()
            for least, j, lower in sorted(alone, key=lambda each: -each[0]):
                if least < kept or j in sided:
                    continue
                fewer = _without(left, j, lower, not lower)
                if fewer is not None:
                    after, drift = self._after(left, fewer, j, now, exact)
                    if float(after.amin()) > kept + drift:
                        left, now = fewer, after
                        sided.add(j)
            if self.least(left) > 0:
                break
        return left

    @property
    def _error(self) -> float:
        """How much rounding may lower a margin."""
        return float(self.problem.margins.error[0].amax())

    def _after(self, stated: Stated, fewer: Stated, item: Item, margins: Tensor, exact: bool) -> tuple[Tensor, float]:
        """(C,) the margins without an item, and by how much they may be off.

        Of a linear readout every margin is a sum over the ends, so that one statement moves it by two products. Sums
        that move often are estimates, unless they are to be `exact`.
        """
        linear = self.problem.margins
        if exact or not isinstance(item, int) or not isinstance(linear, LinearMargins) or not self._is_bounded:
            return self.margins(fewer), 0.0
        before, after = (self._of_one(each, item) for each in (stated, fewer))
        lost = (after[0] - before[0]) * linear.positive[0, item] + (after[1] - before[1]) * linear.negative[0, item]
        return margins + lost, _DRIFT * self._error

    def _of_one(self, stated: Stated, prototype: int) -> tuple[float, float]:
        """The ends of one activation."""
        lower, upper = [self.range.lower[prototype], stated.lower[prototype]], [self.range.upper[prototype]]
        upper.append(stated.upper[prototype])
        if stated.above[prototype]:
            lower.append(stated.lower[-1])
        if stated.below[prototype]:
            upper.append(stated.upper[-1])
        return float(max(lower)), float(min(upper))

    @cached_property
    def _is_bounded(self) -> bool:
        """Whether all activations are over the domain."""
        return bool(self.range.lower.isfinite().all() and self.range.upper.isfinite().all())

    def explanation(self, stated: Stated, minimal: bool) -> ActivationExplanation:
        """The statements, with needless sides dropped, and the margins that they prove."""
        stated = self.one_sided(stated)
        return ActivationExplanation(list(stated.statements(ActivationStatement)), self.margins(stated), minimal)


def _without(stated: Stated, item: Item, lower: bool = True, upper: bool = True) -> Stated | None:
    """The same without an item, or without one of its ends; None where it is not stated."""
    where = item if isinstance(item, int) else len(stated.below)
    lower, upper = lower and item != CEILING, upper and item != FLOOR
    is_stated = lower and bool(stated.lower[where] > -math.inf), upper and bool(stated.upper[where] < math.inf)
    if not any(is_stated):
        return None
    low, high = stated.lower.clone(), stated.upper.clone()
    if lower:
        low[where] = -math.inf
    if upper:
        high[where] = math.inf
    return stated.with_ends(low, high)
