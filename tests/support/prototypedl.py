"""A small whole PrototypeDL, saved as its authors saved theirs: a pickled module whose classes exist nowhere.

    PYTHONPATH=.:tests python -m support.prototypedl FILE

writes one with random numbers.
"""

from __future__ import annotations

import gzip
import struct
import sys
import types
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from unittest import mock

import torch
from torch import Tensor, nn

SIDE = 28
"""Images have as many rows and columns."""

_LATENT, _HIDDEN, _PROTOTYPES, _CLASSES = 8, 3, 6, 3


class Encoder(nn.Module):
    """Four convolutions, 28 to 2, each followed by a sigmoid."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [1, _HIDDEN, _HIDDEN, _HIDDEN, _LATENT // 4]
        layers = [
            layer
            for before, after in pairwise(sizes)
            for layer in (nn.Conv2d(before, after, 3, stride=2, padding=1), nn.Sigmoid())
        ]
        self.convnet = nn.Sequential(*layers)

    def forward(self, images: Tensor) -> Tensor:
        return self.convnet(images)


class Decoder(nn.Module):
    """Four transposed convolutions, 2 to 28."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [_LATENT // 4, _HIDDEN, _HIDDEN, _HIDDEN, 1]
        for number, (before, after) in enumerate(pairwise(sizes), start=1):
            self.add_module(f"de{number}", nn.ConvTranspose2d(before, after, 3, stride=2, padding=1))
        self.sigmoid = nn.Sigmoid()

    def forward(self, maps: Tensor) -> Tensor:
        for number, side in enumerate((4, 7, 14, SIDE), start=1):
            maps = self.sigmoid(getattr(self, f"de{number}")(maps, output_size=(side, side)))
        return maps


class Classifier(nn.Module):
    """Squared distances to prototypes, and a linear layer on them."""

    def __init__(self) -> None:
        super().__init__()
        self.latent_size = _LATENT
        self.prototypes = nn.Parameter(torch.rand(_PROTOTYPES, _LATENT))
        self.linear1 = nn.Linear(_PROTOTYPES, _CLASSES)

    def forward(self, maps: Tensor) -> Tensor:
        return self.linear1((maps.flatten(1)[:, None] - self.prototypes).square().sum(2))


class Small(nn.Module):
    """The network: what it encodes, the pictures of that, and logits."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder, self.prototype = Encoder(), Decoder(), Classifier()

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        encoded = self.encoder(images)
        return encoded, self.decoder(encoded), self.prototype(encoded)


class TwoLevels(nn.Module):
    """Squared distances to prototypes of two levels, and a linear layer for each."""

    def __init__(self) -> None:
        super().__init__()
        self.sup_prototypes = nn.Parameter(torch.rand(_CLASSES, _LATENT))
        self.sub_prototypes = nn.Parameter(torch.rand(_PROTOTYPES, _LATENT))
        self.linear1, self.linear2 = nn.Linear(_CLASSES, _CLASSES), nn.Linear(_PROTOTYPES, _CLASSES)

    def forward(self, maps: Tensor) -> tuple[Tensor, Tensor]:
        flat = maps.flatten(1)[:, None]
        distances = [(flat - each).square().sum(2) for each in (self.sup_prototypes, self.sub_prototypes)]
        return self.linear1(distances[0]), self.linear2(distances[1])


class Hierarchy(Small):
    """The hierarchical network: logits of both levels."""

    def __init__(self) -> None:
        super().__init__()
        self.prototype = TwoLevels()


_NAMES = {
    Hierarchy: ("model", "HierarchyModel"),
    TwoLevels: ("network.hierarchyPrototype", "HierarchyPrototypeClassifier"),
    Small: ("model", "PrototypeModel"),
    Encoder: ("network.modules", "ConvEncoder"),
    Decoder: ("network.modules", "ConvDecoder"),
    Classifier: ("network.prototype", "PrototypeClassifier"),
}
"""The classes' names in the published files."""


def small(seed: int = 0) -> Small:
    """A network with random numbers, large enough that images differ."""
    return _drawn(Small, seed)


def hierarchy(seed: int = 0) -> Small:
    """The same with two levels of prototypes."""
    return _drawn(Hierarchy, seed)


def _drawn(kind: type[Small], seed: int) -> Small:
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = kind()
        with torch.no_grad():
            for parameter in network.encoder.parameters():
                parameter.mul_(6)
    return network.requires_grad_(False)


def save_whole(network: nn.Module, path: Path, zipped: bool = False) -> None:
    """Save the whole network under the published names, by default in the older format."""
    with _named(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Couldn't retrieve source code")
        torch.save(network, path, _use_new_zipfile_serialization=zipped)


def random_digits(count: int) -> Tensor:
    """Images (count, SIDE, SIDE) of random bytes, always the same."""
    generator = torch.Generator().manual_seed(0)
    return torch.randint(256, (count, SIDE, SIDE), dtype=torch.uint8, generator=generator)


def write_idx(folder: Path, images: str, labels: str, pixels: Tensor, classes: Sequence[int]) -> None:
    """Write images and their classes as MNIST's files are published, `IMAGES-ubyte.gz` and `LABELS-ubyte.gz`."""
    for name, shape, content in (
        (images, tuple(pixels.shape), pixels.numpy().tobytes()),
        (labels, (len(classes),), bytes(classes)),
    ):
        header = struct.pack(f">HBB{len(shape)}I", 0, 8, len(shape), *shape)
        (folder / f"{name}-ubyte.gz").write_bytes(gzip.compress(header + content))


@contextmanager
def _named() -> Iterator[None]:
    """While this lasts, the classes have the published names, and can be found there."""
    before = {kind: (kind.__module__, kind.__qualname__) for kind in _NAMES}
    lent = {name: types.ModuleType(name) for name in ("network", *(module for module, _ in _NAMES.values()))}
    with mock.patch.dict(sys.modules, lent):
        try:
            for kind, (module, name) in _NAMES.items():
                setattr(lent[module], name, kind)
                kind.__module__, kind.__qualname__ = module, name
            yield
        finally:
            for kind, (module, name) in before.items():
                kind.__module__, kind.__qualname__ = module, name


if __name__ == "__main__":
    save_whole(small(), Path(sys.argv[1]))
