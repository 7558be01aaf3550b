"""Explanations by statements about activations: what is stated, what can be dropped, and which sides are needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds import LinearMargins, TopK
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.rounding import Enclosure
from verale.search.fewest import Cover, FewestActivations
from verale.search.loosened import CEILING, FLOOR, Item, Loosened
from verale.search.problem import Problem

__all__ = ["ActivationExplanation", "Activations", "StatedActivations"]

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


@dataclass(frozen=True, eq=False)
class StatedActivations:
    """What an explanation states about the activations of one image; all ends are (P,), infinite where nothing is.

    Attributes:
        single: the ends that statements about single activations give.
        clauses: the ceiling as upper ends, the floor as lower ends; infinite for the prototypes that they exempt.
    """

    single: Enclosure
    clauses: Enclosure

    @property
    def prototypes(self) -> list[int]:
        """Those with a statement of their own."""
        stated = (self.single.lower > -torch.inf) | (self.single.upper < torch.inf)
        return [int(j) for j in stated.nonzero()[:, 0]]

    @property
    def size(self) -> int:
        """The number of statements."""
        single, clauses = self.single, self.clauses
        stated = (single.lower > -torch.inf) | (single.upper < torch.inf)
        return int(stated.sum() + (clauses.lower > -torch.inf).any() + (clauses.upper < torch.inf).any())

    @property
    def ends(self) -> Enclosure:
        """(P,) everything together."""
        return Enclosure(
            torch.maximum(self.single.lower, self.clauses.lower), torch.minimum(self.single.upper, self.clauses.upper)
        )


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

    def state(
        self, prototypes: list[int], upper: Tensor | None = None, lower: Tensor | None = None
    ) -> StatedActivations:
        """The statements about some activations, and clauses with the ends (P,) `upper` and `lower`."""
        nothing = torch.full_like(self.observed.lower, torch.inf)
        stated = torch.zeros_like(nothing, dtype=torch.bool)
        stated[prototypes] = True
        return StatedActivations(
            Enclosure(
                torch.where(stated, self.observed.lower, -nothing), torch.where(stated, self.observed.upper, nothing)
            ),
            Enclosure(-nothing if lower is None else lower, nothing if upper is None else upper),
        )

    def cover(self, cover: Cover) -> StatedActivations:
        """What a cover states. A clause exempts just the activations for which it would not be true."""
        low, high = self.observed.lower, self.observed.upper
        return self.state(
            cover.stated,
            torch.full_like(high, cover.ceiling).masked_fill(high > cover.ceiling, torch.inf),
            torch.full_like(low, cover.floor).masked_fill(low < cover.floor, -torch.inf),
        )

    def box(self, stated: StatedActivations) -> Enclosure:
        """(P,) bounds of the activations."""
        return self._paradigm.box(stated.ends)

    def margins(self, stated: StatedActivations) -> Tensor:
        """(C,) proved margins."""
        return self.problem.margins.lower(self.box(stated)[None, None])[0, 0]

    def least(self, stated: StatedActivations) -> float:
        """The least of them."""
        return float(self.margins(stated).amin())

    def cost(self, stated: StatedActivations) -> float:
        """What the statements cost; their number, where they have no costs."""
        costs = self.problem.costs
        each = costs.of_prototypes(self.problem.head.size)
        ceiling, floor = (stated.clauses.upper < torch.inf).any(), (stated.clauses.lower > -torch.inf).any()
        return math.fsum([*map(each.__getitem__, stated.prototypes), costs.ceiling * ceiling, costs.floor * floor])

    def smallest(self, starts: list[tuple[StatedActivations, list[int]]], cover: Cover | None) -> ActivationExplanation:
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
            starts = [*starts, self._everything(starts[-1][0].clauses)]
        return self.explanation(*min((self.shrunk(*start) for start in starts), key=lambda left: self.cost(left[0])))

    def _everything(self, clauses: Enclosure) -> tuple[StatedActivations, list[int]]:
        """All statements about activations that may be made, the greatest activation first, and some clauses."""
        left = self.problem.avoid.prototypes_left(self.problem.head.size)
        order = sorted(left, key=self.observed.upper.tolist().__getitem__, reverse=True)
        return self.state(order, clauses.upper, clauses.lower), order

    def shrunk(self, stated: StatedActivations, order: list[int]) -> tuple[StatedActivations, bool]:
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

    def without_needless(self, stated: StatedActivations, items: Sequence[Item]) -> tuple[StatedActivations, bool]:
        """Drop each of some items, one after the other, if the class still follows without it.

        Returns:
            What is left, and whether everything that was tried and is left is needed: see `shrunk`.
        """
        for exact in (False, True):
            ends = self._loosened(stated, exact)
            for item in items:
                ends.drop(item)
            left = StatedActivations(ends.single, ends.clauses)
            if self.least(left) > 0:
                break
        return left, ends.minimal

    def one_sided(self, stated: StatedActivations) -> StatedActivations:
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
            left = StatedActivations(ends.single, ends.clauses)
            if self.least(left) > 0:
                break
        return left

    def _loosened(self, stated: StatedActivations, exact: bool) -> Loosened:
        return Loosened(self.problem.margins, self.range, stated.single, stated.clauses, exact)

    def explanation(self, stated: StatedActivations, minimal: bool) -> ActivationExplanation:
        """The statements, with needless sides dropped, and the margins that they prove."""
        stated = self.one_sided(stated)
        single = list(zip(stated.single.lower.tolist(), stated.single.upper.tolist(), strict=True))
        statements: list[Statement] = [ActivationStatement(j, *single[j]) for j in stated.prototypes]
        upper, lower = stated.clauses.upper, stated.clauses.lower
        if bool((upper < torch.inf).any()):
            statements.append(OrderStatement(_infinite(upper), float(upper.amin())))
        if bool((lower > -torch.inf).any()):
            statements.append(FloorStatement(_infinite(lower), float(lower.amax())))
        return ActivationExplanation(statements, self.margins(stated), minimal)


def _infinite(ends: Tensor) -> tuple[int, ...]:
    """The prototypes that a clause exempts."""
    return tuple(ends.isinf().nonzero()[:, 0].tolist())
