"""From the observables of patches to their similarities, and from these to the activations.

The observable m is the working one; a cosine's working observable is divided by |A_k|, which is enclosed. What each
similarity does with a range of m is in `chain`. For a unimodal one x = |m - c| replaces m.

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

**max**: the greatest similarity lies between the greatest lower and the greatest upper end.

**masked_max**: the same over the patches that prototype j looks at. What a column of the mask stands for is one patch,
or all further ones.

All but max_minus_mean_distance pool similarities; that one needs distances.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import repeat
from math import inf
from typing import TypeAlias

from ..dyadic import quotient
from ..head import Head
from ..read.similarities import COSINES
from .space import Box, Ranges, Space, divided

End: TypeAlias = tuple[int, int | None, int]
"""The range of one prototype at some patches that are alike, and how many these are: perhaps 10^18."""
_Mean: TypeAlias = Callable[[int, int], tuple[int, int]]
"""Encloses the similarity of a mean distance, given a sum and a count."""


class Pooling:
    """The way of one head from observables to activations, rounded outward or inward."""

    def __init__(self, space: Space, inward: bool = False) -> None:
        self._space, self._similarity, self._inward = space, space.head.similarity, inward

    def similarities(self, ranges: Ranges) -> Box:
        """The ranges of the similarities of a patch, given those of its working observables; inward, of its
        observables."""
        similarity, bits, inward = self._similarity, self._space.bits, self._inward
        observed = ranges if inward else self.observed(ranges)
        lower, upper = observed.lower, observed.upper
        if similarity.unchanged and upper is not None:
            return Box(lower, upper, bits, inward)
        pairs = enumerate(zip(lower, [None] * len(lower) if upper is None else upper, strict=True))
        at = partial(similarity.ends, self._space.arithmetic, m_bits=bits, bits=bits, inward=inward)
        ends = [at(j, low, high) for j, (low, high) in pairs]
        return Box([least for least, _ in ends], [most for _, most in ends], bits, inward)

    def observed(self, working: Ranges) -> Ranges:
        """Enclosures of the observables, given those of the working ones."""
        bits, norms = self._space.bits, self._space.norms if self._space.head.geometry in COSINES else ()
        if not norms or working.upper is None:
            return working
        ends = zip(working.lower, working.upper, norms, strict=True)
        pairs = [divided(low, high, norm, bits) for low, high, norm in ends]
        return Ranges([low for low, _ in pairs], [high for _, high in pairs])

    def part(self, ranges: Ranges) -> Ranges:
        """What is pooled of a patch with these ranges of the working observables: distances or similarities."""
        return ranges if self._space.head.pooling == "max_minus_mean_distance" else self.similarities(ranges)

    def box(self, parts: Mapping[int, Ranges], patches: int) -> Box:
        """The ranges of the activations of so many patches (at least one), given the parts of some: those without
        statements have the ranges of the domain."""
        head = self._space.head
        self._space.arithmetic.clock.look()
        seen: list[list[list[End]]] = [[] for _ in range(head.columns)]
        for patch, part in parts.items():
            seen[head.column(patch)].append(_ends(part, 1))
        for column, count in zip(seen, head.left(patches, parts), strict=True):
            if count:
                column.append(_ends(self._unstated, count))
        ends = [
            pooled(head, [of[j] for k in columns for of in seen[k]], partial(self.at, j), self._inward)
            for j, columns in enumerate(head.mask)
        ]
        return Box([low for low, _ in ends], [high for _, high in ends], self._space.bits, self._inward)

    @cached_property
    def _unstated(self) -> Ranges:
        """The part of a patch without statements."""
        domain = self._space.within if self._inward else self._space.domain
        if domain is None:
            raise ValueError("a range over the domain may be empty")
        return self.part(domain)

    def at(self, j: int, x: int, parts: int = 1) -> tuple[int, int]:
        """S(x / parts) with prototype j, x on the grid; see `Similarity.at`."""
        bits = self._space.bits
        return self._similarity.at(self._space.arithmetic, j, x, bits, bits, parts)


def _ends(part: Ranges, count: int) -> list[End]:
    return list(zip(part.lower, repeat(None) if part.upper is None else part.upper, repeat(count), strict=False))


def pooled(head: Head, ends: Sequence[End], mean: _Mean, inward: bool = False) -> tuple[int, int]:
    """The range of one activation, rounded outward or inward.

    Args:
        head: the head, whose pooling it is.
        ends: at the patches that the prototype looks at, those of similarities; of distances under
            max_minus_mean_distance, infinite where they are None.
        mean: encloses the similarity of a mean distance, given a sum and a count.
        inward: whether to round inward.
    """
    if head.pooling in ("max", "masked_max"):
        return max(low for low, _, _ in ends), max(high for _, high, _ in ends if high is not None)
    patches = sum(count for _, _, count in ends)
    bounded = [(low, high, count) for low, high, count in ends if high is not None]
    if head.pooling == "max_minus_mean_distance":
        return _max_minus_mean_distance(ends, bounded, patches, mean, inward)
    if len(bounded) < len(ends):
        raise ValueError("only a squared distance can be unbounded")
    if head.pooling == "top_mean":
        count = min(head.k, patches)
        least, most = (_sum_of_greatest(((end[side], end[2]) for end in bounded), count) for side in (0, 1))
    else:  # max_minus_mean
        count, edge = patches, max(low for low, _, _ in bounded)
        least = sum(n * max(0, edge - high) for _, high, n in bounded)
        most = max((patches - 1) * high + low for low, high, _ in bounded) - sum(n * low for low, _, n in bounded)
    return quotient(least, count, inward), quotient(most, count, not inward)


def _sum_of_greatest(values: Iterable[tuple[int, int]], k: int) -> int:
    """The sum of the k greatest of numbers that are given with how often they occur, in all at least k times."""
    total = 0
    for value, count in sorted(values, reverse=True):
        total += min(count, k) * value
        k -= min(count, k)
    return total


def _max_minus_mean_distance(
    ends: Sequence[End], bounded: Sequence[tuple[int, int, int]], patches: int, similarity: _Mean, inward: bool
) -> tuple[int, int]:
    """The range of S(min) - S(mean) over so many patches, of which some distances are bounded."""
    least, most, beaten = 0, 0, -1.0
    if bounded:
        edge = min(max(0, high) for _, high, _ in bounded)
        total = sum(count * max(low, edge) for low, _, count in ends)
        least = max(0, similarity(edge, 1)[inward] - similarity(total, patches)[not inward])
    infinite = patches - sum(count for _, _, count in bounded)
    farthest = sum(count * high for _, high, count in bounded)
    pairs = {(low, inf if infinite > (high is None) else max(0, farthest - (high or 0) + low)) for low, high, _ in ends}
    # Logarithms are slow: they are not asked for where another pair has a smaller distance and a larger sum.
    for low, far in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if far > beaten:
            beaten = far
            limit = 0 if far == inf else similarity(int(far), patches)[inward]
            most = max(most, similarity(low, 1)[not inward] - limit)
    return least, most
