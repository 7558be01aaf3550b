"""The paradigm `triangle`: what each statement alone says about the other observables.

**Rule.** The range of an observable of a patch is the intersection, over the statements about the patch, of the range
that `projection` gives for that statement alone. With one anchor p_j and distance d_j that is the triangle inequality,
    |d_jk - d_j| <= d_k <= d_jk + d_j, d_jk = |p_j - p_k|,
and with one cosine m_j = cos(a), theta the angle of p_j and p_k, it is cos(a + theta) <= m_k <= cos(a - theta).
*Proof.* Each of these ranges holds the observable (`projection`); hence so does their intersection.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..certificate import PatchStatement
from .projection import Projection
from .space import Ranges, Space

__all__ = ["Triangle"]


class Triangle:
    """Ranges of one patch of a euclidean or cosine head."""

    def __init__(self, space: Space) -> None:
        self._domain = space.domain
        self._single = Projection(space)

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges:
        """The range of every working observable of a patch, given its statements one by one."""
        ranges = self._domain
        for statement in statements:
            ranges = ranges.met(self._single.ranges([statement]))
        return ranges
