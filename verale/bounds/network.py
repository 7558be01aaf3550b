r"""The latents that a network gives for a picture, as a box: in real arithmetic, and for binary32.

Both are enclosed in numbers of more bits than a float64 has (`verale.bounds.deep`).

**binary32** (certificates/network-v1.md, "The network in binary32"). A layer's numbers, computed in any order of sums
from numbers within r of c, are off by further

    gamma32_m (|W| (|c| + r) + size),    size the layer's magnitude, or |b|;    gamma32_n = n u / (1 - n u), u = 2^-24

with m as that text counts it; a mean, a sum, a clamp and a leaky rectifier by as many roundings of their size as they
take, a sigmoid or tanh by 8 units in the last place, the picture by six roundings. For what underflow loses there is a
term of its own. Where something may overflow, nothing is known. `_WIDE` covers what float64 rounds of all this.

Soundness: no verdict rests on this. Certificates that are found with these boxes are proved by a checker with boxes of
its own, in exact integers. These are wider than those, so that what is found for them is proved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import torch
from torch import Tensor

from verale.bounds.deep import deep_latents
from verale.bounds.fixed_point import NEAREST, UP, BeyondError, FixedPoint
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
    Operation,
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
        ends, roughly = deep_latents(network, picture, None if real else _rounded)
        if not real:
            roughly = _OVERFLOW32.format(roughly) if ends is None else _SINGLE
        if ends is None:
            unknown = torch.full((1, *network.output_shape), torch.inf, dtype=torch.float64)
            ends = Enclosure(-unknown, unknown)
        *_, (_, limits) = walk(network, (-math.inf, math.inf), partial(_limits, real=real))
        ends = Enclosure(down(ends.lower - _LATENT_UNIT), up(ends.upper + _LATENT_UNIT)).clamp(*limits)
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


def _gamma32(roundings: int) -> float:
    product = roundings * _U32
    return product / (1 - product) * _WIDE


def _rounded(operation: Operation | FrozenNetwork, inputs: Sequence[FixedPoint], found: FixedPoint) -> FixedPoint:
    """What a layer gives in binary32 where it gives `found` in real arithmetic; or, of a network, its picture.

    Of a folded batch normalisation, of which the magnitude says how large what was folded may be, partial sums are not
    known: numbers that are read have to be as small as is stated for these.

    Raises:
        BeyondError: it may overflow, or nothing is claimed of it.
    """
    sizes = [each.size for each in inputs]
    most = [float(each.amax()) for each in sizes]
    match operation:
        case Convolution() | FullConnection():
            terms, bound = operation.weight[0].numel() + 1, operation.bias
            if operation.magnitude is not None:
                _require(most[0] <= GREATEST_FOLDED)
                roundings, bound = terms + 16, operation.magnitude
            else:
                held = [operation.weight] if bound is None else [operation.weight, bound]
                weight, *bias = (float(each.abs().amax()) for each in held)
                _require(2 * (terms * weight * most[0] + sum(bias)) <= LARGEST)
                roundings = terms + 1 + any(bool((each.float() != each).any()) for each in held)
            bound = None if bound is None else bound.double().abs()
            size = operation.applied(sizes[0][None], operation.weight.double().abs(), bound)[0]
            return found.wider((size + _LOST / _U32) * _gamma32(roundings))
        case Sum():
            _require(4 * sum(most) <= LARGEST)
            return found.wider(torch.stack(sizes).sum(0) * _gamma32(len(sizes)) + _LOST)
        case AveragePooling():
            terms = operation.kernel[0] * operation.kernel[1]
            _require(4 * terms * most[0] <= LARGEST)
            return found.wider(operation(sizes[0][None])[0] * _gamma32(terms + 4) + _LOST)
        case LeakyRectifier() | Clamp():
            return found.wider(found.size * _gamma32(2) + _LOST)
        case Sigmoid() | Tanh():
            return found.wider(found.size * (2 * _ULPS * _U32 * _WIDE) + _LOST)
        case Product() | Gaussian() | InverseRoot():
            raise BeyondError
        case Rectifier():  # what may be 0 is known better from the middle of what is left of it
            nearest, radius = inputs[0].nearest, inputs[0].radius
            half = ((nearest + radius + nearest.abs() * 2 * NEAREST) * (UP / 2)).clamp(min=0)
            return found.replaced(nearest.abs() < radius, FixedPoint.of(half, found.places, found.width).wider(half))
        case FrozenNetwork():
            # 1 / 255 and the product, or the mean; the difference; std, its reciprocal and the product
            mean, std = (torch.tensor(each).double()[:, None, None] for each in (operation.mean, operation.std))
            size = found.nearest + found.radius + (mean + mean.abs()) / std  # (v / 255 + |mean|) / std
            return found.wider(size * _gamma32(8) + _LOST * (1 + 1 / std))
        case _:  # rounds nothing
            return found


def _require(holds: bool) -> None:
    if not holds:
        raise BeyondError
