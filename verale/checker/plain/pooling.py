"""Pooling: from ranges of every patch to the activations.

**max**: the greatest similarity lies between the greatest lower and the greatest upper end.

**masked_max**: the same over the patches that prototype j looks at. What a column of the mask stands for is one patch,
or all further ones.

The poolings with a mean are in `means`. All but max_minus_mean_distance pool similarities; that one needs distances.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..head import Head
from .means import max_minus_mean, max_minus_mean_distance, top_mean
from .similarity import Box, SimilarityRule
from .space import Ranges, Space

__all__ = ["End", "Part", "Pooling", "pooled"]

End: TypeAlias = tuple[int, int | None, int]
"""The range of one prototype at some patches that are alike, and how many these are."""


@dataclass(frozen=True)
class Part:
    """The ranges of `count` patches that are alike, as the pooling needs them; `count` may be 10^18. `column` is the
    one of the head's mask that stands for them."""

    ranges: Ranges
    count: int = 1
    column: int = 0


class Pooling:
    """The way of one head from patches to activations, rounded outward or inward (`similarity`)."""

    def __init__(self, space: Space, inward: bool = False) -> None:
        self._head, self._bits, self._inward = space.head, space.bits, inward
        self._similarity = SimilarityRule(space, inward)
        self._of_distances = space.head.pooling == "max_minus_mean_distance"

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        """A patch with these ranges of the working observables, for which this column of the mask stands."""
        if self._of_distances:
            return Part(ranges, column=column)
        box = self._similarity.box(ranges)
        return Part(Ranges(box.lower, box.upper), column=column)

    def unstated(self, domain: Ranges, stated: Collection[int], patches: int) -> list[Part]:
        """The patches without a statement, which have the ranges of the domain: one part for each column."""
        last = self._head.columns - 1
        left = patches - last - sum(patch >= last for patch in stated)
        counts = [int(column not in stated) for column in range(last)] + [left]
        if not any(counts):
            return []
        part = self.part(domain)
        return [replace(part, count=count, column=column) for column, count in enumerate(counts) if count]

    def box(self, parts: Iterable[Part]) -> Box:
        """The activations' enclosures, given all patches (at least one)."""
        columns: list[list[Part]] = [[] for _ in range(self._head.columns)]
        for part in parts:
            columns[part.column].append(part)
        looked_at = self._head.mask or [(0,)] * self._head.count
        ends = []
        for j, seen in enumerate(looked_at):
            each = [_end(part, j) for column in seen for part in columns[column]]
            ends.append(pooled(self._head, each, self._mean(j), self._inward))
        return Box([low for low, _ in ends], [high for _, high in ends], self._bits, self._inward)

    def _mean(self, j: int) -> Callable[[int, int], tuple[int, int]]:
        """The similarity with prototype j of a mean distance, given a sum and a count."""
        own = self._head.similarity.own.rows[0][j]
        return lambda total, count: self._similarity.at(total, own, count)


def pooled(
    head: Head, ends: Sequence[End], mean: Callable[[int, int], tuple[int, int]], inward: bool = False
) -> tuple[int, int]:
    """The range of one activation.

    Args:
        head: the head, whose pooling it is.
        ends: at the patches that the prototype looks at, those of similarities; of distances under
            max_minus_mean_distance, infinite where they are None.
        mean: encloses the similarity of a mean distance, given a sum and a count.
        inward: whether to round inward.
    """
    match head.pooling:
        case "max_minus_mean_distance":
            return max_minus_mean_distance(ends, mean, inward)
        case "top_mean":
            return top_mean(ends, head.k, inward)
        case "max_minus_mean":
            return max_minus_mean(ends, inward)
        case _:
            return max(low for low, _, _ in ends), max(high for _, high, _ in ends if high is not None)


def _end(part: Part, j: int) -> End:
    upper = part.ranges.upper
    return part.ranges.lower[j], None if upper is None else upper[j], part.count
