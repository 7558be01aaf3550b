r"""The latents that a network gives for a picture, as a box: in real arithmetic, and for binary32.

In real arithmetic they are enclosed in numbers of more bits than a float64 has (`verale.bounds.deep`).

**binary32** (certificates/network-v1.md, "The network in binary32"). A layer's output is known as a centre c, computed
in float64, and a radius r, entry by entry: |x - c| <= r for all x that binary32 may give. Sums of products, in any
order, cost two in float64,

    c' = W c + b,    r' = |W| (r + g (|c| + r)) + g size,    g = gamma32_m,    gamma32_n = n u / (1 - n u), u = 2^-24

with m as that text counts it, size the layer's magnitude, or |b|; sums of outputs and means likewise. What rises lies
between what it gives for c - r and c + r, each moved by what binary32 rounds there: of a sigmoid or tanh 8 units in the
last place, of a leaky rectifier two roundings, of a clamp the rounding of its ends. The picture takes six roundings.
For what underflow loses there is a term of its own. Where something may overflow, nothing is known. `_WIDE` covers what
float64 rounds of all this.

Soundness: no verdict rests on this. Certificates that are found with these boxes are proved by a checker with boxes of
its own, in exact integers. These hold those, so that what is found for them is proved: the checker's binary32 follows
the same formulas, but for weights and radii that it rounds up, which `_COARSE` exceeds, and a grid, which `_LOST` does.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

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
from verale.rounding import Enclosure, down, up

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
_COARSE = 2.0**-27
"""The checker rounds each radius, and each weight's size, up by no more than this share of the layer's greatest."""
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
    real = arithmetic == "real"
    with torch.no_grad():
        ends, roughly = deep_latents(network, picture) if real else _single_latents(network, picture)
        if ends is None:
            unknown = torch.full((1, *network.output_shape), torch.inf, dtype=torch.float64)
            ends = Enclosure(-unknown, unknown)
        *_, (_, limits) = walk(network, (-math.inf, math.inf), partial(_limits, real=real))
        ends = Enclosure(down(ends.lower - _LATENT_UNIT), up(ends.upper + _LATENT_UNIT)).clamp(*limits)
    lower, upper = (end[0].flatten(1).T if end.dim() == 4 else end for end in (ends.lower, ends.upper))
    return LatentRanges(Enclosure(lower.contiguous(), upper.contiguous()), roughly)


def _limits(layer: NetworkLayer, inputs: Sequence[tuple[float, float]], real: bool) -> tuple[float, float]:
    """Ends beyond which a layer gives nothing, for any numbers between those of what it reads. In binary32 a clamp's
    ends may be rounded, and the checker's means of zeros lie around 0."""
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
        case AveragePooling() if real and least >= 0:
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


class _Around(NamedTuple):
    """Numbers within `radius` of `centre`, (1, C, H, W) or (1, D)."""

    centre: Tensor
    radius: Tensor

    @classmethod
    def between(cls, lower: Tensor, upper: Tensor) -> _Around:
        """Around the middle of ends, each of which may have been rounded twice."""
        return cls((lower + upper) / 2, ((upper - lower) / 2 + (lower.abs() + upper.abs()) * 2.0**-51) * UP)

    @property
    def size(self) -> Tensor:
        """No less than the size of any of the numbers."""
        return (self.centre.abs() + self.radius) * UP


class _UnknownError(ArithmeticError):
    """A layer, of which this is the name, may overflow in binary32, or nothing is claimed of it."""


def _require(holds: bool, layer: NetworkLayer) -> None:
    if not holds:
        raise _UnknownError(layer.name)


def _single_latents(network: FrozenNetwork, picture: Tensor) -> tuple[Enclosure | None, str]:
    """Intervals (1, C, H, W) or (1, D) that hold the latents in binary32, None where nothing is known of them; and why
    they are wide."""
    try:
        layers = walk(network, _normalised(network, picture), _computed)
        found: _Around = deque(layers, maxlen=1).pop()[1]
        _require(bool(found.size.isfinite().all()), network.layers[-1])
    except _UnknownError as error:
        return None, _OVERFLOW32.format(error)
    return Enclosure.around(*found), _SINGLE


def _gamma32(roundings: int) -> float:
    product = roundings * _U32
    return product / (1 - product) * _WIDE


def _normalised(network: FrozenNetwork, picture: Tensor) -> _Around:
    """(v / 255 - mean) / std. A number passes six roundings at most: those of 1 / 255 and the product, or of the mean;
    of the difference; of std, its reciprocal and the product."""
    centre = network.normalised(picture[None])
    mean, std = (centre.new_tensor(each)[:, None, None] for each in (network.mean, network.std))
    size = (picture[None].double() / 255 + mean.abs()) / std
    return _Around(centre, size * _gamma32(8) + _LOST * (1 + 1 / std))


def _computed(layer: NetworkLayer, inputs: Sequence[_Around]) -> _Around:
    """What a layer gives in binary32. Raises _UnknownError.

    Of a folded batch normalisation, of which the magnitude says how large what was folded may be, partial sums are not
    known: numbers that are read have to be as small as is stated for these.
    """
    operation, sizes = layer.operation, [each.size for each in inputs]
    (centre, *_), (radius, *_) = centres, radii = tuple(zip(*inputs, strict=True))
    most = sum(float(each.amax()) for each in sizes)
    _require(most < math.inf, layer)
    match operation:
        case Convolution() | FullConnection():
            terms, weight = operation.weight[0].numel() + 1, operation.weight.double().abs()
            greatest, bound = float(weight.amax()), weight.new_zeros(len(weight))
            if operation.bias is not None:
                bound = operation.bias.double().abs()
            if operation.magnitude is not None:
                _require(most <= GREATEST_FOLDED, layer)
                roundings, bound = terms + 16, torch.maximum(bound, operation.magnitude.double())
            else:
                _require(2 * (terms * greatest * most + float(bound.amax())) <= LARGEST, layer)
                held = (each for each in (operation.weight, operation.bias) if each is not None)
                roundings = terms + 1 + any(bool((each.float() != each).any()) for each in held)
            share = _gamma32(roundings)
            moved = radius + sizes[0] * share
            wide = operation.applied(
                moved + float(moved.amax()) * _COARSE, weight.add_(greatest * _COARSE), (bound + _LOST / _U32) * share
            )
            return _Around(operation(centre), wide * UP)
        case Sum():
            _require(4 * most <= LARGEST, layer)
            wide = operation(*radii) + operation(*sizes) * _gamma32(len(sizes))
            return _Around(operation(*centres), (wide + _LOST) * UP)
        case AveragePooling():
            terms = operation.kernel[0] * operation.kernel[1]
            _require(4 * terms * most <= LARGEST, layer)
            return _Around(operation(centre), (operation(radius + sizes[0] * _gamma32(terms + 4)) + _LOST) * UP)
        case Concatenation() | Flattening() | Upsampling():
            return _Around(operation(*centres), operation(*radii))
        case Product() | Gaussian() | InverseRoot():
            raise _UnknownError(layer.name)
        case _:  # rises
            low, high = operation(centre - radius), operation(centre + radius)
            share, lost = 0.0, 0.0
            if isinstance(operation, LeakyRectifier):
                share, lost = _gamma32(2), _LOST
            elif isinstance(operation, Sigmoid | Tanh):
                share, lost = 2 * _ULPS * _U32 * _WIDE, _LOST
            elif isinstance(operation, Clamp):
                ends = centre.new_tensor([operation.lower, operation.upper])
                lost = float(((ends.float() != ends) * ends.abs()).amax()) * _gamma32(1)
            low, high = low - low.abs() * share - lost, high + high.abs() * share + lost
            least, most = _limits(layer, [(-math.inf, math.inf)], real=False)
            return _Around.between(low.clamp(least, most), high.clamp(least, most))
