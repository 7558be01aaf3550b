"""The Lipschitz rule: what is known of one activation bounds the others (pooling max; distances and cosines)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from verale.bounds.domain import domain_range
from verale.bounds.observables import cut, norm, require_geometry, scaled, sine, squared_distances
from verale.bounds.similarity import oriented, pooled_activation
from verale.errors import UsageError
from verale.head import Euclidean, Head, MaxPooling
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, root, up

_BITS = 64
"""An end is found to so many bits of the way on which it is looked for."""
_AT_ONCE, _MOST_BITS = 2**11, 6
"""Ends are found by sections, of about so many numbers of a row a step; of few ends so many bits in one step."""
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
        self._unbounded = bool((self._far == torch.inf).any())
        self._least = 0.0 if self._distances else -1.0

    @staticmethod
    def require(head: Head) -> None:
        """Raise UsageError, which says what the rule needs, unless it holds for a head."""
        require_geometry("mixed", head, "distances or cosines")
        if not isinstance(head.pooling, MaxPooling) or head.similarity.unimodal:
            raise UsageError("paradigm 'mixed' needs max pooling and a monotone similarity")

    def ranges(self, observed: Enclosure, stated: Tensor) -> Enclosure:
        """(S, P): each row is the range of every activation, given that of a_k alone.

        Args:
            observed: (P,) that of each.
            stated: (P,) bool, the S activations a_k.
        """
        own = stated.nonzero()[:, 0]
        ends, row = observed[own], torch.arange(len(own))
        nearest = self._nearest(self._near_of(ends.upper, own), own)
        farthest = self._farthest(self._far_of(ends.lower, own), own)
        return cut(pooled_activation(self._head, nearest, farthest), (row, own), ends)

    def floors(self, low: Tensor, own: Tensor) -> Tensor:
        """(..., S, P) lower ends of all activations, each row from the lower end (..., S) of that of one prototype,
        which `own` (..., S) names."""
        farthest = self._farthest(self._far_of(low, own), own)
        ends = pooled_activation(self._head, farthest, farthest).lower
        return ends.scatter_reduce_(-1, own.expand_as(low)[..., None], low[..., None], "amax")

    def by_others(self, ends: Tensor, of: Tensor, upper: bool) -> Tensor:
        """(..., P) upper or lower ends that follow for some activations `of` (..., P) bool from those (..., P) of all
        others; infinite for the rest."""
        bounds = torch.full_like(ends, self._least) if upper else self._far.expand_as(ends).clone()
        known = self._near_of(ends) if upper else self._far_of(ends)
        for found, given, where in zip(*(each.view(-1, each.shape[-1]) for each in (bounds, known, of)), strict=True):
            rows, own = (self._nearest if upper else self._farthest)(given, slice(None), where), where.nonzero()[:, 0]
            rows[own, torch.arange(len(own))] = self._least if upper else self._far[where]  # nothing of themselves
            found[where] = rows.amax(0) if upper else rows.amin(0)
        found = pooled_activation(self._head, bounds, bounds)
        return torch.where(of, found.upper, torch.inf) if upper else torch.where(of, found.lower, -torch.inf)

    def _near_of(self, high: Tensor, of: Tensor | slice = slice(None)) -> Tensor:
        """(..., S) lower bounds of y, given upper ends of the activations `of` (..., S)."""

        def exceeds(y: Tensor) -> Tensor:
            return pooled_activation(self._head, y, y, of).lower > high

        top = self._top(lambda y: ~exceeds(y), of)
        return self._last(torch.full_like(high, self._least), top.expand_as(high), exceeds)

    def _far_of(self, low: Tensor, of: Tensor | slice = slice(None)) -> Tensor:
        """(..., S) upper bounds of y, given lower ends of the activations; infinity where none is found."""

        def falls_below(y: Tensor) -> Tensor:
            return pooled_activation(self._head, y, y, of).upper < low

        top = self._top(falls_below, of).expand_as(low)
        least = self._last(top, torch.full_like(low, self._least), falls_below)
        return torch.where(falls_below(top), least, torch.inf)

    def _top(self, reached: Callable[[Tensor], Tensor], of: Tensor | slice) -> Tensor:
        """The greatest dissimilarities over the domain; where they are infinite, some that reach far enough."""
        unbounded = self._far[of] == torch.inf
        top = self._far[of].masked_fill(unbounded, 1.0)
        while self._unbounded and bool((short := unbounded & ~reached(top) & (top < _GREATEST)).any()):
            top = torch.where(short, 16 * top, top)
        return top

    @staticmethod
    def _last(good: Tensor, bad: Tensor, proved: Callable[[Tensor], Tensor]) -> Tensor:
        """On the way from `good` to `bad` numbers that are proved, next to others that are not; or `good`."""
        # Of a row, so that what is found does not depend on how many images there are.
        bits = min(_MOST_BITS, max(1, (_AT_ONCE // max(1, good.shape[-1])).bit_length() - 1))
        shares = torch.linspace(0, 1, 2**bits + 1, dtype=torch.float64)[1:-1].view(-1, *[1] * good.dim())
        for _ in range(-(-_BITS // bits)):
            tried = torch.cat([good[None], good + (bad - good) * shares, bad[None]])
            count = proved(tried[1:-1]).long().cumprod(0).sum(0, keepdim=True)
            good, bad = tried.gather(0, count)[0], tried.gather(0, count + 1)[0]
        return good

    def _nearest(self, near: Tensor, own: Tensor | slice, of: Tensor | slice = slice(None)) -> Tensor:
        """(..., S, P) lower bounds of y, for the columns `of`; each row from that (..., S) of y_k, k of `own`."""
        links, sines = self._links(own, of)
        if self._distances:
            least = down(down(root(near))[..., None] - links).clamp(min=0)
            return torch.maximum(down(least.square()), self._near[of])
        y = near[..., None]
        least = down(down(links * y) - up(sines * sine(y)))
        return torch.maximum(torch.where(y > -links, least, self._least), self._near[of])

    def _farthest(self, far: Tensor, own: Tensor | slice, of: Tensor | slice = slice(None)) -> Tensor:
        """The same for upper bounds."""
        links, sines = self._links(own, of)
        if self._distances:
            return torch.minimum(up(up(up(root(far))[..., None] + links).square()), self._far[of])
        y = far.clamp(max=1)[..., None]
        most = up(up(links * y) + up(sines * sine(y)))
        return torch.minimum(torch.where(y < links, most, 1.0), self._far[of])

    def _links(self, own: Tensor | slice, of: Tensor | slice) -> tuple[Tensor, Tensor]:
        """Of some prototypes k and j: upper bounds of |p_j - p_k|; or lower bounds of their cosines, and upper ones of
        what the sines may be then."""
        if self._table is not None:
            links, sines = self._table
            some = links[own][..., of]
            return some, some if self._distances else sines[own][..., of]
        points = self._points[own]
        links, sines = self._computed(points.flatten(0, -2), self._points[of])
        return links.view(*points.shape[:-1], -1), sines.view(*points.shape[:-1], -1)

    def _computed(self, points: Tensor, others: Tensor) -> tuple[Tensor, Tensor]:
        if self._distances:
            links = squared_distances(Euclidean(), points, others).sqrt().upper
            return links, links
        links = _cosines(points, others)
        return links, sine(links)


def _cosines(points: Tensor, others: Tensor) -> Tensor:
    """Lower bounds of the cosines of some prototypes and of others."""
    rows, columns, depth = scaled(points), scaled(others), points.shape[1]
    sizes = up(rows.abs() @ columns.abs().T) * gamma(depth + 8) + depth * UNDERFLOW
    products = Enclosure.around(rows @ columns.T, up(sizes))
    lengths = norm(rows)[:, None] * norm(columns)
    return (products / lengths).lower.clamp(-1, 1)
