"""Layers that are no sums of products: of enclosed entries, enclosed.

**Lemma.** A function that falls with none of its arguments takes x_i in [lo_i, hi_i] into [f(lo), f(hi)]. So do all of
these: maxima, sums, means, and functions of one number that do not fall. Quotients are rounded outward.

`sigmoid` rises. With e = exp(-|x|) it is 1 / (1 + e) for x >= 0, which falls with e, or e / (1 + e) for x <= 0, which
rises with e. So it is computed from the ends of e, with quotients rounded outward. It lies within [0, 1], since 0 <= e.
And tanh x = 2 sigmoid(2 x) - 1.

`multiply`: a product of two intervals lies between the least and the greatest of the products of their ends, for it is
linear in each factor.

`gaussian` rises, and by at most 2/5 of what its argument does: its slope exp(-x^2 / 2) / (2 pi)^(1/2) is below 0.4. So
only the lower end is computed. It lies within [0, 1].

`inverse_root` falls. With r the integer root of floor(2^(3 bits) / x), an integer x at 2^-bits, 1 / (x 2^-bits)^(1/2) =
(2^(3 bits) / x)^(1/2) 2^-bits lies from r to r + 1, at 2^-bits, as floor(y^(1/2)) = floor(floor(y)^(1/2)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from math import isqrt, prod
from operator import mul

from ..arithmetic import Arithmetic
from ..dyadic import ceil_at, floor_at
from ..errors import UnprovedError
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
    def moved(end: int) -> int:
        return 2 * end - (1 << bits)

    doubled = read[0].mapped(partial(mul, 2), partial(mul, 2))
    return _sigmoid(layer, [doubled], arithmetic, bits).mapped(moved, moved)


def _clamp(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    lower, upper = layer.settings.lower, layer.settings.upper
    least, most = floor_at(lower, bits), floor_at(upper, bits)
    low, high = ceil_at(lower, bits), ceil_at(upper, bits)
    return read[0].mapped(lambda x: min(most, max(least, x)), lambda x: min(high, max(low, x)))


def _multiply(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    first, second = read
    lower, upper = [], []
    for place, (low, high) in zip(_repeated(*layer.read), zip(first.lower, first.upper, strict=True), strict=True):
        least, most = second.lower[place], second.upper[place]
        ends = low * least, low * most, high * least, high * most
        lower.append(min(ends) >> bits)
        upper.append(-(-max(ends) >> bits))
    return Ends(lower, upper)


def _repeated(large: Sequence[int], small: Sequence[int]) -> Iterator[int]:
    """For each entry of a shape the place of the one that it meets in another, which is 1 along some axes."""
    axes = []
    for at, size in enumerate(large):
        step = prod(small[at + 1 :])
        axes.append([0] * size if small[at] == 1 else list(range(0, size * step, step)))
    return map(sum, product(*axes))


def _gaussian(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    lower, upper = [], []
    for low, high in zip(read[0].lower, read[0].upper, strict=True):
        least, most = arithmetic.normal(low, -bits, bits)
        lower.append(max(0, least))
        upper.append(min(1 << bits, most - (2 * (low - high) // 5)))
    return Ends(lower, upper)


def _inverse_root(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    if min(read[0].lower) <= 0:
        raise UnprovedError(
            "picture",
            f"the layer {layer.name} takes an inverse root of a number that is not shown to be positive",
        )
    one = 1 << 3 * bits
    return Ends([isqrt(one // high) for high in read[0].upper], [isqrt(one // low) + 1 for low in read[0].lower])


def _max_pool2d(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    """What lies outside is no more than what is least: of each window some entry lies within."""
    return Ends(_pooled(layer, read[0].lower, min, max), _pooled(layer, read[0].upper, min, max))


def _avg_pool2d(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    """What lies outside is 0."""
    size = layer.terms
    return Ends(
        _pooled(layer, read[0].lower, lambda _: 0, lambda part: sum(part) // size),
        _pooled(layer, read[0].upper, lambda _: 0, lambda part: -(-sum(part) // size)),
    )


def _upsample_nearest(layer: Layer, read: Sequence[Ends], arithmetic: Arithmetic, bits: int) -> Ends:
    (_, height, width), (down, along) = layer.read[0], layer.settings.scale
    places = [(c * height + y // down) * width + x // along for c, y, x in product(*map(range, layer.shape))]
    return Ends([read[0].lower[i] for i in places], [read[0].upper[i] for i in places])


def _of_all(read: Sequence[Ends], gather: Callable[[list[list[int]]], list[int]]) -> Ends:
    """The lower ends of some layers together, and so the upper ones."""
    return Ends(gather([each.lower for each in read]), gather([each.upper for each in read]))


def _pooled(
    layer: Layer, entries: list[int], outside: Callable[[list[int]], int], pool: Callable[[Sequence[int]], int]
) -> list[int]:
    """What a pooling gives for these entries, given what stands for those outside a channel."""
    area, windows = prod(layer.read[0][1:]), list(places(layer, range(prod(layer.shape[1:]))))
    pooled: list[int] = []
    for start in range(0, len(entries), area):
        plane = entries[start : start + area]
        plane.append(outside(plane))
        pooled += map(pool, zip(*(map(plane.__getitem__, each) for each in windows), strict=True))
    return pooled


def places(layer: Layer, positions: Iterable[int]) -> Iterator[list[int]]:
    """For each entry of a kernel the places in a channel of what it meets at these positions of what the layer gives;
    -1 where that is outside."""
    (_, height, width), columns, settings = layer.read[0], layer.shape[2], layer.settings
    (down, along), (above, before) = settings.stride, settings.padding
    corners = [(i // columns * down - above, i % columns * along - before) for i in positions]
    steps = zip(settings.kernel, settings.dilation, strict=True)
    for a, b in product(*(range(0, size * apart, apart) for size, apart in steps)):
        meets = [(y + a, x + b) for y, x in corners]
        yield [y * width + x if 0 <= y < height and 0 <= x < width else -1 for y, x in meets]


FUNCTIONS: dict[str, Callable[[Layer, Sequence[Ends], Arithmetic, int], Ends]] = {
    "add": lambda layer, read, *_: _of_all(read, lambda entries: list(map(sum, zip(*entries, strict=True)))),
    "concat": lambda layer, read, *_: _of_all(read, lambda entries: list(chain.from_iterable(entries))),
    "multiply": _multiply,
    "relu": lambda layer, read, *_: read[0].mapped(partial(max, 0), partial(max, 0)),
    "clamp": _clamp,
    "leaky_relu": _leaky_relu,
    "sigmoid": _sigmoid,
    "tanh": _tanh,
    "gaussian": _gaussian,
    "inverse_root": _inverse_root,
    "max_pool2d": _max_pool2d,
    "avg_pool2d": _avg_pool2d,
    "flatten": lambda layer, read, *_: read[0],
    "upsample_nearest": _upsample_nearest,
}
"""What each of these layers gives: the layer, what it reads, the arithmetic, the bits of the grid."""
