r"""The latents that a network gives for a picture, as a box: in real arithmetic, and for binary32.

Every layer's output is known as a centre and a radius, entry by entry: |x - c| <= r. With u the unit roundoff of
float64 and gamma_n = n u / (1 - n u):

    sums W x + b:   c' = fl(W c + b),  r' >= |W| r + gamma_n (|W| |c| + |b|), in whatever order torch sums
    what rises:     from the ends c - r and c + r, rounded outward
    means, sums:    as sums of products with the same weights

All terms of a radius are positive, so that their own rounding is a share of them, which a factor covers. Where
something overflows, a radius is infinite, and nothing is known.

Each layer multiplies radii by about the sum of its weights' sizes, so after some tens of layers such a box says
nothing, though float64 has lost next to nothing of the latents. From the first layer on of which too little is known,
a network in real arithmetic is enclosed anew in numbers of more bits (`verale.bounds.deep`). Of the few that take too
many, what is said of binary32 holds too, since its roundings may be none.

**binary32** (certificates/network-v1.md, "The network in binary32"). A layer's numbers, computed in any order of sums
from numbers within r of c, are off by further

    gamma32_m (|W| (|c| + r) + size),    size the layer's magnitude, or |b|

with m as that text counts it; a sigmoid or tanh by 8 units in the last place, the picture by six
roundings. For what underflow loses there is a term of its own.

Soundness: no verdict rests on this. Certificates that are found with these boxes are proved by a checker with boxes of
its own, in exact integers. These are wider than those, so that what is found for them is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

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
_ERF = 2.0**-44
"""More than torch's error function, and its inverse root relative to that, are taken to be off by in float64."""
_NARROW = 2.0**-30
"""Where a layer is enclosed less exactly than this, those of real arithmetic take more bits."""
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
    roughly = ""
    with torch.no_grad():
        ends = _narrow(network, picture) if arithmetic == "real" else None
        if ends is None and arithmetic == "real":
            deep = deep_latents(network, picture)
            ends, roughly = deep.ends, deep.roughly
            if ends is not None:
                ends = Enclosure(down(ends.lower - _LATENT_UNIT), up(ends.upper + _LATENT_UNIT))
                ends = ends.clamp(deep.least, deep.most)
        if ends is None:
            walked = _walked(network, picture)
            ends = walked.output.ends()
            roughly = roughly or (_OVERFLOW32.format(walked.beyond) if walked.beyond else _SINGLE)
    lower, upper = (end[0].flatten(1).T if end.dim() == 4 else end for end in (ends.lower, ends.upper))
    return LatentRanges(Enclosure(lower.contiguous(), upper.contiguous()), roughly)


_SINGLE = "any order of float32's sums widens it, layer by layer: it is narrower in real arithmetic (--arithmetic real)"
_OVERFLOW32 = "numbers of layer {} may overflow in float32: it is narrower in real arithmetic (--arithmetic real)"


def _is_narrow(ends: Enclosure) -> bool:
    width = ends.upper - ends.lower
    return bool(((width <= _NARROW * (1 + ends.upper.abs())) & width.isfinite()).all())


def _narrow(network: FrozenNetwork, picture: Tensor) -> Enclosure | None:
    """The latents in real arithmetic, by floats; None where these know some layer less exactly than latents have to be
    known."""
    ends = None
    for _, output in walk(network, _normalised(network, picture[None], False), _Rules(False)):
        ends = output.ends()
        if not _is_narrow(ends):
            return None
    return ends


class _Walked(NamedTuple):
    """What a network's layers give in binary32.

    Attributes:
        output: of the last one.
        beyond: the first one of whose numbers nothing is known; empty without one.
    """

    output: _Around
    beyond: str


def _walked(network: FrozenNetwork, picture: Tensor) -> _Walked:
    beyond = ""
    for name, output in walk(network, _normalised(network, picture[None], True), _Rules(True)):
        if not beyond and not bool(output.radius.isfinite().all()):
            beyond = name
    return _Walked(output, beyond)


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


def _normalised(network: FrozenNetwork, pictures: Tensor, single: bool) -> _Around:
    """(v / 255 - mean) / std. In binary32 a number passes six roundings at most: those of 1 / 255 and the product, or
    of the mean; of the difference; of std, its reciprocal and the product."""
    centre = network.normalised(pictures)
    mean, std = (torch.tensor(each, dtype=torch.float64)[:, None, None] for each in (network.mean, network.std))
    size = (pictures.double() / 255 + mean.abs()) / std
    share = gamma(8) + (_gamma32(8) if single else 0.0)
    return _Around.of(centre, up(size * share * UP) + (_LOST * (1 + 1 / std) if single else 0.0))


class _Rules:
    """What layers give, from what they read.

    Attributes:
        single: whether they compute in binary32.
    """

    def __init__(self, single: bool) -> None:
        self.single = single

    def __call__(self, layer: NetworkLayer, inputs: Any) -> _Around:
        """The output of a layer."""
        rule = _RULES[type(layer.operation)]
        return rule(self, layer.operation, *inputs)

    def sums(self, operation: Convolution | FullConnection, given: _Around) -> _Around:
        """Sums of products. Infinite radii are taken for the greatest number, and come out infinite or greater."""
        weight = operation.weight.double()
        bias = None if operation.bias is None else operation.bias.double()
        terms = weight[0].numel() + 1
        radius = given.radius.clamp(max=torch.finfo(torch.float64).max)
        centre = operation.applied(given.centre, weight, bias)
        spread = operation.applied(radius, weight.abs(), None)
        bound = operation.magnitude.double() if self.single and operation.magnitude is not None else bias
        size = operation.applied(given.centre.abs() + radius, weight.abs(), None if bound is None else bound.abs())
        share = gamma(terms + 4)
        if self.single:
            if _may_overflow(operation, terms, given, bound):
                return _unknown(centre)
            share += _gamma32(_roundings(operation, terms))
            size = size + _LOST / _U32
        return _Around.of(centre, (spread + size * share) * UP)

    def added(self, operation: Sum, *given: _Around) -> _Around:
        """A sum of outputs."""
        centre, radius, size = (
            torch.stack(each).sum(0)
            for each in zip(*((one.centre, one.radius, one.size) for one in given), strict=True)
        )
        if self.single and 4 * sum(float(one.size.amax()) for one in given) > LARGEST:
            return _unknown(centre)
        share = gamma(len(given) + 2) + (_gamma32(len(given)) if self.single else 0.0)
        return _Around.of(centre, (radius + size * share + (_LOST if self.single else 0.0)) * UP)

    def means(self, operation: AveragePooling, given: _Around) -> _Around:
        """Means over windows: sums of so many, and a quotient or a product with a rounded reciprocal."""
        terms = operation.kernel[0] * operation.kernel[1]
        centre, radius, size = operation(given.centre), operation(given.radius), operation(given.size)
        if self.single and 4 * terms * float(given.size.amax()) > LARGEST:
            return _unknown(centre)
        share = gamma(terms + 4) + (_gamma32(terms + 4) if self.single else 0.0)
        found = _Around.of(centre, (radius + size * share + (_LOST if self.single else 0.0)) * UP)
        return found.within(0.0) if given.least >= 0 else found

    def leaky(self, operation: LeakyRectifier, given: _Around) -> _Around:
        """max(x, slope x), which rises."""
        ends = given.ends()
        slope = Enclosure.exact(ends.lower.new_tensor(operation.slope))
        product = ends * slope
        low = torch.where(ends.lower >= 0, ends.lower, product.lower)
        high = torch.where(ends.upper >= 0, ends.upper, product.upper)
        found = _Around.between(Enclosure(low, high))
        return found.wider(found.size * _gamma32(2) + _LOST) if self.single else found

    def curved(self, ends: Enclosure, lowest: float) -> _Around:
        """A sigmoid or tanh with these ends, which lie between `lowest` and 1, as computed too."""
        if not self.single:
            return _Around.between(ends).within(lowest, 1.0)
        share = 2 * _ULPS * _U32 * _WIDE
        low, high = ends.lower, ends.upper
        found = _Around.between(Enclosure(down(low - low.abs() * share - _LOST), up(high + high.abs() * share + _LOST)))
        return found.within(lowest, 1.0)

    def sigmoid(self, operation: Sigmoid, given: _Around) -> _Around:
        """1 / (1 + exp(-x))."""
        ends = given.ends()
        return self.curved(_logistic(ends), 0.0)

    def tanh(self, operation: Tanh, given: _Around) -> _Around:
        """2 / (1 + exp(-2 x)) - 1."""
        ends = given.ends()
        two, one = Enclosure.exact(ends.lower.new_tensor(2.0)), Enclosure.exact(ends.lower.new_tensor(1.0))
        return self.curved(_logistic(ends * two) * two - one, -1.0)

    def ends_of(self, operation: Rectifier | SpatialMaximum, given: _Around) -> _Around:
        """What rises and rounds nothing."""
        ends = given.ends()
        found = _Around.between(Enclosure(operation(ends.lower), operation(ends.upper)))
        return found.within(max(0.0, given.least) if isinstance(operation, Rectifier) else given.least, given.most)

    def product(self, operation: Product, given: _Around, factor: _Around) -> _Around:
        """|x y - c d| <= |c| s + r (|d| + s) for x within r of c and y within s of d. Nothing is known in binary32."""
        centre = operation(given.centre, factor.centre)
        if self.single:
            return _unknown(centre)
        radius = given.centre.abs() * factor.radius + given.radius * factor.size
        found = _Around.of(centre, (radius + centre.abs() * gamma(4)) * UP)
        return found.within(0.0) if given.least >= 0 and factor.least >= 0 else found

    def clamped(self, operation: Clamp, given: _Around) -> _Around:
        """A clamp, whose ends binary32 may round."""
        ends = given.ends()
        found = _Around.between(Enclosure(operation(ends.lower), operation(ends.upper)))
        if not self.single:
            return found.within(operation.lower, operation.upper)
        return found.wider(found.size * _gamma32(1) + _LOST)

    def gaussian(self, operation: Gaussian, given: _Around) -> _Around:
        """The normal distribution function, whose slope is below 2/5; `_ERF` holds what torch's is off."""
        centre = operation(given.centre)
        return _unknown(centre) if self.single else _Around.of(centre, up(given.radius * 0.4 + _ERF)).within(0.0, 1.0)

    def inverse_root(self, operation: InverseRoot, given: _Around) -> _Around:
        """1 / sqrt(x), which falls; of numbers that may be 0 or less nothing is known."""
        ends = given.ends()
        least, most = operation(ends.upper) * (1 - _ERF), operation(ends.lower) * (1 + _ERF)
        found = _Around.between(
            Enclosure.unchecked(least.nan_to_num(0.0), torch.where(ends.lower > 0, most, torch.inf))
        )
        return _unknown(found.centre) if self.single else found.within(0.0)

    def moved(self, operation: Concatenation | Flattening | Upsampling, *given: _Around) -> _Around:
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
    **dict.fromkeys((Convolution, FullConnection), _Rules.sums),
    **dict.fromkeys((Rectifier, SpatialMaximum), _Rules.ends_of),
    **dict.fromkeys((Concatenation, Flattening, Upsampling), _Rules.moved),
    Sum: _Rules.added,
    AveragePooling: _Rules.means,
    LeakyRectifier: _Rules.leaky,
    Sigmoid: _Rules.sigmoid,
    Tanh: _Rules.tanh,
    Product: _Rules.product,
    Clamp: _Rules.clamped,
    Gaussian: _Rules.gaussian,
    InverseRoot: _Rules.inverse_root,
}
"""The rule of each operation."""
