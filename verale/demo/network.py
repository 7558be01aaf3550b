"""The packaged digits, and the network from their pictures to the latents of the packaged ProtoPNet, frozen.

`examples/digits/train.py` trained the network and froze it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from verale.network import FrozenNetwork
from verale.pictures import read_picture

__all__ = ["DATA", "IMAGES", "RUN", "Digits", "load_images", "load_network"]

DATA = Path(__file__).parent / "data"
RUN = DATA / "run" / "final"
IMAGES = DATA / "images"


@dataclass(frozen=True)
class Digits:
    """Grey pictures, uint8 (N, 1, 32, 32), their labels and the files they came from, all in the same order."""

    images: Tensor
    labels: tuple[int, ...]
    paths: tuple[Path, ...]


def load_network() -> FrozenNetwork:
    """The network, whose `latents(digits.images)` are (N, 32, 8, 8), every entry in [0, 1]."""
    return FrozenNetwork.load(DATA / "network.safetensors")


def load_images() -> Digits:
    """The pictures in `images/<label>/<index>.png`, sorted by label and index."""
    paths = sorted(IMAGES.glob("*/*.png"), key=lambda path: (int(path.parent.name), path.name))
    labels = tuple(int(path.parent.name) for path in paths)
    return Digits(torch.stack([_pixels(path) for path in paths]), labels, tuple(paths))


def _pixels(path: Path) -> Tensor:
    """A picture's bytes (1, H, W)."""
    grey = read_picture(path, "L")
    return torch.frombuffer(bytearray(grey.tobytes()), dtype=torch.uint8).view(1, grey.height, grey.width)
