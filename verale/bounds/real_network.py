r"""The latents that a network gives in real arithmetic, enclosed in as many bits as its depth takes.

Each layer multiplies radii by about the sum of its weights' sizes. After some tens of layers nothing is left of
float64's 53 bits. So centres are kept in fixed point (`FixedPoint`), with so many bits that the latents are known to
2^-_BITS; radii are float64, rounded up. With c the centres, r the radii, and one unit of the grid for what is cut off:

    sums W x + b:   c' = W c + b,  r' = |W| r + n e max |c| + 3 units, e what is cut off of a weight
    relu, maxima:   c' those of c, r' = r or the greatest r, since no two numbers are further apart afterwards;
                    r' = 0 where a relu reads nothing above 0
    means, sums:    as sums of products with the same weights

Sigmoids and what else bends are computed from the ends in float64 (`network`), from which later layers go on.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import frexp, prod

import torch
from torch import Tensor
from torch.nn import functional

from verale.bounds.fixed_point import FixedPoint, width_for
from verale.errors import VeraleError
from verale.network import PICTURE, FrozenNetwork
from verale.network.layers import (
    AveragePooling,
    Concatenation,
    Convolution,
    Flattening,
    FullConnection,
    NetworkLayer,
    Rectifier,
    SpatialMaximum,
    Sum,
    Upsampling,
)
from verale.rounding import up

__all__ = ["KNOWN", "LATENT_UNIT", "LIFTED", "Fine", "FineRules", "TooFineError"]

_BITS = 44
"""About how many fractional bits of the latents are known."""
LATENT_UNIT = 2.0**-_BITS
"""By how much latents are taken wider: more than what the checker's box, some 2^-56 wide, may lie beside this one."""
_MOST_BITS = 900
"""Of the picture. float64 has exponents for some more, for radii and for what is multiplied with them."""
_MOST_TERMS = 2**20
"""Of a sum: its digits have 14 bits then, with which `FixedPoint.times` is off by less than one unit."""
_UP = 1 + 2.0**-20
"""More than what a radius, a sum of fewer than 2^30 positive terms, is rounded by."""

LIFTED = (Convolution, FullConnection, Sum, AveragePooling)
"""The operations for which float64 numbers are taken into fixed point."""
KNOWN = (*LIFTED, Concatenation, Rectifier, SpatialMaximum, Flattening, Upsampling)
"""The operations that are computed in fixed point where they read such numbers."""


class TooFineError(VeraleError):
    """A network is not computed in fixed point; the message says why, and what would help."""


@dataclass(frozen=True, eq=False)
class Fine:
    """Numbers within `radius`, (1, C, H, W) or (1, D), of a centre whose digits are (K, C, H, W) or (K, D); and none is
    below `least`."""

    centre: FixedPoint
    radius: Tensor
    least: float = -math.inf

    @property
    def size(self) -> float:
        """No less than the size of any centre."""
        value, off = self.centre.to_float()
        return float((value.abs() + off).amax()) * _UP


class FineRules:
    """What the layers of one network give in fixed point.

    Raises:
        TooFineError: it would take too many bits, or has sums that are too long.
    """

    def __init__(self, network: FrozenNetwork) -> None:
        self._network = network
        terms = {layer.name: _terms(layer) for layer in network.layers}
        longest = max(terms, key=terms.__getitem__)
        if terms[longest] > _MOST_TERMS:
            raise TooFineError(
                f"a sum of layer {longest} has {terms[longest]} terms, more than the {_MOST_TERMS} that are computed"
                " in more bits: take smaller pictures, or an earlier layer for the latents"
            )
        bits = _bits(network)
        if bits[PICTURE] > _MOST_BITS:
            raise TooFineError(
                f"its layers multiply what is not known of the picture by 2^{bits[PICTURE] - _BITS}, for which"
                f" {bits[PICTURE]} bits are needed and at most {_MOST_BITS} are computed: take a network of fewer"
                " layers, or an earlier layer for the latents"
            )
        self.width = width_for(terms[longest])
        self._low = {name: -each // self.width for name, each in bits.items()}

    def picture(self, pictures: Tensor) -> Fine:
        """(v / 255 - mean) / std of one picture (1, C, H, W), rounded down."""
        network, low, channels = self._network, self._low[PICTURE], []
        for plane, mean, std in zip(pictures[0].long(), network.mean, network.std, strict=True):
            exact = [(Fraction(v, 255) - Fraction(mean)) / Fraction(std) for v in range(256)]
            table = FixedPoint.of_fractions(exact, low, self.width)
            channels.append(table.mapped(lambda digits, plane=plane: digits[:, plane]))  # type: ignore[misc]
        centre = _joined(channels, lambda planes: torch.stack(planes, 1))
        return Fine(centre, torch.full(pictures.shape, centre.unit, dtype=torch.float64))

    def lifted(self, name: str, centre: Tensor, radius: Tensor) -> Fine:
        """Numbers around float64 centres (1, ...), in the places of a layer."""
        low = self._low[name]
        fixed, exact = FixedPoint.of_floats(centre[0], low, self.width)
        return Fine(FixedPoint.total([fixed], low), radius if exact else up(radius + 2.0 ** (self.width * low)))

    def __call__(self, layer: NetworkLayer, given: list[Fine]) -> Fine:
        """The output of a layer whose operation is one of `KNOWN`. Raises OverflowError: numbers beyond float64."""
        operation, low = layer.operation, self._low[layer.name]
        match operation:
            case Convolution() | FullConnection():
                return self._sums(operation, given[0], low)
            case AveragePooling():
                return self._means(operation, given[0], low)
            case Sum():
                centre = FixedPoint.total([each.centre for each in given], low)
                radius = reduce(torch.add, [each.radius for each in given])
                return Fine(centre, (radius + centre.unit) * _UP)
            case Rectifier():
                value, off = given[0].centre.to_float()
                positive = given[0].centre.sign() > 0
                centre = given[0].centre.mapped(lambda digits: torch.where(positive, digits, 0.0)).trimmed()
                radius = torch.where(up(up(value + off) + given[0].radius) < 0, 0.0, given[0].radius)
                return Fine(centre, radius, max(0.0, given[0].least))
            case SpatialMaximum():
                return Fine(_greatest(operation, given[0].centre), operation(given[0].radius), given[0].least)
            case _:
                centre = _joined([each.centre for each in given], lambda digits: operation(*digits))
                radius = operation(*(each.radius for each in given))
                return Fine(centre, radius, min(each.least for each in given))

    def _sums(self, operation: Convolution | FullConnection, given: Fine, low: int) -> Fine:
        weight, terms = operation.weight.double(), operation.weight[0].numel()
        size = given.size
        places = low - _places_above(size * terms, self.width)
        fixed, exact = FixedPoint.of_floats(weight, places, self.width)
        centre = given.centre.times(fixed, lambda digits, part: operation.applied(digits, part, None), low)
        if operation.bias is not None:
            bias, _ = FixedPoint.of_floats(operation.bias.double(), low, self.width)
            shape = (len(bias.digits), -1, *[1] * (centre.digits.dim() - 2))
            wide = bias.mapped(lambda digits: digits.reshape(shape).expand(-1, *centre.digits.shape[1:]))
            centre = FixedPoint.total([centre, wide], low)
        cut = 0.0 if exact else terms * fixed.unit * size
        spread = operation.applied(given.radius, weight.abs(), None)
        return Fine(centre, (spread + cut + 3 * 2.0 ** (self.width * low)) * _UP)

    def _means(self, operation: AveragePooling, given: Fine, low: int) -> Fine:
        kernel, stride, padding = operation.kernel, operation.stride, operation.padding
        terms = prod(kernel)
        size = given.size
        places = low - _places_above(size * terms, self.width)
        share = FixedPoint.of_fractions([Fraction(1, terms)], places, self.width)

        def sums(digits: Tensor, part: Tensor) -> Tensor:
            return functional.avg_pool2d(digits, kernel, stride, padding, divisor_override=1) * part

        centre = given.centre.times(share, sums, low)
        radius = operation(given.radius) + terms * share.unit * size + 2 * centre.unit
        return Fine(centre, radius * _UP, 0.0 if given.least >= 0 else -math.inf)


def _terms(layer: NetworkLayer) -> int:
    """How many numbers an entry of a layer is computed from, at most."""
    operation = layer.operation
    if isinstance(operation, Convolution | FullConnection):
        return operation.weight[0].numel()
    return prod(getattr(operation, "kernel", (1,)))


def _bits(network: FrozenNetwork) -> dict[str, int]:
    """How many fractional bits each output takes: those of the latents, and those that later layers lose."""
    bits = {network.layers[-1].name: _BITS}
    for layer in reversed(network.layers):
        own, operation = bits[layer.name], layer.operation
        if isinstance(operation, Convolution | FullConnection):
            sizes = operation.weight.double().abs().flatten(1).sum(1)
            own += max(0, frexp(float(sizes.mean()))[1])
        elif isinstance(operation, Sum):
            own += (len(layer.inputs) - 1).bit_length()
        for name in layer.inputs:
            bits[name] = max(bits.get(name, 0), own)
    return bits


def _places_above(size: float, width: int) -> int:
    """Places that numbers of this size have before the point, and one more."""
    return max(0, frexp(size)[1]) // width + 2


def _joined(given: list[FixedPoint], join: Callable[[list[Tensor]], Tensor]) -> FixedPoint:
    """Several with the same places, digit by digit."""
    low = min(each.low for each in given)
    wide = [FixedPoint.total([each], low) for each in given]
    most = max(len(each.digits) for each in wide)
    padded = [
        torch.cat([each.digits.new_zeros(most - len(each.digits), *each.digits.shape[1:]), each.digits])
        for each in wide
    ]
    return FixedPoint(join(padded), low, given[0].width)


def _greatest(operation: SpatialMaximum, given: FixedPoint) -> FixedPoint:
    """The maxima over windows; what lies outside is less than all."""
    (rows, columns), (down, along), (above, aside) = operation.kernel, operation.stride, operation.padding
    padded = functional.pad(given.digits, (aside, aside, above, above))
    padded[0] = functional.pad(given.digits[0], (aside, aside, above, above), value=-(2.0**52))
    height = (padded.shape[-2] - rows) // down + 1
    width = (padded.shape[-1] - columns) // along + 1
    windows = [
        padded[..., a : a + (height - 1) * down + 1 : down, b : b + (width - 1) * along + 1 : along]
        for a in range(rows)
        for b in range(columns)
    ]
    parts = [FixedPoint(each, given.low, given.width) for each in windows]
    return reduce(FixedPoint.maximum, parts)
