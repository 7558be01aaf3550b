"""What a network is, from the picture to the latents: layers in their order, frozen as data; its file, its pictures.

`require_binary32` says of which networks something is claimed in binary32, as far as their files show it
(certificates/network-v1.md). What a file does not show, it says: where a batch normalisation was folded whose numbers
the claim excludes, such as an epsilon below 2^-64, the writer makes the layer's magnitude `NOT_CLAIMED`. This is a
bound of what the folded bias sums still, but a greater one than any claim in binary32 allows. Nothing is proved there:
the checker refuses the same, and more, of its own accord.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from verale.checker.errors import FormatError
from verale.checker.errors import NetworkError as UnreadableNetworkError
from verale.checker.read import network_file
from verale.checker.read.network_file import MOST_ENTRIES, MOST_LAYERS, MOST_PRODUCTS, Network, Settings, output_shape
from verale.checker.read.network_file import PICTURE as PICTURE
from verale.checker.read.pictures import Picture, StoredPictures
from verale.errors import NetworkError, UsageError, naming, option
from verale.files import read, write_atomically
from verale.network.layers import (
    Clamp,
    Convolution,
    FullConnection,
    Gaussian,
    InverseRoot,
    LeakyRectifier,
    NetworkLayer,
    Product,
)

LARGEST_NETWORK = network_file.LARGEST
_OF_WINDOWS = ("stride", "padding", "dilation", "kernel", "scale", "groups")
"""The settings of a layer that say what its output's shape is."""


@dataclass(frozen=True, eq=False)
class FrozenNetwork:
    """A network from the picture to the latents, as plain data.

    A picture is uint8 (C, H, W). The network reads x = (v / 255 - mean) / std.

    Args:
        shape: (C, H, W) of its pictures.
        mean: C numbers.
        std: C numbers > 0.
        layers: in an order in which each reads what comes before it; the output of the last are the latents.

    Raises:
        NetworkError: layers that do not fit each other, or numbers that are not finite.

    Soundness: every claim about a network is about the exact values of these floats.
    """

    shape: tuple[int, int, int]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    layers: tuple[NetworkLayer, ...]
    _digest: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        shape, layers = tuple(map(int, self.shape)), tuple(self.layers)
        if len(shape) != 3 or min(shape) < 1 or shape[0] not in (1, 3) or math.prod(shape) > MOST_ENTRIES:
            raise NetworkError("input", f"has the shape {shape}, expected (C, H, W) with C 1 (grey) or 3 (colours)")
        for name, numbers in (("mean", self.mean), ("std", self.std)):
            given = tuple(map(float, numbers))
            if len(given) != shape[0] or not all(map(math.isfinite, given)) or (name == "std" and min(given) <= 0):
                above = ", each above 0" if name == "std" else ""
                raise NetworkError("input", f"has the {name} {given}, expected {shape[0]} finite numbers{above}")
            object.__setattr__(self, name, given)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "layers", layers)
        if not layers:
            raise NetworkError("layers", "is empty, expected one layer at least")
        self._check_layers()
        if len(self.output_shape) not in (1, 3):
            raise NetworkError(layers[-1].name, f"gives {self.output_shape}, expected (D, H, W) or (D,)")
        products = 0  # as network-v1.md counts them
        for layer in layers:
            entries, operation = math.prod(self.shapes[layer.name]), layer.operation
            if entries > MOST_ENTRIES:
                raise NetworkError(layer.name, f"gives {entries} numbers, expected at most {MOST_ENTRIES}")
            if isinstance(operation, Convolution | FullConnection):
                products += entries * operation.weight[0].numel()
            else:
                products += entries * math.prod(getattr(operation, "kernel", (1,)))
        if products > MOST_PRODUCTS:
            raise NetworkError("layers", f"compute {products} products, expected at most {MOST_PRODUCTS}")

    def _check_layers(self) -> None:
        known, unread = {PICTURE}, {PICTURE}
        if len(self.layers) > MOST_LAYERS:
            raise NetworkError("layers", f"are {len(self.layers)}, expected at most {MOST_LAYERS}")
        for layer in self.layers:
            if not network_file.is_name(layer.name) or layer.name in known:
                raise NetworkError(
                    layer.name[:128], "is no new name, expected letters, digits, _ and dots, at most 128 characters"
                )
            missing = [each for each in layer.inputs if each not in known]
            if missing:
                raise NetworkError(layer.name, f"reads {missing[0]}, expected {PICTURE} or an earlier layer")
            known.add(layer.name)
            unread = (unread - set(layer.inputs)) | {layer.name}
            for name, tensor in layer.tensors.items():
                if tensor.dtype not in (torch.float32, torch.float64) or not bool(tensor.isfinite().all()):
                    raise NetworkError(name, f"is {tensor.dtype}, expected finite float32 or float64 numbers")
            operation = layer.operation
            bias, magnitude = (getattr(operation, each, None) for each in ("bias", "magnitude"))
            if bias is not None and bias.shape != layer.tensors[f"{layer.name}.weight"].shape[:1]:
                raise NetworkError(f"{layer.name}.bias", f"has the shape {tuple(bias.shape)}, expected one a channel")
            if magnitude is not None and (
                bias is None or bias.shape != magnitude.shape or not bool((bias.double().abs() <= magnitude).all())
            ):
                raise NetworkError(f"{layer.name}.magnitude", "is no bound of a bias, expected one at least as large")
            if isinstance(operation, Clamp) and not -math.inf < operation.lower <= operation.upper < math.inf:
                raise NetworkError(
                    layer.name, f"clamps from {operation.lower} to {operation.upper}, expected finite ends in order"
                )
            if isinstance(operation, LeakyRectifier) and not 0 <= operation.slope <= 1:
                raise NetworkError(layer.name, f"has the slope {operation.slope}, expected 0 to 1")
        if unread != {self.layers[-1].name}:
            raise NetworkError(min(unread - {self.layers[-1].name}), "is read by no layer, expected a layer that is")
        _ = self.shapes

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of every output for one picture, by name."""
        shapes: dict[str, tuple[int, ...]] = {PICTURE: self.shape}
        for layer in self.layers:
            operation = layer.operation
            values: dict[str, Any] = {
                each: getattr(operation, each) for each in _OF_WINDOWS if hasattr(operation, each)
            }
            weight = tuple(operation.weight.shape) if isinstance(operation, Convolution | FullConnection) else ()
            if isinstance(operation, Convolution):
                values["kernel"] = weight[2:]
            try:
                read = [shapes[each] for each in layer.inputs]
                shapes[layer.name] = output_shape(operation.kind, operation.kind, read, weight, Settings(**values))
            except FormatError as error:
                raise NetworkError(layer.name, f"does not fit what it reads: {error}") from error
        del shapes[PICTURE]
        return shapes

    @property
    def output_shape(self) -> tuple[int, ...]:
        """(D, H', W'), or (D,) for one patch."""
        return self.shapes[self.layers[-1].name]

    def normalised(self, pictures: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """Pictures, uint8 (N, C, H, W), as the network reads them. Raises UsageError for others."""
        if pictures.dtype != torch.uint8 or tuple(pictures.shape[1:]) != self.shape:
            raise UsageError(
                f"pictures are {pictures.dtype} {tuple(pictures.shape)}, expected uint8 (N, C, H, W) with {self.shape}"
            )
        mean, std = (torch.tensor(each, dtype=dtype)[:, None, None] for each in (self.mean, self.std))
        return (pictures.to(dtype) / 255 - mean) / std

    def latents(self, pictures: Tensor, dtype: torch.dtype = torch.float64) -> Tensor:
        """The latents (N, D, H', W') or (N, 1, D) of pictures, uint8 (N, C, H, W); an estimate. Raises UsageError."""
        *_, (_, output) = self.outputs_of(self.normalised(pictures, dtype))
        return output[:, None] if output.dim() == 2 else output

    def outputs_of(self, images: Tensor) -> Iterator[tuple[str, Tensor]]:
        """The name and the output of every layer, in their order, of normalised pictures (N, C, H, W), computed in
        their type; estimates, for comparisons."""
        yield from walk(self, images, lambda layer, inputs: layer.operation(*inputs))

    @property
    def digest(self) -> str:
        """SHA-256 (hex) of the network's file: of the bytes it was loaded from, else of the bytes `save` writes."""
        return self._digest or hashlib.sha256(self.to_bytes()).hexdigest()

    def to_bytes(self) -> bytes:
        """The network's file, safetensors; the same network gives the same bytes."""
        described = {
            "version": 1,
            "input": {
                "shape": list(self.shape),
                "mean": [each.hex() for each in self.mean],
                "std": [each.hex() for each in self.std],
            },
            "layers": [layer.to_json() for layer in self.layers],
        }
        tensors = {name: tensor for layer in self.layers for name, tensor in layer.tensors.items()}
        return safetensors.torch.save(
            {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
            metadata={network_file.METADATA_KEY: json.dumps(described)},
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> FrozenNetwork:
        """Read a network from the bytes of its file, as the checker does. Raises NetworkError, which names the layer or
        field."""
        try:
            return cls.of(network_file.read_network(data))
        except UnreadableNetworkError as error:
            raise NetworkError(None, str(error)) from error

    @classmethod
    def of(cls, network: Network) -> FrozenNetwork:
        """A network whose file was read already. Raises NetworkError, which names the layer."""
        mean, std = (tuple(map(float, numbers)) for numbers in (network.mean, network.std))
        return cls(network.shape, mean, std, tuple(map(NetworkLayer.of, network.layers)), network.sha256)

    def save(self, path: str | Path) -> None:
        """Write the network's file: a temporary file beside it, which is then renamed. Raises InputError."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> FrozenNetwork:
        """Read a network's file. Raises InputError, which names the file and the layer."""
        with naming(path, NetworkError):
            return cls.from_bytes(read(path, "a network file (safetensors)", most=LARGEST_NETWORK))


def walk(
    network: FrozenNetwork, picture: Any, compute: Callable[[NetworkLayer, Sequence[Any]], Any]
) -> Iterator[tuple[str, Any]]:
    """The name and the output of every layer, in their order, `compute` giving each from those that the layer reads; an
    output is forgotten when nothing reads it any more."""
    last = {name: index for index, layer in enumerate(network.layers) for name in layer.inputs}
    known: dict[str, Any] = {PICTURE: picture}
    for index, layer in enumerate(network.layers):
        output = compute(layer, [known[each] for each in layer.inputs])
        known[layer.name] = output
        for name in {*layer.inputs, layer.name}:
            if last.get(name, index) <= index:
                del known[name]
        yield layer.name, output


def picture_digest(picture: Tensor) -> str:
    """SHA-256 (hex) of a picture, uint8 (C, H, W), by value: the same of a PNG file and of a tensor."""
    channels, rows, columns = picture.shape
    return Picture((channels, rows, columns), picture.contiguous().numpy().tobytes()).digest


def pictures_file(pictures: Tensor) -> bytes:
    """The bytes of a file (safetensors) of pictures, uint8 (N, C, H, W)."""
    return safetensors.torch.save({"pictures": pictures.contiguous()})


def pictures_of(stored: StoredPictures) -> Tensor:
    """The pictures of a file, uint8 (N, C, H, W)."""
    values = np.frombuffer(stored.data, np.uint8) if stored.data else np.empty(0, np.uint8)
    return torch.from_numpy(np.require(values.reshape(-1, *stored.shape), requirements=["C", "W"]))


GREATEST_FOLDED = 2.0**32
"""No number of a layer with a folded batch normalisation is greater in size."""
NOT_CLAIMED = 2.0**33
LARGEST, _LEAST = 2.0**126, 2.0**-126
"""Numbers beyond `LARGEST` may overflow, and those below `_LEAST` be taken as 0."""
_MOST_TERMS = 2**21 - 32
"""Of a sum whose roundings are bounded, with those of a folded batch normalisation."""


def require_binary32(network: FrozenNetwork) -> None:
    """Raise NetworkError, which names the layer, for a network of which nothing is claimed in binary32."""
    remedy = f"only real arithmetic is claimed of this network ({option('arithmetic', 'real')})"
    if not all(_LEAST < x < LARGEST for x in network.std) or any(abs(x) > LARGEST for x in network.mean):
        raise NetworkError(
            "input", f"has mean {network.mean} and std {network.std}, which may overflow in float32; {remedy}"
        )
    for layer in network.layers:
        why = _why_not(layer)
        if why is not None:
            raise NetworkError(layer.name, f"{why}; {remedy}")


def _why_not(layer: NetworkLayer) -> str | None:
    operation = layer.operation
    if isinstance(operation, LeakyRectifier):
        return f"has the slope {operation.slope}, which float32 may take as 0" if 0 < operation.slope < _LEAST else None
    if isinstance(operation, Product | Gaussian | InverseRoot):
        return f"is of the kind {operation.kind}, of which nothing is claimed in float32"
    if isinstance(operation, Clamp):
        size = max(abs(operation.lower), abs(operation.upper))
        return f"has ends of up to {size:.3g}, which may overflow in float32" if size > LARGEST else None
    if not isinstance(operation, Convolution | FullConnection):
        return None
    terms = operation.weight[0].numel()
    if terms > _MOST_TERMS:
        return f"sums {terms} products, expected at most {_MOST_TERMS} in float32"
    if operation.magnitude is not None:
        if _greatest(operation.magnitude, operation.weight) > GREATEST_FOLDED:
            return (
                "has a batch normalisation folded in of which nothing is claimed in float32: its magnitude or its"
                " weight is beyond 2^32"
            )
        return None
    greatest = _greatest(operation.weight, operation.bias)
    return f"has numbers of up to {greatest:.3g}, which may overflow in float32" if greatest > LARGEST else None


def _greatest(*tensors: Tensor | None) -> float:
    """The greatest size of their numbers."""
    return max(float(tensor.abs().to(torch.float64).amax()) for tensor in tensors if tensor is not None)
