"""Networks and pictures as text, for the proved checker: the grammar is that of `proofs/rocq/front/network_reader.ml`,
whose items are those of `text`.

Weight and bias of a layer have one unit, the least power of two for which all are integers. A bias that is absent is 0.
What a layer reads are numbers: 0 is the picture, 1 the first layer.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import prod

from ..errors import UnprovedError
from ..read.layers import PICTURE, Layer, Network, Pair
from ..read.pictures import Picture

__all__ = ["network_text", "picture_text"]

_MOST_VALUES = 2**22
"""Of a picture. The program keeps lists of them, of 48 bytes each."""


def network_text(network: Network) -> bytes:
    """The text of a network."""
    items = ["network", *map(_hex, network.shape)]
    for numbers in (network.mean, network.std):
        items += [_hex(len(numbers)), *(item for number in numbers for item in _fraction(number))]
    items.append(_hex(len(network.layers)))
    at = {PICTURE: 0} | {layer.name: number for number, layer in enumerate(network.layers, 1)}
    for layer in network.layers:
        items += [_hex(len(layer.inputs)), *(_hex(at[name]) for name in layer.inputs), layer.kind, *_fields(layer)]
    return _line(items)


def picture_text(picture: Picture) -> bytes:
    """The text of a picture. Raises UnprovedError for one that takes more memory than a proof may."""
    if len(picture.values) > _MOST_VALUES:
        raise UnprovedError(
            "limit",
            f"the proved checker takes pictures of at most {_MOST_VALUES} numbers, and this one has"
            f" {len(picture.values)}; audit it with another kernel, such as arb",
        )
    return _line(["picture", picture.values.hex()])


def _fields(layer: Layer) -> list[str]:
    """What follows the kind of a layer."""
    settings = layer.settings
    match layer.kind:
        case "conv2d":
            windows = (settings.kernel, settings.stride, settings.padding, settings.dilation)
            return [*_pairs(*windows), _hex(settings.groups), *_weights(layer)]
        case "linear":
            return _weights(layer)
        case "leaky_relu":
            return _fraction(settings.slope)
        case "max_pool2d" | "avg_pool2d":
            return _pairs(settings.kernel, settings.stride, settings.padding, (1, 1))
        case "upsample_nearest":
            return _pairs(settings.scale)
    return []


def _weights(layer: Layer) -> list[str]:
    weight, bias = layer.tensors["weight"], layer.tensors.get("bias")
    rows, width = weight.shape[0], prod(weight.shape[1:])
    numbers = [value.as_integer_ratio() for value in weight.floats()]
    biases = [(0, 1)] * rows if bias is None else [value.as_integer_ratio() for value in bias.floats()]
    unit = max(denominator for _, denominator in (*numbers, *biases))  # all are powers of two
    scaled = [_hex(numerator * (unit // denominator)) for numerator, denominator in (*numbers, *biases)]
    items = [_hex(unit), _hex(rows)]
    for start in range(0, rows * width, width):
        items += [_hex(width), *scaled[start : start + width]]
    return [*items, _hex(rows), *scaled[rows * width :]]


def _pairs(*pairs: Pair) -> list[str]:
    return [_hex(number) for pair in pairs for number in pair]


def _fraction(value: Fraction) -> list[str]:
    return [_hex(value.numerator), _hex(value.denominator)]


def _hex(value: int) -> str:
    return f"{value:x}"


def _line(items: Iterable[str]) -> bytes:
    return (" ".join(items) + "\n").encode("ascii")
