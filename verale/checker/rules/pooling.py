r"""Pooling: from what is known of every patch to the activations.

**max**: a = max_l S(m_l). Done on the working observables before the similarity, with which it commutes: a decreasing
similarity (log_ratio of a squared distance) turns the largest activation into the smallest observable, an increasing
one into the largest. Ends pool apart: min_l m_l lies in [min lower, min upper], max_l m_l in [max lower, max upper].

**max_minus_mean**: a = max_l g_l - mean_l g_l with g_l = S(m_l) in [lo_l, hi_l], l = 1..L. The range is
    sup = max_l ((L - 1) hi_l - sum_{i != l} lo_i) / L,     inf = mean_l max(0, t - hi_l) with t = max_l lo_l.
*Proof.* Let g_l be the largest: a = ((L - 1) g_l - sum_{i != l} g_i) / L is at most the term of l. Conversely g_l =
hi_l, g_i = lo_i has max g >= hi_l, so its a is at least that term. For inf let M = max g >= t. As g_l <= min(hi_l, M),
a >= M - mean min(hi_l, M) = mean max(0, M - hi_l), which does not fall with M; M = t is the least. It is attained at
g_l = min(hi_l, t), which is at least lo_l, and t where lo_l = t.

**max_minus_mean_distance**: a = S(min_l d_l) - S(mean_l d_l) with squared distances d_l in [lo_l, hi_l] and S
decreasing and convex, as log_ratio is for d >= 0: with x = s d, S' = s (1 / (x + 1) - 1 / (x + E)) < 0 and S'' = s^2 (1
/ (x + E)^2 - 1 / (x + 1)^2) > 0, 0 < E < 1. The range is
    sup = max_l (S(lo_l) - S((lo_l + sum_{i != l} hi_i) / L)),
    inf = S(T) - S(mean_l max(lo_l, T)) with T = min_l hi_l.
*Proof.* Let d_l be the least, m = d_l and M = (m + sum_{i != l} hi_i) / L >= mean d >= m. Then a <= S(m) - S(M), whose
derivative in m is S'(m) - S'(M) / L <= S'(M) (1 - 1 / L) <= 0; so m = lo_l gives the most, and M >= m stays true.
Conversely d_l = lo_l, d_i = hi_i has min d <= lo_l, so its a is at least the term of l. For inf let m = min d <= T. As
d_l >= max(lo_l, m), a >= S(m) - S(M) with M = mean max(lo_l, m) >= m, whose derivative in m is S'(m) - S'(M) k / L <= 0
where k of the lo_l are at most m; so m = T gives the least. It is attained at d_l = max(lo_l, T), which is at most
hi_l, and T where hi_l = T. An infinite hi_l stands for its limit, S = 0.

Both ranges take the two terms together; bounding them apart would let one patch be at both of its ends. They are exact
where patches vary apart, as they do in every paradigm here. Sums are exact; the mean is divided inside the logarithm,
or rounded outward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from .similarity import Box, Similarity
from .space import Ranges, Space

__all__ = ["Part", "Pooling", "max_minus_mean", "max_minus_mean_distance", "pool", "pooling_of"]

_Ends: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class Part:
    """What is known of `count` patches that are alike, in the form that the pooling wants; they may be 10^18."""

    ranges: Ranges
    count: int


class Pooling(Protocol):
    """The way of one head from patches to activations."""

    def part(self, ranges: Ranges, count: int = 1) -> Part:
        """Patches with these ranges of the working observables."""

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        """As few parts as say the same to `box`."""

    def box(self, parts: Iterable[Part]) -> Box:
        """The activations' enclosures, given all patches (at least one), taken in turn."""


def pooling_of(space: Space) -> Pooling:
    """The head's pooling."""
    match space.head.pooling:
        case "max":
            return _Max(space)
        case "max_minus_mean":
            return _MaxMinusMean(space)
        case _:
            return _MaxMinusMeanDistance(space)


class _Max:
    def __init__(self, space: Space) -> None:
        self._smallest = space.head.geometry == "euclidean"
        self._similarity = Similarity(space)

    def part(self, ranges: Ranges, count: int = 1) -> Part:
        return Part(ranges, count)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        return [Part(self._pooled(parts), sum(part.count for part in parts))]

    def box(self, parts: Iterable[Part]) -> Box:
        return self._similarity.activations(self._pooled(parts))

    def _pooled(self, parts: Iterable[Part]) -> Ranges:
        return pool((part.ranges for part in parts), self._smallest)


class _MaxMinusMean:
    def __init__(self, space: Space) -> None:
        self._bits = space.bits
        self._similarity = Similarity(space)

    def part(self, ranges: Ranges, count: int = 1) -> Part:
        similar = self._similarity.activations(ranges)
        return Part(Ranges(similar.lower, similar.upper), count)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        return list(parts)

    def box(self, parts: Iterable[Part]) -> Box:
        return _box((max_minus_mean(column) for column in _columns(parts)), self._bits)


class _MaxMinusMeanDistance:
    def __init__(self, space: Space) -> None:
        self._bits = space.bits
        self._scales = space.head.scales.rows[0]
        self._similarity = Similarity(space)

    def part(self, ranges: Ranges, count: int = 1) -> Part:
        upper = None if ranges.upper is None else list(map(int, ranges.upper))
        return Part(Ranges(list(map(int, ranges.lower)), upper), count)

    def merged(self, parts: Sequence[Part]) -> list[Part]:
        return list(parts)

    def box(self, parts: Iterable[Part]) -> Box:
        each = zip(_columns(parts), self._scales, strict=True)
        return _box((self._ends(column, scale) for column, scale in each), self._bits)

    def _ends(self, column: Sequence[tuple[int, int | None, int]], scale: int) -> _Ends:
        def similarity(total: int, count: int) -> _Ends:
            return self._similarity.log_ratio(total, scale, count)

        return max_minus_mean_distance(column, similarity)


def pool(ranges: Iterable[Ranges], smallest: bool) -> Ranges:
    """The range of the pooled observable of every prototype, over the patches' ranges (at least one), taken in turn."""
    each = iter(ranges)
    first = next(each)
    lower, upper = first.lower, first.upper
    for other in each:
        lower = _pick(lower, other.lower, smallest)
        if upper is None or other.upper is None:  # infinite ends, squared distances only: no candidate for the smallest
            upper = other.upper if upper is None else upper
        else:
            upper = _pick(upper, other.upper, smallest)
    return Ranges(lower, upper)


def _pick(left: list[int], right: list[int], smallest: bool) -> list[int]:
    if smallest:
        return [a if a < b else b for a, b in zip(left, right, strict=True)]
    return [a if a > b else b for a, b in zip(left, right, strict=True)]


def max_minus_mean(similarities: Sequence[tuple[int, int | None, int]]) -> _Ends:
    """The range of max - mean over patches, given (lo, hi, how many patches) of their similarities; rounded outward."""
    patches = sum(count for _, _, count in similarities)
    ends = [(low, _finite(high), count) for low, high, count in similarities]
    highest = max(low for low, _, _ in ends)
    least = sum(count * max(0, highest - high) for _, high, count in ends)
    most = max((patches - 1) * high + low for low, high, _ in ends) - sum(count * low for low, _, count in ends)
    return least // patches, -(-most // patches)


def max_minus_mean_distance(
    distances: Sequence[tuple[int, int | None, int]], similarity: Callable[[int, int], _Ends]
) -> _Ends:
    """The range of S(min) - S(mean) over patches, rounded outward.

    Args:
        distances: (lo, hi, how many patches) of their distances, hi None for infinity.
        similarity: encloses S(sum / count), given both.
    """
    patches = sum(count for _, _, count in distances)
    bounded = [(low, high, count) for low, high, count in distances if high is not None]
    unbounded = patches - sum(count for _, _, count in bounded)
    least = 0
    if bounded:
        near = min(max(0, high) for _, high, _ in bounded)
        total = sum(count * max(low, near) for low, _, count in distances)
        least = max(0, similarity(near, 1)[0] - similarity(total, patches)[1])
    farthest = sum(count * high for _, high, count in bounded)
    candidates: set[tuple[int, int | None]] = set()
    for low, high, _ in distances:
        if unbounded > (high is None):
            candidates.add((low, None))
        else:
            candidates.add((low, max(0, farthest - (high or 0) + low)))
    most = max(
        similarity(low, 1)[1] - (0 if total is None else similarity(total, patches)[0])
        for low, total in _unbeaten(candidates)
    )
    return least, most


def _unbeaten(candidates: Iterable[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    """Of pairs (distance, sum) those that no other beats, by a smaller distance and a larger sum: logarithms cost."""
    kept: list[tuple[int, int | None]] = []
    for low, total in sorted(candidates, key=lambda pair: (pair[0], pair[1] is not None, -(pair[1] or 0))):
        most = kept[-1][1] if kept else -1
        if most is not None and (total is None or total > most):
            kept.append((low, total))
    return kept


def _columns(parts: Iterable[Part]) -> Iterable[tuple[tuple[int, int | None, int], ...]]:
    """For each prototype (lo, hi, count) of every part."""
    rows = []
    for part in parts:
        lower, upper = part.ranges.lower, part.ranges.upper
        infinite: list[int | None] = [None] * len(lower)
        rows.append(zip(lower, infinite if upper is None else upper, [part.count] * len(lower), strict=True))
    return zip(*rows, strict=True)


def _box(ends: Iterable[_Ends], bits: int) -> Box:
    lower, upper = zip(*ends, strict=True)
    return Box(list(lower), list(upper), bits)


def _finite(value: int | None) -> int:
    if value is None:
        raise ValueError("a similarity cannot be unbounded")
    return value
