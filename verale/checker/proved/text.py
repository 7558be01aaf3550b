"""Heads, certificates, images, networks and pictures as text, for the proved checker, which reads nothing else.

A text is one line of ASCII that ends with a line feed; one space stands between two items. Its fields are those of
the records of `proofs/rocq/theories/Semantics.v`, in their order.

    head        = "head" depth count classes geometry similarity pooling readout
                  unit matrix(count, depth; of softmax 0) option option    prototypes, lower, upper
                  unit matrix(classes, count; of a soft tree count + 1)    weight
                  list(classes; of "maximum" count)                        bias
                  unit list(count or 0) unit list(count or 0)              scales, peaks
    certificate = "certificate" predicted patches unit list(any, statement) unit list(classes)    margins
    prices      = "prices" list(any, rival unit list(count))
    image       = "image" list(any, floats)                                  the patches
    floats      = depth times 16 of [0-9a-f], a finite binary64 from its sign on, without a space between two
    geometry    = "euclidean" | "cosine" fraction | "rooted_cosine" fraction | "softmax"
                | "inner_product" ("none" | "some" fraction)
    similarity  = "log_ratio" fraction | "exp_distance" fraction | "threshold" fraction
                | "identity" | "negated" | "exponential" | "quadratic" | "rectified" | "steps" list(any, step)
    step        = "scale" | "add" fraction | "multiply" fraction | "negate" | "log_ratio" fraction fraction | "exp"
                | "root" | "square" | "threshold" fraction | "rectify" | "reciprocal" fraction | "from_peak"
    pooling     = "max" | "masked_max" list(count, list(any)) | "top_mean" natural
                | "max_minus_mean" | "max_minus_mean_distance"
    readout     = "linear" | "soft_tree" list(count) list(count) | "maximum"
    statement   = "patch" natural natural end end | "activation" natural end end | "others" list(any, natural) end end
    end         = "none" | integer                                           the lower one first
    list(n)     = n, then n integers, or n of what is named; matrix(n, m) = n, then n times list(m)
    option      = "none" | "some" integer
    fraction    = integer unit
    integer     = "0" | "-"? [1-9a-f] [0-9a-f]{0,1023}, in base 16; a unit is positive, a natural is not negative

The numbers after a unit, up to the next one, are multiples of its inverse, and stand there multiplied by it; it is the
least power of two for which this is so. There are no scales where all are 1, and no peaks where all are 0. Two banks
are a mask of two columns. A similarity that has no name here is given by its steps. The margin of the predicted class
is 0. Prices are those of the certificate's hints, 0 of a prototype that is not listed.

`proofs/rocq/front/network_reader.ml` has the grammar of networks and pictures. Weight and bias of a layer have one
unit; a bias that is absent is 0. What a layer reads are numbers: 0 is the picture, 1 the first layer.

`tests/support/independent_text.py` writes the same from the files' bytes, with readers of its own.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING

from ..certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
)
from ..dyadic import Exact, exact
from ..errors import UnprovedError
from ..head import Head
from ..read.latents import Image

if TYPE_CHECKING:
    from ..read.network_file import Layer, Network
    from ..read.pictures import Picture
    from ..read.similarities import Step

_MOST_VALUES = 2**22
"""Of a picture. The program keeps lists of them, of 48 bytes each."""
KNOWN = {
    "geometry": "euclidean cosine rooted_cosine inner_product softmax",
    "pooling": "max masked_max top_mean max_minus_mean max_minus_mean_distance",
    "readout": "linear soft_tree maximum",
}
"""The parts that the program knows, by the names that it reads."""
_NAMED = "log_ratio exp_distance threshold identity negated exponential quadratic rectified"
"""The similarities that it knows by name; it takes the steps of any other."""
UNKNOWN_LAYERS = ("gaussian",)
"""The kinds of layers that it does not know."""


def head_text(head: Head) -> bytes:
    """The text of a head."""
    coordinates = _common(head.prototypes.bits, head.lower, head.upper)
    similarity, readout = f"steps {_many(map(_step, head.similarity.chain.steps))}", head.readout
    if head.similarity.name in _NAMED.split():
        similarity = " ".join([head.similarity.name, *map(_fraction, head.similarity.values.values())])
    if readout == "soft_tree":
        readout = f"soft_tree {_list(head.absent)} {_list(head.present)}"
    return _line(
        *("head", _integers((head.depth, head.count, head.classes))),
        *(_geometry(head), similarity, _pooling(head), readout),
        *(_unit(coordinates), _matrix(head.prototypes, coordinates)),
        *("none" if end is None else f"some {_scaled(end, coordinates):x}" for end in (head.lower, head.upper)),
        _affine(head.weight, head.bias),
        *(_own(head.similarity.scale, 1), _own(head.similarity.peak, 0)),
    )


def certificate_text(certificate: Certificate) -> bytes:
    """The text of a certificate."""
    ends = (end for each in certificate.statements for end in (each.lower, each.upper))
    bits, places = _common(0, *ends), _common(0, *certificate.margins)
    return _line(
        *("certificate", _integers((certificate.predicted, certificate.patches))),
        *(_unit(bits), _many(_statement(each, bits) for each in certificate.statements)),
        *(_unit(places), _list([0 if each is None else _scaled(each, places) for each in certificate.margins])),
    )


def addition_text(certificate: Certificate) -> bytes:
    """What the paradigm adds to the reference margin, for minimality; without a line feed."""
    return {"assignment": b"prices", "joint": b"joint"}.get(certificate.paradigm, b"nothing")


def prices_text(certificate: Certificate, count: int) -> bytes:
    """The text of the prices that a certificate hints at, for a head of `count` prototypes."""
    rivals = []
    for rival, prices in sorted(certificate.prices.items()):
        bits = _common(0, *prices.values())
        listed = _list([_scaled(prices[k], bits) if k in prices else 0 for k in range(count)])
        rivals.append(f"{rival:x} {_unit(bits)} {listed}")
    return _line("prices", _many(rivals))


def image_text(image: Image) -> bytes:
    """The text of an image's latents."""
    values = array("d", image.values)
    if sys.byteorder == "little":
        values.byteswap()
    text, width = values.tobytes().hex(), 16 * image.depth
    return _line("image", f"{image.patches:x}", *(text[at : at + width] for at in range(0, len(text), width)))


def network_text(network: Network) -> bytes:
    """The text of a network."""
    from ..read.network_file import PICTURE

    at = {PICTURE: 0} | {layer.name: number for number, layer in enumerate(network.layers, 1)}
    return _line(
        *("network", _integers(network.shape)),
        *(_many(map(_fraction, numbers)) for numbers in (network.mean, network.std)),
        _many(f"{_list(at[name] for name in layer.inputs)} {_layer(layer)}" for layer in network.layers),
    )


def picture_text(picture: Picture) -> bytes:
    """The text of a picture. Raises UnprovedError for one that takes more memory than a proof may."""
    if len(picture.values) > _MOST_VALUES:
        raise UnprovedError(
            "limit",
            f"the proved checker takes pictures of at most {_MOST_VALUES} numbers, and this one has"
            f" {len(picture.values)}; audit it with another kernel, such as arb",
        )
    return _line("picture", picture.values.hex())


def _geometry(head: Head) -> str:
    match head.geometry:
        case "cosine" | "rooted_cosine":
            return f"{head.geometry} {_fraction(head.epsilon)}"
        case "inner_product":
            return f"inner_product {'none' if head.radius is None else 'some ' + _fraction(head.radius)}"
        case _:
            return head.geometry


def _step(step: Step) -> str:
    return " ".join([step.kind, *(_fraction(step.numbers[name]) for name in step.of.fields)])


def _pooling(head: Head) -> str:
    match head.pooling:
        case "masked_max":
            rows = (_list([int(column in seen) for column in range(head.columns)]) for seen in map(set, head.mask))
            return f"masked_max {_many(rows)}"
        case "top_mean":
            return f"top_mean {head.k:x}"
        case _:
            return head.pooling


def _layer(layer: Layer) -> str:
    """Its kind, and what follows that."""
    settings = layer.settings
    windows = (*settings.kernel, *settings.stride, *settings.padding, *settings.dilation)
    match layer.kind:
        case "conv2d":
            return f"conv2d {_integers((*windows, settings.groups))} {_weights(layer)}"
        case "linear":
            return f"linear {_weights(layer)}"
        case "leaky_relu":
            return f"leaky_relu {_fraction(settings.slope)}"
        case "clamp":
            return f"clamp {_fraction(settings.lower)} {_fraction(settings.upper)}"
        case "max_pool2d" | "avg_pool2d":
            return f"{layer.kind} {_integers(windows)}"
        case "upsample_nearest":
            return f"upsample_nearest {_integers(settings.scale)}"
    return layer.kind


def _weights(layer: Layer) -> str:
    weight, bias = layer.tensors["weight"], layer.tensors.get("bias")
    rows = weight.shape[0]
    return _affine(
        exact(weight.floats(), prod(weight.shape[1:])),
        Exact([[0] * rows], 0) if bias is None else exact(bias.floats(), rows),
    )


def _affine(weight: Exact, bias: Exact) -> str:
    """A matrix, and the numbers that are added to its products, with one unit."""
    bits = max(weight.bits, bias.bits)
    return f"{_unit(bits)} {_matrix(weight, bits)} {_list(_raised(bias, bits)[0])}"


def _statement(statement: Statement, bits: int) -> str:
    ends = " ".join("none" if end is None else f"{_scaled(end, bits):x}" for end in (statement.lower, statement.upper))
    match statement:
        case SumStatement():
            rivals = "none" if statement.rivals is None else f"some {_list(statement.rivals)}"
            return f"sum {rivals} {_scaled(statement.upper, bits):x}"
        case PatchStatement():
            return f"patch {statement.patch:x} {statement.prototype:x} {ends}"
        case ActivationStatement():
            return f"activation {statement.prototype:x} {ends}"
        case OrderStatement() | FloorStatement():
            return f"others {_list(statement.exempt)} {ends}"


def _own(values: Exact, default: int) -> str:
    """The unit and the list of one number a prototype; an empty list where all of them have the default."""
    if all(value == default << values.bits for value in values.rows[0]):
        return f"{_unit(0)} {_list(())}"
    return f"{_unit(values.bits)} {_list(values.rows[0])}"


def _common(bits: int, *values: Fraction | None) -> int:
    """The least number of fractional bits, not below `bits`, that holds dyadic numbers."""
    return max(bits, *(value.denominator.bit_length() - 1 for value in values if value is not None), 0)


def _scaled(value: Fraction, bits: int) -> int:
    """value 2^bits, of a number that has no more fractional bits."""
    return value.numerator << bits + 1 - value.denominator.bit_length()


def _raised(values: Exact, bits: int) -> list[list[int]]:
    """The rows at more fractional bits."""
    places = bits - values.bits
    return [[value << places for value in row] for row in values.rows] if places else values.rows


def _matrix(values: Exact, bits: int) -> str:
    return _many(map(_list, _raised(values, bits)))


def _many(items: Iterable[str]) -> str:
    """How many there are, and these."""
    items = tuple(items)
    return " ".join([f"{len(items):x}", *items])


def _list(values: Iterable[int]) -> str:
    values = tuple(values)
    return _integers((len(values), *values))


def _fraction(value: Fraction) -> str:
    return f"{value.numerator:x} {value.denominator:x}"


def _unit(bits: int) -> str:
    return f"{1 << bits:x}"


def _integers(values: Iterable[int]) -> str:
    """Formatted all at once: a head has up to a million of them."""
    values = tuple(values)
    return " ".join(["%x"] * len(values)) % values


def _line(*items: str) -> bytes:
    return (" ".join(items) + "\n").encode("ascii")
