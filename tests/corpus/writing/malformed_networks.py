"""Network files in which exactly one rule of certificates/network-v1.md is broken."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from support.networks import layer, network_file, small_network

from verale.soundness.corpus.editing import joined, split
from verale.soundness.independent import files

__all__ = ["malformed_networks"]

Change = Callable[[dict[str, Any]], object]
_STEM, _BLOCK, _SUM, _POOL = 0, 2, 3, 4
_LAST = 6


def _set(path: str, value: Any) -> Change:
    """Replaces what is at a path of the description; `...` removes it."""
    *parents, last = [int(step) if step.isdigit() else step for step in path.split("/")]

    def change(description: dict[str, Any]) -> None:
        parent: Any = description
        for step in parents:
            parent = parent[step]
        if value is ...:
            del parent[last]
        else:
            parent[last] = value

    return change


DESCRIPTIONS: list[tuple[str, str, Change]] = [
    *((f"lacks-{name}", f"Without {name}.", _set(name, ...)) for name in ("version", "input", "layers")),
    ("more", "A field more.", _set("labels", None)),
    ("version-two", "Another version.", _set("version", 2)),
    ("version-true", "A version that is a truth value.", _set("version", True)),
    ("layers-none", "No layer.", _set("layers", [])),
    ("layers-an-object", "Layers that are no list.", _set("layers", {})),
    ("input-a-list", "An input that is no object.", _set("input", [])),
    ("input-more", "A field more of the input.", _set("input/scale", [])),
    ("input-two-channels", "A picture of two channels.", _set("input/shape", [2, 4, 4])),
    ("input-no-row", "A picture without rows.", _set("input/shape", [1, 0, 4])),
    ("input-two-sizes", "A picture without channels.", _set("input/shape", [4, 4])),
    ("input-huge", "A picture of 2^25 entries.", _set("input/shape", [1, 2**12, 2**13])),
    ("mean-long", "Two means of one channel.", _set("input/mean", ["0x0p+0", "0x0p+0"])),
    ("mean-a-number", "A mean that is no hex float.", _set("input/mean", [0])),
    ("mean-decimal", "A mean that is a decimal number.", _set("input/mean", ["0.5"])),
    ("std-zero", "A picture divided by 0.", _set("input/std", ["0x0p+0"])),
    ("std-negative", "A picture divided by a negative number.", _set("input/std", ["-0x1p+0"])),
    ("layer-a-string", "A layer that is no object.", _set(f"layers/{_STEM}", "conv2d")),
    ("kind-unknown", "A kind that there is not.", _set("layers/1/kind", "softmax")),
    ("kind-a-list", "A kind that is no string.", _set("layers/1/kind", ["relu"])),
    ("kind-lacks", "A layer without a kind.", _set("layers/1/kind", ...)),
    ("field-more", "A stride of a relu.", _set("layers/1/stride", [1, 1])),
    ("field-lacks", "A convolution without padding.", _set(f"layers/{_STEM}/padding", ...)),
    ("name-taken", "Two layers of one name.", _set(f"layers/{_LAST}/name", "out")),
    ("name-picture", "A layer with the name of the picture.", _set(f"layers/{_LAST}/name", "picture")),
    ("name-empty", "An empty name.", _set(f"layers/{_LAST}/name", "")),
    ("name-two-dots", "Two dots in a row.", _set(f"layers/{_LAST}/name", "a..b")),
    ("name-line-end", "A name with a line end.", _set(f"layers/{_LAST}/name", "out1\n")),
    ("name-long", "A name of 129 characters.", _set(f"layers/{_LAST}/name", "a" * 129)),
    ("name-a-number", "A name that is no string.", _set(f"layers/{_LAST}/name", 1)),
    ("inputs-a-string", "Inputs that are no list.", _set("layers/1/inputs", "stem")),
    ("inputs-none", "A relu of nothing.", _set("layers/1/inputs", [])),
    ("inputs-two", "A relu of two layers.", _set("layers/1/inputs", ["stem", "stem"])),
    ("inputs-one-sum", "A sum of one.", _set(f"layers/{_SUM}/inputs", ["block.0"])),
    ("inputs-later", "A layer that reads a later one.", _set("layers/1/inputs", ["block.0"])),
    ("inputs-itself", "A layer that reads itself.", _set("layers/1/inputs", ["stem.relu"])),
    ("inputs-unknown", "A layer that reads none that there is.", _set("layers/1/inputs", ["stemm"])),
    ("inputs-a-number", "An input that is no string.", _set("layers/1/inputs", [0])),
    ("unread", "A layer that no other reads.", _set(f"layers/{_SUM}/inputs", ["stem.relu", "stem.relu"])),
    ("sum-of-shapes", "A sum of two shapes.", _set(f"layers/{_SUM}/inputs", ["block.0", "picture"])),
    ("stride-zero", "A stride of 0.", _set(f"layers/{_STEM}/stride", [1, 0])),
    ("stride-one", "A stride that is no pair.", _set(f"layers/{_STEM}/stride", 1)),
    ("stride-three", "A stride of three.", _set(f"layers/{_STEM}/stride", [1, 1, 1])),
    ("stride-true", "A stride of truth values.", _set(f"layers/{_STEM}/stride", [True, True])),
    ("stride-long", "A stride of 4,097.", _set(f"layers/{_STEM}/stride", [1, 4097])),
    ("padding-negative", "A negative padding.", _set(f"layers/{_STEM}/padding", [-1, 1])),
    ("padding-long", "A padding of 4,097.", _set(f"layers/{_STEM}/padding", [4097, 1])),
    ("dilation-zero", "A dilation of 0.", _set(f"layers/{_STEM}/dilation", [0, 1])),
    ("groups-zero", "No group.", _set(f"layers/{_BLOCK}/groups", 0)),
    ("groups-three", "Three groups of two channels.", _set(f"layers/{_BLOCK}/groups", 3)),
    ("groups-one", "Groups that the weight has not.", _set(f"layers/{_BLOCK}/groups", 1)),
    ("groups-true", "A truth value for groups.", _set(f"layers/{_STEM}/groups", True)),
    ("window-long", "A window longer than the picture.", _set(f"layers/{_STEM}/dilation", [3, 1])),
    ("pool-long", "A pooling longer than what it reads.", _set(f"layers/{_POOL}/kernel", [5, 2])),
    ("pool-padding", "A padding of more than half the kernel.", _set(f"layers/{_POOL}/padding", [2, 0])),
    ("large", "A layer of more than 2^24 entries.", _set(f"layers/{_STEM}/padding", [4096, 4096])),
]

_ONE = [[[1.0]]]
_BOTH = [_ONE, _ONE]
"""The weight of two channels of one."""


def malformed_networks() -> Iterator[tuple[str, str, bytes]]:
    """The name of each, what it shows, and the file."""
    valid = small_network()
    for name, comment, change in DESCRIPTIONS:
        header, body = split(valid)
        description = json.loads(header["__metadata__"]["verale.network"])
        change(description)
        header["__metadata__"]["verale.network"] = json.dumps(description)
        yield name, comment, joined(header, body)
    yield from _of_tensors()
    yield from _of_files(valid)


def _of_tensors() -> Iterator[tuple[str, str, bytes]]:
    """Of networks that give two channels, as many as the head of the corpus asks for."""

    def convolution(**tensors: Any) -> bytes:
        return network_file([layer("a", "conv2d", "picture")], {f"a.{name}": each for name, each in tensors.items()})

    def linear(weight: Any, *before: dict[str, Any]) -> bytes:
        name = before[-1]["name"] if before else "picture"
        return network_file([*before, layer("end", "linear", name)], {"end.weight": weight})

    def followed(*layers: dict[str, Any]) -> bytes:
        return network_file([*layers, layer("end", "conv2d", layers[-1]["name"])], {"end.weight": _BOTH})

    flat = layer("flat", "flatten", "picture")
    more = {"a.weight": _BOTH, "b.weight": _BOTH}
    yield "weight-missing", "A convolution without its weight.", convolution()
    yield "weight-of-none", "A tensor of no layer.", network_file([layer("a", "conv2d", "picture")], more)
    yield "tensor-unknown", "A tensor that convolutions have not.", convolution(weight=_BOTH, scale=[1.0, 1.0])
    yield "weight-matrix", "A convolution's weight of two sizes.", convolution(weight=[[1.0], [1.0]])
    yield "weight-channels", "Weights of two channels for one.", convolution(weight=[[*_ONE, *_ONE]] * 2)
    yield "weight-empty", "A weight of no output.", _with_empty_weight()
    yield "bias-long", "Three biases of two outputs.", convolution(weight=_BOTH, bias=[1.0] * 3)
    yield "magnitude-alone", "A magnitude without a bias.", convolution(weight=_BOTH, magnitude=[1.0, 1.0])
    less = {"bias": [-1.0, 0.0], "magnitude": [0.5, 0.5]}
    yield "magnitude-less", "A magnitude less than the bias.", convolution(weight=_BOTH, **less)
    long = {"bias": [1.0, 1.0], "magnitude": [1.0] * 3}
    yield "magnitude-long", "Three magnitudes of two outputs.", convolution(weight=_BOTH, **long)
    yield "bias-infinite", "An infinite bias.", convolution(weight=_BOTH, bias=[0.0, float("inf")])
    yield "weight-nan", "A weight that is no number.", convolution(weight=[_ONE, [[[float("nan")]]]])
    yield "linear-of-planes", "A linear layer of rows and columns.", linear([[1.0] * 16] * 2)
    yield "linear-columns", "A linear layer of 15 numbers for 16.", linear([[1.0] * 15] * 2, flat)
    yield "linear-vector", "A linear layer's weight of one size.", linear([1.0] * 2, flat)
    twice = flat, layer("again", "flatten", "flat")
    yield "flat-twice", "A flat layer is made flat.", linear([[1.0] * 16] * 2, *twice)
    for kind in ("max_pool2d", "upsample_nearest"):
        yield f"{kind}-flat", "A flat layer has no rows.", linear([[1.0] * 4] * 2, flat, layer("b", kind, "flat"))
    pooled = layer("b", "max_pool2d", "picture")
    yield "concat-rows", "Layers of other rows.", network_file([pooled, layer("c", "concat", "b", "picture")], {})
    yield "slope-above", "A slope above 1.", followed(layer("a", "leaky_relu", "picture", slope="0x1.8p+0"))
    yield "slope-below", "A slope below 0.", followed(layer("a", "leaky_relu", "picture", slope="-0x1p-2"))
    yield "slope-a-number", "A slope that is no hex float.", followed(layer("a", "leaky_relu", "picture", slope=1))
    yield "scale-zero", "Rows that vanish.", followed(layer("a", "upsample_nearest", "picture", scale=[0, 1]))
    many = [layer(f"a{i}", "relu", f"a{i - 1}" if i else "picture") for i in range(4096)]
    yield "layers-many", "4,097 layers.", followed(*many)
    large = [layer("a0", "upsample_nearest", "picture", scale=[1024, 1024])]
    pools = {"kernel": [9, 9], "stride": [1, 1], "padding": [4, 4]}
    large += [layer(f"a{i + 1}", "max_pool2d", f"a{i}", **pools) for i in range(51)]
    yield "products-many", "More than 2^36 products.", network_file(large, {})


def _with_empty_weight() -> bytes:
    header, _ = split(network_file([layer("a", "conv2d", "picture")], {}))
    header["a.weight"] = {"dtype": "F64", "shape": [0, 1, 1, 1], "data_offsets": [0, 0]}
    return joined(header, b"")


def _of_files(valid: bytes) -> Iterator[tuple[str, str, bytes]]:
    header, body = split(valid)
    text = header["__metadata__"]["verale.network"]
    yield "empty", "An empty file.", b""
    yield "cut", "The last byte is missing.", valid[:-1]
    yield "tail", "A byte more.", valid + b"\0"
    yield "no-metadata", "No description.", joined({k: v for k, v in header.items() if k != "__metadata__"}, body)
    more = {"__metadata__": {"verale.network": text, "format": "pt"}}
    yield "more-metadata", "Metadata besides.", joined(header | more, body)
    yield "description-a-list", "A description that is no object.", _described(header, "[]", body)
    yield "description-cut", "A description that is cut.", _described(header, text[:-1], body)
    yield "description-key-twice", "A key twice.", _described(header, '{"version": 1, ' + text[1:], body)
    half = files.safetensors({"a.weight": ("F16", [2, 1, 1, 1], bytes(4))}, {"verale.network": _one()})
    yield "dtype-f16", "A weight in half precision.", half


def _one() -> str:
    """The description of one convolution."""
    header, _ = split(network_file([layer("a", "conv2d", "picture")], {}))
    description: str = header["__metadata__"]["verale.network"]
    return description


def _described(header: dict[str, Any], text: str, body: bytes) -> bytes:
    return joined(header | {"__metadata__": {"verale.network": text}}, body)
