"""Layers that are no sums of products: of enclosed entries, enclosed.

**Lemma.** A function that falls with none of its arguments takes x_i in [lo_i, hi_i] into [f(lo), f(hi)]. So do all of
these: maxima, sums, means, and functions of one number that do not fall. Quotients are rounded outward.

`sigmoid` and `tanh` rise. With e = exp(-|x|), or exp(-2 |x|), they are

    1 / (1 + e) or e / (1 + e) for x >= 0 or x <= 0;    (1 - e) / (1 + e) or minus that

of which the second rises with e and the others fall, so they are computed from the ends of e, with quotients rounded
outward. They lie within [0, 1] and [-1, 1], since 0 <= e.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

from ..arithmetic import Arithmetic
from ..read.network_file import Layer


@dataclass(frozen=True)
class Ends:
    """The entries of a layer, in the order (c, y, x): entry i lies in [lower[i], upper[i]] 2^-bits, all integers."""

    lower: list[int]
    upper: list[int]

    def mapped(self, low: Callable[[int], int], high: Callable[[int], int]) -> Ends:
        """A function that does not fall, entry by entry: `low` gives no more than it, and `high` no less."""
        return Ends(list(map(low, self.lower)), list(map(high, self.upper)))

    def centred(self) -> tuple[list[int], list[int]]:
        """Centres and radii: entry i lies within radii[i] of centres[i]. The centre is floor((lower + upper) / 2), so
        the lower end is no farther from it than the upper one."""
        centres = [low + high >> 1 for low, high in zip(self.lower, self.upper, strict=True)]
        return centres, [high - centre for high, centre in zip(self.upper, centres, strict=True)]


def _leaky_relu(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    above, below = layer.settings.slope.numerator, layer.settings.slope.denominator
    return read[0].mapped(
        lambda low: low if low >= 0 else low * above // below,
        lambda high: high if high >= 0 else -(-high * above // below),
    )


def _sigmoid(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    one = 1 << bits

    def ends(x: int) -> tuple[int, int]:
        low, high = arithmetic.exp(-abs(x), -bits, bits)
        if x >= 0:
            return (one << bits) // (one + high), -(-(one << bits) // (one + low))
        return (low << bits) // (one + low), -(-(high << bits) // (one + high))

    return read[0].mapped(lambda low: ends(low)[0], lambda high: ends(high)[1])


def _tanh(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    one = 1 << bits

    def ends(x: int) -> tuple[int, int]:
        low, high = arithmetic.exp(-2 * abs(x), -bits, bits)
        least, most = (one - high << bits) // (one + high), -(-(one - low << bits) // (one + low))
        return (least, most) if x >= 0 else (-most, -least)

    return read[0].mapped(lambda low: ends(low)[0], lambda high: ends(high)[1])


def _max_pool2d(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    lower, upper, windows = read[0].lower, read[0].upper, list(_windows_of(layer))
    return Ends([max(lower[i] for i in each) for each in windows], [max(upper[i] for i in each) for each in windows])


def _avg_pool2d(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    size = layer.settings.kernel[0] * layer.settings.kernel[1]
    lower, upper = read[0].lower, read[0].upper
    windows = list(_windows_of(layer))
    return Ends(
        [sum(lower[i] for i in each) // size for each in windows],
        [-(-sum(upper[i] for i in each) // size) for each in windows],
    )


def _upsample_nearest(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    channels, rows, columns = layer.shape
    _, height, width = layer.read[0]
    down, along = layer.settings.scale
    places = [
        (c * height + y // down) * width + x // along
        for c in range(channels)
        for y in range(rows)
        for x in range(columns)
    ]
    return Ends([read[0].lower[i] for i in places], [read[0].upper[i] for i in places])


def _of_all(read: Sequence[Ends], gather: Callable[[list[list[int]]], list[int]]) -> Ends:
    """The lower ends of some layers together, and so the upper ones."""
    return Ends(gather([each.lower for each in read]), gather([each.upper for each in read]))


def _windows_of(layer: Layer) -> Iterator[list[int]]:
    """For each entry of a pooling the places of what it reads; those outside are left out."""
    channels, rows, columns = layer.shape
    _, height, width = layer.read[0]
    settings = layer.settings
    seen = [
        [
            [i for i in range(start * stride - padding, start * stride - padding + kernel) if 0 <= i < size]
            for start in range(count)
        ]
        for count, size, stride, padding, kernel in zip(
            (rows, columns), (height, width), settings.stride, settings.padding, settings.kernel, strict=True
        )
    ]
    for channel in range(channels):
        for ys in seen[0]:
            starts = [(channel * height + y) * width for y in ys]
            for xs in seen[1]:
                yield [start + x for start in starts for x in xs]


FUNCTIONS: dict[str, Callable[[Layer, Sequence[Ends], Arithmetic, int], Ends]] = {
    "add": lambda layer, read, *_: _of_all(read, lambda entries: list(map(sum, zip(*entries, strict=True)))),
    "concat": lambda layer, read, *_: _of_all(read, lambda entries: list(chain.from_iterable(entries))),
    "relu": lambda layer, read, *_: read[0].mapped(partial(max, 0), partial(max, 0)),
    "leaky_relu": _leaky_relu,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "max_pool2d": _max_pool2d,
    "avg_pool2d": _avg_pool2d,
    "flatten": lambda layer, read, *_: read[0],
    "upsample_nearest": _upsample_nearest,
}
"""What each of these layers gives: the layer, what it reads, the arithmetic, the bits of the grid."""
