"""Ranges of observables over boxes of latents: every coordinate of a patch lies in an interval of its own.

    |z - p|^2:    coordinate by coordinate, sum dist(p_d, [lo_d, hi_d])^2 to sum max(|p_d - lo_d|, |p_d - hi_d|)^2
    <z, p>:       coordinate by coordinate; a cosine by this and the range of the length
    softmax z_j:  rises with z_j and falls with all others

The first, the second and the last are exact but for rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from verale.bounds.means import sum_of_others
from verale.bounds.observables import norm
from verale.head import Cosine, Euclidean, Geometry, Head, InnerProduct, Softmax
from verale.rounding import UNDERFLOW, Enclosure, down, gamma, up

__all__ = ["box_leaves_domain", "box_ranges"]


def box_ranges(head: Head, box: Enclosure) -> Enclosure:
    """(L, P) ranges of m(z_l, p_j) over all latents z in a box (L, D) that lies in the head's domain."""
    ranges: Enclosure = _RANGES[type(head.geometry)](head.geometry, box, head.points.to(torch.float64))
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


def _cosines(geometry: Cosine, box: Enclosure, points: Tensor) -> Enclosure:
    """The product by the product of lengths."""
    nearest = torch.maximum(box.lower, -box.upper).clamp(min=0)
    length = Enclosure(norm(nearest).lower, norm(_farthest(box)).upper)
    epsilon = Enclosure.exact(box.lower.new_tensor(geometry.epsilon))
    divisor = (length * length + epsilon).sqrt() if geometry.rooted else length + epsilon
    numerator = _products(InnerProduct(), box, points)
    return (numerator / (Enclosure(divisor.lower[:, None], divisor.upper[:, None]) * norm(points))).clamp(-1.0, 1.0)


def _masses(geometry: Softmax, box: Enclosure, points: Tensor) -> Enclosure:
    """exp(z_j) over itself and the others, at the ends where it is least and greatest."""
    largest = Enclosure.exact(box.upper.amax(1, keepdim=True))
    least, most = ((Enclosure.exact(end) - largest).exp() for end in (box.lower, box.upper))
    relative = 2 * gamma(box.shape[1] + 2)
    others = [sum_of_others(end[..., None])[..., 0] for end in (least.lower, most.upper)]
    all_least, all_most = down(others[0] * (1 - relative)), up(others[1] * (1 + relative))
    lower = Enclosure.exact(least.lower) / (Enclosure.exact(least.lower) + Enclosure.exact(all_most))
    upper = Enclosure.exact(most.upper) / (Enclosure.exact(most.upper) + Enclosure.exact(all_least.clamp(min=0)))
    return Enclosure(lower.lower, upper.upper).clamp(0.0, 1.0)


_RANGES: dict[type[Geometry], Callable[..., Enclosure]] = {
    Euclidean: _distances,
    InnerProduct: _products,
    Cosine: _cosines,
    Softmax: _masses,
}
"""From a geometry, a box and prototypes (P, D) to ranges (L, P)."""
