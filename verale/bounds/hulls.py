"""The ranges of all observables of a patch that its hull leaves: see `verale.bounds.projection`."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from verale.bounds.at_once import INFLATE, Directions
from verale.rounding import Enclosure, down, gamma, root, up

__all__ = ["Hulls", "inner_ranges", "outer_ranges", "relative_to"]

_TOO_WIDE = 1 - 1e-6
"""The least square of an interval's half width, as a fraction of that of the ball's along the prototype, at which a
single statement about a patch is used for its own observable only."""


class Hulls(NamedTuple):
    """R patches, each with the affine hull of its anchors.

    Vectors are relative to the patch's base x_0 (the first anchor; the origin on the sphere): b_k = x_k - x_0
    for prototype k.

    Attributes:
        distance: whether observables are squared distances.
        near, far: (R,) squared distance from the latent to x_0.
        reach: (R, P) |b_k|^2, estimate within a stated error.
        single: (R,) bool, whether there is one direction alone.
        anchors: (R, M) prototypes; any where there is no direction.
        offset_error: (R, M) radius of <b_anchor(i), z - x_0>.
        directions: they are *defined* by the coefficients, and orthonormal up to the defect.
    """

    distance: bool
    near: Tensor
    far: Tensor
    reach: Tensor
    single: Tensor
    anchors: Tensor
    offset_error: Tensor
    directions: Directions


class _Errors(NamedTuple):
    """One number a patch, (R, 1) each; only `tilt` grows with the statements' widths. All are >= 0 and inflated.

    Attributes:
        slack: the roundings of this module itself, as a share of the sum of all magnitudes.
        magnitude: that sum.
        weight: |w|^2.
        spread: (R, P) sum_i t_ik^2: what errors of the w_i and of the directions are multiplied by.
        across, ball: of |r_k|^2 and of |z - x_0 - c|^2.
        tilt: by how much c may be off.
        middle: what duals lack.
        short: by how much r_k may be off.
    """

    slack: float
    magnitude: Tensor
    weight: Tensor
    spread: Tensor
    across: Tensor
    ball: Tensor
    tilt: Tensor
    middle: Tensor
    short: Tensor


def relative_to(gram: Tensor, base: Tensor | None, rows: int) -> Tensor:
    """(R, P) |b_k|^2, given the base (R,) of each patch; None for the origin."""
    if base is None:
        return gram.diagonal().expand(rows, -1).clone()
    return (gram.diagonal() - 2 * gram[base] + gram[base, base][:, None]).clamp(min=0)


def outer_ranges(hulls: Hulls, reach_error: float, shift: Enclosure | None) -> tuple[Tensor, Tensor]:
    """(R, P) lower and upper ends, rounded outward; NaN where nothing is known.

    Args:
        hulls: what is known of the patches.
        reach_error: the error of `reach`.
        shift: (P,) <x_0, p_k> of a base that is no prototype; None for 0.
    """
    directions, far = hulls.directions, hulls.far[:, None]
    off = _errors_of(hulls, reach_error)
    ball = (far - off.weight + off.ball).clamp(min=0)
    outside = (hulls.reach - directions.squares + off.across).clamp_(min=0)
    swing = root(outside * ball)
    radius = root(off.spread).mul_(INFLATE * off.tilt).add_(off.middle)
    if hulls.distance:
        centre = hulls.reach - 2 * directions.along
        radius = radius.mul_(2 * INFLATE).add_(reach_error + off.slack * off.magnitude)
        radius.add_(2 * INFLATE * swing)
        return (centre + hulls.near[:, None]).sub_(radius).clamp_(min=0), centre.add_(far).add_(radius)
    radius = radius.mul_(INFLATE).add_(off.slack * off.magnitude).add_(INFLATE * swing)
    lower, upper = directions.along - radius, directions.along + radius
    if shift is not None:
        lower, upper = down(lower + shift.lower), up(upper + shift.upper)
    # The checker takes no direction from a single statement that is wider than the ball.
    own = hulls.reach.gather(1, hulls.anchors[:, :1])[:, 0]
    nothing = (hulls.single & (hulls.offset_error[:, 0].square() > _TOO_WIDE * hulls.far * own))[:, None]
    return lower.masked_fill(nothing, -torch.inf), upper.masked_fill(nothing, torch.inf)


def inner_ranges(hulls: Hulls, reach_error: float, shift: Enclosure | None) -> tuple[Tensor, Tensor]:
    """The same from within; see `Projection.inner`."""
    directions, far = hulls.directions, hulls.far[:, None]
    off = _errors_of(hulls, reach_error)
    rest = hulls.reach - directions.squares - 2 * (off.across + INFLATE * off.short.square())
    least = (hulls.near[:, None] if hulls.distance else far) - off.weight
    least -= 2 * (off.ball + INFLATE * off.tilt.square())
    factor = 1 + hulls.distance
    swing = factor * root(rest.clamp(min=0) * least.clamp(min=0))
    short = factor * INFLATE * (root(off.spread) * off.tilt + off.middle + off.tilt * off.short)
    swing = swing * (1 - off.slack) - short - 4 * off.slack * off.magnitude
    if hulls.distance:
        middle = hulls.reach - 2 * directions.along
        return middle + far - (swing - reach_error), middle + hulls.near[:, None] + (swing - reach_error)
    lower, upper = directions.along - swing, directions.along + swing
    return (lower, upper) if shift is None else (up(lower + shift.upper), down(upper + shift.lower))


def _errors_of(hulls: Hulls, reach_error: float) -> _Errors:
    directions, far = hulls.directions, hulls.far[:, None]
    slack = gamma(4 * directions.centre.shape[1] + 96)
    weight = directions.centre.square().sum(1, keepdim=True)
    farthest = hulls.reach.amax(1, keepdim=True)
    spread = directions.squares + 2.0**-29 * farthest
    widest = INFLATE * spread.amax(1, keepdim=True)
    magnitude = INFLATE * 4 * (far + weight + farthest + widest + reach_error)
    defect, dual_error = root(directions.defect)[:, None], directions.dual_error.norm(dim=1, keepdim=True)
    outside = reach_error + 2 * root(widest) * dual_error + defect * widest + slack * (farthest + widest)
    ball = 2 * (directions.centre.abs() * directions.centre_error).sum(1, keepdim=True) + defect * weight
    return _Errors(
        slack=slack,
        magnitude=magnitude,
        weight=weight,
        spread=spread,
        across=INFLATE * outside,
        ball=INFLATE * (ball + slack * (far + weight)),
        tilt=directions.centre_error.norm(dim=1, keepdim=True) + (defect + slack) * root(weight),
        middle=root(weight) * dual_error + slack * magnitude,
        short=dual_error + defect * root(widest),
    )
