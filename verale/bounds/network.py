r"""The latents that a network gives for a picture, as a box: in real arithmetic, and for binary32.

In real arithmetic they are enclosed in numbers of more bits than a float64 has (`verale.bounds.deep`). Of the few
networks that take too many, what is said of binary32 holds too, since its roundings may be none.

**binary32** (certificates/network-v1.md, "The network in binary32"). Every layer's output is known as a centre and a
radius, entry by entry: |x - c| <= r. With u the unit roundoff of float64, gamma_n = n u / (1 - n u), and gamma32 the
same of binary32:

    sums W x + b:   c' = fl(W c + b),  r' >= |W| r + gamma_n (|W| |c| + |b|) + gamma32_m (|W| (|c| + r) + size)
    what rises:     from the ends c - r and c + r, rounded outward
    means, sums:    as sums of products with the same weights

in whatever order they are added, with m as that text counts it, size the layer's magnitude, or |b|; a sigmoid or tanh
is off by 8 units in the last place, the picture by six roundings. For what underflow loses there is a term of its own.
All terms of a radius are positive, so that their own rounding is a share of them, which a factor covers. Where
something overflows, a radius is infinite, and nothing is known.

Soundness: no verdict rests on this. Certificates that are found with these boxes are proved by a checker with boxes of
its own, in exact integers. These are wider than those, so that what is found for them is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

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
_SINGLE = "any order of float32's sums widens it, layer by layer: it is narrower in real arithmetic (--arithmetic real)"
_OVERFLOW32 = "numbers of layer {} may overflow in float32: it is narrower in real arithmetic (--arithmetic real)"


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
    with torch.no_grad():
        ends, roughly = deep_latents(network, picture) if arithmetic == "real" else (None, "")
        real = ends is not None
        if ends is not None:
            ends = Enclosure(down(ends.lower - _LATENT_UNIT), up(ends.upper + _LATENT_UNIT))
        else:
            beyond = ""
            for name, output in walk(network, _normalised(network, picture[None]), _layer):
                if not beyond and not bool(output.radius.isfinite().all()):
                    beyond = name
            ends, roughly = output.ends(), roughly or (_OVERFLOW32.format(beyond) if beyond else _SINGLE)
        *_, (_, limits) = walk(network, (-math.inf, math.inf), partial(_limits, real=real))
        ends = ends.clamp(*limits)
    lower, upper = (end[0].flatten(1).T if end.dim() == 4 else end for end in (ends.lower, ends.upper))
    return LatentRanges(Enclosure(lower.contiguous(), upper.contiguous()), roughly)


def _limits(layer: NetworkLayer, inputs: Sequence[tuple[float, float]], real: bool) -> tuple[float, float]:
    """Ends beyond which a layer gives nothing, for any numbers between those of what it reads. In binary32 a clamp's
    ends may be rounded."""
    least, most = (pick(ends) for pick, ends in zip((min, max), zip(*inputs, strict=True), strict=True))
    match layer.operation:
        case Rectifier():
            return max(0.0, least), max(0.0, most)
        case Tanh():
            return -1.0, 1.0
        case Sigmoid():
            return 0.0, 1.0
        case SpatialMaximum() | Concatenation() | Flattening() | Upsampling():
            return least, most
        case AveragePooling() if least >= 0:
            return 0.0, math.inf
        case Gaussian() if real:
            return 0.0, 1.0
        case Clamp() as clamp if real:
            return clamp.lower, clamp.upper
        case InverseRoot() if real:
            return 0.0, math.inf
        case Product() | Sum() if real and least >= 0:
            return 0.0, math.inf
        case _:
            return -math.inf, math.inf


@dataclass(frozen=True, eq=False)
class _Around:
    """Numbers within `radius` of `centre`, (1, C, H, W) or (1, D); both finite, or the radius infinite."""

    centre: Tensor
    radius: Tensor

    @classmethod
    def of(cls, centre: Tensor, radius: Tensor) -> _Around:
        """Where something is no number, the radius is infinite."""
        known = centre.isfinite() & radius.isfinite()
        return cls(torch.where(known, centre, 0.0), torch.where(known, radius, torch.inf))

    @classmethod
    def between(cls, lower: Tensor, upper: Tensor) -> _Around:
        """Around the middle of the ends."""
        centre = (lower + upper) / 2
        return cls.of(centre, up(torch.maximum(upper - centre, centre - lower)))

    @classmethod
    def unknown(cls, centre: Tensor) -> _Around:
        """Any numbers, of this shape."""
        return cls(torch.zeros_like(centre), torch.full_like(centre, torch.inf))

    def ends(self) -> Enclosure:
        """The ends, rounded outward."""
        return Enclosure.around(self.centre, self.radius)

    @property
    def size(self) -> Tensor:
        """No less than the size of any of the numbers."""
        return up(self.centre.abs() + self.radius)

    def wider(self, roundings: int) -> _Around:
        """The same after so many roundings more."""
        return _Around.of(self.centre, up(self.radius + (self.size * _gamma32(roundings) + _LOST) * UP))


def _gamma32(roundings: int) -> float:
    product = roundings * _U32
    return product / (1 - product) * _WIDE


def _normalised(network: FrozenNetwork, pictures: Tensor) -> _Around:
    """(v / 255 - mean) / std. A number passes six roundings at most: those of 1 / 255 and the product, or of the mean;
    of the difference; of std, its reciprocal and the product."""
    mean, std = (torch.tensor(each, dtype=torch.float64)[:, None, None] for each in (network.mean, network.std))
    size = (pictures.double() / 255 + mean.abs()) / std
    return _Around.of(network.normalised(pictures), up(size * (gamma(8) + _gamma32(8)) * UP) + _LOST * (1 + 1 / std))


def _layer(layer: NetworkLayer, inputs: Sequence[_Around]) -> _Around:
    """The output of a layer in binary32, of which nothing is known where it may overflow."""
    return _RULES[type(layer.operation)](layer.operation, *inputs)


def _sums(operation: Convolution | FullConnection, given: _Around) -> _Around:
    """Sums of products. Infinite radii are taken for the greatest number, and come out infinite or greater.

    Of a folded batch normalisation, of which the magnitude says how large what was folded may be, partial sums are not
    known: numbers that are read have to be as small as is stated for these.
    """
    weight = operation.weight.double()
    bias = None if operation.bias is None else operation.bias.double()
    terms, most = weight[0].numel() + 1, float(given.size.amax())
    radius = given.radius.clamp(max=torch.finfo(torch.float64).max)
    centre = operation.applied(given.centre, weight, bias)
    spread = operation.applied(radius, weight.abs(), None)
    bound, roundings, may_overflow = bias, terms + 16, not most <= GREATEST_FOLDED
    if operation.magnitude is not None:
        bound = operation.magnitude.double()
    else:
        held = [tensor for tensor in (operation.weight, operation.bias) if tensor is not None]
        roundings = terms + 1 + any(bool((tensor.float() != tensor).any()) for tensor in held)
        greatest = 0.0 if bias is None else float(bias.abs().amax())
        may_overflow = not 2 * (terms * float(weight.abs().amax()) * most + greatest) <= LARGEST
    if may_overflow:
        return _Around.unknown(centre)
    size = operation.applied(given.centre.abs() + radius, weight.abs(), None if bound is None else bound.abs())
    share = gamma(terms + 4) + _gamma32(roundings)
    return _Around.of(centre, (spread + (size + _LOST / _U32) * share) * UP)


def _sum(operation: Sum, *given: _Around) -> _Around:
    """A sum of outputs."""
    centre, radius, size = (
        torch.stack(each).sum(0) for each in zip(*((one.centre, one.radius, one.size) for one in given), strict=True)
    )
    if 4 * sum(float(one.size.amax()) for one in given) > LARGEST:
        return _Around.unknown(centre)
    share = gamma(len(given) + 2) + _gamma32(len(given))
    return _Around.of(centre, (radius + size * share + _LOST) * UP)


def _mean(operation: AveragePooling, given: _Around) -> _Around:
    """Means over windows: sums of so many, and a quotient or a product with a rounded reciprocal."""
    terms = operation.kernel[0] * operation.kernel[1]
    centre, radius, size = operation(given.centre), operation(given.radius), operation(given.size)
    if 4 * terms * float(given.size.amax()) > LARGEST:
        return _Around.unknown(centre)
    return _Around.of(centre, (radius + size * (gamma(terms + 4) + _gamma32(terms + 4)) + _LOST) * UP)


def _leaky(operation: LeakyRectifier, given: _Around) -> _Around:
    """max(x, slope x), which rises."""
    ends = given.ends()
    product = ends * Enclosure.exact(ends.lower.new_tensor(operation.slope))
    low = torch.where(ends.lower >= 0, ends.lower, product.lower)
    high = torch.where(ends.upper >= 0, ends.upper, product.upper)
    return _Around.between(low, high).wider(2)


def _sigmoid(operation: Sigmoid, given: _Around) -> _Around:
    """1 / (1 + exp(-x))."""
    return _curved(_logistic(given.ends()), 0.0)


def _tanh(operation: Tanh, given: _Around) -> _Around:
    """2 / (1 + exp(-2 x)) - 1."""
    ends = given.ends()
    two, one = Enclosure.exact(ends.lower.new_tensor(2.0)), Enclosure.exact(ends.lower.new_tensor(1.0))
    return _curved(_logistic(ends * two) * two - one, -1.0)


def _curved(ends: Enclosure, lowest: float) -> _Around:
    """A sigmoid or tanh with these ends, between `lowest` and 1, as computed too."""
    share = 2 * _ULPS * _U32 * _WIDE
    low, high = (up(end.abs() * share + _LOST) for end in (ends.lower, ends.upper))
    wide = Enclosure(down(ends.lower - low), up(ends.upper + high)).clamp(lowest, 1.0)
    return _Around.between(wide.lower, wide.upper)


def _risen(operation: Rectifier | SpatialMaximum, given: _Around) -> _Around:
    """What rises and rounds nothing."""
    ends = given.ends()
    return _Around.between(operation(ends.lower), operation(ends.upper))


def _moved(operation: Concatenation | Flattening | Upsampling, *given: _Around) -> _Around:
    """What only puts numbers elsewhere."""
    return _Around(operation(*(one.centre for one in given)), operation(*(one.radius for one in given)))


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
    **dict.fromkeys((Rectifier, SpatialMaximum), _risen),
    **dict.fromkeys((Concatenation, Flattening, Upsampling), _moved),
    # Of these nothing is claimed in binary32.
    **dict.fromkeys(
        (Product, Gaussian, InverseRoot),
        lambda operation, *given: _Around.unknown(operation(*(one.centre for one in given))),
    ),
    Sum: _sum,
    AveragePooling: _mean,
    LeakyRectifier: _leaky,
    Clamp: lambda operation, given: _risen(operation, given).wider(1),
    Sigmoid: _sigmoid,
    Tanh: _tanh,
}
"""The rule of each operation: it, and what it reads."""
