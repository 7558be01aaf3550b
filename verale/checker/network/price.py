"""How much work a network is, counted from its shapes and its numbers before anything is computed
(certificates/network-v1.md, "Limits"). A step is 25 ns at most, as everywhere. Nothing is proved about the counts; they
can only refuse.

Integers take as long as they are: to add two or to convert one takes steps in proportion to their bits, to multiply or
to divide two in proportion to both. An entry has as many bits behind the binary point as the grid, and before it as
many as follow, layer by layer, from the sizes of weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import frexp, isfinite, prod

from ..read.layers import PICTURE, TENSORS, Layer, Network

__all__ = ["AT_ONCE", "MORE_PLACES", "Sizes", "bits_before", "price"]

AT_ONCE = 2**20
"""The entries that are multiplied at once, at most, unless one entry of a layer is computed from more."""
MORE_PLACES = 16
"""Weights have so many bits more than the grid, so what is cut off of them is little beside a unit of the grid."""
_LAYER, _WEIGHTED, _GROUP, _CHANNEL, _WINDOW, _ENTRY, _READ, _WEIGHT = 200, 2000, 400, 300, 16, 40, 10, 30
"""Steps of a layer, of one with weights besides, of each of its groups and of each channel that it gives; to put an
entry into a matrix that is multiplied, to give an entry, to read one for a pooling, to convert a weight of F32."""
_PRODUCT = {"arb": 1, "mpmath": 8}
"""Half steps of a product."""
_SERIES = {"arb": 450, "mpmath": 8000}
"""Steps of the ends of a sigmoid or a tanh."""
_BITS, _DIVIDED = 256, 5000
"""A number of so many bits takes twice as long. A number of n bits is divided by one of m in n m / _DIVIDED steps."""
_LONG = {"arb": 90_000, "mpmath": 25_000}
"""A product of a number of n bits with one of m takes n m / _LONG times as long, and longer."""
_LONG_SERIES = {"arb": 1024, "mpmath": 330}
"""A sigmoid of n bits takes (n / _LONG_SERIES)^2 times as long, and longer."""
_MEMORY = 512
"""A number of so many bits takes the memory of two."""
_MANTISSA, _GREATEST = 53, 1024


@dataclass(frozen=True)
class Sizes:
    """The sizes of a layer's numbers.

    Attributes:
        weight: the most bits of a weight as an integer, at as few places behind the point as all weights need.
        greatest: the size of each weight is less than 2^greatest.
        row: what an entry is multiplied by, at most: for any channel the sum of the weights' sizes is about 2^row.
        mean: the same of the mean of all channels.
        bias: the size of each bias is less than 2^bias.
    """

    weight: int
    greatest: int
    row: int
    mean: int
    bias: int

    @classmethod
    def of(cls, layer: Layer) -> Sizes:
        """Those of a layer with weights."""
        sizes, width = list(map(abs, layer.tensors["weight"].floats())), layer.terms
        greatest, least = frexp(max(sizes))[1], frexp(min(filter(None, sizes), default=1.0))[1]
        sums = [sum(sizes[start : start + width]) for start in range(0, len(sizes), width)]
        mean = _exponent(sum(sums) / len(sums), width)
        bias = frexp(max(map(abs, layer.tensors["bias"].floats())))[1] if "bias" in layer.tensors else 0
        return cls(max(greatest - least + _MANTISSA, greatest), greatest, _exponent(max(sums), width), mean, bias)

    def bits(self, places: int) -> int:
        """The most bits of a weight as an integer, at so many places at most."""
        return max(1, min(self.weight, self.greatest + places))


def _exponent(total: float, terms: int) -> int:
    """The exponent of a sum of so many numbers, which may be too large for a float."""
    return frexp(total)[1] if isfinite(total) else _GREATEST + terms.bit_length()


def price(network: Network, kernel: str, bits: int, sizes: Mapping[str, Sizes]) -> tuple[int, int]:
    """About how many steps a picture takes, and how many numbers of few bits are kept at once.

    Args:
        kernel: its name.
        bits: of the grid.
        sizes: of each layer with weights.
    """
    last = {name: number for number, layer in enumerate(network.layers) for name in layer.inputs}
    before = bits_before(network, sizes)
    kept = {PICTURE: _memory(prod(network.shape), bits + before[PICTURE])}
    steps = most = 0
    for number, layer in enumerate(network.layers):
        length = bits + max(before[name] for name in (*layer.inputs, layer.name))
        weight = sizes[layer.name].bits(bits + MORE_PLACES) if layer.name in sizes else 0
        steps += _steps(layer, kernel, bits, length, weight)
        kept[layer.name] = _memory(layer.entries, bits + before[layer.name])
        most = max(most, 2 * sum(kept.values()) + _numbers(layer, length, weight))
        for name in layer.inputs:
            if last[name] == number:
                kept.pop(name, None)
    return steps, most


def bits_before(network: Network, sizes: Mapping[str, Sizes]) -> dict[str, int]:
    """For the picture and each layer the bits of what it gives before the binary point, at most, for any picture."""
    greatest = max((abs(mean) + 1) / std for mean, std in zip(network.mean, network.std, strict=True))
    before = {PICTURE: max(0, greatest.numerator.bit_length() - greatest.denominator.bit_length() + 1)}
    for layer in network.layers:
        before[layer.name] = _before(layer, before, sizes)
    return before


def _before(layer: Layer, before: Mapping[str, int], sizes: Mapping[str, Sizes]) -> int:
    """The bits of what a layer gives before the binary point."""
    most = max(before[name] for name in layer.inputs)
    if layer.kind in ("sigmoid", "tanh"):
        return 1
    if layer.kind in TENSORS:
        most = max(most + sizes[layer.name].row, sizes[layer.name].bias) + 1
    elif layer.kind == "add":
        most += (len(layer.inputs) - 1).bit_length()
    return max(0, most)


def _steps(layer: Layer, kernel: str, bits: int, length: int, weight: int) -> int:
    """Those of a layer.

    Args:
        length: bits of what it reads and gives.
        weight: bits of its weights.
    """
    steps = _LAYER + _longer(_ENTRY * layer.entries, length)
    if layer.kind in TENSORS:
        products = _PRODUCT[kernel] * layer.products // 2
        steps += _WEIGHTED + _GROUP * layer.settings.groups + _CHANNEL * layer.shape[0]
        steps += _longer(products, length + weight) + products * length * weight // _LONG[kernel]
        converted = _WEIGHT * _weights(layer) * (3 if layer.tensors["weight"].dtype == "F64" else 1)
        return steps + _longer(_WINDOW * _windows(layer), length) + _longer(converted, weight)
    if layer.kind in ("sigmoid", "tanh"):
        series = _SERIES[kernel] * layer.entries
        return steps + _longer(series, bits) + series * bits**2 // _LONG_SERIES[kernel] ** 2
    if layer.kind == "leaky_relu":
        steps += layer.entries * length * layer.settings.slope.denominator.bit_length() // _DIVIDED
    return steps + _longer(_READ * layer.products * len(layer.inputs), length)


def _longer(steps: int, bits: int) -> int:
    """Steps on numbers of so many bits."""
    return steps * (_BITS + bits) // _BITS


def _memory(numbers: int, bits: int) -> int:
    """As how many numbers of few bits numbers of so many count."""
    return numbers * (_MEMORY + bits) // _MEMORY


def _numbers(layer: Layer, length: int, weight: int) -> int:
    """Those that are kept while a layer is computed, besides what it reads and gives."""
    if layer.kind not in TENSORS:
        return _memory(layer.products, 0)
    at_once = max(layer.terms, min(AT_ONCE, _windows(layer) // layer.settings.groups))
    read = 2 * sum(map(prod, layer.read)) + 3 * at_once
    return _memory(read, length) + _memory(3 * _weights(layer), weight)


def _windows(layer: Layer) -> int:
    """The entries of all matrices that are multiplied."""
    return layer.products // layer.shape[0] * layer.settings.groups


def _weights(layer: Layer) -> int:
    return prod(layer.tensors["weight"].shape)
