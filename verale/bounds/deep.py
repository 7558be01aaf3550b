r"""The latents of a deep network in real arithmetic, enclosed in numbers of more bits than a float64 has.

Each layer multiplies what is not known of a picture by about the sum of its weights' sizes, where a rectifier does not
hide it. So the network is first computed in float64, and beside each number by how much an error of 1 in every pixel
may have grown: its gain. From this follows how many places a layer's numbers need, so that what is cut off there has
no more than a share of 2^-_ENOUGH in the latents. This is no more than a choice: radii are added up whatever it is
(`fixed_point`), and where they come out too wide, the network is computed once more with more places.

Soundness: a layer gives what lies within its radius of its centre, for all that lies within theirs of what it reads.
Maxima, clamps and rectifiers move no two numbers further apart; a mean is a sum, exact, times a rounded reciprocal; the
rest is in `fixed_point` and `smooth`.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from verale.bounds.fixed_point import (
    MOST_PLACES,
    NEAREST,
    UP,
    BeyondError,
    FixedPoint,
    TooManyBitsError,
    carried,
    most_terms,
)
from verale.bounds.smooth import SMOOTH, inverse_root
from verale.network import PICTURE, FrozenNetwork, walk
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
from verale.rounding import Enclosure, up

__all__ = ["DeepLatents", "deep_latents"]

_ENOUGH = 48
"""Latents are known to about 2^-_ENOUGH."""
_WIDE = 2.0**-40
"""Where they are not known to this, they are computed once more."""
_GUARD = 6
"""Bits more than gains say, since many layers cut something off."""
_TIMES = 3
"""How often a network is computed, at most."""
_WIDEST, _NARROWEST = 20, 12
"""Bits of a digit, for sums of few products and of many."""


class DeepLatents(NamedTuple):
    """The latents of a picture.

    Attributes:
        ends: intervals that hold them, (1, C, H, W) or (1, D); None where they take too many bits.
        roughly: why they do, and what would help, in words that name the layer; empty where they do not.
        least, most: no latents of this network lie beyond these.
    """

    ends: Enclosure | None
    roughly: str
    least: float = -math.inf
    most: float = math.inf


_ROUGH = "the search knows the network only roughly from layer {} on, {}"


def deep_latents(network: FrozenNetwork, picture: Tensor) -> DeepLatents:
    """The latents that a network gives for a picture, uint8 (C, H, W). Raises UsageError: one of another shape."""
    gains, wanted = _gains(network, picture), _ENOUGH
    for _ in range(_TIMES):
        rule = _Rules(network, gains, wanted)
        try:
            output: FixedPoint = _last(network, rule.picture(picture), rule)
            widest = float(output.radius.amax())
            if widest <= _WIDE:
                limits = _last(network, (-math.inf, math.inf), _limits)
                return DeepLatents(_ends(output).clamp(*limits), "", *limits)
            if not widest < math.inf:
                raise TooManyBitsError
            wanted += math.frexp(widest)[1] + _ENOUGH
        except BeyondError as error:
            return DeepLatents(None, _ROUGH.format(rule.layer, error))
    return DeepLatents(None, _ROUGH.format(rule.layer, TooManyBitsError()))


def _last(network: FrozenNetwork, picture: Any, compute: Callable[[NetworkLayer, Any], Any]) -> Any:
    """What the last layer gives; see `walk`."""
    return deque(walk(network, picture, compute), maxlen=1).pop()[1]


class _Rules:
    """What layers give, in numbers of several digits, from what they read.

    Args:
        network: the network.
        gains: see `_gains`.
        wanted: to so many places the latents are to be known.

    Attributes:
        layer: the layer that is computed.
    """

    def __init__(self, network: FrozenNetwork, gains: dict[str, float], wanted: int) -> None:
        terms = max(_terms(layer.operation) for layer in network.layers)
        self.width = next((width for width in range(_WIDEST, _NARROWEST, -1) if terms <= most_terms(width)), _NARROWEST)
        self.layer = network.layers[0].name
        last = gains[network.layers[-1].name]
        self._network = network
        self._places = {name: max(wanted, wanted + _GUARD + math.ceil(last - gain)) for name, gain in gains.items()}

    def picture(self, picture: Tensor) -> FixedPoint:
        """(v / 255 - mean) / std, by a table of all bytes for each channel."""
        places, channels = self._places[PICTURE], []
        if places > MOST_PLACES:
            raise TooManyBitsError
        for mean, std, values in zip(self._network.mean, self._network.std, picture, strict=True):
            exact = [(Fraction(v, 255) - Fraction(mean)) / Fraction(std) for v in range(256)]
            table = FixedPoint.of_integers([math.floor(each * 2**places) for each in exact], places, self.width)
            channels.append(table.wider(2.0**-places)[values.long()[None]])
        return FixedPoint.joined(channels)

    def __call__(self, layer: NetworkLayer, inputs: Any) -> FixedPoint:
        """The output of a layer. Raises BeyondError."""
        self.layer = layer.name
        found: FixedPoint = _RULES[type(layer.operation)](layer.operation, self._places[layer.name], *inputs)
        return found


def _terms(operation: Operation) -> int:
    return operation.weight[0].numel() if isinstance(operation, Convolution | FullConnection) else 1


def _of(value: float, given: FixedPoint, places: int) -> FixedPoint:
    """One number for all that are given."""
    shape = [1] * given.radius.dim()
    return FixedPoint.of(given.radius.new_full(shape, value), places, given.width)


def _clamp(operation: Clamp, places: int, given: FixedPoint) -> FixedPoint:
    """An end that takes more places than these is rounded, and a clamp moves by no more than it does."""
    lower, upper = (_of(end, given, max(places, given.places)) for end in (operation.lower, operation.upper))
    return -((-given.greater(lower)).greater(-upper)).rounded(places)


def _leaky(operation: LeakyRectifier, places: int, given: FixedPoint) -> FixedPoint:
    """max(x, slope x), for a slope of at most 1."""
    more = max(0, math.frexp(float(given.nearest.abs().amax()))[1])
    return given.greater(given.times(_of(operation.slope, given, places + more), places)).rounded(places)


def _mean(operation: AveragePooling, places: int, given: FixedPoint) -> FixedPoint:
    """Sums, which are exact, times a reciprocal."""
    count = operation.kernel[0] * operation.kernel[1]

    def total(numbers: Tensor) -> Tensor:
        return functional.avg_pool2d(numbers, operation.kernel, operation.stride, operation.padding, divisor_override=1)

    summed = replace(given, digits=carried(total(given.digits), given.width), radius=total(given.radius[None])[0] * UP)
    more = max(0, math.frexp(float(summed.nearest.abs().amax()))[1])
    reciprocal = FixedPoint.of_integers([2 ** (places + more) // count], places + more, given.width)
    return summed.times(reciprocal.wider(2.0 ** -(places + more)).view(1, 1, 1), places)


def _maximum(operation: SpatialMaximum, places: int, given: FixedPoint) -> FixedPoint:
    """What lies outside of the input stands for an entry of the same window."""
    rows, columns = given.radius.shape[1:]
    numbered = torch.arange(1.0, rows * columns + 1, dtype=torch.float64).view(1, 1, rows, columns)
    windows = functional.unfold(numbered, operation.kernel, 1, operation.padding, operation.stride)[0].long() - 1
    windows = torch.where(windows < 0, windows.amax(0), windows)
    flat = given.view(len(given.radius), -1)
    found = reduce(FixedPoint.greater, (flat[each] for each in windows))
    height = (rows + 2 * operation.padding[0] - operation.kernel[0]) // operation.stride[0] + 1
    return found.view(len(given.radius), height, -1)


def _moved(operation: Flattening | Upsampling, places: int, given: FixedPoint) -> FixedPoint:
    """What only puts numbers elsewhere."""
    return replace(given, digits=operation(given.digits), radius=operation(given.radius[None])[0])


_RULES: dict[type, Callable[..., FixedPoint]] = {
    **dict.fromkeys((Convolution, FullConnection), lambda operation, places, given: given.summed(operation, places)),
    **dict.fromkeys(SMOOTH, lambda operation, places, given: SMOOTH[type(operation)].of(given, places)),
    **dict.fromkeys((Flattening, Upsampling), _moved),
    Rectifier: lambda _, places, given: given.rectified().rounded(places),
    LeakyRectifier: _leaky,
    Clamp: _clamp,
    Sum: lambda _, places, *given: reduce(FixedPoint.__add__, given).rounded(places),
    Concatenation: lambda _, places, *given: FixedPoint.joined(given).rounded(places),
    Product: lambda _, places, given, factor: given.times(factor, places),
    InverseRoot: lambda _, places, given: inverse_root(given, places),
    AveragePooling: _mean,
    SpatialMaximum: _maximum,
}
"""The rule of each operation: it, to how many places, and what it reads."""


def _ends(output: FixedPoint) -> Enclosure:
    """The numbers, rounded outward. What Horner's rule lost is added to it, which leaves a last rounding, and the same
    share of what was lost."""
    nearest = output.nearest
    rest = (output + -FixedPoint.of(nearest, output.places, output.width)).nearest
    centre = nearest + rest
    off = output.radius + centre.abs() * 2.0**-52 + rest.abs() * (4 * NEAREST) + 2.0**-output.places
    return Enclosure.around(centre[None], up(off[None] * UP))


def _limits(layer: NetworkLayer, inputs: Any) -> tuple[float, float]:
    """Ends beyond which a layer gives nothing, for any numbers between those of what it reads."""
    least, most = (pick(ends) for pick, ends in zip((min, max), zip(*inputs, strict=True), strict=True))
    match layer.operation:
        case Rectifier():
            return max(0.0, least), max(0.0, most)
        case Clamp() as clamp:
            return clamp.lower, clamp.upper
        case Sigmoid() | Gaussian():
            return 0.0, 1.0
        case Tanh():
            return -1.0, 1.0
        case InverseRoot():
            return 0.0, math.inf
        case SpatialMaximum() | Concatenation() | Flattening() | Upsampling():
            return least, most
        case AveragePooling() | Product() | Sum() if least >= 0:
            return 0.0, math.inf
        case _:
            return -math.inf, math.inf


def _gains(network: FrozenNetwork, picture: Tensor) -> dict[str, float]:
    """By how much an error of 1 in every pixel may have grown in a layer, in the mean; as powers of 2."""
    images = network.normalised(picture[None])
    gains = {PICTURE: 0.0}
    for name, (_, gain) in walk(network, (images, torch.ones_like(images)), _grown):
        mean = float(gain.mean())
        gains[name] = math.log2(mean) if 0 < mean < math.inf else gains.get(name, 0.0)
    return gains


def _grown(layer: NetworkLayer, inputs: Any) -> tuple[Tensor, Tensor]:
    """An estimate of what a layer gives, and of the gain of each number."""
    operation = layer.operation
    numbers, gains = zip(*inputs, strict=True)
    given, gain = numbers[0], gains[0]
    found = operation(*numbers)
    match operation:
        case Convolution() | FullConnection():
            return found, operation.applied(gain, operation.weight.double().abs(), None)
        case Rectifier():
            return found, gain * (given > 0)
        case LeakyRectifier():
            return found, gain * torch.where(given > 0, 1.0, operation.slope)
        case Clamp():
            return found, gain * ((given > operation.lower) & (given < operation.upper))
        case Product():
            return found, (given * gains[1]).abs() + (gain * numbers[1]).abs()
        case InverseRoot():
            return found, gain / 2 * found.pow(3)
        case Sigmoid() | Tanh() | Gaussian():
            return found, gain * SMOOTH[type(operation)].slope(given)
        case _:
            return found, operation(*gains)
