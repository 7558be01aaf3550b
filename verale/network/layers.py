"""The layers of a network file: each kind with its fields, its tensors, and what it computes.

A layer reads tensors (N, C, H, W) or, behind `flatten`, (N, D), and gives one of these. It computes in the type of what
it reads. No proof uses these numbers: `verale.bounds.network` encloses them, and the checker has rules of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from verale.checker.read.network_file import Layer
from verale.tensors import loaded

Pair = tuple[int, int]
"""One number for rows, one for columns."""


class Operation(Protocol):
    """What a layer of a kind computes. The fields of its dataclass are those of the file; tensors are fields too."""

    kind: ClassVar[str]

    def __call__(self, *inputs: Any, **named: Any) -> Tensor:  # mypy takes this for any parameters
        """The output, from the tensors that the layer reads."""


@dataclass(frozen=True, eq=False)
class Convolution:
    """A convolution; what lies outside its input is 0.

    Attributes:
        stride, padding, dilation, groups: as torch has them.
        weight: (O, I / groups, h, w).
        bias: (O,), or None for zeros.
        magnitude: (O,) no less than the sizes that a folded bias sums, |s| (|b| + |mean|) + |beta| for batch
            normalisation after a bias b; None where nothing was folded.
    """

    kind: ClassVar[str] = "conv2d"
    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    weight: Tensor
    bias: Tensor | None = None
    magnitude: Tensor | None = None

    def __call__(self, given: Tensor) -> Tensor:
        return self.applied(given, self.weight, self.bias)

    def applied(self, given: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The same convolution of other numbers."""
        bias = None if bias is None else bias.to(given)
        return functional.conv2d(given, weight.to(given), bias, self.stride, self.padding, self.dilation, self.groups)


@dataclass(frozen=True, eq=False)
class FullConnection:
    """y = weight x + bias, weight (O, I); bias and magnitude as of `Convolution`."""

    kind: ClassVar[str] = "linear"
    weight: Tensor
    bias: Tensor | None = None
    magnitude: Tensor | None = None

    def __call__(self, given: Tensor) -> Tensor:
        return self.applied(given, self.weight, self.bias)

    def applied(self, given: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        """The same of other numbers."""
        return functional.linear(given, weight.to(given), None if bias is None else bias.to(given))


@dataclass(frozen=True)
class Sum:
    """The sum of two tensors or more, of one shape."""

    kind: ClassVar[str] = "add"

    def __call__(self, *inputs: Tensor) -> Tensor:
        return reduce(torch.add, inputs)


@dataclass(frozen=True)
class Concatenation:
    """Two tensors or more, one after the other along the channels."""

    kind: ClassVar[str] = "concat"

    def __call__(self, *inputs: Tensor) -> Tensor:
        return torch.cat(inputs, 1)


@dataclass(frozen=True)
class Product:
    """The product of two tensors, entry by entry; the second one is repeated along axes of which it has one entry."""

    kind: ClassVar[str] = "multiply"

    def __call__(self, given: Tensor, factor: Tensor) -> Tensor:
        if given.dim() != factor.dim() or any(b not in (1, a) for a, b in zip(given.shape, factor.shape, strict=True)):
            raise ValueError(f"a factor of {tuple(factor.shape[1:])} for {tuple(given.shape[1:])}")
        return given * factor


@dataclass(frozen=True)
class Rectifier:
    """max(0, x)."""

    kind: ClassVar[str] = "relu"

    def __call__(self, given: Tensor) -> Tensor:
        return given.relu()


@dataclass(frozen=True)
class LeakyRectifier:
    """x where x >= 0, else slope x, for a slope from 0 to 1."""

    kind: ClassVar[str] = "leaky_relu"
    slope: float

    def __call__(self, given: Tensor) -> Tensor:
        return functional.leaky_relu(given, self.slope)


@dataclass(frozen=True)
class Clamp:
    """min(upper, max(lower, x))."""

    kind: ClassVar[str] = "clamp"
    lower: float
    upper: float

    def __call__(self, given: Tensor) -> Tensor:
        return given.clamp(self.lower, self.upper)


@dataclass(frozen=True)
class Sigmoid:
    """1 / (1 + exp(-x))."""

    kind: ClassVar[str] = "sigmoid"

    def __call__(self, given: Tensor) -> Tensor:
        return given.sigmoid()


@dataclass(frozen=True)
class Tanh:
    """The hyperbolic tangent."""

    kind: ClassVar[str] = "tanh"

    def __call__(self, given: Tensor) -> Tensor:
        return given.tanh()


@dataclass(frozen=True)
class Gaussian:
    """The standard normal distribution function."""

    kind: ClassVar[str] = "gaussian"

    def __call__(self, given: Tensor) -> Tensor:
        return (1 + torch.erf(given / math.sqrt(2))) / 2


@dataclass(frozen=True)
class InverseRoot:
    """1 / sqrt(x), of positive numbers."""

    kind: ClassVar[str] = "inverse_root"

    def __call__(self, given: Tensor) -> Tensor:
        return given.rsqrt()


@dataclass(frozen=True)
class SpatialMaximum:
    """The maximum over windows; what lies outside the input counts for nothing."""

    kind: ClassVar[str] = "max_pool2d"
    kernel: Pair
    stride: Pair
    padding: Pair

    def __call__(self, given: Tensor) -> Tensor:
        return functional.max_pool2d(given, self.kernel, self.stride, self.padding)


@dataclass(frozen=True)
class AveragePooling:
    """The mean over windows; what lies outside the input is 0, and is counted."""

    kind: ClassVar[str] = "avg_pool2d"
    kernel: Pair
    stride: Pair
    padding: Pair

    def __call__(self, given: Tensor) -> Tensor:
        return functional.avg_pool2d(given, self.kernel, self.stride, self.padding)


@dataclass(frozen=True)
class Flattening:
    """(N, C, H, W) as (N, C H W), in the order (c, y, x)."""

    kind: ClassVar[str] = "flatten"

    def __call__(self, given: Tensor) -> Tensor:
        return given.flatten(1)


@dataclass(frozen=True)
class Upsampling:
    """Each entry repeated, `scale` times along rows and columns."""

    kind: ClassVar[str] = "upsample_nearest"
    scale: Pair

    def __call__(self, given: Tensor) -> Tensor:
        rows, columns = self.scale
        return given.repeat_interleave(rows, 2).repeat_interleave(columns, 3)


OPERATIONS: Mapping[str, Callable[..., Any]] = {
    each.kind: each
    for each in (
        *(Convolution, FullConnection, Sum, Concatenation, Product, Rectifier, LeakyRectifier, Clamp),
        *(Sigmoid, Tanh, Gaussian, InverseRoot, SpatialMaximum, AveragePooling, Flattening, Upsampling),
    )
}
"""The operation of each kind."""

_TENSORS = ("weight", "bias", "magnitude")


@dataclass(frozen=True, eq=False)
class NetworkLayer:
    """A layer of a network.

    Attributes:
        name: an identifier, with dots.
        inputs: the names of what it reads: `picture`, or earlier layers.
        operation: what it computes.
    """

    name: str
    inputs: tuple[str, ...]
    operation: Operation

    @property
    def tensors(self) -> dict[str, Tensor]:
        """Its tensors, under the names that they have in the file."""
        held = {each: getattr(self.operation, each, None) for each in _TENSORS}
        return {f"{self.name}.{each}": tensor for each, tensor in held.items() if tensor is not None}

    def to_json(self) -> dict[str, Any]:
        """Its entry in the file's list of layers."""
        operation = self.operation
        described: dict[str, Any] = {"name": self.name, "kind": operation.kind, "inputs": list(self.inputs)}
        for each in fields(operation):  # type: ignore[arg-type]  # every operation is a dataclass
            if each.name not in _TENSORS:
                value = getattr(operation, each.name)
                described[each.name] = (
                    list(value) if isinstance(value, tuple) else value.hex() if isinstance(value, float) else value
                )
        return described

    @classmethod
    def of(cls, layer: Layer) -> NetworkLayer:
        """A layer of a file."""
        operation = OPERATIONS[layer.kind]
        values: dict[str, Any] = {name: loaded(tensor) for name, tensor in layer.tensors.items()}
        for each in fields(operation):  # type: ignore[arg-type]
            if each.name not in _TENSORS:
                value = getattr(layer.settings, each.name)
                values[each.name] = float(value) if isinstance(value, Fraction) else value
        return cls(layer.name, layer.inputs, operation(**values))
