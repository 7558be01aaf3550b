"""Paradigms that bound each patch apart from its own statements: `projection` and `simplex`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from ..certificate import Spatial, Statement
from .pooling import Part, pooling_of, unstated
from .similarity import Box
from .space import Ranges, Space

__all__ = ["PatchRule", "SpatialRule", "by_patch"]


class PatchRule(Protocol):
    """Ranges of all working observables of one patch, given the statements about it. They need not be tight where they
    cannot change the ranges `known` of other patches, pooled."""

    def ranges(self, statements: Sequence[Spatial], known: Ranges | None = None) -> Ranges: ...


class SpatialRule:
    """Activations under statements about patches."""

    def __init__(self, space: Space, rule: PatchRule) -> None:
        self._space = space
        self._rule = rule
        self._pooling = pooling_of(space)

    def box(self, statements: Sequence[Statement], patches: int) -> Box:
        """The activations' enclosures, given the statements."""
        groups = by_patch(statements)
        parts = unstated(self._space, self._pooling, groups, patches)
        # Patches of which much is said come first: most of the others then matter little.
        for patch, group in sorted(groups.items(), key=lambda item: -len(item[1])):
            known = self._pooling.known(parts)
            parts.append(self._part(patch, [statement for _, statement in group], known))
            if known is not None:
                parts = self._pooling.merged(parts)
        return self._pooling.box(parts)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box]]:
        """For each statement its place and the enclosures given all the others; only its own patch is bounded again."""
        groups = by_patch(statements)
        parts = [self._part(patch, [statement for _, statement in group]) for patch, group in groups.items()]
        # merged: the patches from each place on
        after: list[list[Part]] = [unstated(self._space, self._pooling, groups, patches)]
        for own in reversed(parts):
            after.append(self._pooling.merged([own, *after[-1]]))
        before: list[Part] = []
        for number, (patch, group) in enumerate(groups.items()):
            others = self._pooling.merged(before + after[len(groups) - 1 - number])
            known = self._pooling.known(others)
            for place, dropped in group:
                left = [statement for _, statement in group if statement is not dropped]
                reduced = self._part(patch, left, known)
                yield place, self._pooling.box([reduced, *others])
            before = self._pooling.merged([*before, parts[number]])

    def _part(self, patch: int, statements: Sequence[Spatial], known: Ranges | None = None) -> Part:
        return self._pooling.part(self._rule.ranges(statements, known), first=patch == 0)


def by_patch(statements: Sequence[Statement]) -> dict[int, list[tuple[int, Spatial]]]:
    """The statements about each patch, with their places."""
    groups: dict[int, list[tuple[int, Spatial]]] = {}
    for place, statement in enumerate(statements):
        if not isinstance(statement, Spatial):
            raise ValueError("a statement about activations does not belong to a spatial paradigm")
        groups.setdefault(statement.patch, []).append((place, statement))
    return groups
