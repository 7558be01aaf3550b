"""Paradigms that bound each patch from its own statements: `projection`, `triangle`, `hypersphere`, `simplex`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from ..certificate import PatchStatement, Statement
from .pooling import Part, pooling_of, unstated
from .similarity import Box
from .space import Ranges, Space

__all__ = ["PatchRule", "PooledRule", "SpatialRule", "by_patch"]


class PatchRule(Protocol):
    """Ranges of all working observables of one patch, given the statements about it."""

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges: ...


@runtime_checkable
class PooledRule(Protocol):
    """The same ranges, pooled over patches with these statements, and another patch whose ranges are `known`: the
    smallest distances, the greatest of all other observables."""

    def pooled(self, groups: Sequence[Sequence[PatchStatement]], known: Ranges | None) -> Ranges: ...


class SpatialRule:
    """Activations under statements about patches."""

    def __init__(self, space: Space, rule: PatchRule) -> None:
        self._space = space
        self._rule = rule
        self._pooling = pooling_of(space)
        self._pooled = rule if self._pooling.direct and isinstance(rule, PooledRule) else None

    def box(self, statements: Sequence[Statement], patches: int) -> Box:
        """The activations' enclosures, given the statements."""
        groups = by_patch(statements)
        parts = unstated(self._space, self._pooling, groups, patches)
        stated = [(patch, [statement for _, statement in group]) for patch, group in groups.items()]
        if self._pooled is not None:
            return self._pooling.box([*self._parts(stated, parts), *parts])
        for patch, group in stated:
            parts.append(self._part(patch, group))
            if self._pooling.direct:
                parts = self._pooling.merged(parts)
        return self._pooling.box(parts)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box]]:
        """For each statement its index and the enclosures given all the others; only its patch is bounded again."""
        groups = by_patch(statements)
        parts = [self._part(patch, [statement for _, statement in group]) for patch, group in groups.items()]
        # after[n]: the patches without statements and the last n with some, merged
        after: list[list[Part]] = [unstated(self._space, self._pooling, groups, patches)]
        for own in reversed(parts):
            after.append(self._pooling.merged([own, *after[-1]]))
        before: list[Part] = []
        for number, (patch, group) in enumerate(groups.items()):
            rest = self._pooling.merged(before + after[len(groups) - 1 - number])
            for index, dropped in group:
                left = [statement for _, statement in group if statement is not dropped]
                yield index, self._pooling.box([*self._parts([(patch, left)], rest), *rest])
            before = self._pooling.merged([*before, parts[number]])

    def _parts(self, stated: Sequence[tuple[int, Sequence[PatchStatement]]], rest: Sequence[Part]) -> list[Part]:
        """What is known about these patches; the rest may be merged into it."""
        if self._pooled is None:
            return [self._part(patch, group) for patch, group in stated]
        known = rest[0].ranges if rest else None
        return [self._pooling.part(self._pooled.pooled([group for _, group in stated], known), len(stated))]

    def _part(self, patch: int, statements: Sequence[PatchStatement]) -> Part:
        return self._pooling.part(self._rule.ranges(statements), first=patch == 0)


def by_patch(statements: Sequence[Statement]) -> dict[int, list[tuple[int, PatchStatement]]]:
    """The statements about each patch, with their indices."""
    groups: dict[int, list[tuple[int, PatchStatement]]] = {}
    for index, statement in enumerate(statements):
        if not isinstance(statement, PatchStatement):
            raise ValueError("a statement about activations does not belong to a spatial paradigm")
        groups.setdefault(statement.patch, []).append((index, statement))
    return groups
