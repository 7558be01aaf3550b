r"""The latents that a network gives for a picture, as a box: in real arithmetic, and for binary32.

In real arithmetic numbers of several digits enclose them (`verale.bounds.deep`). Of a network that takes too many, what
is said of binary32 holds too, since its roundings may be none.

**binary32** (certificates/network-v1.md, "The network in binary32"). Every layer's output is known as a centre and a
radius, entry by entry: |x - c| <= r. With u the unit roundoff of float64 and gamma_n = n u / (1 - n u):

    sums W x + b:   c' = fl(W c + b),  r' >= |W| r + gamma_n (|W| |c| + |b|), in whatever order torch sums
    what rises:     from the ends c - r and c + r, rounded outward
    means, sums:    as sums of products with the same weights

A layer's numbers, computed in any order of sums from numbers within r of c, are off by further

    gamma32_m (|W| (|c| + r) + size),    size the layer's magnitude, or |b|

with m as that text counts it; a sigmoid or tanh by 8 units in the last place, the picture by six roundings. For what
underflow loses there is a term of its own. All terms of a radius are positive, so that their own rounding is a share of
them, which a factor covers. Where something overflows, a radius is infinite, and nothing is known; nothing either of
products, inverse roots and the normal distribution.

Soundness: no verdict rests on this. Certificates that are found with these boxes are proved by a checker with boxes of
its own, in exact integers. These are wider than those, so that what is found for them is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor

from verale.bounds.deep import deep_latents
from verale.bounds.fixed_point import UP
from verale.network import FrozenNetwork, walk
from verale.network.layers import (
    AveragePooling,
    Clamp,
    Concatenation,
    Convolution,
    Flattening,
    FullConnection,
    Gaussian,
    InverseRoot,
    LeakyRectifier,
    NetworkLayer,
    Product,
    Rectifier,
    Sigmoid,
    SpatialMaximum,
    Sum,
    Tanh,
    Upsampling,
)
from verale.network.network import GREATEST_FOLDED, LARGEST
from verale.rounding import Enclosure, down, gamma, up

__all__ = ["ARITHMETICS", "Arithmetic", "LatentRanges", "latent_ranges"]

Arithmetic = Literal["real", "float32"]
ARITHMETICS: tuple[Arithmetic, ...] = ("real", "float32")
"""Real arithmetic; or binary32, in any order of sums."""

_U32 = 2.0**-24
_ULPS = 8
"""How far a sigmoid or tanh in binary32 may be off, in units in the last place."""
_LOST = 2.0**-44
"""No less than what underflow loses in binary32, beside numbers near 1; before a factor of 2^32 that folding hides."""
_LATENT_UNIT = 2.0**-44
"""By how much latents are taken wider: more than what the checker's box, some 2^-56 wide, may lie beside this one."""
_WIDE = 1 + 2.0**-10
"""By how much the rounding of binary32 is taken greater than it is."""


@dataclass(frozen=True, eq=False)
class LatentRanges:
    """All latents that a network can give for a picture, enclosed.

    Attributes:
        ends: (L, D) intervals that hold them.
        roughly: why the intervals are wide, and what would help, in words that name the layer; empty where real
            arithmetic is known as exactly as it can be of use.
    """

    ends: Enclosure
    roughly: str = ""


def latent_ranges(network: FrozenNetwork, picture: Tensor, arithmetic: Arithmetic = "real") -> LatentRanges:
    """The latents that a network can give for a picture.

    Args:
        network: the network.
        picture: uint8 (C, H, W).
        arithmetic: in which it computes.

    Raises:
        UsageError: a picture of another shape.
    """
    roughly, ends = _SINGLE, None
    with torch.no_grad():
        if arithmetic == "real":
            deep = deep_latents(network, picture)
            roughly = deep.roughly
            if deep.ends is not None:
                ends = Enclosure(down(deep.ends.lower - _LATENT_UNIT), up(deep.ends.upper + _LATENT_UNIT))
                ends = ends.clamp(deep.least, deep.most)
        if ends is None:
            for name, output in walk(network, _normalised(network, picture[None]), _output):
                if roughly == _SINGLE and not bool(output.radius.isfinite().all()):
                    roughly = _OVERFLOW32.format(name)
            ends = output.ends()
    lower, upper = (end[0].flatten(1).T if end.dim() == 4 else end for end in (ends.lower, ends.upper))
    return LatentRanges(Enclosure(lower.contiguous(), upper.contiguous()), roughly)


_SINGLE = "any order of float32's sums widens it, layer by layer: it is narrower in real arithmetic (--arithmetic real)"
_OVERFLOW32 = "numbers of layer {} may overflow in float32: it is narrower in real arithmetic (--arithmetic real)"


@dataclass(frozen=True, eq=False)
class _Around:
    """Numbers within `radius` of `centre`, (1, C, H, W) or (1, D); both finite, or the radius infinite.

    Attributes:
        least, most: ends that all of them have, where a function does not reach beyond them.
    """

    centre: Tensor
    radius: Tensor
    least: float = -math.inf
    most: float = math.inf

    @classmethod
    def of(cls, centre: Tensor, radius: Tensor) -> _Around:
        """Where something is no number, the radius is infinite."""
        known = centre.isfinite() & radius.isfinite()
        return cls(torch.where(known, centre, 0.0), torch.where(known, radius, torch.inf))

    @classmethod
    def between(cls, ends: Enclosure) -> _Around:
        """Around the middle of the ends."""
        centre = (ends.lower + ends.upper) / 2
        return cls.of(centre, up(torch.maximum(ends.upper - centre, centre - ends.lower)))

    def ends(self) -> Enclosure:
        """The ends, rounded outward."""
        return Enclosure.around(self.centre, self.radius).clamp(self.least, self.most)

    def within(self, least: float, most: float = math.inf) -> _Around:
        """The same numbers, known not to reach beyond these ends."""
        return replace(self, least=least, most=most)

    @property
    def size(self) -> Tensor:
        """No less than the size of any of the numbers."""
        return up(self.centre.abs() + self.radius)

    def wider(self, by: Tensor) -> _Around:
        """The same with greater radii."""
        return _Around.of(self.centre, up(self.radius + by * UP))


def _gamma32(roundings: int) -> float:
    product = roundings * _U32
    return product / (1 - product) * _WIDE


def _normalised(network: FrozenNetwork, pictures: Tensor) -> _Around:
    """(v / 255 - mean) / std. In binary32 a number passes six roundings at most: those of 1 / 255 and the product, or
    of the mean; of the difference; of std, its reciprocal and the product."""
    centre = network.normalised(pictures)
    mean, std = (torch.tensor(each, dtype=torch.float64)[:, None, None] for each in (network.mean, network.std))
    size = (pictures.double() / 255 + mean.abs()) / std
    return _Around.of(centre, up(size * (gamma(8) + _gamma32(8)) * UP) + _LOST * (1 + 1 / std))


def _output(layer: NetworkLayer, inputs: Any) -> _Around:
    """What a layer gives, from what it reads."""
    return _RULES[type(layer.operation)](layer.operation, *inputs)


def _sums(operation: Convolution | FullConnection, given: _Around) -> _Around:
    """Sums of products. Infinite radii are taken for the greatest number, and come out infinite or greater."""
    weight = operation.weight.double()
    bias = None if operation.bias is None else operation.bias.double()
    terms = weight[0].numel() + 1
    radius = given.radius.clamp(max=torch.finfo(torch.float64).max)
    centre = operation.applied(given.centre, weight, bias)
    bound = bias if operation.magnitude is None else operation.magnitude.double()
    if _may_overflow(operation, terms, given, bound):
        return _unknown(centre)
    spread = operation.applied(radius, weight.abs(), None)
    size = operation.applied(given.centre.abs() + radius, weight.abs(), None if bound is None else bound.abs())
    share = gamma(terms + 4) + _gamma32(_roundings(operation, terms))
    return _Around.of(centre, (spread + (size + _LOST / _U32) * share) * UP)


def _added(operation: Sum, *given: _Around) -> _Around:
    """A sum of outputs."""
    centre, radius, size = (
        torch.stack(each).sum(0) for each in zip(*((one.centre, one.radius, one.size) for one in given), strict=True)
    )
    if 4 * sum(float(one.size.amax()) for one in given) > LARGEST:
        return _unknown(centre)
    share = gamma(len(given) + 2) + _gamma32(len(given))
    return _Around.of(centre, (radius + size * share + _LOST) * UP)


def _mean(operation: AveragePooling, given: _Around) -> _Around:
    """Means over windows: sums of so many, and a quotient or a product with a rounded reciprocal."""
    terms = operation.kernel[0] * operation.kernel[1]
    centre, radius, size = operation(given.centre), operation(given.radius), operation(given.size)
    if 4 * terms * float(given.size.amax()) > LARGEST:
        return _unknown(centre)
    share = gamma(terms + 4) + _gamma32(terms + 4)
    found = _Around.of(centre, (radius + size * share + _LOST) * UP)
    return found.within(0.0) if given.least >= 0 else found


def _leaky(operation: LeakyRectifier, given: _Around) -> _Around:
    """max(x, slope x), which rises."""
    ends = given.ends()
    product = ends * Enclosure.exact(ends.lower.new_tensor(operation.slope))
    low = torch.where(ends.lower >= 0, ends.lower, product.lower)
    high = torch.where(ends.upper >= 0, ends.upper, product.upper)
    found = _Around.between(Enclosure(low, high))
    return found.wider(found.size * _gamma32(2) + _LOST)


def _curved(operation: Sigmoid | Tanh, given: _Around) -> _Around:
    """1 / (1 + exp(-x)), or 2 / (1 + exp(-2 x)) - 1. What is computed lies between the function's limits, too."""
    ends, lowest = given.ends(), 0.0
    if isinstance(operation, Tanh):
        two, one = (Enclosure.exact(ends.lower.new_tensor(each)) for each in (2.0, 1.0))
        ends, lowest = _logistic(ends * two) * two - one, -1.0
    else:
        ends = _logistic(ends)
    share = 2 * _ULPS * _U32 * _WIDE
    low, high = ends.lower, ends.upper
    found = _Around.between(Enclosure(down(low - low.abs() * share - _LOST), up(high + high.abs() * share + _LOST)))
    return found.within(lowest, 1.0)


def _ends_of(operation: Rectifier | SpatialMaximum, given: _Around) -> _Around:
    """What rises and rounds nothing."""
    ends = given.ends()
    found = _Around.between(Enclosure(operation(ends.lower), operation(ends.upper)))
    return found.within(max(0.0, given.least) if isinstance(operation, Rectifier) else given.least, given.most)


def _clamped(operation: Clamp, given: _Around) -> _Around:
    """A clamp, whose ends binary32 may round."""
    ends = given.ends()
    found = _Around.between(Enclosure(operation(ends.lower), operation(ends.upper)))
    return found.wider(found.size * _gamma32(1) + _LOST)


def _moved(operation: Concatenation | Flattening | Upsampling, *given: _Around) -> _Around:
    """What only puts numbers elsewhere."""
    return _Around(
        operation(*(one.centre for one in given)),
        operation(*(one.radius for one in given)),
        min(one.least for one in given),
        max(one.most for one in given),
    )


def _may_overflow(operation: Convolution | FullConnection, terms: int, read: _Around, bound: Tensor | None) -> bool:
    """Whether a partial sum may, in binary32; or numbers of a folded batch normalisation are not bounded as stated."""
    most, weight = float(read.size.amax()), float(operation.weight.abs().amax())
    if operation.magnitude is not None:
        return not most <= GREATEST_FOLDED
    size = 0.0 if bound is None else float(bound.abs().amax())
    return not 2 * (terms * weight * most + size) <= LARGEST


def _unknown(centre: Tensor) -> _Around:
    return _Around.of(centre, torch.full_like(centre, torch.inf))


def _roundings(operation: Convolution | FullConnection, terms: int) -> int:
    """m of network-v1.md."""
    if operation.magnitude is not None:
        return terms + 16
    held = [tensor for tensor in (operation.weight, operation.bias) if tensor is not None]
    return terms + 1 + any(bool((tensor.float() != tensor).any()) for tensor in held)


def _logistic(ends: Enclosure) -> Enclosure:
    """1 / (1 + exp(-x)), which rises: its two ends are computed apart. Below -700, where exp(-x) leaves float64, it is
    between 0 and what it is at -700."""
    one = Enclosure.exact(ends.lower.new_tensor(1.0))
    near = [end.clamp(min=-700.0) for end in (ends.lower, ends.upper)]
    least, most = (one / (one + Enclosure.unchecked(-end, -end).exp()) for end in near)
    lower = torch.where(ends.lower < -700.0, 0.0, least.lower.clamp(0, 1))
    return Enclosure(lower, most.upper.clamp(0, 1))


_RULES: dict[type, Callable[..., _Around]] = {
    **dict.fromkeys((Convolution, FullConnection), _sums),
    **dict.fromkeys((Rectifier, SpatialMaximum), _ends_of),
    **dict.fromkeys((Concatenation, Flattening, Upsampling), _moved),
    **dict.fromkeys((Sigmoid, Tanh), _curved),
    **dict.fromkeys(
        (Product, Gaussian, InverseRoot),
        lambda operation, *given: _unknown(operation(*(one.centre for one in given))),
    ),
    Sum: _added,
    AveragePooling: _mean,
    LeakyRectifier: _leaky,
    Clamp: _clamped,
}
"""The rule of each operation."""
