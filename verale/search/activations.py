"""Explanations by statements about activations: what is stated, what can be dropped, and which sides are needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import cast

import torch
from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement
from verale.rounding import Enclosure
from verale.search.covers import Clauses, Cover, Covers, one_by_one
from verale.search.problem import NOISE, Explanation, Problem

Item = int | str
"""A prototype whose activation is stated, or a clause: `CEILING` or `FLOOR`."""

CEILING, FLOOR = "ceiling", "floor"

_KEPT = 0.5
"""The share of the least margin that stays when statements lose a side."""

_DRIFT = 2
"""Estimated margins are off by at most so many of their rounding errors."""


@dataclass(frozen=True, eq=False)
class Stated:
    """What is stated of P numbers; an end that is infinite is free.

    Attributes:
        lower, upper: (P + 1,) the ends of each prototype's own statement; at P the floor and the ceiling.
        above, below: (P,) bool, which prototypes the floor and the ceiling are about.
    """

    lower: Tensor
    upper: Tensor
    above: Tensor
    below: Tensor

    @classmethod
    def box(cls, lower: Tensor, upper: Tensor) -> Stated:
        """One statement for each of P numbers, (P,) ends, and no clause."""
        free = lower.new_tensor([math.inf])
        nothing = torch.zeros_like(lower, dtype=torch.bool)
        return cls(torch.cat([lower, -free]), torch.cat([upper, free]), nothing, nothing)

    @classmethod
    def of(cls, statements: Sequence[Statement], size: int) -> Stated:
        """The ends of some statements about P = `size` prototypes, of one patch at most."""
        free = torch.full((size,), math.inf, dtype=torch.float64)
        stated = cls.box(-free, free)
        for each in statements:
            match each:
                case OrderStatement(exempt, upper):
                    stated.upper[size] = upper
                    stated.below[:] = True
                    stated.below[list(exempt)] = False
                case FloorStatement(exempt, lower):
                    stated.lower[size] = lower
                    stated = replace(stated, above=torch.ones_like(stated.above))
                    stated.above[list(exempt)] = False
                case ActivationStatement() | PatchStatement():
                    stated.lower[each.prototype], stated.upper[each.prototype] = each.lower, each.upper
        return stated

    @property
    def ends(self) -> Enclosure:
        """(P,) what all statements together say of each number."""
        floor, ceiling = self.clauses
        return Enclosure.unchecked(torch.maximum(self.lower[:-1], floor), torch.minimum(self.upper[:-1], ceiling))

    @property
    def clauses(self) -> tuple[Tensor, Tensor]:
        """(P,) what the floor and the ceiling alone say of each number."""
        return self.lower[-1].where(self.above, -math.inf), self.upper[-1].where(self.below, math.inf)

    @property
    def prototypes(self) -> list[int]:
        """Those with a statement of their own."""
        own: list[int] = (self.lower[:-1].isfinite() | self.upper[:-1].isfinite()).nonzero()[:, 0].tolist()
        return own

    @property
    def has_ceiling(self) -> bool:
        """Whether there is one."""
        return bool(self.upper[-1].isfinite())

    @property
    def has_floor(self) -> bool:
        """Whether there is one."""
        return bool(self.lower[-1].isfinite())

    @property
    def size(self) -> int:
        """How many statements these are."""
        return len(self.prototypes) + self.has_ceiling + self.has_floor

    def priced(self, lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor]:
        """Prices (C, P + 1) of the stated ends, from prices (C, P) of the numbers' ends.

        A number's end is that of its own statement or that of a clause, whichever is tighter; its price goes there. If
        the ends move outward, the tighter one moves by no more than the one that was priced.
        """
        floor, ceiling = self.clauses
        low, high = self.lower[:-1] >= floor, self.upper[:-1] <= ceiling
        return (
            torch.cat([lower * low, (lower * ~low).sum(1, keepdim=True)], 1),
            torch.cat([upper * high, (upper * ~high).sum(1, keepdim=True)], 1),
        )

    def around(self, numbers: Enclosure) -> Enclosure:
        """(P + 1,) how far inward each end may lie, if these numbers (P,) are to satisfy the statements."""
        floor = numbers.lower.where(self.above, math.inf).amin()
        ceiling = numbers.upper.where(self.below, -math.inf).amax()
        return Enclosure.unchecked(torch.cat([numbers.lower, floor[None]]), torch.cat([numbers.upper, ceiling[None]]))

    def under(self, ceiling: float, below: Tensor) -> Stated:
        """The same with a ceiling over some prototypes (P,), which over none says nothing."""
        end = self.upper.new_tensor([ceiling if bool(below.any()) else math.inf])
        return replace(self, upper=torch.cat([self.upper[:-1], end]), below=below)

    def over(self, floor: float, above: Tensor) -> Stated:
        """The same with a floor under some prototypes (P,), which under none says nothing."""
        end = self.lower.new_tensor([floor if bool(above.any()) else -math.inf])
        return replace(self, lower=torch.cat([self.lower[:-1], end]), above=above)

    def with_ends(self, lower: Tensor, upper: Tensor) -> Stated:
        """The same statements with other ends (P + 1,)."""
        return replace(self, lower=lower, upper=upper)

    def statements(self, own: Callable[[int, float, float], Statement]) -> tuple[Statement, ...]:
        """The statements with an end; `own` gives that of a prototype with its ends."""
        lower, upper = self.lower.tolist(), self.upper.tolist()
        said = [own(j, lower[j], upper[j]) for j in self.prototypes]
        if self.has_ceiling:
            said.append(OrderStatement(tuple((~self.below).nonzero()[:, 0].tolist()), upper[-1]))
        if self.has_floor:
            said.append(FloorStatement(tuple((~self.above).nonzero()[:, 0].tolist()), lower[-1]))
        return tuple(said)


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

    @property
    def highest_first(self) -> list[int]:
        """The prototypes that may be stated, the greatest activation first."""
        left = self.problem.avoid.prototypes_left(self.problem.head.size)
        return sorted(left, key=self.observed.upper.tolist().__getitem__, reverse=True)

    def smallest(self, start: Stated, order: list[int]) -> Explanation:
        """What is left of statements that entail the class.

        With costs it may also be left of all statements about activations that may be made, with the same clauses: from
        these, dropping the costliest first gives what an order asks for.

        Args:
            start: the statements.
            order: their prototypes, those that matter most first.
        """
        costs, starts = self.problem.costs, [(start, order)]
        if costs:
            everything = self.state(self.highest_first).under(float(start.upper[-1]), start.below)
            starts.append((everything.over(float(start.lower[-1]), start.above), self.highest_first))
        left = [self.shrunk(*each) for each in starts]
        return self.explanation(*min(left, key=lambda each: costs.total(each[0].statements(ActivationStatement))))

    def left_of(self, cover: Cover | None) -> Explanation | None:
        """What is left of a cover's statements; None where there is none, or where rounding leaves it short."""
        if cover is None:
            return None
        stated = self.cover(cover)
        return self.smallest(stated, cover.stated) if self.least(stated) > 0 else None

    def shrunk(self, stated: Stated, order: list[int]) -> tuple[Stated, bool]:
        """Drop each statement if the class still follows without it: the clauses first, then the last prototypes first;
        with costs, the costliest first. See `without_needless`."""
        costs, each = self.problem.costs, self.problem.costs.of_prototypes(self.problem.head.size)
        items: list[tuple[float, Item]] = [(costs.ceiling, CEILING), (costs.floor, FLOOR)]
        items += [(each[j], j) for j in reversed(order)]
        return self.without_needless(stated, [item for _, item in sorted(items, key=lambda item: -item[0])])

    def without_needless(self, stated: Stated, items: Sequence[Item]) -> tuple[Stated, bool]:
        """Drop each of some items, one after the other, if the class still follows without it.

        Returns:
            What is left, and whether everything that was tried and is left is needed: without it, the bounds miss the
            class by more than rounding can explain.

        Soundness: bounds are monotone in E, so one pass leaves nothing that can be dropped. What is left is proved;
        where that fails, each deletion is.
        """
        left, without = self._dropped(stated, items, self._adds_up)
        if self._adds_up and not self.least(left) > 0:
            left, without = self._dropped(stated, items, False)
        return left, all(least < -NOISE * self._error - self._drift for least in without)

    def _dropped(self, stated: Stated, items: Sequence[Item], together: bool) -> tuple[Stated, list[float]]:
        """What is left, and the least margins, or more, without each of the items that were tried and are left.

        Args:
            together: whether statements about prototypes are tried by sums of what each adds.
        """
        made: set[Item] = {*stated.prototypes, *[CEILING] * stated.has_ceiling, *[FLOOR] * stated.has_floor}
        without: list[float] = []
        for adds, group in groupby(filter(made.__contains__, items), lambda item: together and isinstance(item, int)):
            if adds:
                own = self.problem.index(cast(list[int], list(group)))
                lost = self._lost(stated, own, True) + self._lost(stated, own, False)
                gone, margins = one_by_one(self.margins(stated), lost, self._drift)
                stated = _without(stated, own[gone])
                without += (margins - lost[~gone]).amin(1).tolist()
                continue
            for item in group:
                fewer = _without(stated, item)
                least = self.least(fewer)
                if least > 0:
                    stated = fewer
                else:
                    without.append(least)
        return stated, without

    def one_sided(self, stated: Stated) -> Stated:
        """Drop sides that are hardly needed: of each statement the side whose loss leaves more, those first that leave
        most, as long as enough of the least margin stays.

        Soundness: E only gets weaker: a statement that was needed still is. What is left is proved.
        """
        margins, own = self.margins(stated), self.problem.index(stated.prototypes)
        kept = _KEPT * float(margins.amin())
        if not len(own):
            return stated
        lost = torch.stack([self._lost(stated, own, lower) for lower in (False, True)])
        least, lower = (margins - lost).amin(2).max(0)
        order = least.argsort(descending=True, stable=True)
        own, lower, lost = own[order], lower[order] > 0, lost[lower, torch.arange(len(own))][order]
        gone, _ = one_by_one(margins, lost, kept + self._drift)
        own, lower = own[gone], lower[gone]
        while len(own):  # where margins are no sums, fewer go than each alone could
            sided = _without(_without(stated, own[lower], upper=False), own[~lower], lower=False)
            if self.least(sided) >= kept:
                return sided
            own, lower = own[: len(own) // 2], lower[: len(own) // 2]
        return stated

    @property
    def _error(self) -> float:
        """How much rounding may lower a margin."""
        return float(self.problem.margins.error[0].amax())

    @property
    def _drift(self) -> float:
        """By how much sums of what statements add may be off."""
        return _DRIFT * self._error if self._adds_up else 0.0

    def _lost(self, stated: Stated, own: Tensor, lower: bool) -> Tensor:
        """(S, C) by how much the margins fall without one side of each of some statements (S,) alone."""
        floor, ceiling = stated.clauses
        box, low, high = self.box(stated), self.range.lower.maximum(floor), self.range.upper.minimum(ceiling)
        linear = self.problem.margins
        if self._adds_up and isinstance(linear, LinearMargins):
            rise, fall = (box.lower - low)[own, None], (box.upper - high)[own, None]
            return rise * linear.positive[0, own] if lower else fall * linear.negative[0, own]
        ends, row = [end.repeat(len(own), 1) for end in (box.lower, box.upper)], torch.arange(len(own))
        ends[0 if lower else 1][row, own] = (low if lower else high)[own]
        lost = self.margins(stated) - linear.lower(Enclosure.unchecked(*ends)[None])[0]
        return lost.nan_to_num(0.0, math.inf, 0.0)

    @cached_property
    def _adds_up(self) -> bool:
        """Whether margins are sums of what each statement adds: the readout is linear, and all activations are bounded
        over the domain."""
        bounded = self.range.lower.isfinite().all() and self.range.upper.isfinite().all()
        return isinstance(self.problem.margins, LinearMargins) and bool(bounded)

    def explanation(self, stated: Stated, minimal: bool) -> Explanation:
        """The statements, with needless sides dropped, and the margins that they prove."""
        stated = self.one_sided(stated)
        return Explanation(list(stated.statements(ActivationStatement)), self.margins(stated), minimal)


def _without(stated: Stated, item: Item | Tensor, lower: bool = True, upper: bool = True) -> Stated:
    """The same without a clause, or without the statements about some prototypes (S,), or one of their sides."""
    low, high = stated.lower.clone(), stated.upper.clone()
    if isinstance(item, str):
        where: int | Tensor = -1
        lower, upper = item == FLOOR, item == CEILING
    else:
        where = item
    if lower:
        low[where] = -math.inf
    if upper:
        high[where] = math.inf
    return stated.with_ends(low, high)
