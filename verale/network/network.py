"""What a network is, from the picture to the latents: layers in their order, frozen as data; its file, its pictures.

`require_binary32` says of which networks something is claimed in binary32, as far as their files show it
(certificates/network-v1.md). What a file does not show, it says: where a batch normalisation was folded whose numbers
the claim excludes, such as an epsilon below 2^-64, the writer makes the layer's magnitude `NOT_CLAIMED`. This is a
bound of what the folded bias sums still, but a greater one than any claim in binary32 allows. Nothing is proved there:
the checker refuses the same, and more, of its own accord.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import InitVar, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from verale.checker.errors import NetworkError as UnreadableNetworkError
from verale.checker.read import network_file
from verale.checker.read.network_file import PICTURE as PICTURE
from verale.checker.read.network_file import Network
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
from verale.tensors import stored

LARGEST_NETWORK = network_file.LARGEST


@dataclass(frozen=True, eq=False)
class FrozenNetwork:
    """A network from the picture to the latents, as plain data.

    A picture is uint8 (C, H, W). The network reads x = (v / 255 - mean) / std.

    Args:
        shape: (C, H, W) of its pictures.
        mean: C numbers.
        std: C numbers > 0.
        layers: in an order in which each reads what comes before it; the output of the last are the latents.
        of_file: its file, where that was read already.

    Attributes:
        shapes: the shape of every layer's output for one picture, by name.
        digest: SHA-256 (hex) of the network's file: of the bytes it was loaded from, else of the bytes `save` writes.

    Raises:
        NetworkError: its file would be none, as the checker reads it: layers that do not fit each other, say.

    Soundness: every claim about a network is about the exact values of these floats.
    """

    shape: tuple[int, int, int]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    layers: tuple[NetworkLayer, ...]
    of_file: InitVar[Network | None] = None
    shapes: dict[str, tuple[int, ...]] = field(init=False, repr=False)
    digest: str = field(init=False, repr=False)

    def __post_init__(self, of_file: Network | None) -> None:
        for name, number in (("shape", int), ("mean", float), ("std", float)):
            given = tuple(map(number, getattr(self, name)))
            if not all(map(math.isfinite, given)):
                raise NetworkError("input", f"has the {name} {given}, expected finite numbers")
            object.__setattr__(self, name, given)
        object.__setattr__(self, "layers", tuple(self.layers))
        if of_file is None:  # what nobody has read yet has to be what the checker reads
            for layer in self.layers:
                _check_numbers(layer)
            try:
                of_file = network_file.read_network(self.to_bytes())
            except UnreadableNetworkError as error:
                raise NetworkError(None, str(error).removeprefix("network file: ")) from error
        object.__setattr__(self, "shapes", {layer.name: layer.shape for layer in of_file.layers})
        object.__setattr__(self, "digest", of_file.sha256)

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
        return stored(tensors, {network_file.METADATA_KEY: json.dumps(described)})

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
        return cls(network.shape, mean, std, tuple(map(NetworkLayer.of, network.layers)), network)

    def save(self, path: str | Path) -> None:
        """Write the network's file: a temporary file beside it, which is then renamed. Raises InputError."""
        write_atomically(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | Path) -> FrozenNetwork:
        """Read a network's file. Raises InputError, which names the file and the layer."""
        with naming(path, NetworkError):
            return cls.from_bytes(read(path, "a network file (safetensors)", most=LARGEST_NETWORK))


def _check_numbers(layer: NetworkLayer) -> None:
    """Raises NetworkError for what no file can say, or would say in hexadecimal digits."""
    if not network_file.is_name(layer.name):
        raise NetworkError(
            ascii(layer.name)[1:-1][:128], "is no name, expected letters, digits and _ with single dots between"
        )
    for name, tensor in layer.tensors.items():
        if tensor.dtype not in (torch.float32, torch.float64):
            raise NetworkError(name, f"is {tensor.dtype}, expected float32 or float64: convert it (a cast up is exact)")
    operation = layer.operation
    if isinstance(operation, Clamp) and not -math.inf < operation.lower <= operation.upper < math.inf:
        ends = f"clamps from {operation.lower} to {operation.upper}"
        raise NetworkError(layer.name, f"{ends}, expected finite ends in order")
    if isinstance(operation, LeakyRectifier) and not 0 <= operation.slope <= 1:
        raise NetworkError(layer.name, f"has the slope {operation.slope}, expected 0 to 1")


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
