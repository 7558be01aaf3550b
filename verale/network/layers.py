"""The layers of a network file: each kind with its fields, its tensors, and what it computes.

A layer reads tensors (N, C, H, W) or, behind `flatten`, (N, D), and gives one of these. It computes in the type of what
it reads. No proof uses these numbers: `verale.bounds.network` encloses them, and the checker has rules of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import reduce
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor
from torch.nn import functional

from verale.errors import NetworkError

__all__ = [
    "OPERATIONS",
    "AveragePooling",
    "Concatenation",
    "Convolution",
    "Flattening",
    "FullConnection",
    "LeakyRectifier",
    "NetworkLayer",
    "Operation",
    "Pair",
    "Rectifier",
    "Sigmoid",
    "SpatialMaximum",
    "Sum",
    "Tanh",
    "Upsampling",
]

MOST_STEPS = 4096
"""The largest stride, padding, dilation, kernel and scale."""

Pair = tuple[int, int]
"""One number for rows, one for columns."""


class Operation(Protocol):
    """What a layer computes. The fields of its dataclass are those of the file; tensors are fields too.

    Attributes:
        kind: its name in the file.
    """

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
    """y = weight x + bias.

    Attributes:
        weight: (O, I).
        bias, magnitude: see `Convolution`.
    """

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
        *(Convolution, FullConnection, Sum, Concatenation, Rectifier, LeakyRectifier, Sigmoid, Tanh),
        *(SpatialMaximum, AveragePooling, Flattening, Upsampling),
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
    def from_json(cls, described: Any, tensors: dict[str, Tensor]) -> NetworkLayer:
        """A layer from its entry; its tensors are taken out of those of the file.

        Raises:
            NetworkError: a field or tensor is missing, unknown or of another form; it names the layer.
        """
        name = described.get("name") if isinstance(described, dict) else None
        if not isinstance(name, str):
            raise NetworkError("layers", f"hold {described!s:.80}, expected an object with a name")
        operation = OPERATIONS.get(str(described.get("kind")))
        if operation is None:
            raise NetworkError(name, f"has the kind {described.get('kind')!s:.40}, expected {', '.join(OPERATIONS)}")
        spelled = {each.name: str(each.type) for each in fields(operation)}  # type: ignore[arg-type]
        given = {each: tensors.pop(f"{name}.{each}", None) for each in _TENSORS if each in spelled}
        numbers = {each: kind for each, kind in spelled.items() if each not in _TENSORS}
        if set(described) != {"name", "kind", "inputs", *numbers}:
            raise NetworkError(name, f"has the fields {sorted(described)}, expected name, kind, inputs, {[*numbers]}")
        inputs = described["inputs"]
        if not isinstance(inputs, list) or not all(isinstance(each, str) for each in inputs):
            raise NetworkError(name, "has inputs that are no list of names")
        if "weight" in given and given["weight"] is None:
            raise NetworkError(name, f"has no tensor {name}.weight")
        values = {each: _read(name, each, kind, described[each]) for each, kind in numbers.items()}
        return cls(name, tuple(inputs), operation(**values, **given))


def _read(layer: str, field: str, kind: str, value: Any) -> Any:
    """A field's value. Raises NetworkError."""
    least = 0 if field == "padding" else 1
    is_pair = isinstance(value, list) and len(value) == 2 and all(type(each) is int for each in value)
    if kind == "Pair" and is_pair and all(least <= each <= MOST_STEPS for each in value):
        return tuple(value)
    if kind == "int" and type(value) is int and value > 0:
        return value
    if kind == "float" and isinstance(value, str):
        try:
            return float.fromhex(value)
        except (ValueError, OverflowError):
            pass
    pair = f"a list of two integers from {least} to {MOST_STEPS}"
    expected = {"Pair": pair, "int": "a positive integer", "float": "a hex float"}[kind]
    raise NetworkError(layer, f"has the {field} {value!s:.40}, expected {expected}")
