"""What statements about activations say, and what they prove each by itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement
from verale.rounding import Enclosure
from verale.search.covers import Clauses, Cover, Covers
from verale.search.problem import Explanation, Problem


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

    def explanation(self, stated: Stated) -> Explanation:
        """The statements and the margins that they prove; whether they are needed is not asked."""
        return Explanation(list(stated.statements(ActivationStatement)), self.margins(stated), False)
