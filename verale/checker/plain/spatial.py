"""Paradigms that bound each patch from its own statements: `projection`, `triangle`, `hypersphere`, `simplex`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ..certificate import PatchStatement, Statement
from .pooling import Part, pooling_of, unstated
from .similarity import Box
from .space import Ranges, Space

__all__ = ["PatchRule", "SpatialRule", "by_patch"]


class PatchRule(Protocol):
    """Ranges of all observables of one patch, given the statements about it: enclosures of the working ones; and
    rounded inward, None if one may be empty."""

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges: ...

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None: ...


class SpatialRule:
    """Activations under statements about patches."""

    def __init__(self, space: Space, rule: PatchRule) -> None:
        self._space = space
        self._rule = rule
        self._pooling = pooling_of(space)

    def box(self, statements: Sequence[Statement], patches: int) -> Box:
        """The activations' enclosures, given the statements."""
        groups = by_patch(statements)
        parts = unstated(self._space.head, self._pooling, self._space.domain, groups, patches)
        stated = [(patch, [statement for _, statement in group]) for patch, group in groups.items()]
        for patch, group in stated:
            parts.append(self._pooling.part(self._rule.ranges(group), column=self._space.head.column(patch)))
            if self._pooling.direct:
                parts = self._pooling.merged(parts)
        return self._pooling.box(parts)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """For each statement its index and the activations' ranges given all the others, rounded inward; None where a
        range may be empty. Only the statement's patch is bounded again."""
        groups, domain = by_patch(statements), self._space.within
        pooling = pooling_of(self._space, True)

        def part(patch: int, group: Sequence[PatchStatement]) -> list[Part]:
            ranges = self._rule.within(group) if group else domain
            return [] if ranges is None else [pooling.part(ranges, column=self._space.head.column(patch))]

        parts = [part(patch, [statement for _, statement in group]) for patch, group in groups.items()]
        empty = {number for number, own in enumerate(parts) if not own}
        # after[n]: the patches without statements and the last n with some, merged
        after = [[] if domain is None else unstated(self._space.head, pooling, domain, groups, patches)]
        for own in reversed(parts):
            after.append(pooling.merged([*own, *after[-1]]))
        before: list[Part] = []
        for number, (patch, group) in enumerate(groups.items()):
            rest = pooling.merged(before + after[len(groups) - 1 - number])
            for index, dropped in group:
                left = part(patch, [statement for _, statement in group if statement is not dropped])
                shown = domain is not None and left and empty <= {number}
                yield index, pooling.box([*left, *rest]) if shown else None
            before = pooling.merged([*before, *parts[number]])


def by_patch(statements: Sequence[Statement]) -> dict[int, list[tuple[int, PatchStatement]]]:
    """The statements about each patch, with their indices."""
    groups: dict[int, list[tuple[int, PatchStatement]]] = {}
    for index, statement in enumerate(statements):
        if not isinstance(statement, PatchStatement):
            raise ValueError("a statement about activations does not belong to a spatial paradigm")
        groups.setdefault(statement.patch, []).append((index, statement))
    return groups
