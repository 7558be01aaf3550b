"""From the observables of a patch to its similarities.

The observable m is the working one; a cosine's working observable is divided by |A_k|, which is enclosed. What each
similarity does with a range of m is in `similarities`. For a unimodal one x = |m - c| replaces m.

**Inward.** Minimality needs ranges that certainly lie within the reference ranges (certificates/v1.md). There ranges
are of the observables, not the working ones, and every end is rounded to the other side. *Proof.* Each end of a result
is a monotone function of the ends that it is computed from, so from ends within comes an end within, and rounding moves
it further in.

Poolings with a mean: the range of one activation, given the ranges of one prototype's similarities at all patches.

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

**top_mean**: a = mean of the min(k, L) greatest g_l, g_l in [lo_l, hi_l]. The range goes from that of the lo_l to that
of the hi_l. *Proof.* The sum of the n greatest is the greatest sum of any n of them; none of these falls with any g_l,
so neither does their maximum. Both ends are attained, at g = lo and g = hi.

The two poolings that subtract a mean bound both terms together: apart, one patch could be at both of its ends. All
ranges are exact if patches vary independently, as they do in every paradigm here. Sums are exact; the mean is divided
inside the logarithm, or rounded outward.

**Inward.** No lower end falls as the lo_l rise or the hi_l fall, and no upper end rises: for distances lo_l <= hi_l is
used, where M >= m. So ends within give ends within, rounded to the other side.

Pooling: from ranges of every patch to the activations.

**max**: the greatest similarity lies between the greatest lower and the greatest upper end.

**masked_max**: the same over the patches that prototype j looks at. What a column of the mask stands for is one patch,
or all further ones.

The poolings with a mean are in `means`. All but max_minus_mean_distance pool similarities; that one needs distances.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias, TypeVar

from ..head import COSINES, Head
from .space import Ranges, Space

__all__ = [
    "Box",
    "End",
    "Part",
    "Pooling",
    "SimilarityRule",
    "max_minus_mean",
    "max_minus_mean_distance",
    "pooled",
    "top_mean",
]


_T = TypeVar("_T")


@dataclass(frozen=True)
class Box:
    """Ranges [lower[j], upper[j]] of the activations of all prototypes, at 2^-bits: enclosures, or if they are rounded
    inward, within the reference ranges; then a lower end may exceed an upper one by rounding."""

    lower: list[int]
    upper: list[int]
    bits: int
    inward: bool = False


class SimilarityRule:
    """Similarities of one head."""

    def __init__(self, space: Space, inward: bool = False) -> None:
        self._space, self._similarity, self._inward = space, space.head.similarity, inward
        self.look = space.arithmetic.clock.look

    def box(self, ranges: Ranges) -> Box:
        """Enclosures of the similarities of a patch, given the ranges of its working observables."""
        bits, own, inward = self._space.bits, self._similarity.own.rows[0], self._inward
        lower, upper = self._observed(ranges)
        if self._similarity.unimodal:
            each = enumerate(zip(lower, _finite(upper), strict=True))
            ends = [self._similarity.argument(j, low, high, bits, inward) for j, (low, high) in each]
            lower, upper = [near for near, _ in ends], [far for _, far in ends]
        if self._similarity.unchanged:
            return Box(lower, _finite(upper), bits, inward)
        falls = self._similarity.falls
        if falls and upper is None:
            least = [0] * len(own)  # the limit
        else:
            far = [max(0, high) for high in _finite(upper)] if falls else lower
            least = [self.at(x, number)[inward] for x, number in zip(far, own, strict=True)]
        near = lower if falls else _finite(upper)
        most = [self.at(x, number)[not inward] for x, number in zip(near, own, strict=True)]
        return Box(least, most, bits, inward)

    def at(self, value: int, own: int, parts: int = 1) -> tuple[int, int]:
        """S(value / parts), value on the grid; see `Similarity.at`."""
        bits = self._space.bits
        return self._similarity.at(self._space.arithmetic, value, bits, own, bits, parts)

    def _observed(self, working: Ranges) -> tuple[list[int], list[int] | None]:
        """The ends of the observables on the grid; inward they are given."""
        space, bits = self._space, self._space.bits
        lower, upper = list(working.lower), working.upper
        if upper is not None and space.head.geometry in COSINES and not self._inward:
            # A quotient is least over the greater norm where it is positive, over the smaller where it is negative.
            lower = [
                (low << bits) // (norm[1] if low > 0 else norm[0]) for low, norm in zip(lower, space.norms, strict=True)
            ]
            upper = [
                -((-high << bits) // (norm[0] if high > 0 else norm[1]))
                for high, norm in zip(upper, space.norms, strict=True)
            ]
        return lower, upper


def _finite(upper: _T | None) -> _T:
    if upper is None:
        raise ValueError("only a squared distance can be unbounded, and not under every similarity")
    return upper


_Ends: TypeAlias = tuple[int, int]


def max_minus_mean(similarities: Sequence[tuple[int, int | None, int]], inward: bool = False) -> _Ends:
    """The range of max - mean over patches, given (lo, hi, how many patches) of their similarities; rounded outward, or
    inward."""
    patches = sum(count for _, _, count in similarities)
    ends = [(low, _finite(high), count) for low, high, count in similarities]
    highest = max(low for low, _, _ in ends)
    least = sum(count * max(0, highest - high) for _, high, count in ends)
    most = max((patches - 1) * high + low for low, high, _ in ends) - sum(count * low for low, _, count in ends)
    return _divided(least, most, patches, inward)


def max_minus_mean_distance(
    distances: Sequence[tuple[int, int | None, int]], similarity: Callable[[int, int], _Ends], inward: bool = False
) -> _Ends:
    """The range of S(min) - S(mean) over patches, rounded outward, or inward.

    Args:
        distances: (lo, hi, how many patches) of their distances, hi None for infinity.
        similarity: encloses S(sum / count), given both.
    """
    patches = sum(count for _, _, count in distances)
    down, up = (1, 0) if inward else (0, 1)
    bounded = [(low, high, count) for low, high, count in distances if high is not None]
    unbounded = patches - sum(count for _, _, count in bounded)
    least = 0
    if bounded:
        near = min(max(0, high) for _, high, _ in bounded)
        total = sum(count * max(low, near) for low, _, count in distances)
        least = max(0, similarity(near, 1)[down] - similarity(total, patches)[up])
    farthest = sum(count * high for _, high, count in bounded)
    candidates: set[tuple[int, int | None]] = set()
    for low, high, _ in distances:
        if unbounded > (high is None):
            candidates.add((low, None))
        else:
            candidates.add((low, max(0, farthest - (high or 0) + low)))
    most = max(
        similarity(low, 1)[up] - (0 if total is None else similarity(total, patches)[down])
        for low, total in _unbeaten(candidates)
    )
    return least, most


def _unbeaten(candidates: Iterable[tuple[int, int | None]]) -> list[tuple[int, int | None]]:
    """The pairs (distance, sum) that no other beats with a smaller distance and a larger sum. Logarithms are slow."""
    kept: list[tuple[int, int | None]] = []
    for low, total in sorted(candidates, key=lambda pair: (pair[0], pair[1] is not None, -(pair[1] or 0))):
        most = kept[-1][1] if kept else -1
        if most is not None and (total is None or total > most):
            kept.append((low, total))
    return kept


def top_mean(similarities: Sequence[tuple[int, int | None, int]], k: int, inward: bool = False) -> _Ends:
    """The range of the mean of the k greatest, of all where there are fewer, given (lo, hi, how many patches) of their
    similarities; rounded outward, or inward."""
    k = min(k, sum(count for _, _, count in similarities))
    least = _sum_of_greatest(((low, count) for low, _, count in similarities), k)
    most = _sum_of_greatest(((_finite(high), count) for _, high, count in similarities), k)
    return _divided(least, most, k, inward)


def _divided(least: int, most: int, count: int, inward: bool) -> _Ends:
    return (-(-least // count), most // count) if inward else (least // count, -(-most // count))


def _sum_of_greatest(values: Iterable[tuple[int, int]], k: int) -> int:
    """The sum of the k greatest of numbers given with how often they occur, in all at least k times."""
    total = 0
    for value, count in sorted(values, reverse=True):
        taken = min(count, k)
        total += taken * value
        k -= taken
    return total


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
        self._similarity.look()
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
