"""The paradigms `top_k` and `sparse`: the activations' ranges over the domain, cut by what is stated about them.

**Rule.** An activation lies in its range over the domain and in its stated interval; one that the order clause does not
exempt is at most the clause's `upper`. *Proof.* All of these hold, so the intersection does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..certificate import OrderStatement, PatchStatement, Statement
from ..dyadic import ceil_at, floor_at
from .pooling import pooling_of, unstated
from .similarity import Box
from .space import Space

__all__ = ["TopK"]


class TopK:
    """Activations, given statements about activations. Every patch has the ranges of the domain."""

    def __init__(self, space: Space) -> None:
        self._bits = space.bits
        self._space = space
        self._pooling = pooling_of(space)
        self._domains: dict[int, Box] = {}

    def box(self, statements: Sequence[Statement], patches: int) -> Box:
        """The activations' enclosures, given the statements."""
        domain = self._domain(patches)
        lower, upper = list(domain.lower), list(domain.upper)
        for statement in statements:
            match statement:
                case PatchStatement():
                    raise ValueError("a statement about a patch does not belong to top_k")
                case OrderStatement():
                    most = ceil_at(statement.upper, self._bits)
                    exempt = set(statement.exempt)
                    upper = [high if j in exempt else min(high, most) for j, high in enumerate(upper)]
                case _:
                    j = statement.prototype
                    lower[j] = max(lower[j], floor_at(statement.lower, self._bits))
                    upper[j] = min(upper[j], ceil_at(statement.upper, self._bits))
        return Box(lower, upper, self._bits)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box]]:
        """For each statement its index and the enclosures given all the others."""
        for index in range(len(statements)):
            yield index, self.box([*statements[:index], *statements[index + 1 :]], patches)

    def _domain(self, patches: int) -> Box:
        """The activations' enclosures over the domain, for that many patches."""
        if patches not in self._domains:
            self._domains[patches] = self._pooling.box(unstated(self._space, self._pooling, (), patches))
        return self._domains[patches]
