"""The latents that a network gives for a picture, enclosed (certificates/network-v1.md).

Layer by layer, each entry lies between two ends on a grid of 2^-bits; below, and in `functions`, stands why. The
picture's entries are rational, and their ends at most one unit apart.

Computed in binary32, each layer gives what it gives in real arithmetic for what it reads as computed, but for its own
roundings (`binary32`).

The grid is chosen for a network. A layer multiplies widths by about the sum of its weights' sizes, so it has so many
bits more than the latents are to have. What products of outputs and inverse roots multiply widths by depends on the
picture: where the latents come out wide, they are enclosed once more, with the bits that were lost. Any choice is
sound.

**Convolutions and linear layers** are sums of products.

**Lemma.** Let x_i lie within r_i of c_i, w_i within e of W_i, and b within 1 above B, i = 1..n, where |w_i| <= M_i and
|c_i| <= most. Then sum w_i x_i + b is within sum M_i r_i + n e most + 1 of sum W_i c_i + B. *Proof.* The difference is
sum w_i (x_i - c_i) + sum (w_i - W_i) c_i + (b - B).

All are integers: weights W_i at 2^-places, where e is one unit, or 0 if all are exact; M_i at 2^-coarse, rounded up; B
at the product of both units, rounded down; c_i, r_i and what comes out on the grid. B and the floor of the sum each
raise the upper end by less than one unit of the grid.

Radii are rounded up to so few bits that their products are fast. A layer that only multiplies each channel by a weight
that is exact, and adds a bias, needs no matrix: w x + b rises with x or falls with it, so its ends are those of x.

Computed in binary32, a sum is off besides by at most gamma (sum M_i (|c_i| + r_i) + size) and what underflow loses
(`binary32`). So r_i gets gamma (|c_i| + r_i) more, of which the second matrix makes the first part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import frexp, isfinite, prod
from operator import add, sub

from ..arithmetic import Arithmetic, Rows
from ..dyadic import Exact, ceil_at, ceil_shift, exact, floor_at
from ..errors import UnprovedError
from ..read.network_file import PICTURE, TENSORS, Layer, Network
from ..read.pictures import Picture
from .binary32 import MOST_BITS, normalised, require_no_overflow, rounded, roundings, share, underflow
from .functions import FUNCTIONS, Ends, places

_BITS = 56
"""The latents' ends are some 2^-_BITS apart."""
_ENOUGH = 44
"""Where they are more than 2^-_ENOUGH apart, they are enclosed once more."""
_MOST_KEPT = 2**21
"""Weights of a layer that are kept as integers from picture to picture."""
_MOST_BITS = 4096
"""Of the grid: with more, a single product may take minutes."""
_GREATEST_EXPONENT = 1024
_AT_ONCE = 2**20
"""The entries that are multiplied at once, at most, unless one entry of a layer is computed from more."""
_MORE_PLACES = 16
"""Weights have so many bits more than the grid, so what is cut off of them is little beside a unit of the grid."""
_COARSE = 28
"""Bits of the greatest bound of a weight's size, and of the greatest radius."""


@dataclass(frozen=True)
class EnclosedLatents:
    """Latents (L, D), of which entry (l, d) lies in [lower[l][d], upper[l][d]] 2^-bits."""

    lower: list[list[int]]
    upper: list[list[int]]
    bits: int

    @classmethod
    def exactly(cls, latents: Exact) -> EnclosedLatents:
        """These latents alone."""
        return cls(latents.rows, latents.rows, latents.bits)

    @property
    def width(self) -> int:
        """The greatest distance of two ends, in units of the grid."""
        rows = zip(self.lower, self.upper, strict=True)
        return max(high - low for ends in rows for low, high in zip(*ends, strict=True))

    @property
    def known(self) -> bool:
        """Whether they are read, not enclosed."""
        return self.lower is self.upper


class Enclosure:
    """One network.

    Args:
        computed: in `real` arithmetic, or in `float32`.

    Attributes:
        bits: fractional bits of the grid.
        widest: the layer of sums that widened intervals most, and how many times; of the last picture.
    """

    def __init__(self, network: Network, arithmetic: Arithmetic, computed: str = "real") -> None:
        self._network, self._arithmetic, self._binary32 = network, arithmetic, computed == "float32"
        self._found: tuple[Picture, EnclosedLatents] | None = None
        self.bits = _BITS + _growth(network)
        if self._binary32:
            self.bits = min(self.bits, MOST_BITS)
        self.widest = "", Fraction(1)
        self._kept: dict[str, Sums] = {}
        self._last = {name: number for number, layer in enumerate(network.layers) for name in layer.inputs}
        self._normalised: list[list[tuple[int, int]]] = []

    def latents(self, picture: Picture) -> EnclosedLatents:
        """The latents that the network gives.

        Args:
            picture: one of the network's shape. What the last one gives is kept.

        Raises:
            UnprovedError: it takes more than the arithmetic's clock allows, or weights are too large; or computed in
                binary32, it may give other latents than those that can be bounded.
        """
        if self._found is None or self._found[0] != picture:
            found = self._latents(picture)
            lost = found.width.bit_length() - (self.bits - _ENOUGH)
            more = self.bits + lost + _BITS - _ENOUGH
            if lost > 0 and not self._binary32 and more <= _MOST_BITS:
                self.bits = more
                self._kept, self._normalised = {}, []
                found = self._latents(picture)
            self._found = picture, found
        return self._found[1]

    def _latents(self, picture: Picture) -> EnclosedLatents:
        if self.bits > _MOST_BITS:
            raise UnprovedError(
                "limit",
                f"the network's weights are so large that its latents need {self.bits} bits, expected at most"
                f" {_MOST_BITS}",
            )
        clock, kept, size = self._arithmetic.clock, 2 * prod(picture.shape), prod(picture.shape[1:])
        self.widest = "", Fraction(1)
        if not self._normalised:
            self._normalised = list(map(self._table, self._network.mean, self._network.std))
        channels = (picture.values[start : start + size] for start in range(0, len(picture.values), size))
        ends = [table[value] for table, values in zip(self._normalised, channels, strict=True) for value in values]
        known = {PICTURE: Ends([low for low, _ in ends], [high for _, high in ends])}
        for number, layer in enumerate(self._network.layers):
            clock.look()
            kept += 2 * layer.entries
            at_once = layer.products
            if layer.kind in TENSORS:
                at_once = 3 * (prod(layer.tensors["weight"].shape) + max(layer.terms, min(_AT_ONCE, layer.products)))
            clock.keep(kept + at_once)
            known[layer.name] = self._given(layer, [known[name] for name in layer.inputs])
            for name in layer.inputs:
                if self._last[name] == number and name in known:
                    kept -= 2 * len(known.pop(name).lower)
        output, count = known[self._network.layers[-1].name], self._network.patches  # in the order (c, y, x)
        lower, upper = ([side[patch::count] for patch in range(count)] for side in (output.lower, output.upper))
        return EnclosedLatents(lower, upper, self.bits)

    def _table(self, mean: Fraction, std: Fraction) -> list[tuple[int, int]]:
        """The ends of each normalised byte of a channel."""
        if self._binary32:
            return [normalised(v, mean, std, self.bits) for v in range(256)]
        exact = [(Fraction(v, 255) - mean) / std for v in range(256)]
        return [(floor_at(x, self.bits), ceil_at(x, self.bits)) for x in exact]

    def _given(self, layer: Layer, read: list[Ends]) -> Ends:
        """What a layer gives for what it reads."""
        if layer.kind not in TENSORS:
            given = FUNCTIONS[layer.kind](layer, read, self._arithmetic, self.bits)
            return rounded(layer, read, given, self._arithmetic, self.bits) if self._binary32 else given
        sums = self._kept.get(layer.name) or Sums(layer, self._arithmetic, self.bits, self._binary32)
        if prod(layer.tensors["weight"].shape) <= _MOST_KEPT:
            self._kept[layer.name] = sums
        given = sums.of(read[0])
        if sums.widened > self.widest[1]:
            self.widest = layer.name, sums.widened
        return given


def _growth(network: Network) -> int:
    """About how many bits of the grid are lost on the way to the latents, if each layer multiplies widths by the mean
    of the sums of its weights' sizes, and where a function is constant half of them are lost with the entries."""
    lost = {PICTURE: 0}
    for layer in network.layers:
        most = max(lost[name] for name in layer.inputs)
        if layer.kind in TENSORS:
            total = sum(map(abs, layer.tensors["weight"].floats())) * layer.terms / prod(layer.tensors["weight"].shape)
            most += max(0, frexp(total)[1] if isfinite(total) else _GREATEST_EXPONENT)
        elif layer.kind == "add":
            most += (len(layer.inputs) - 1).bit_length()
        elif layer.kind in ("relu", "clamp"):
            most = max(0, most - 1)
        lost[layer.name] = most
    return lost[network.layers[-1].name]


class Sums:
    """A conv2d or linear layer on the grid of `bits` fractional bits, in real arithmetic or computed in binary32.

    Attributes:
        widened: how many times wider than what the layer read last what it gave was at most. Nothing rests on it.
    """

    def __init__(self, layer: Layer, arithmetic: Arithmetic, bits: int, binary32: bool) -> None:
        self._layer, self._arithmetic, self._bits, self.widened = layer, arithmetic, bits, Fraction(1)
        weight = layer.tensors["weight"]
        # As few places as the entries need, and at most so many: then they are rounded down.
        stored = exact(weight.floats(), layer.terms)
        cut = max(0, stored.bits - bits - _MORE_PLACES)
        self._places, self._exact = stored.bits - cut, not cut
        rows = [[entry >> cut for entry in row] for row in stored.rows]
        self._shift = max(0, max(max(max(row), -min(row)) for row in rows).bit_length() - _COARSE)
        each, more = weight.shape[0] // layer.settings.groups, 0 if self._exact else 1
        sizes = [[ceil_shift(abs(entry) + more, -self._shift) for entry in row] for row in rows]
        starts, matrix = range(0, len(rows), each), arithmetic.matrix
        self._groups = [(matrix(rows[at : at + each]), matrix(sizes[at : at + each])) for at in starts]
        bias = layer.tensors.get("bias")
        values = [0.0] * weight.shape[0] if bias is None else bias.floats()
        self._factors: list[tuple[int, Fraction]] | None = None
        settings, one = layer.settings, layer.kind != "linear" and layer.terms == 1
        scales = one and layer.shape[0] == settings.groups and settings.stride == (1, 1) and settings.padding == (0, 0)
        if self._exact and not binary32 and scales:  # each channel, from one channel, each entry in its place
            self._factors = [(entry, Fraction(value)) for (entry,), value in zip(rows, values, strict=True)]
        self._bias = [floor_at(Fraction(value), bits + self._places) for value in values]
        self._roundings = roundings(layer) if binary32 else 0
        magnitudes = layer.tensors["magnitude"].floats() if "magnitude" in layer.tensors else values
        self._sizes = [ceil_at(abs(Fraction(value)), bits) for value in magnitudes]
        self._greatest = Fraction(max(map(abs, weight.floats()))), Fraction(max(map(abs, magnitudes)))

    def of(self, read: Ends) -> Ends:
        """What the layer gives for what it reads.

        Raises:
            UnprovedError: computed in binary32 it may overflow.
        """
        if self._factors is not None:
            return self._scaled(read, self._factors)
        layer, places = self._layer, self._places
        centres, radii = read.centred()
        apart_before, apart_behind = max(1, *radii), 0
        more = [0] * layer.shape[0]
        if (
            count := self._roundings
        ):  # radii that hold what rounding adds too, and for each channel what it adds besides
            both = list(map(add, map(abs, centres), radii))
            weight, size = self._greatest
            most = Fraction(max(both), 1 << self._bits)
            require_no_overflow(layer, weight, most, size)
            lost = underflow(layer, weight, most, self._bits)
            radii = [radius + share(size, count) for radius, size in zip(radii, both, strict=True)]
            more = [share(size, count) + lost for size in self._sizes]
        raised = max(0, max(radii).bit_length() - _COARSE)
        radii = [-(-radius >> raised) for radius in radii]
        coarse = self._places - self._shift - raised
        cut = 0 if self._exact else (layer.terms * max(map(abs, centres)) >> places) + 1
        if layer.kind != "linear" and prod(layer.settings.kernel) > 1:  # each stands in several windows
            centres = list(map(self._arithmetic.number, centres))
        lower, upper = [0] * layer.entries, [0] * layer.entries
        area = layer.entries // layer.shape[0]
        for number, (weights, sizes) in enumerate(self._groups):
            first = number * layer.shape[0] // len(self._groups)
            for at, middle, apart in _windows(layer, number, centres, radii):
                sums = self._arithmetic.product(weights, middle)
                spread = self._arithmetic.product(sizes, apart)
                for o, (row, reach) in enumerate(zip(sums, spread, strict=True), first):
                    own = slice(o * area + at, o * area + at + len(row))
                    bias = self._bias[o]
                    values = [value + bias >> places for value in row]
                    off = [ceil_shift(value, -coarse) + cut + more[o] for value in reach]
                    apart_behind = max(apart_behind, *off)
                    lower[own] = map(sub, values, off)
                    upper[own] = [value + each + 2 for value, each in zip(values, off, strict=True)]
        self.widened = Fraction(apart_behind, apart_before)
        return Ends(lower, upper)

    def _scaled(self, read: Ends, factors: list[tuple[int, Fraction]]) -> Ends:
        """What the layer gives where it has one exact weight for each channel, at 2^-places."""
        area, places = self._layer.entries // len(factors), self._places
        lower: list[int] = []
        upper: list[int] = []
        for channel, (weight, bias) in enumerate(factors):
            own = slice(channel * area, (channel + 1) * area)
            least, most = (read.lower[own], read.upper[own])[:: 1 if weight >= 0 else -1]
            low, high = floor_at(bias, self._bits + places), ceil_at(bias, self._bits + places)
            lower += [weight * end + low >> places for end in least]
            upper += [-(-(weight * end + high) >> places) for end in most]
        return Ends(lower, upper)


def _windows(
    layer: Layer, group: int, centres: Sequence[int], radii: Sequence[int]
) -> Iterator[tuple[int, Rows, Rows]]:
    """Matrices whose columns are what one entry of a channel is computed from: the place of the first of these entries,
    the centres, and the radii. Outside of what is read there is 0."""
    if layer.kind == "linear":
        yield 0, [[centre] for centre in centres], [[radius] for radius in radii]
        return
    area, channels = prod(layer.read[0][1:]), layer.read[0][0] // layer.settings.groups
    own = range(group * channels * area, (group + 1) * channels * area, area)
    planes = [[[*values[start : start + area], 0] for start in own] for values in (centres, radii)]
    count, most = prod(layer.shape[1:]), max(1, _AT_ONCE // layer.terms)
    for first in range(0, count, most):
        windows = list(places(layer, range(first, min(count, first + most))))
        middle, apart = ([list(map(plane.__getitem__, each)) for plane in of for each in windows] for of in planes)
        yield first, middle, apart
