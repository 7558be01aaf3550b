"""Convolutions and linear layers: sums of products, enclosed.

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

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from operator import add, sub

from ..arithmetic import Arithmetic, Matrix, Rows
from ..dyadic import ceil_at, ceil_shift, exact, floor_at
from ..read.formats import Tensor
from ..read.network_file import Layer
from .binary32 import require_no_overflow, roundings, share, underflow
from .functions import Ends, places

AT_ONCE = 2**20
"""The entries that are multiplied at once, at most, unless one entry of a layer is computed from more."""
_MORE_PLACES = 16
"""Weights have so many bits more than the grid, so what is cut off of them is little beside a unit of the grid."""
_COARSE = 28
"""Bits of the greatest bound of a weight's size, and of the greatest radius."""


class Sums:
    """A conv2d or linear layer on the grid of `bits` fractional bits, in real arithmetic or computed in binary32.

    Attributes:
        widened: how many times wider than what the layer read last what it gave was at most. Nothing rests on it.
    """

    def __init__(self, layer: Layer, arithmetic: Arithmetic, bits: int, binary32: bool) -> None:
        self._layer, self._arithmetic, self._bits, self.widened = layer, arithmetic, bits, Fraction(1)
        weight = layer.tensors["weight"]
        self._places, self._exact, rows = _integers(weight, bits + _MORE_PLACES, layer.terms)
        self._shift = max(0, max(max(max(row), -min(row)) for row in rows).bit_length() - _COARSE)
        each = weight.shape[0] // layer.settings.groups
        self._groups = [self._group(rows[start : start + each]) for start in range(0, len(rows), each)]
        bias = layer.tensors.get("bias")
        values = [0.0] * weight.shape[0] if bias is None else bias.floats()
        self._factors: list[tuple[int, Fraction]] | None = None
        if self._exact and not binary32 and _only_scales(layer):
            self._factors = [(entry, Fraction(value)) for (entry,), value in zip(rows, values, strict=True)]
        self._bias = [floor_at(Fraction(value), bits + self._places) for value in values]
        self._roundings = roundings(layer) if binary32 else 0
        sizes = layer.tensors["magnitude"].floats() if "magnitude" in layer.tensors else values
        self._sizes = [ceil_at(abs(Fraction(value)), bits) for value in sizes]
        most = max(map(abs, weight.floats()))
        self._greatest = Fraction(most), Fraction(max(map(abs, sizes)))

    def _group(self, rows: Rows) -> tuple[Matrix, Matrix]:
        """The W_i and the M_i of one group of channels, (O / G, n)."""
        more = 0 if self._exact else 1
        sizes = [[ceil_shift(abs(entry) + more, -self._shift) for entry in row] for row in rows]
        return self._arithmetic.matrix(rows), self._arithmetic.matrix(sizes)

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
        if self._roundings:
            radii, more = self._rounded(centres, radii)
        raised = max(0, max(radii).bit_length() - _COARSE)
        radii = [-(-radius >> raised) for radius in radii]
        coarse = self._places - self._shift - raised
        cut = 0 if self._exact else (layer.terms * max(map(abs, centres)) >> places) + 1
        if layer.kind != "linear" and math.prod(layer.settings.kernel) > 1:  # each stands in several windows
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

    def _rounded(self, centres: list[int], radii: list[int]) -> tuple[list[int], list[int]]:
        """Radii that hold what rounding adds too, and for each channel what it adds besides."""
        layer, count = self._layer, self._roundings
        weight, size = self._greatest
        sizes = list(map(add, map(abs, centres), radii))
        most = Fraction(max(sizes), 1 << self._bits)
        require_no_overflow(layer, weight, most, size)
        lost = underflow(layer, weight, most, self._bits)
        wider = [radius + share(size, count) for radius, size in zip(radii, sizes, strict=True)]
        return wider, [share(size, count) + lost for size in self._sizes]


def _integers(tensor: Tensor, most: int, width: int) -> tuple[int, bool, Rows]:
    """The entries at 2^-places, rounded down, row by row of `width`; as few places as they need, and at most `most`.

    Returns:
        The places, whether the integers are exact, and the rows.
    """
    stored = exact(tensor.floats(), width)
    cut = max(0, stored.bits - most)
    return stored.bits - cut, not cut, [[entry >> cut for entry in row] for row in stored.rows]


def _only_scales(layer: Layer) -> bool:
    """Whether each channel is computed from the entries of one channel, each in its place."""
    if layer.kind == "linear" or layer.terms != 1 or layer.shape[0] != layer.settings.groups:
        return False
    return layer.settings.stride == (1, 1) and layer.settings.padding == (0, 0)


def _windows(
    layer: Layer, group: int, centres: Sequence[int], radii: Sequence[int]
) -> Iterator[tuple[int, Rows, Rows]]:
    """Matrices whose columns are what one entry of a channel is computed from: the place of the first of these entries,
    the centres, and the radii. Outside of what is read there is 0."""
    if layer.kind == "linear":
        yield 0, [[centre] for centre in centres], [[radius] for radius in radii]
        return
    area, channels = math.prod(layer.read[0][1:]), layer.read[0][0] // layer.settings.groups
    own = range(group * channels * area, (group + 1) * channels * area, area)
    planes = [[[*values[start : start + area], 0] for start in own] for values in (centres, radii)]
    count, most = math.prod(layer.shape[1:]), max(1, AT_ONCE // layer.terms)
    for first in range(0, count, most):
        windows = list(places(layer, range(first, min(count, first + most))))
        middle, apart = ([list(map(plane.__getitem__, each)) for plane in of for each in windows] for of in planes)
        yield first, middle, apart
