"""Pooling: from ranges of every patch to the activations.

**max**: a = max_l S(m_l). It is computed on the argument x of the similarity (`similarities`): if S falls, the largest
activation is that of the smallest x; if S rises, that of the largest. The two ends are pooled separately: min_l x_l
lies in [min lower, min upper], max_l x_l in [max lower, max upper].

**masked_max**: the same over the patches that prototype j looks at. What a column of the mask stands for is one patch,
or all further ones. So the patches of each column are pooled as above, and then for every prototype the columns that it
looks at. *Proof.* The maximum over a union is that of the maxima, and so are its ends.

The poolings with a mean are in `means`; they need the similarity of every patch.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Protocol

from ..head import Head
from .means import max_minus_mean, max_minus_mean_distance, top_mean
from .similarity import Box, SimilarityRule
from .space import Ranges, Space

__all__ = ["Part", "Pooling", "pool", "pooling_of", "unstated"]


@dataclass(frozen=True)
class Part:
    """The ranges of `count` patches that are alike, in the form that the pooling needs; `count` may be 10^18. `column`
    is the one of the head's mask that stands for them."""

    ranges: Ranges
    count: int = 1
    column: int = 0


class Pooling(Protocol):
    """The way of one head from patches to activations."""

    direct: bool
    """Whether a merged part holds pooled observables: the smallest distances, or the greatest of any other."""

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        """A patch with these ranges of the working observables, for which this column of the mask stands."""

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        """Fewer parts, if possible, with the same `box`."""

    def box(self, parts: Iterable[Part]) -> Box:
        """The activations' enclosures, given all patches (at least one); iterates once."""


def pooling_of(space: Space, inward: bool = False) -> Pooling:
    """The head's pooling, rounded outward or inward (`similarity`)."""
    match space.head.pooling:
        case "max":
            return _Max(space, inward)
        case "masked_max":
            return _MaskedMax(space, inward)
        case "top_mean":
            return _TopMean(space, inward)
        case "max_minus_mean":
            return _MaxMinusMean(space, inward)
        case _:
            return _MaxMinusMeanDistance(space, inward)


def unstated(head: Head, pooling: Pooling, domain: Ranges, stated: Collection[int], patches: int) -> list[Part]:
    """The patches without a statement, which have the ranges of the domain: one part for each column of the mask."""
    last = head.columns - 1
    left = patches - last - sum(patch >= last for patch in stated)
    counts = [int(column not in stated) for column in range(last)] + [left]
    if not any(counts):
        return []
    part = pooling.part(domain)
    return [replace(part, count=count, column=column) for column, count in enumerate(counts) if count]


class _Max:
    def __init__(self, space: Space, inward: bool) -> None:
        self._smallest = space.head.similarity.falls
        self.direct = not space.head.similarity.unimodal
        self._similarity = SimilarityRule(space, inward)

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        return Part(self._similarity.comparable(ranges))

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        return [Part(self._pooled(parts), sum(part.count for part in parts))] if parts else []

    def box(self, parts: Iterable[Part]) -> Box:
        return self._similarity.activations(self._pooled(parts))

    def _pooled(self, parts: Iterable[Part]) -> Ranges:
        return pool((part.ranges for part in parts), self._smallest)


class _MaskedMax:
    direct = False

    def __init__(self, space: Space, inward: bool) -> None:
        self._mask = space.head.mask
        self._smallest = space.head.similarity.falls
        self._similarity = SimilarityRule(space, inward)

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        return Part(self._similarity.comparable(ranges), column=column)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        """One part for each column."""
        columns: dict[int, list[Part]] = {}
        for part in parts:
            columns.setdefault(part.column, []).append(part)
        return [
            Part(pool((part.ranges for part in own), self._smallest), sum(part.count for part in own), column)
            for column, own in columns.items()
        ]

    def box(self, parts: Iterable[Part]) -> Box:
        pooled = {part.column: part.ranges for part in self.merged(list(parts))}
        uppers = {column: ranges.upper for column, ranges in pooled.items() if ranges.upper is not None}
        pick = min if self._smallest else max
        lower = [pick(pooled[column].lower[j] for column in seen) for j, seen in enumerate(self._mask)]
        upper = [
            # Infinite ones are never the smallest. Where there is no other, the lower end stands in for now.
            pick((uppers[column][j] for column in seen if column in uppers), default=lower[j])
            for j, seen in enumerate(self._mask)
        ]
        box = self._similarity.activations(Ranges(lower, upper))
        if len(uppers) == len(pooled):
            return box
        far = self._similarity.activations(Ranges(lower, None))
        each = zip(self._mask, box.lower, far.lower, strict=True)
        return replace(box, lower=[a if any(column in uppers for column in seen) else b for seen, a, b in each])


class _MaxMinusMean:
    direct = False

    def __init__(self, space: Space, inward: bool) -> None:
        self._bits, self._inward = space.bits, inward
        self._similarity = SimilarityRule(space, inward)

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        return _similar(self._similarity, ranges)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        return list(parts)

    def box(self, parts: Iterable[Part]) -> Box:
        return _box((max_minus_mean(column, self._inward) for column in _columns(parts)), self._bits, self._inward)


class _TopMean:
    direct = False

    def __init__(self, space: Space, inward: bool) -> None:
        self._bits, self._inward, self._k = space.bits, inward, space.head.k
        self._similarity = SimilarityRule(space, inward)

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        return _similar(self._similarity, ranges)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        """At most k parts: for a prototype only the k greatest lower and the k greatest upper ends count; it does not
        matter which of them belong together."""
        if len(parts) <= self._k:
            return list(parts)
        counts = [min(part.count, self._k) for part in parts]
        lower = self._greatest((part.ranges.lower for part in parts), counts)
        upper = self._greatest((part.ranges.upper or [] for part in parts), counts)
        return [Part(Ranges(*ends)) for ends in zip(lower, upper, strict=True)]

    def _greatest(self, rows: Iterable[list[int]], counts: Sequence[int]) -> list[list[int]]:
        """k rows: for each prototype the k greatest numbers of its column, each repeated as often as its count."""
        each = (chain.from_iterable(map(repeat, column, counts)) for column in zip(*rows, strict=True))
        return list(map(list, zip(*(sorted(values, reverse=True)[: self._k] for values in each), strict=True)))

    def box(self, parts: Iterable[Part]) -> Box:
        return _box((top_mean(column, self._k, self._inward) for column in _columns(parts)), self._bits, self._inward)


class _MaxMinusMeanDistance:
    direct = False

    def __init__(self, space: Space, inward: bool) -> None:
        self._bits, self._inward = space.bits, inward
        self._own = space.head.similarity.own.rows[0]
        self._similarity = SimilarityRule(space, inward)

    def part(self, ranges: Ranges, column: int = 0) -> Part:
        return Part(ranges)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        return list(parts)

    def box(self, parts: Iterable[Part]) -> Box:
        each = zip(_columns(parts), self._own, strict=True)
        return _box((self._ends(column, own) for column, own in each), self._bits, self._inward)

    def _ends(self, column: Sequence[tuple[int, int | None, int]], own: int) -> tuple[int, int]:
        return max_minus_mean_distance(
            column, lambda total, count: self._similarity.at(total, own, count), self._inward
        )


def pool(ranges: Iterable[Ranges], smallest: bool) -> Ranges:
    """The range of the pooled observable of every prototype, given the ranges of at least one patch; iterates once."""
    each = iter(ranges)
    first = next(each)
    lower, upper = first.lower, first.upper
    for other in each:
        lower = _pick(lower, other.lower, smallest)
        if upper is None or other.upper is None:  # infinite: never the smallest distance
            upper = other.upper if upper is None else upper
        else:
            upper = _pick(upper, other.upper, smallest)
    return Ranges(lower, upper)


def _pick(left: list[int], right: list[int], smallest: bool) -> list[int]:
    if smallest:
        return [a if a < b else b for a, b in zip(left, right, strict=True)]
    return [a if a > b else b for a, b in zip(left, right, strict=True)]


def _similar(similarity: SimilarityRule, ranges: Ranges) -> Part:
    """The ranges of the similarities of a patch."""
    box = similarity.activations(similarity.comparable(ranges))
    return Part(Ranges(box.lower, box.upper))


def _columns(parts: Iterable[Part]) -> Iterable[tuple[tuple[int, int | None, int], ...]]:
    """For each prototype (lo, hi, count) of every part."""
    rows = []
    for part in parts:
        lower, upper = part.ranges.lower, part.ranges.upper
        infinite: list[int | None] = [None] * len(lower)
        rows.append(zip(lower, infinite if upper is None else upper, [part.count] * len(lower), strict=True))
    return zip(*rows, strict=True)


def _box(ends: Iterable[tuple[int, int]], bits: int, inward: bool) -> Box:
    lower, upper = zip(*ends, strict=True)
    return Box(list(lower), list(upper), bits, inward)
