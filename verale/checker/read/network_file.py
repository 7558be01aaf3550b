"""The network file (certificates/network-v1.md): its layers, and the shapes that they give. Nothing is computed of its
tensors yet."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, prod
from typing import Any, TypeAlias

from ..errors import FormatError, NetworkError
from .formats import Reader, Readers, Tensor, brief, fields, index, listed, number, of_kind, read_described, such, text

Pair: TypeAlias = tuple[int, int]
Shape: TypeAlias = tuple[int, ...]

LARGEST = 2**30
"""Bytes."""
MOST_LAYERS = 4096
MOST_ENTRIES = 2**24
"""Of a layer."""
MOST_PRODUCTS = 2**36
"""Of all layers together."""
METADATA_KEY = "verale.network"
PICTURE = "picture"
"""The name of the normalised picture."""
TENSORS: dict[str, tuple[str, ...]] = dict.fromkeys(("conv2d", "linear"), ("weight", "bias", "magnitude"))
"""The tensors of each kind that has some; `weight` has to be there."""
_READS: dict[str, tuple[int, float, str]] = {
    **dict.fromkeys(("add", "concat"), (2, inf, "two or more")),
    "multiply": (2, 2, "two"),
}
"""How many inputs a kind reads, at least and at most, in words too; of the others it is one."""
_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_LONGEST_NAME = 128
_GREATEST = 4096
"""The largest stride, padding, dilation, kernel and scale."""


@dataclass(frozen=True)
class Settings:
    """The fields of a layer; those that its kind has not are as here. Pairs are of rows and of columns. The `kernel` of
    a conv2d is that of its weight."""

    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    kernel: Pair = (1, 1)
    scale: Pair = (1, 1)
    groups: int = 1
    slope: Fraction = Fraction(0)
    lower: Fraction = Fraction(0)
    upper: Fraction = Fraction(0)


@dataclass(frozen=True)
class Layer:
    """One layer.

    Attributes:
        name, kind, inputs, settings: as in the file.
        shape: of what it gives: (C, H, W), or (C).
        read: the shapes of what it reads.
        tensors: by `weight`, `bias` and `magnitude`; all values are finite.
    """

    name: str
    kind: str
    inputs: tuple[str, ...]
    shape: Shape
    read: tuple[Shape, ...]
    tensors: Mapping[str, Tensor]
    settings: Settings

    @property
    def entries(self) -> int:
        """How many numbers it gives."""
        return prod(self.shape)

    @property
    def terms(self) -> int:
        """How many numbers one entry is computed from, entries beside the input included."""
        if self.kind in TENSORS:
            return prod(self.tensors["weight"].shape[1:])
        return prod(self.settings.kernel)  # of other kinds than pools it is 1

    @property
    def products(self) -> int:
        """What the file's limit counts."""
        return self.entries * self.terms


@dataclass(frozen=True)
class Network:
    """A network, whose layers fit each other.

    Attributes:
        sha256: digest of the file's bytes.
        size: of the file, in bytes.
        shape: (C, H, W) of a picture.
        mean, std: of the normalisation, C numbers each.
        layers: in order; the last one gives the latents.
    """

    sha256: str
    size: int
    shape: tuple[int, int, int]
    mean: tuple[Fraction, ...]
    std: tuple[Fraction, ...]
    layers: tuple[Layer, ...]

    @property
    def depth(self) -> int:
        """D of the latents."""
        return self.layers[-1].shape[0]

    @property
    def patches(self) -> int:
        """L of the latents."""
        return prod(self.layers[-1].shape[1:])


def read_network(data: bytes) -> Network:
    """The network of a file's bytes. Raises NetworkError, which names the field, layer or tensor."""
    required: Readers = {"input": _input, "layers": lambda value, where: value}
    try:
        description, tensors = read_described(data, LARGEST, METADATA_KEY, required)
        shape, mean, std = description["input"]
        layers = _layers(description["layers"], shape, tensors)
    except FormatError as error:
        raise NetworkError(f"network file: {error}") from None
    return Network(hashlib.sha256(data).hexdigest(), len(data), shape, mean, std, layers)


def is_name(name: str) -> bool:
    """Whether a layer may have this name."""
    return _NAME.fullmatch(name) is not None and len(name) <= _LONGEST_NAME


def _pair(least: int) -> Reader[tuple[int, ...]]:
    return such(
        listed(index, 2, "two integers, [of rows, of columns]"),
        lambda pair: all(least <= size <= _GREATEST for size in pair),
        f"integers from {least} to {_GREATEST}",
    )


_PAIR = _pair(1)
_SHAPE = such(
    listed(index, 3, "[C, H, W]"),
    lambda shape: shape[0] in (1, 3) and 1 <= prod(shape) <= MOST_ENTRIES,
    f"1 or 3 channels, rows and columns from 1, and at most {MOST_ENTRIES} entries",
)
_WINDOW: Readers = {"kernel": _PAIR, "stride": _PAIR, "padding": _pair(0)}
_KINDS: dict[str, Readers] = {
    "conv2d": {"stride": _PAIR, "padding": _pair(0), "dilation": _PAIR, "groups": index},
    "linear": {},
    "add": {},
    "concat": {},
    "multiply": {},
    "relu": {},
    "clamp": {"lower": number, "upper": number},
    "leaky_relu": {"slope": such(number, lambda slope: 0 <= slope <= 1, "a number from 0 to 1")},
    "sigmoid": {},
    "tanh": {},
    "gaussian": {},
    "inverse_root": {},
    "max_pool2d": _WINDOW,
    "avg_pool2d": _WINDOW,
    "flatten": {},
    "upsample_nearest": {"scale": _PAIR},
}
"""The kinds of layers, and the fields of each."""
_COMMON: Readers = {"name": text, "inputs": listed(text, expected="a list of names")}


def _input(value: Any, where: str) -> tuple[Shape, tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The shape of a picture, and the mean and the deviation of each channel."""
    read = fields(value, where, ("shape", "mean", "std"))
    shape = _SHAPE(read["shape"], f"{where}.shape")
    numbers = listed(number, shape[0], f"{shape[0]} hex floats, one a channel")
    mean, std = (numbers(read[name], f"{where}.{name}") for name in ("mean", "std"))
    if min(std) <= 0:
        raise FormatError(f"{where}.std has a number that is not positive, expected what a picture is divided by")
    return shape, mean, std


def _layers(values: Any, shape: Shape, tensors: Mapping[str, Tensor]) -> tuple[Layer, ...]:
    if not isinstance(values, list) or not 1 <= len(values) <= MOST_LAYERS:
        raise FormatError(f"layers is {brief(values)}, expected a list of 1 to {MOST_LAYERS} layers")
    shapes = {PICTURE: shape}
    layers: list[Layer] = []
    for place, value in enumerate(values):
        layers.append(_layer(value, f"layers[{place}]", shapes, tensors))
        shapes[layers[-1].name] = layers[-1].shape
    read = {name for layer in layers for name in layer.inputs}
    unread = [layer.name for layer in layers[:-1] if layer.name not in read]
    if unread:
        raise FormatError(f"layer {unread[0]} is read by no layer, expected this of the last one alone")
    belonging = {f"{layer.name}.{own}" for layer in layers for own in layer.tensors}
    for name in tensors:
        if name not in belonging:
            raise FormatError(f"tensor {brief(name)} belongs to no layer, expected NAME.weight, NAME.bias and the like")
    products = sum(layer.products for layer in layers)
    if products > MOST_PRODUCTS:
        raise FormatError(f"all layers have {products} products, expected at most {MOST_PRODUCTS}")
    return tuple(layers)


def _layer(value: Any, where: str, shapes: Mapping[str, Shape], tensors: Mapping[str, Tensor]) -> Layer:
    """The layer, of the shape that follows from what it reads: shapes of the picture and the layers before it."""
    kind, read_fields = of_kind(value, where, _KINDS, _COMMON)
    name, inputs = read_fields.pop("name"), read_fields.pop("inputs")
    if not is_name(name):
        raise FormatError(f"{where}.name is {brief(name)}, expected letters, digits and _ with single dots between")
    if name in shapes:
        raise FormatError(f"{where}.name is {brief(name)}, expected one that is neither {PICTURE} nor taken")
    for each in inputs:
        if each not in shapes:
            raise FormatError(f"{where} ({name}) reads {brief(each)}, expected {PICTURE} or an earlier layer")
    own = {each: tensors[f"{name}.{each}"] for each in TENSORS.get(kind, ()) if f"{name}.{each}" in tensors}
    if kind in TENSORS and "weight" not in own:
        raise FormatError(f"the tensor '{name}.weight' is missing")
    where, settings = f"layer {name} ({kind})", Settings(**read_fields)
    if settings.lower > settings.upper:
        raise FormatError(f"{where}: its lower is above its upper, expected two ends in this order")
    read = tuple(shapes[each] for each in inputs)
    weight = own["weight"].shape if own else ()
    if kind == "conv2d":
        if len(weight) != 4 or min(weight) < 1:
            raise FormatError(f"{where}: its weight has shape {list(weight)}, expected (O, C / groups, kh, kw)")
        settings = replace(settings, kernel=weight[2:])
    shape = output_shape(where, kind, read, weight, settings)
    if prod(shape) > MOST_ENTRIES:
        raise FormatError(f"{where} gives {list(shape)}, {prod(shape)} entries, expected at most {MOST_ENTRIES}")
    _check_tensors(where, shape[0], own)
    return Layer(name, kind, inputs, shape, read, own, settings)


def output_shape(where: str, kind: str, read: Sequence[Shape], weight: Shape, settings: Settings) -> Shape:
    """What a layer of a kind gives for inputs of these shapes. Raises FormatError, which begins with `where`."""
    least, most, in_words = _READS.get(kind, (1, 1, "one"))
    if not least <= len(read) <= most:
        raise FormatError(f"{where} reads {len(read)} inputs, expected {in_words}")
    first = read[0]
    if kind in ("conv2d", "max_pool2d", "avg_pool2d", "flatten", "upsample_nearest") and len(first) != 3:
        raise FormatError(f"{where} reads {list(first)}, expected (C, H, W)")
    match kind:
        case "conv2d":
            channels, groups = first[0], settings.groups
            if groups < 1 or channels % groups or weight[0] % groups:
                raise FormatError(
                    f"{where}: groups is {groups}, expected what divides {channels} and {weight[0]} channels"
                )
            _require_weight(where, weight, channels // groups, "kh", "kw")
            return weight[0], *_windows(where, first, settings)
        case "linear":
            if len(first) != 1:
                raise FormatError(f"{where} reads {list(first)}, expected (C): flatten it before")
            _require_weight(where, weight, first[0])
            return weight[:1]
        case "add":
            if any(shape != first for shape in read):
                raise FormatError(f"{where} reads {_listed(read)}, expected one shape")
        case "multiply":
            if len(read[1]) != len(first) or any(b not in (1, a) for a, b in zip(first, read[1], strict=True)):
                raise FormatError(f"{where} reads {_listed(read)}, expected a second one as large, or 1 along an axis")
        case "concat":
            if any(shape[1:] != first[1:] for shape in read):
                raise FormatError(f"{where} reads {_listed(read)}, expected the same rows and columns")
            return sum(shape[0] for shape in read), *first[1:]
        case "max_pool2d" | "avg_pool2d":
            kernel, padding = settings.kernel, settings.padding
            if any(2 * aside > size for aside, size in zip(padding, kernel, strict=True)):
                raise FormatError(
                    f"{where}: padding is {list(padding)}, expected at most half the kernel, {list(kernel)}"
                )
            return first[0], *_windows(where, first, settings)
        case "flatten":
            return (prod(first),)
        case "upsample_nearest":
            return first[0], first[1] * settings.scale[0], first[2] * settings.scale[1]
    return first


def _require_weight(where: str, weight: Shape, columns: int, *others: str) -> None:
    if len(weight) != 2 + len(others) or weight[0] < 1 or weight[1] != columns:
        expected = ", ".join(("O", str(columns), *others))
        raise FormatError(f"{where}: its weight has shape {list(weight)}, expected [{expected}]")


def _windows(where: str, shape: Shape, settings: Settings) -> Shape:
    """The rows and the columns that windows over (C, H, W) give."""
    counts = []
    pairs = (settings.kernel, settings.stride, settings.padding, settings.dilation)
    for size, kernel, stride, padding, dilation in zip(shape[1:], *pairs, strict=True):
        room = size + 2 * padding - dilation * (kernel - 1) - 1
        if room < 0:
            raise FormatError(f"{where}: its window is longer than {list(shape)} with its padding")
        counts.append(room // stride + 1)
    return tuple(counts)


def _listed(shapes: Sequence[Shape]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)


def _check_tensors(where: str, channels: int, tensors: Mapping[str, Tensor]) -> None:
    """Raises FormatError unless all values are finite, and bias and magnitude fit."""
    for tensor in tensors.values():
        tensor.check_finite()
    for name in ("bias", "magnitude"):
        if name in tensors and tensors[name].shape != (channels,):
            raise FormatError(f"{where}: its {name} has shape {list(tensors[name].shape)}, expected [{channels}]")
    if "magnitude" in tensors:
        if "bias" not in tensors:
            raise FormatError(f"{where} has a magnitude and no bias, expected the bias that it bounds")
        sizes = zip(tensors["magnitude"].floats(), tensors["bias"].floats(), strict=True)
        if any(most < abs(bias) for most, bias in sizes):
            raise FormatError(f"{where}: an entry of its magnitude is less than the size of that of its bias")
