"""Bounds of observables from the head's domain alone: those of a patch without statements.

Ranges of observables over boxes of latents: every coordinate of a patch lies in an interval of its own.

    |z - p|^2:    coordinate by coordinate, sum dist(p_d, [lo_d, hi_d])^2 to sum max(|p_d - lo_d|, |p_d - hi_d|)^2
    <z, p>:       coordinate by coordinate; a cosine by this and the range of the length
    softmax z_j:  rises with z_j and falls with all others

The first, the second and the last are exact but for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from verale.bounds.observables import norm, scaled, sum_of_others
from verale.head import Box, Cosine, Euclidean, Geometry, Head, InnerProduct, Softmax
from verale.rounding import UNDERFLOW, UNIT, Enclosure, down, gamma, root, up


def box_ranges(head: Head, box: Enclosure) -> Enclosure:
    """(L, P) ranges of m(z_l, p_j) over all latents z in a box (L, D) that lies in the head's domain."""
    ranges: Enclosure = _BOX_RANGES[type(head.geometry)](head.geometry, box, head.points.to(torch.float64))
    return ranges


def box_leaves_domain(head: Head, box: Enclosure) -> str | None:
    """Why latents in a box (L, D) may lie outside the head's domain; None where they do not."""
    lower, upper = head.domain.ends
    if not bool((box.lower >= lower).all() and (box.upper <= upper).all()):
        least, most = float(box.lower.min()), float(box.upper.max())
        domain = f"[{head.domain.lower}, {head.domain.upper}]"
        return f"latents may lie from {least} to {most}, beyond the head's domain {domain}"
    if head.geometry.undefined_at_zero and bool(((box.lower <= 0) & (box.upper >= 0)).all(1).any()):
        return "a patch may be the zero vector, whose cosine is undefined with epsilon 0"
    radius = head.geometry.radius
    if radius is not None and not bool((norm(_farthest(box)).upper <= radius).all()):
        return f"a patch may be longer than the radius {radius} of the head's domain"
    return None


def _farthest(box: Enclosure) -> Tensor:
    """(L, D) the greatest sizes of coordinates."""
    return torch.maximum(box.lower.abs(), box.upper.abs())


def _distances(geometry: Euclidean, box: Enclosure, points: Tensor) -> Enclosure:
    """Differences, their squares and the sum are rounded: D + 4 relative roundings."""
    relative, lost = gamma(points.shape[1] + 4), points.shape[1] * UNDERFLOW
    low, high = box.lower[:, None] - points, points - box.upper[:, None]
    nearest = torch.maximum(low, high).clamp(min=0).square().sum(2)
    farthest = torch.maximum(low.abs(), high.abs()).square().sum(2)
    return Enclosure(
        down(nearest - up(nearest * relative + lost)).clamp(min=0), up(farthest + up(farthest * relative + lost))
    )


def _products(geometry: InnerProduct, box: Enclosure, points: Tensor) -> Enclosure:
    """The lower end of each product has the lower end of the coordinate where p_d >= 0."""
    depth = points.shape[1]
    rising, falling = points.clamp(min=0).T, points.clamp(max=0).T
    low, high = box.lower @ rising + box.upper @ falling, box.upper @ rising + box.lower @ falling
    off = up(up(_farthest(box) @ points.abs().T) * (2 * gamma(2 * depth + 4)) + 4 * depth * UNDERFLOW)
    return Enclosure(down(low - off), up(high + off))


def _box_cosines(geometry: Cosine, box: Enclosure, points: Tensor) -> Enclosure:
    """The product by the product of lengths."""
    nearest = torch.maximum(box.lower, -box.upper).clamp(min=0)
    length = Enclosure(norm(nearest).lower, norm(_farthest(box)).upper)
    epsilon = Enclosure.exact(box.lower.new_tensor(geometry.epsilon))
    divisor = (length * length + epsilon).sqrt() if geometry.rooted else length + epsilon
    numerator = _products(InnerProduct(), box, points)
    return (numerator / (Enclosure(divisor.lower[:, None], divisor.upper[:, None]) * norm(points))).clamp(-1.0, 1.0)


def _box_masses(geometry: Softmax, box: Enclosure, points: Tensor) -> Enclosure:
    """exp(z_j) over itself and the others, at the ends where it is least and greatest."""
    largest = Enclosure.exact(box.upper.amax(1, keepdim=True))
    least, most = ((Enclosure.exact(end) - largest).exp() for end in (box.lower, box.upper))
    relative = 2 * gamma(box.shape[1] + 2)
    others = [sum_of_others(end[..., None])[..., 0] for end in (least.lower, most.upper)]
    all_least, all_most = down(others[0] * (1 - relative)), up(others[1] * (1 + relative))
    lower = Enclosure.exact(least.lower) / (Enclosure.exact(least.lower) + Enclosure.exact(all_most))
    upper = Enclosure.exact(most.upper) / (Enclosure.exact(most.upper) + Enclosure.exact(all_least.clamp(min=0)))
    return Enclosure(lower.lower, upper.upper).clamp(0.0, 1.0)


_BOX_RANGES: dict[type[Geometry], Callable[..., Enclosure]] = {
    Euclidean: _distances,
    InnerProduct: _products,
    Cosine: _box_cosines,
    Softmax: _box_masses,
}
"""From a geometry, a box and prototypes (P, D) to ranges (L, P)."""


_LEAST = 2.0**-64
"""Of a softmax head's e, below."""


def domain_range(head: Head) -> Enclosure:
    """Enclose {m(z, p_j) : z in the domain}, for each prototype: (P,).

    - softmax: [e / (e + P - 1), 1 / (1 + (P - 1) e)] with e = exp(lo - hi), 0 without two ends;
      exactly 1 if there is only one mass;
    - squared distance, coordinate by coordinate over the box:
      [sum dist(p_i, [lo, hi])^2, sum max(|p_i - lo|, |hi - p_i|)^2];
    - cosine: [-1, 1]; on the positive orthant [-|p^-| / |p|, |p^+| / |p|], with p^- and p^+ the negative and positive
      parts, because u is a vector of the unit ball with u >= 0; if epsilon is 0 it has length 1, and an end is the
      least p_d / |p| if none is negative, the greatest if none is positive; on the negative orthant -p for p;
    - inner product: coordinate by coordinate over the box, which a radius R cuts to [max(lo, -R), min(hi, R)];
      in a ball of radius R as the cosine of epsilon > 0, times R |p|.

    The proofs are those of `verale.checker.reading.space`.
    """
    return _RANGES[type(head.geometry)](head, head.points.to(torch.float64))


def inner_domain_range(head: Head) -> Enclosure:
    """The range of `domain_range` from within, (P,): no end lies outside the real one.

    Both ends there have fewer than D + 32 relative roundings, of numbers no larger than `size`; here twice as many are
    taken off.
    """
    outer, points = domain_range(head), head.points.to(torch.float64)
    depth, box = head.depth, head.domain
    if isinstance(head.geometry, Softmax):
        least, most = _mass_ends(head, points)
        return Enclosure.unchecked(least.upper, most.lower)
    size = torch.maximum(outer.lower.abs(), outer.upper.abs().nan_to_num(posinf=0.0))
    if isinstance(head.geometry, Cosine):
        size = torch.ones_like(size)
    elif isinstance(head.geometry, InnerProduct):
        size = torch.maximum(size, points.abs().sum(1) * max(map(abs, _cut(box, head.geometry.radius))))
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
        half = up(up(ends).amax() * up(root(torch.tensor(float(depth), dtype=torch.float64))))
        balls.append((centre, float(half)))
    return min(balls, key=lambda ball: ball[1])  # of equal ones the first, around 0, as in the checker


def _masses(head: Head, prototypes: Tensor) -> Enclosure:
    least, most = _mass_ends(head, prototypes)
    return Enclosure(least.lower, most.upper)


def _mass_ends(head: Head, prototypes: Tensor) -> tuple[Enclosure, Enclosure]:
    """Enclosures (P,) of both ends."""
    one = Enclosure.exact(prototypes.new_ones(head.size, dtype=torch.float64))
    if head.size == 1:
        return one, one
    lower, upper = head.domain.lower, head.domain.upper
    if lower is None or upper is None:
        return Enclosure.exact(one.lower - 1), one
    ends = [Enclosure.exact(one.lower * end) for end in (lower, upper)]
    ratio = (ends[0] - ends[1]).exp().clamp(0.0, 1.0)
    # The checker's grid takes less for 0, or rounds it by more than float64 does.
    ratio = Enclosure.unchecked(ratio.lower.masked_fill(ratio.lower < _LEAST, 0.0), ratio.upper)
    others = Enclosure.exact(one.lower * (head.size - 1))
    return (ratio / (ratio + others)).clamp(0.0, 1.0), (one / (one + others * ratio)).clamp(0.0, 1.0)


def _sign(box: Box) -> int:
    """1 if no coordinate of the box is negative, -1 if none is positive, otherwise 0."""
    lower, upper = box.ends
    return 1 if lower >= 0 else -1 if upper <= 0 else 0


def _cosines(head: Head, prototypes: Tensor) -> Enclosure:
    sign = _sign(head.domain)
    if sign == 0:
        ones = prototypes.new_ones(len(prototypes))
        return Enclosure(-ones, ones)
    turned = sign * prototypes
    direction = scaled(turned)
    length = norm(direction)
    high = (norm(direction.clamp(min=0)) / length).clamp(0.0, 1.0).upper
    low = -(norm(direction.clamp(max=0)) / length).clamp(0.0, 1.0).upper
    # The norm of a zero vector is exactly 0; its enclosure is wider.
    negative, positive = (turned <= 0).all(1), (turned >= 0).all(1)
    high, low = high.masked_fill(negative, 0.0), low.masked_fill(positive, 0.0)
    if head.geometry.undefined_at_zero:  # |u| is 1
        # A coordinate of the direction has been rounded once, which may make one 0 or lose all its digits.
        least, most = (
            Enclosure(down(end - up(end.abs() * UNIT + UNDERFLOW)), up(end + up(end.abs() * UNIT + UNDERFLOW))) / length
            for end in (direction.amin(1), direction.amax(1))
        )
        high = torch.where(negative, most.upper.clamp(-1.0, 0.0), high)
        low = torch.where(positive, least.lower.clamp(0.0, 1.0), low)
    return Enclosure(low, high)


def _cut(box: Box, radius: float | None) -> tuple[float, float]:
    """The ends of the coordinates of a box with two ends, or within a ball."""
    reach = math.inf if radius is None else radius
    return max(box.ends[0], -reach), min(box.ends[1], reach)


def _inner_products(head: Head, prototypes: Tensor) -> Enclosure:
    radius, depth = head.geometry.radius, prototypes.shape[1]
    least, most = _cut(head.domain, radius)
    first, last = prototypes * least, prototypes * most
    low, high = torch.minimum(first, last), torch.maximum(first, last)
    relative, lost = gamma(depth + 4), 2 * depth * UNDERFLOW
    ends = Enclosure(
        down(low.sum(1) - up(low.abs().sum(1) * relative + lost)),
        up(high.sum(1) + up(high.abs().sum(1) * relative + lost)),
    )
    if radius is not None:
        sign = _sign(head.domain)
        turned = sign * prototypes if sign else prototypes
        longest = norm(turned.clamp(min=0) if sign else turned).upper
        shortest = norm(turned.clamp(max=0) if sign else turned).upper
        ends = ends.intersect(Enclosure(-up(shortest * radius), up(longest * radius)))
    return ends


_RANGES: dict[type[Geometry], Callable[[Head, Tensor], Enclosure]] = {
    Euclidean: lambda head, points: box_ranges(
        head, Enclosure(*(points.new_full((1, head.depth), end) for end in head.domain.ends))
    )[0],
    Cosine: _cosines,
    InnerProduct: _inner_products,
    Softmax: _masses,
}
"""From a head and its prototypes (P, D) to the range of every observable (P,)."""
