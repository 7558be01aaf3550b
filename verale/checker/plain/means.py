"""Poolings with a mean: the range of one activation, given the ranges of one prototype's similarities at all patches.

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
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

__all__ = ["max_minus_mean", "max_minus_mean_distance", "top_mean"]

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


def _finite(value: int | None) -> int:
    if value is None:
        raise ValueError("a similarity cannot be unbounded")
    return value
