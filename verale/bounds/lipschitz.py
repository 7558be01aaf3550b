"""The Lipschitz rule: what is known of one activation bounds the others (pooling max; distances and cosines)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.observables import norm, scaled, squared_distances
from verale.bounds.rows import require_geometry
from verale.bounds.similarity import oriented, pooled_activation
from verale.errors import UsageError
from verale.head import Euclidean, Head, MaxPooling, Quadratic
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, root, up

__all__ = ["Lipschitz"]

_STEPS = 64
_GREATEST = 2.0**128
"""Squared distances beyond this are not looked for."""
_LARGEST_TABLE = 2**25
"""Pairs of prototypes whose links are kept, 8 bytes each; of more prototypes they are computed when they are used."""


class Lipschitz:
    r"""From the ends of one activation a_k to ends of any a_j.

    Let y_j be the pooled dissimilarity of prototype j: the least squared distance, or minus the greatest cosine. So
    a_j = S_j(y_j), and S_j falls. Let d = |p_j - p_k|, and let c be the cosine of p_j and p_k.

    - distances: |y_j^(1/2) - y_k^(1/2)| <= d;
    - cosines: c y_k - r <= y_j if y_k > -c, and y_j <= c y_k + r if y_k < c, with r = ((1 - c^2)(1 - y_k^2))^(1/2).

    Soundness: the proofs are those of `verale.checker.reading.lipschitz`. d is rounded up and c down; every later
    operation is rounded outward. An end of y_k is found by bisection; it holds because S_k there is certainly greater
    than the upper end of a_k, or certainly less than the lower one.

    Args:
        head: its similarity is monotone, its pooling max.
    """

    def __init__(self, head: Head) -> None:
        self.require(head)
        self._head, self._distances = head, head.geometry.is_distance
        self._points = head.points.to(torch.float64)
        self._table = self._computed(self._points, self._points) if head.size**2 <= _LARGEST_TABLE else None
        self._near, self._far = oriented(head, domain_range(head))
        self._least = 0.0 if self._distances else -1.0

    @staticmethod
    def require(head: Head) -> None:
        """Raise UsageError, which says what the rule needs, unless it holds for a head."""
        require_geometry("mixed", head, "distances or cosines")
        if not isinstance(head.pooling, MaxPooling) or isinstance(head.similarity, Quadratic):
            raise UsageError("paradigm 'mixed' needs max pooling and a monotone similarity")

    def ranges(self, observed: Enclosure, stated: Tensor | None = None) -> Enclosure:
        """(S, P): each row is the range of every activation, given that of a_k alone.

        Args:
            observed: (P,) that of each.
            stated: (P,) bool, the S activations a_k; all by default.
        """
        stated = torch.ones_like(observed.lower, dtype=torch.bool) if stated is None else stated
        return next(self.ranges_of_several(observed[None], stated[None]))

    def ranges_of_several(self, observed: Enclosure, stated: Tensor) -> Iterator[Enclosure]:
        """The same of several images: of (N, P) the ranges (S, P) of each. The bisection is one for all."""
        near, far = self._near_of(observed.upper), self._far_of(observed.lower)
        for image, where in enumerate(stated):
            own, ends = where.nonzero()[:, 0], observed[image]
            nearest, farthest = self._nearest(near[image, own], own), self._farthest(far[image, own], own)
            ranges = pooled_activation(self._head, nearest, farthest)
            row = torch.arange(len(own))
            ranges.lower[row, own] = torch.maximum(ranges.lower[row, own], ends.lower[own])
            ranges.upper[row, own] = torch.minimum(ranges.upper[row, own], ends.upper[own])
            yield ranges

    def most(self, high: Tensor, of: Tensor | None = None) -> Tensor:
        """(..., P) upper ends of all activations, given upper ends of all (..., P); only those `of` (..., P) bool are
        tightened."""
        of = torch.ones_like(high, dtype=torch.bool) if of is None else of
        return torch.minimum(self.most_by_others(high, of), high)

    def least(self, low: Tensor, of: Tensor) -> Tensor:
        """The same for lower ends."""
        return torch.maximum(self.least_by_others(low, of), low)

    def most_by_others(self, high: Tensor, of: Tensor) -> Tensor:
        """(..., P) upper ends that follow for some activations `of` (..., P) bool from those (..., P) of all others;
        infinity for the rest."""
        near = torch.full_like(high, self._least)
        for found, known, where in _by_row(near, self._near_of(high), of):
            found[where] = _of_others(self._nearest(known, slice(None), where), where, self._least).amax(0)
        return torch.where(of, pooled_activation(self._head, near, near).upper, torch.inf)

    def least_by_others(self, low: Tensor, of: Tensor) -> Tensor:
        """The same for lower ends."""
        far = self._far.expand_as(low).clone()
        for found, known, where in _by_row(far, self._far_of(low), of):
            found[where] = _of_others(self._farthest(known, slice(None), where), where, self._far[where]).amin(0)
        return torch.where(of, pooled_activation(self._head, far, far).lower, -torch.inf)

    def _near_of(self, high: Tensor) -> Tensor:
        """(..., P) lower bounds of y, given upper ends of the activations (..., P)."""
        top = self._top(lambda y: ~self._exceeds(y, high))
        return self._bisected(torch.full_like(top, self._least), top, lambda y: self._exceeds(y, high))

    def _far_of(self, low: Tensor) -> Tensor:
        """(..., P) upper bounds of y, given lower ends of the activations (..., P); infinity where none is found."""
        top = self._top(lambda y: self._falls_below(y, low))
        least = self._bisected(top, torch.full_like(top, self._least), lambda y: self._falls_below(y, low))
        return torch.where(self._falls_below(top, low), least, torch.inf)

    def _exceeds(self, y: Tensor, high: Tensor) -> Tensor:
        return pooled_activation(self._head, y, y).lower > high

    def _falls_below(self, y: Tensor, low: Tensor) -> Tensor:
        return pooled_activation(self._head, y, y).upper < low

    def _top(self, reached: Callable[[Tensor], Tensor]) -> Tensor:
        """(P,) the greatest dissimilarities over the domain; where they are infinite, some that reach far enough."""
        unbounded = self._far == torch.inf
        top = self._far.masked_fill(unbounded, 1.0)
        while bool((short := unbounded & ~reached(top) & (top < _GREATEST)).any()):
            top = torch.where(short, 16 * top, top)
        return top

    @staticmethod
    def _bisected(good: Tensor, bad: Tensor, proved: Callable[[Tensor], Tensor]) -> Tensor:
        """Numbers between these that are proved, next to others that are not; or `good`."""
        for _ in range(_STEPS):
            middle = (good + bad) / 2
            holds = proved(middle)
            good, bad = torch.where(holds, middle, good), torch.where(holds, bad, middle)
        return good

    def _nearest(self, near: Tensor, own: Tensor | slice, of: Tensor | slice = slice(None)) -> Tensor:
        """(S, P) lower bounds of y, for the columns `of`; each row from that (S,) of the y_k that `own` names."""
        links, sines = self._links(own, of)
        if self._distances:
            least = down(down(root(near))[:, None] - links).clamp(min=0)
            return torch.maximum(down(least.square()), self._near[of])
        y = near[:, None]
        least = down(down(links * y) - up(sines * _sine(y)))
        return torch.maximum(torch.where(y > -links, least, self._least), self._near[of])

    def _farthest(self, far: Tensor, own: Tensor | slice, of: Tensor | slice = slice(None)) -> Tensor:
        """The same for upper bounds."""
        links, sines = self._links(own, of)
        if self._distances:
            return torch.minimum(up(up(up(root(far))[:, None] + links).square()), self._far[of])
        y = far.clamp(max=1)[:, None]
        most = up(up(links * y) + up(sines * _sine(y)))
        return torch.minimum(torch.where(y < links, most, 1.0), self._far[of])

    def _links(self, own: Tensor | slice, of: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Of some prototypes k and j: upper bounds of |p_j - p_k|; or lower bounds of their cosines, and upper ones of
        what the sines may be then."""
        if self._table is not None:
            links, sines = self._table
            return links[own][:, of], sines[own][:, of]
        return self._computed(self._points[own], self._points[of])

    def _computed(self, points: Tensor, others: Tensor) -> tuple[Tensor, Tensor]:
        if self._distances:
            links = squared_distances(Euclidean(), points, others).sqrt().upper
            return links, links
        links = _cosines(points, others)
        return links, _sine(links)


def _of_others(rows: Tensor, where: Tensor, nothing: Tensor | float) -> Tensor:
    """Rows (P, S) of what each of P activations says of some, without what these say of themselves.

    Args:
        where: (P,) bool, which ones.
        nothing: what stands for no bound.
    """
    own = where.nonzero()[:, 0]
    rows[own, torch.arange(len(own))] = nothing
    return rows


def _by_row(*tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Rows (P,) of tensors (..., P): views."""
    return zip(*(each.view(-1, each.shape[-1]) for each in tensors), strict=True)


def _cosines(points: Tensor, others: Tensor) -> Tensor:
    """Lower bounds of the cosines of some prototypes and of others."""
    rows, columns, depth = scaled(points), scaled(others), points.shape[1]
    sizes = up(rows.abs() @ columns.abs().T) * gamma(depth + 8) + depth * UNDERFLOW
    products = Enclosure.around(rows @ columns.T, up(sizes))
    lengths = norm(rows)[:, None] * norm(columns)
    return (products / lengths).lower.clamp(-1, 1)


def _sine(cosine: Tensor) -> Tensor:
    """Upper bounds of (1 - c^2)^(1/2), |c| <= 1."""
    return up(root(up(up(1 - cosine) * up(1 + cosine))))
