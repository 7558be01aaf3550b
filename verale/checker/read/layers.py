"""The layers of a network, and the shapes that they give (certificates/network-v1.md, "The network file")."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import TypeAlias

from ..errors import FormatError
from .safetensors_reader import Tensor

__all__ = ["FIELDS", "MOST_ENTRIES", "PICTURE", "TENSORS", "Layer", "Network", "Pair", "Settings", "Shape", "built"]

Pair: TypeAlias = tuple[int, int]
Shape: TypeAlias = tuple[int, ...]

PICTURE = "picture"
"""The name of the normalised picture."""
MOST_ENTRIES = 2**24
"""Of a layer."""

FIELDS: dict[str, tuple[str, ...]] = {
    "conv2d": ("stride", "padding", "dilation", "groups"),
    "linear": (),
    "add": (),
    "concat": (),
    "relu": (),
    "leaky_relu": ("slope",),
    "sigmoid": (),
    "tanh": (),
    "max_pool2d": ("kernel", "stride", "padding"),
    "avg_pool2d": ("kernel", "stride", "padding"),
    "flatten": (),
    "upsample_nearest": ("scale",),
}
"""The kinds of layers, and the fields of each."""
TENSORS: dict[str, tuple[str, ...]] = dict.fromkeys(("conv2d", "linear"), ("weight", "bias", "magnitude"))
"""The tensors of each kind that has some; `weight` has to be there."""
_MANY = ("add", "concat")
"""The kinds that read two or more."""


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
        return prod(self.settings.kernel) if self.kind in ("max_pool2d", "avg_pool2d") else 1

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


def built(
    name: str,
    kind: str,
    inputs: Mapping[str, Shape],
    names: Sequence[str],
    tensors: Mapping[str, Tensor],
    settings: Settings,
) -> Layer:
    """The layer with these fields, of the shape that follows from what it reads. Raises FormatError.

    Args:
        inputs: the shapes of what the layer may read.
        names: what it reads.
        tensors: its own, with the weight of a kind that has one.
    """
    where = f"layer {name} ({kind})"
    if (len(names) < 2) if kind in _MANY else (len(names) != 1):
        raise FormatError(f"{where} reads {len(names)} inputs, expected {'two or more' if kind in _MANY else 'one'}")
    read = tuple(inputs[each] for each in names)
    if kind == "conv2d":
        settings = replace(settings, kernel=_kernel(where, tensors["weight"].shape))
    shape = _SHAPES.get(kind, _same)(where, read, tensors, settings)
    if prod(shape) > MOST_ENTRIES:
        raise FormatError(f"{where} gives {list(shape)}, {prod(shape)} entries, expected at most {MOST_ENTRIES}")
    _check_tensors(where, shape[0], tensors)
    return Layer(name, kind, tuple(names), shape, read, tensors, settings)


_Tensors: TypeAlias = Mapping[str, Tensor]


def _same(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    return read[0]


def _planes(where: str, shape: Shape) -> Shape:
    """(C, H, W). Raises FormatError for a shape without rows and columns."""
    if len(shape) != 3:
        raise FormatError(f"{where} reads {list(shape)}, expected (C, H, W)")
    return shape


def _windows(where: str, shape: Shape, settings: Settings) -> Shape:
    """The rows and the columns that windows over (C, H, W) give."""
    found = []
    pairs = (settings.kernel, settings.stride, settings.padding, settings.dilation)
    for size, kernel, stride, padding, dilation in zip(shape[1:], *pairs, strict=True):
        room = size + 2 * padding - dilation * (kernel - 1) - 1
        if room < 0:
            raise FormatError(f"{where}: its window is longer than {list(shape)} with its padding")
        found.append(room // stride + 1)
    return tuple(found)


def _kernel(where: str, weight: Shape) -> Pair:
    if len(weight) != 4 or min(weight) < 1:
        raise FormatError(f"{where}: its weight has shape {list(weight)}, expected (O, C / groups, kh, kw)")
    return weight[2], weight[3]


def _convolved(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    channels, *_ = shape = _planes(where, read[0])
    weight, groups = tensors["weight"].shape, settings.groups
    if groups < 1 or channels % groups or weight[0] % groups:
        raise FormatError(f"{where}: groups is {groups}, expected what divides {channels} and {weight[0]} channels")
    if weight[1] != channels // groups:
        raise FormatError(f"{where}: its weight has shape {list(weight)}, expected [O, {channels // groups}, kh, kw]")
    return weight[0], *_windows(where, shape, settings)


def _linear(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    weight = tensors["weight"].shape
    if len(read[0]) != 1:
        raise FormatError(f"{where} reads {list(read[0])}, expected (C): flatten it before")
    if len(weight) != 2 or weight[0] < 1 or weight[1] != read[0][0]:
        raise FormatError(f"{where}: its weight has shape {list(weight)}, expected [O, {read[0][0]}]")
    return (weight[0],)


def _added(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    if any(shape != read[0] for shape in read):
        raise FormatError(f"{where} reads {_listed(read)}, expected one shape")
    return read[0]


def _joined(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    if any(shape[1:] != read[0][1:] for shape in read):
        raise FormatError(f"{where} reads {_listed(read)}, expected the same rows and columns")
    return sum(shape[0] for shape in read), *read[0][1:]


def _pooled(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    shape, kernel, padding = _planes(where, read[0]), settings.kernel, settings.padding
    if any(2 * aside > size for aside, size in zip(padding, kernel, strict=True)):
        raise FormatError(f"{where}: padding is {list(padding)}, expected at most half the kernel, {list(kernel)}")
    return shape[0], *_windows(where, shape, settings)


def _flat(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    return (prod(_planes(where, read[0])),)


def _larger(where: str, read: Sequence[Shape], tensors: _Tensors, settings: Settings) -> Shape:
    channels, rows, columns = _planes(where, read[0])
    return channels, rows * settings.scale[0], columns * settings.scale[1]


def _listed(shapes: Sequence[Shape]) -> str:
    return ", ".join(str(list(shape)) for shape in shapes)


_SHAPES: dict[str, Callable[[str, Sequence[Shape], _Tensors, Settings], Shape]] = {
    "conv2d": _convolved,
    "linear": _linear,
    "add": _added,
    "concat": _joined,
    "max_pool2d": _pooled,
    "avg_pool2d": _pooled,
    "flatten": _flat,
    "upsample_nearest": _larger,
}
"""How each kind's shape follows; of all others it is that of what they read."""


def _check_tensors(where: str, channels: int, tensors: _Tensors) -> None:
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
