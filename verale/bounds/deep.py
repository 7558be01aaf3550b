r"""The latents of a network in real arithmetic, enclosed in numbers of more bits than a float64 has.

Each layer multiplies what is not known of a picture by about the sum of its weights' sizes, where a rectifier does not
hide it. So the network is first computed in float64, and beside each number by how much an error of 1 in every pixel
may have grown: its gain. From this follows how many places a layer's numbers need, so that what is cut off there has
no more than a share of 2^-_ENOUGH in the latents. This is no more than a choice: radii are added up whatever it is
(`fixed_point`), and where they come out too wide, the network is computed once more with more places.

Soundness: a layer gives what lies within its radius of its centre, for all that lies within theirs of what it reads.
Maxima, clamps and rectifiers move no two numbers further apart; a mean is a sum, exact, times a rounded reciprocal; the
rest is in `fixed_point`, or below.

**Smooth functions.** A function f, sigmoid, tanh or the normal distribution, is known at a centre c by its Taylor
polynomial at the nearest multiple a of 2^-5, so that t = c - a has at most 2^-6 and little more in size:

    f(c) = sum_{n < N} f^(n)(a) / n! t^n + R,    |R| <= 2^(8 - 6.5 N)

*Proof* (Cauchy). Where |f| <= M in the disc of radius q around a, |f^(n)(a) / n!| <= M q^-n, so |R| <= M (|t| / q)^N /
(1 - |t| / q). With q = 3 for sigmoid, |1 + exp(-z)| >= sin 3 there, so M = 7.1. tanh z = 2 sigmoid(2 z) - 1, so q = 1.5
and M = 15.2. With q = 3 for the normal distribution its density is at most 0.4 exp(9/2), so M <= 1 + 3 * 36 = 109.

At a distance of some r from the centre f has moved by at most r (|f'(c)| + r b), where 2 b is no less than |f''|, which
is at most 1 / (6 sqrt 3) for sigmoid, 4 / (3 sqrt 3) for tanh, and (2 pi e)^(-1/2) for the normal distribution.

Beyond a reach, f is nearer to its limit than a unit.

An inverse root is Newton's, and tested: where y > 0 and |1 - c y^2| <= e <= 1/2, it is |c^(-1/2) - y| <= e y, for
(1 - e)^(-1/2) <= 1 + e. At a distance of r < c it has moved by at most r / 2 (c - r)^(-3/2).

Values at the multiples of 2^-5 are mpmath's, of 64 more bits than are used, and are taken to be off by 2^-32 of a unit.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import torch
from mpmath import mp
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
    Product,
    Rectifier,
    Sigmoid,
    SpatialMaximum,
    Sum,
    Tanh,
    Upsampling,
)
from verale.rounding import Enclosure, up

_STEP = 5
"""f is expanded at multiples of 2^-_STEP."""
_MORE_BITS = 16
"""Bits more than asked for in what is added up."""
_BLOCK = 128
"""Coefficients are known to multiples of so many bits, so that layers share them."""
_AT_ONCE = 2**15
"""Numbers computed together, so that the memory near the processor holds their digits."""
_MOST_STEPS = 8
"""Of Newton's rule, each of which doubles how many bits are right."""


class Smooth(NamedTuple):
    """A function that rises from one limit to another.

    Attributes:
        slope: its derivative at numbers of float64, to within 2^-40.
        bend: no less than half the size of its second derivative.
        reach: beyond this, for places, it is nearer to its limits than 2^-places.
        taylor: for a number, the first coefficients of its Taylor series there, so many.
    """

    slope: Callable[[Tensor], Tensor]
    bend: float
    reach: Callable[[int], float]
    taylor: Callable[[Any, int], list[Any]]

    def of(self, given: FixedPoint, places: int) -> FixedPoint:
        """The function of numbers, to so many places. Raises BeyondError."""
        nearest, kept = given.nearest, places + _MORE_BITS
        reach = math.ceil(self.reach(places))
        at = (nearest * 2**_STEP).round().clamp(-reach * 2**_STEP, reach * 2**_STEP)
        multiples, which = torch.unique(at, return_inverse=True)
        bits, terms = -(-kept // _BLOCK) * _BLOCK, math.ceil((kept + 8) / 6.5)
        series = [_coefficients(self, int(each), bits) for each in multiples.tolist()]
        table = []
        for n in range(terms):
            fewer = min(bits, max(8, kept - 6 * n))
            integers = [each[n] >> bits - fewer for each in series]
            table.append(FixedPoint.of_integers(integers, fewer, given.width).wider(2.0**-fewer))
        away = given.centre + -FixedPoint.of(at / 2**_STEP, _STEP, given.width)
        away = replace(away, digits=away.digits * (nearest.abs() <= reach)).view(-1)
        flat, starts = which.view(-1), range(0, which.numel(), _AT_ONCE)
        parts = [_summed(table, flat[k : k + _AT_ONCE], away[k : k + _AT_ONCE], places) for k in starts]
        found = FixedPoint.joined(parts).view(*nearest.shape).wider(2.0 ** (1 - places))
        steepest = self.slope(nearest).abs() + 2.0**-40 + nearest.abs() * (2 * NEAREST)
        return found.wider(
            given.radius * torch.minimum(steepest + given.radius * self.bend, torch.ones_like(nearest)) * UP
        )


def _summed(table: Sequence[FixedPoint], which: Tensor, away: FixedPoint, places: int) -> FixedPoint:
    """Polynomials, by Horner's rule, with the digits that each power is worth."""
    found = table[-1][which]
    for each in reversed(table[:-1]):
        found = found.times(away, each.places) + each[which]
    return found.rounded(places)


@lru_cache(maxsize=2**14)
def _coefficients(function: Smooth, multiple: int, bits: int) -> list[int]:
    """The Taylor coefficients at a multiple of the step, as integers times 2^-bits, rounded down."""
    with mp.workprec(bits + 64):
        series = function.taylor(mp.ldexp(multiple, -_STEP), math.ceil((bits + 8) / 6.5))
        return [int(mp.floor(mp.ldexp(each, bits))) for each in series]


def _sigmoid(at: Any, count: int) -> list[Any]:
    """s' = s (1 - s)."""
    found = [1 / (1 + mp.exp(-at))]
    for n in range(count - 1):
        found.append((found[n] - mp.fdot(found, reversed(found))) / (n + 1))
    return found


def _tanh(at: Any, count: int) -> list[Any]:
    found = [mp.ldexp(each, n + 1) for n, each in enumerate(_sigmoid(2 * at, count))]
    return [found[0] - 1, *found[1:]]


def _gaussian(at: Any, count: int) -> list[Any]:
    """The density d has d' = -x d."""
    density = [mp.npdf(at), -at * mp.npdf(at)]
    for n in range(1, count):
        density.append(-(at * density[n] + density[n - 1]) / (n + 1))
    return [mp.ncdf(at), *(each / (n + 1) for n, each in enumerate(density[: count - 1]))]


SMOOTH: dict[type, Smooth] = {
    Sigmoid: Smooth(lambda x: x.sigmoid() * (-x).sigmoid(), 0.05, lambda places: 0.7 * places, _sigmoid),
    Tanh: Smooth(lambda x: 1 - x.tanh().square(), 0.39, lambda places: 0.35 * places + 1, _tanh),
    Gaussian: Smooth(
        lambda x: 0.4 * (-x.square() / 2).exp(), 0.125, lambda places: math.sqrt(1.4 * places) + 1, _gaussian
    ),
}
"""The function of each layer that is smooth, but for inverse roots."""


def inverse_root(given: FixedPoint, places: int) -> FixedPoint:
    """1 / sqrt(x), to so many places. Raises BeyondError where a number may be 0 or less."""
    nearest = given.nearest
    least = nearest * (1 - 2 * NEAREST) - given.radius * UP
    if not bool((least > 0).all()):
        raise BeyondError("which takes an inverse root of a number that may be 0 or less")
    kept = places + _MORE_BITS + max(0, math.frexp(float(nearest.amax()))[1])
    one, half = (FixedPoint.of(torch.full_like(nearest, each), 1, given.width) for each in (1.0, 0.5))
    root, off = FixedPoint.of(nearest.rsqrt(), kept, given.width).centre, one
    for _ in range(_MOST_STEPS):
        off = one + -given.centre.times(root, kept).times(root, kept)
        if float(off.size.amax()) <= 2.0 ** (8 - kept):
            break
        root = (root + root.times(off, kept).times(half, kept)).centre
    if not bool((off.size <= 0.5).all() and (root.nearest > 0).all()):
        raise TooManyBitsError
    moved = given.radius / 2 * least.pow(-1.5) * UP
    return root.wider(off.size * root.size * UP + moved).rounded(places)


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


_ROUGH = "the search knows the network only roughly from layer {} on, {}"


def deep_latents(network: FrozenNetwork, picture: Tensor) -> tuple[Enclosure | None, str]:
    """Intervals that hold the latents that a network gives for a picture, uint8 (C, H, W); and an empty text.

    Returns:
        Intervals (1, C, H, W) or (1, D). None where these take too many bits; then why, and what would help, in words
        that name the layer.

    Raises:
        UsageError: a picture of another shape.
    """
    gains, wanted = _gains(network, picture), _ENOUGH
    for _ in range(_TIMES):
        rule = _Rules(network, gains, wanted)
        try:
            output: FixedPoint = deque(walk(network, rule.picture(picture), rule), maxlen=1).pop()[1]
            widest = float(output.radius.amax())
            if widest <= _WIDE:
                return _ends(output), ""
            if not widest < math.inf:
                raise TooManyBitsError
            wanted += math.frexp(widest)[1] + _ENOUGH
        except BeyondError as error:
            return None, _ROUGH.format(rule.layer, error)
    return None, _ROUGH.format(rule.layer, TooManyBitsError())


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
        weighted = (
            each.operation for each in network.layers if isinstance(each.operation, Convolution | FullConnection)
        )
        terms = max((each.weight[0].numel() for each in weighted), default=1)
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
