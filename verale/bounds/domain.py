"""Bounds of observables from the head's domain alone: those of a patch without statements."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from verale.bounds.observables import norm, scaled
from verale.head import Box, Cosine, Euclidean, Geometry, Head, InnerProduct, Softmax
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["ball_around", "domain_range", "inner_domain_range"]


def domain_range(head: Head, device: torch.device | str = "cpu") -> Enclosure:
    """Enclose {m(z, p_j) : z in the domain}, for each prototype: (P,).

    - softmax: [0, 1], and exactly 1 if there is only one mass;
    - squared distance, coordinate by coordinate over the box:
      [sum dist(p_i, [lo, hi])^2, sum max(|p_i - lo|, |hi - p_i|)^2];
    - cosine: [-1, 1]; on the positive orthant [-|p^-| / |p|, |p^+| / |p|], with p^- and p^+ the negative and positive
      parts, because u is a vector of the unit ball with u >= 0;
    - inner product: coordinate by coordinate over the box; in a ball of radius R as the cosine, times R |p|.
    """
    return _RANGES[type(head.geometry)](head, head.points.to(device, torch.float64))


def inner_domain_range(head: Head, device: torch.device | str = "cpu") -> Enclosure:
    """The range of `domain_range` from within, (P,): no end lies outside the real one.

    Both ends there have fewer than D + 32 relative roundings, of numbers no larger than `size`; here twice as many are
    taken off.
    """
    outer, points = domain_range(head, device), head.points.to(device, torch.float64)
    depth, box = head.depth, head.domain
    if isinstance(head.geometry, Softmax):
        return outer
    size = torch.maximum(outer.lower.abs(), outer.upper.abs().nan_to_num(posinf=0.0))
    if isinstance(head.geometry, Cosine):
        size = torch.ones_like(size)
    elif isinstance(head.geometry, InnerProduct) and box.lower is not None and box.upper is not None:
        size = points.abs().sum(1) * max(abs(box.lower), abs(box.upper))
    elif isinstance(head.geometry, Euclidean):
        # Sums of squares are off by a share of themselves.
        relative, lost = 2 * gamma(depth + 32), 2 * depth * UNDERFLOW
        return Enclosure.unchecked(outer.lower * (1 + relative) + lost, outer.upper * (1 - relative) - lost)
    error = size * (2 * gamma(depth + 32)) + 4 * depth * UNDERFLOW
    return Enclosure.unchecked(outer.lower + error, outer.upper - error)


def ball_around(box: Box, radius: float | None, depth: int) -> tuple[float, float]:
    """A ball around the domain: the coordinate of its centre, the same in all dimensions, and an upper bound of its
    radius."""
    balls = [] if radius is None else [(0.0, radius)]
    if box.lower is not None and box.upper is not None:
        centre = (box.lower + box.upper) / 2
        ends = torch.tensor([box.upper - centre, centre - box.lower], dtype=torch.float64)
        half = up(up(ends).amax() * up(torch.tensor(float(depth), dtype=torch.float64).sqrt()))
        balls.append((centre, float(half)))
    return min(balls, key=lambda ball: ball[1])  # of equal ones the first, around 0, as in the checker


def _masses(head: Head, prototypes: Tensor) -> Enclosure:
    ones = torch.ones(head.size, dtype=torch.float64, device=prototypes.device)
    return Enclosure(ones if head.size == 1 else ones - 1, ones)


def _cosines(head: Head, prototypes: Tensor) -> Enclosure:
    if head.domain.lower is None or head.domain.lower < 0:
        ones = prototypes.new_ones(len(prototypes))
        return Enclosure(-ones, ones)
    direction = scaled(prototypes)
    high = (norm(direction.clamp(min=0)) / norm(direction)).clamp(0.0, 1.0).upper
    low = (norm(direction.clamp(max=0)) / norm(direction)).clamp(0.0, 1.0).upper
    # The norm of a zero vector is exactly 0; its enclosure is wider.
    high = high.masked_fill((prototypes <= 0).all(1), 0.0)
    low = low.masked_fill((prototypes >= 0).all(1), 0.0)
    return Enclosure(-low, high)


def _inner_products(head: Head, prototypes: Tensor) -> Enclosure:
    box, radius, depth = head.domain, head.geometry.radius, prototypes.shape[1]
    ends = Enclosure.unchecked(*(prototypes.new_full(prototypes.shape[:1], end) for end in (-math.inf, math.inf)))
    if box.lower is not None and box.upper is not None:
        first, last = prototypes * box.lower, prototypes * box.upper
        low, high = torch.minimum(first, last), torch.maximum(first, last)
        relative, lost = gamma(depth + 4), 2 * depth * UNDERFLOW
        ends = Enclosure(
            down(low.sum(1) - up(low.abs().sum(1) * relative + lost)),
            up(high.sum(1) + up(high.abs().sum(1) * relative + lost)),
        )
    if radius is not None:
        positive = box.lower is not None and box.lower >= 0
        longest = norm(prototypes.clamp(min=0) if positive else prototypes).upper
        shortest = norm(prototypes.clamp(max=0) if positive else prototypes).upper
        ends = ends.intersect(Enclosure(-up(shortest * radius), up(longest * radius)))
    return ends


def _squared_distances(head: Head, prototypes: Tensor) -> Enclosure:
    box, depth = head.domain, prototypes.shape[1]
    below = torch.zeros_like(prototypes) if box.lower is None else (box.lower - prototypes).clamp(min=0)
    above = torch.zeros_like(prototypes) if box.upper is None else (prototypes - box.upper).clamp(min=0)
    nearest = torch.maximum(below, above).square().sum(1)
    if box.lower is None or box.upper is None:
        farthest = torch.full_like(nearest, math.inf)
    else:
        farthest = torch.maximum((prototypes - box.lower).abs(), (box.upper - prototypes).abs()).square().sum(1)
    relative, lost = gamma(depth + 4), depth * UNDERFLOW
    return Enclosure(
        down(nearest - up(nearest * relative + lost)).clamp(min=0), up(farthest + up(farthest * relative + lost))
    )


_RANGES: dict[type[Geometry], Callable[[Head, Tensor], Enclosure]] = {
    Euclidean: _squared_distances,
    Cosine: _cosines,
    InnerProduct: _inner_products,
    Softmax: _masses,
}
"""From a head and its prototypes (P, D) to the range of every observable (P,)."""
