"""The latents that a network gives for a picture, enclosed (certificates/network-v1.md).

Layer by layer, each entry lies between two ends on a grid of 2^-bits; `sums` and `functions` say why. The picture's
entries are rational, and their ends at most one unit apart.

Computed in binary32, each layer gives what it gives in real arithmetic for what it reads as computed, but for its own
roundings (`binary32`).

The grid is chosen for a network. A layer multiplies widths by about the sum of its weights' sizes, so it has so many
bits more than the latents are to have. What products of outputs and inverse roots multiply widths by depends on the
picture: where the latents come out wide, they are enclosed once more, with the bits that were lost. Any choice is
sound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import frexp, isfinite, prod

from ..arithmetic import Arithmetic
from ..dyadic import Exact, ceil_at, floor_at
from ..errors import UnprovedError
from ..read.network_file import PICTURE, TENSORS, Layer, Network
from ..read.pictures import Picture
from .binary32 import MOST_BITS, normalised, rounded
from .functions import FUNCTIONS, Ends
from .sums import AT_ONCE, Sums

_BITS = 56
"""The latents' ends are some 2^-_BITS apart."""
_ENOUGH = 44
"""Where they are more than 2^-_ENOUGH apart, they are enclosed once more."""
_MOST_KEPT = 2**21
"""Weights of a layer that are kept as integers from picture to picture."""
_MOST_BITS = 4096
"""Of the grid: with more, a single product may take minutes."""
_GREATEST_EXPONENT = 1024


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
        clock, kept = self._arithmetic.clock, 2 * prod(picture.shape)
        self.widest = "", Fraction(1)
        known = {PICTURE: self._picture(picture)}
        for number, layer in enumerate(self._network.layers):
            clock.look()
            kept += 2 * layer.entries
            clock.keep(kept + _at_once(layer))
            known[layer.name] = self._given(layer, [known[name] for name in layer.inputs])
            for name in layer.inputs:
                if self._last[name] == number and name in known:
                    kept -= 2 * len(known.pop(name).lower)
        return self._patches(known[self._network.layers[-1].name])

    def _table(self, mean: Fraction, std: Fraction) -> list[tuple[int, int]]:
        """The ends of each normalised byte of a channel."""
        if self._binary32:
            return [normalised(v, mean, std, self.bits) for v in range(256)]
        exact = [(Fraction(v, 255) - mean) / std for v in range(256)]
        return [(floor_at(x, self.bits), ceil_at(x, self.bits)) for x in exact]

    def _picture(self, picture: Picture) -> Ends:
        size = prod(picture.shape[1:])
        if not self._normalised:
            self._normalised = list(map(self._table, self._network.mean, self._network.std))
        channels = (picture.values[start : start + size] for start in range(0, len(picture.values), size))
        ends = [table[value] for table, values in zip(self._normalised, channels, strict=True) for value in values]
        return Ends([low for low, _ in ends], [high for _, high in ends])

    def _given(self, layer: Layer, read: list[Ends]) -> Ends:
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

    def _patches(self, output: Ends) -> EnclosedLatents:
        """The entries in the order (l, d)."""
        count = self._network.patches
        lower, upper = ([ends[patch::count] for patch in range(count)] for ends in (output.lower, output.upper))
        return EnclosedLatents(lower, upper, self.bits)


def _at_once(layer: Layer) -> int:
    """How many numbers are kept while a layer is computed, besides what it reads and gives."""
    if layer.kind not in TENSORS:
        return layer.products
    return 3 * (prod(layer.tensors["weight"].shape) + max(layer.terms, min(AT_ONCE, layer.products)))


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
