"""Paradigms that bound each patch from its own statements: `projection`, `triangle`, `hypersphere`, `simplex`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from ..certificate import PatchStatement, Statement
from .pooling import Part, Pooling
from .similarity import Box, SimilarityRule
from .space import Ranges, Space

__all__ = ["PatchRule", "SpatialRule", "by_patch"]


class PatchRule(Protocol):
    """Ranges of all observables of one patch, given the statements about it: enclosures of the working ones; and
    rounded inward, None if one may be empty."""

    def pooled(self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool) -> Ranges | None: ...

    def ranges(self, statements: Sequence[PatchStatement], quick: bool) -> Ranges: ...

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None: ...


class SpatialRule:
    """Activations under statements about patches."""

    def __init__(self, space: Space, rule: PatchRule) -> None:
        self._space, self._rule = space, rule

    def box(self, statements: Sequence[Statement], patches: int, quick: bool = False) -> Box:
        """The activations' enclosures, given the statements.

        Args:
            statements: about patches.
            patches: L.
            quick: whether by weights that are nearly the best, where the rule has any.
        """
        groups, pooling, head = by_patch(statements), Pooling(self._space), self._space.head
        stated = {patch: [statement for _, statement in group] for patch, group in groups.items()}
        pooled = self._rule.pooled(stated, patches, quick)
        if pooled is not None:
            return SimilarityRule(self._space).box(pooled)
        parts = pooling.unstated(self._space.domain, groups, patches)
        for patch, group in stated.items():
            parts.append(pooling.part(self._rule.ranges(group, quick), head.column(patch)))
        return pooling.box(parts)

    def boxes_without(self, statements: Sequence[Statement], patches: int) -> Iterator[tuple[int, Box | None]]:
        """For each statement its index and the activations' ranges given all the others, rounded inward; None where a
        range may be empty. Only the statement's patch is bounded again."""
        groups, domain, pooling = by_patch(statements), self._space.within, Pooling(self._space, True)

        def part(patch: int, group: Sequence[PatchStatement]) -> Part | None:
            ranges = self._rule.within(group) if group else domain
            return None if ranges is None else pooling.part(ranges, self._space.head.column(patch))

        parts = {patch: part(patch, [statement for _, statement in group]) for patch, group in groups.items()}
        unstated = [] if domain is None else pooling.unstated(domain, groups, patches)
        for patch, group in groups.items():
            others = [each for other, each in parts.items() if other != patch]
            for index, dropped in group:
                left = part(patch, [statement for _, statement in group if statement is not dropped])
                known = [each for each in (left, *others) if each is not None]
                shown = domain is not None and len(known) == len(groups)
                yield index, pooling.box([*known, *unstated]) if shown else None


def by_patch(statements: Sequence[Statement]) -> dict[int, list[tuple[int, PatchStatement]]]:
    """The statements about each patch, with their indices."""
    groups: dict[int, list[tuple[int, PatchStatement]]] = {}
    for index, statement in enumerate(statements):
        if not isinstance(statement, PatchStatement):
            raise ValueError("a statement about activations does not belong to a spatial paradigm")
        groups.setdefault(statement.patch, []).append((index, statement))
    return groups
