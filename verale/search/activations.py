"""Explanations by statements about activations: what is stated, what can be dropped, and which sides are needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from verale.bounds import LinearMargins, TopK
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, Statement
from verale.rounding import Enclosure
from verale.search.fewest import Cover, FewestActivations
from verale.search.problem import NOISE, Problem

__all__ = ["ActivationExplanation", "Activations", "StatedActivations", "Trial"]

_AT_ONCE = 256
"""How many boxes are bounded at once."""

_MOST_COLUMNS = 2**13
"""Of a linear programme."""

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

    def without_single(self, prototype: int, lower: bool = True, upper: bool = True) -> StatedActivations:
        """Without the lower or the upper end that is stated of one activation, or without both."""
        return replace(self, single=_without(self.single, prototype, lower, upper))

    def without_clause(self, lower: bool) -> StatedActivations:
        """Without the floor, or without the ceiling."""
        return replace(self, clauses=_without(self.clauses, slice(None), lower, not lower))


def _without(ends: Enclosure, where: int | slice, lower: bool, upper: bool) -> Enclosure:
    low, high = ends.lower.clone(), ends.upper.clone()
    if lower:
        low[where] = -torch.inf
    if upper:
        high[where] = torch.inf
    return Enclosure(low, high)


Trial = Callable[[StatedActivations], StatedActivations]
"""What drops something of what is stated."""


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
        """The problem of finding the fewest statements; None where the readout is not linear, or HiGHS would take
        minutes."""
        margins = self.problem.margins
        if not isinstance(margins, LinearMargins) or self.problem.head.size > _MOST_COLUMNS:
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

        Soundness: bounds are monotone in E, so one pass leaves nothing that can be dropped; every deletion is proved.
        """
        costs, each = self.problem.costs, self.problem.costs.of_prototypes(self.problem.head.size)
        trials: list[tuple[float, Trial]] = [
            (costs.ceiling, partial(StatedActivations.without_clause, lower=False)),
            (costs.floor, partial(StatedActivations.without_clause, lower=True)),
            *((each[j], partial(StatedActivations.without_single, prototype=j)) for j in reversed(order)),
        ]
        return self.without_needless(stated, [trial for _, trial in sorted(trials, key=lambda trial: -trial[0])])

    def without_needless(self, stated: StatedActivations, trials: Sequence[Trial]) -> tuple[StatedActivations, bool]:
        """Drop what each of some trials drops, one after the other, if the class still follows without it.

        Returns:
            What is left, and whether everything that was tried and is left is needed: see `shrunk`.
        """
        minimal, noise = True, NOISE * float(self.problem.margins.error[0].amax())
        for without in trials:
            trial = without(stated)
            if trial.size == stated.size:
                continue
            least = self.least(trial)
            if least > 0:
                stated = trial
            else:
                minimal &= least < -noise
        return stated, minimal

    def one_sided(self, stated: StatedActivations) -> StatedActivations:
        """Drop sides that are hardly needed: those whose loss, one after the other, leaves enough of the least margin.

        Soundness: every change is proved, and E only gets weaker: a statement that was needed still is.
        """
        kept = _KEPT * self.least(stated)
        sides = [(j, is_lower) for j in stated.prototypes for is_lower in (False, True)]
        trials = [self._after(stated, sides[i : i + _AT_ONCE]) for i in range(0, len(sides), _AT_ONCE)]
        alone = [least for chunk in trials for least in chunk]
        sided: set[int] = set()
        for (j, is_lower), least in sorted(zip(sides, alone, strict=True), key=lambda side: -side[1]):
            if least < kept:
                break
            trial = stated.without_single(j, lower=is_lower, upper=not is_lower)
            if j not in sided and self.least(trial) >= kept:
                stated = trial
                sided.add(j)
        return stated

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

    def _after(self, stated: StatedActivations, sides: list[tuple[int, bool]]) -> list[float]:
        """The least margin without each of some sides alone."""
        ends, clauses = stated.ends, stated.clauses
        lower, upper = (end.expand(len(sides), -1).clone() for end in (ends.lower, ends.upper))
        for row, (j, is_lower) in enumerate(sides):
            if is_lower:
                lower[row, j] = clauses.lower[j]
            else:
                upper[row, j] = clauses.upper[j]
        margins = self.problem.margins.lower(self._paradigm.box(Enclosure(lower, upper))[None])
        least: list[float] = margins[0].amin(1).tolist()
        return least


def _infinite(ends: Tensor) -> tuple[int, ...]:
    """The prototypes that a clause exempts."""
    return tuple(ends.isinf().nonzero()[:, 0].tolist())
