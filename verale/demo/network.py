"""The packaged digits, the network from their pictures to the latents of the packaged ProtoPNet, frozen, and where
images and prototypes come from.

`examples/digits/train.py` trained the network and froze it.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from verale.adapters.cabrnet.run import DATASET, load_yaml
from verale.adapters.fields import Origin
from verale.files import read
from verale.network import FrozenNetwork
from verale.pictures import read_picture
from verale.runs.source import SourceFile, SourceImage

DATA = Path(__file__).parent / "data"
RUN = DATA / "run" / "final"
IMAGES = DATA / "images"
PROJECTION = DATA / "projection"
"""The training images that prototypes were copied from, named by their index in the projection set."""


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
    pixels = []
    for path in paths:
        grey = read_picture(path, "L")
        pixels.append(torch.frombuffer(bytearray(grey.tobytes()), dtype=torch.uint8).view(1, grey.height, grey.width))
    return Digits(torch.stack(pixels), tuple(int(path.parent.name) for path in paths), tuple(paths))


def source_of(digits: Digits) -> SourceFile:
    """What `source.json` says about the packaged images, and of each prototype about the patch it was copied from."""
    classes = [str(label) for label in sorted(set(digits.labels))]
    origins = []
    with (RUN / "projection_info.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            image = int(row["img_idx"])
            file = PROJECTION / f"{image:04d}.png"
            origins.append(Origin(int(row["proto_idx"]), image, file, int(row["h"]), int(row["w"])).record())
    network = {
        "run": str(RUN),
        "preprocessing": load_yaml(RUN / DATASET)["test_set"]["params"]["transform"],
        "prototypes": origins,
    }
    images = []
    for path, label in zip(digits.paths, digits.labels, strict=True):
        digest = hashlib.sha256(read(path, "a packaged image")).hexdigest()
        images.append(SourceImage(path.relative_to(IMAGES).as_posix(), classes.index(str(label)), digest))
    return SourceFile.build(network, str(IMAGES), classes, images)
