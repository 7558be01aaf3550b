"""Paradigms that bound each patch apart from its own statements: `projection` and `simplex`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Protocol

from ..certificate import Spatial, Statement
from .pooling import pool
from .similarity import Box, Similarity
from .space import Ranges, Space

__all__ = ["PatchRule", "SpatialRule"]


class PatchRule(Protocol):
    """Ranges of all working observables of one patch, given the statements about it."""

    def ranges(self, statements: Sequence[Spatial]) -> Ranges: ...


class SpatialRule:
    """Activations under statements about patches. Patches without statements are all alike, however many there are."""

    def __init__(self, space: Space, rule: PatchRule) -> None:
        self._rule = rule
        self._domain = space.domain
        self._smallest = space.head.geometry == "euclidean"
        self._similarity = Similarity(space)

    def box(self, statements: Sequence[Statement], patches: int) -> Box:
        """The activations' enclosures, given the statements."""
        groups = _by_patch(statements)
        ranges = (self._rule.ranges([statement for _, statement in group]) for group in groups.values())
        return self._box(chain(ranges, self._unstated(len(groups), patches)))

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box]]:
        """For each statement its place and the enclosures given all the others; only its own patch is bounded again."""
        groups = list(_by_patch(statements).values())
        ranges = [self._rule.ranges([statement for _, statement in group]) for group in groups]
        after: list[list[Ranges]] = [self._unstated(len(groups), patches)]  # pooled: the patches from each place on
        for own in reversed(ranges):
            after.append([pool([own, *after[-1]], self._smallest)])
        before: list[Ranges] = []
        for number, group in enumerate(groups):
            others = before + after[len(groups) - 1 - number]
            for place, dropped in group:
                reduced = self._rule.ranges([statement for _, statement in group if statement is not dropped])
                yield place, self._box([reduced, *others])
            before = [pool([*before, ranges[number]], self._smallest)]

    def _box(self, ranges: Iterable[Ranges]) -> Box:
        return self._similarity.activations(pool(ranges, self._smallest))

    def _unstated(self, stated: int, patches: int) -> list[Ranges]:
        return [self._domain] if stated < patches else []


def _by_patch(statements: Sequence[Statement]) -> dict[int, list[tuple[int, Spatial]]]:
    groups: dict[int, list[tuple[int, Spatial]]] = {}
    for place, statement in enumerate(statements):
        if not isinstance(statement, Spatial):
            raise ValueError("a statement about activations does not belong to a spatial paradigm")
        groups.setdefault(statement.patch, []).append((place, statement))
    return groups
