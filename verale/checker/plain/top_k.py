"""The paradigms `top_k` and `sparse`: the activations' ranges over the domain, cut by what is stated about them.

**Rule.** An activation lies in its range over the domain and in its stated interval; one that the order clause does not
exempt is at most the clause's `upper`, and one that the floor does not exempt is at least the floor's `lower`. *Proof.*
All of these hold, so the intersection does. Rounded inward, each lies within the real one, so the intersection lies
within the real one, which is empty only if that is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import le

from ..certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement
from ..dyadic import ceil_at, floor_at
from .pooling import Pooling
from .similarity import Box
from .space import Ranges, Space

__all__ = ["TopK"]


class TopK:
    """Activations, given statements about activations. Every patch has the ranges of the domain."""

    def __init__(self, space: Space) -> None:
        self._bits = space.bits
        self._space = space

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements."""
        return self.cut(self._over(self._space.domain, patches, False), statements)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """For each statement its index and the activations' ranges given all the others, rounded inward; None where one
        may be empty. No two statements are about one activation, as in a certificate."""
        domain = self.within(patches)
        clauses = [each for each in statements if not isinstance(each, ActivationStatement)]
        by_clauses, whole = domain and self.cut(domain, clauses), domain and self.cut(domain, statements)
        for index, statement in enumerate(statements):
            box = domain
            if by_clauses and whole and isinstance(statement, ActivationStatement):
                # Only the range of its own activation is another one without it, and that is what the clauses leave.
                j = statement.prototype
                lower, upper = whole.lower.copy(), whole.upper.copy()
                lower[j], upper[j] = by_clauses.lower[j], by_clauses.upper[j]
                box = replace(whole, lower=lower, upper=upper)
            elif domain:
                box = self.cut(domain, [*statements[:index], *statements[index + 1 :]])
            yield index, box if box and all(map(le, box.lower, box.upper)) else None

    def within(self, patches: int) -> Box | None:
        """The activations' ranges over the domain, rounded inward; None where one may be empty."""
        within = self._space.within
        if within is None:
            return None
        domain = self._over(within, patches, True)
        return domain if all(map(le, domain.lower, domain.upper)) else None

    def cut(self, domain: Box, statements: Sequence[Statement]) -> Box:
        """What is left of the activations' ranges over the domain; rounded as these are."""
        lowest, highest = (ceil_at, floor_at) if domain.inward else (floor_at, ceil_at)
        lower, upper = list(domain.lower), list(domain.upper)
        for statement in statements:
            match statement:
                case PatchStatement():
                    raise ValueError("a statement about a patch does not belong to top_k")
                case OrderStatement():
                    most = highest(statement.upper, self._bits)
                    exempt = set(statement.exempt)
                    upper = [high if j in exempt else min(high, most) for j, high in enumerate(upper)]
                case FloorStatement():
                    least = lowest(statement.lower, self._bits)
                    exempt = set(statement.exempt)
                    lower = [low if j in exempt else max(low, least) for j, low in enumerate(lower)]
                case _:
                    j = statement.prototype
                    if statement.lower is not None:
                        lower[j] = max(lower[j], lowest(statement.lower, self._bits))
                    if statement.upper is not None:
                        upper[j] = min(upper[j], highest(statement.upper, self._bits))
        return Box(lower, upper, self._bits, domain.inward)

    def _over(self, ranges: Ranges, patches: int, inward: bool) -> Box:
        """The activations' ranges, for that many patches with these ranges of observables."""
        pooling = Pooling(self._space, inward)
        return pooling.box(pooling.unstated(ranges, (), patches))
