"""Explanations by statements about activations: what is stated, what can be dropped, and which sides are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import LinearMargins, TopK
from verale.certificate import ActivationStatement, Statement
from verale.rounding import Enclosure
from verale.search.fewest import Cover, FewestActivations
from verale.search.loosened import CEILING, FLOOR, Item, Loosened
from verale.search.problem import Problem
from verale.search.stated import Stated

__all__ = ["ActivationExplanation", "Activations"]

_KEPT = 0.5
"""The share of the least margin that stays when statements lose a side."""


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
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.observed = problem.stated_activations()[0]
        self._paradigm = TopK.of(problem.head, problem.patches)

    @property
    def range(self) -> Enclosure:
        """(P,) over the domain."""
        return self._paradigm.range

    @property
    def covering(self) -> FewestActivations | None:
        """The problem of finding the fewest statements; None where the readout is not linear."""
        margins = self.problem.margins
        if not isinstance(margins, LinearMargins):
            return None
        left = self.problem.avoid.prototypes_left(self.problem.head.size)
        return FewestActivations(margins, self.observed, self.range, left, self.problem.costs)

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
        return self._paradigm.box(stated.ends)

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
            ends = self._loosened(stated, exact)
            for item in items:
                ends.drop(item)
            left = ends.stated
            if self.least(left) > 0:
                break
        return left, ends.minimal

    def one_sided(self, stated: Stated) -> Stated:
        """Drop sides that are hardly needed: those whose loss, one after the other, leaves enough of the least margin.

        Soundness: E only gets weaker: a statement that was needed still is. What is left is proved.
        """
        kept, prototypes = _KEPT * self.least(stated), stated.prototypes
        for exact in (False, True):
            ends, sided = self._loosened(stated, exact), set[int]()
            sides = [(j, {"lower": is_lower, "upper": not is_lower}) for j in prototypes for is_lower in (False, True)]
            alone = [(ends.least(j, **side), j, side) for j, side in sides]
            for least, j, side in sorted(alone, key=lambda each: -each[0]):
                if least < kept:
                    break
                if j not in sided and ends.drop(j, kept, **side):
                    sided.add(j)
            left = ends.stated
            if self.least(left) > 0:
                break
        return left

    def _loosened(self, stated: Stated, exact: bool) -> Loosened:
        return Loosened(self.problem.margins, self.range, stated, exact)

    def explanation(self, stated: Stated, minimal: bool) -> ActivationExplanation:
        """The statements, with needless sides dropped, and the margins that they prove."""
        stated = self.one_sided(stated)
        return ActivationExplanation(list(stated.statements(ActivationStatement)), self.margins(stated), minimal)
