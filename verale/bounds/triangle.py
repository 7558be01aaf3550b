"""Triangle: how each stated observable of a patch, by itself, bounds the others (metric heads)."""

from __future__ import annotations

from collections.abc import Sequence

from verale.bounds.projection import ENTRIES_AT_ONCE, Projection, ProjectionNumbers
from verale.bounds.rows import stated_pairs
from verale.head import Head
from verale.rounding import Enclosure

__all__ = ["Triangle"]


class Triangle:
    r"""The triangle inequality, statement by statement; the bounds of several statements are intersected.

    Squared distances: |d_jk - d_j| <= d_k <= d_jk + d_j with d_jk = |p_j - p_k|. Cosines: with alpha = arccos m_j and
    theta the angle of p_j and p_k, cos(alpha + theta) <= m_k <= cos(alpha - theta), for any alpha and theta.

    Both are the projection onto the hull of one anchor and are computed as such, without arccos and without cases.

    Soundness: an intersection of projection bounds, each sound; see `Projection`.
    Reference: Soria et al., arXiv 2511.16588 (triangular inequality) and 2608.16773 (cosine triangular inequality).
    """

    name = "triangle"
    ordered = False

    def __init__(self, head: Head) -> None:
        self._single = Projection(head)

    def numbers(self) -> ProjectionNumbers:
        """What a search without rounding needs."""
        return self._single.numbers()

    @property
    def size(self) -> int:
        """P."""
        return self._single.size

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """See `SpatialParadigm`."""
        found = self._single.ranges([[] for _ in stated], observed)
        some = max(1, ENTRIES_AT_ONCE // self.size)
        patches, prototypes = stated_pairs(stated)
        for start in range(0, len(patches), some):
            patch, prototype = patches[start : start + some], prototypes[start : start + some]
            alone = self._single.ranges([[j] for j in prototype.tolist()], observed[patch])
            where = patch[:, None].expand_as(alone.lower)
            found.lower.scatter_reduce_(0, where, alone.lower, "amax")
            found.upper.scatter_reduce_(0, where, alone.upper, "amin")
        return found
