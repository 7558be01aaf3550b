"""Where the demonstration's images and prototypes come from, as `source.json` says it."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from verale.adapters.cabrnet.run import DATASET, load_yaml
from verale.adapters.fields import Origin
from verale.demo.network import DATA, IMAGES, RUN, Digits
from verale.files import read
from verale.runs.source import SourceFile, SourceImage

__all__ = ["PROJECTION", "source_of"]

PROJECTION = DATA / "projection"
"""The training images that prototypes were copied from, named by their index in the projection set."""


def source_of(digits: Digits) -> SourceFile:
    """What `source.json` says about the packaged images and prototypes."""
    classes = [str(label) for label in sorted(set(digits.labels))]
    network = {
        "run": str(RUN),
        "preprocessing": load_yaml(RUN / DATASET)["test_set"]["params"]["transform"],
        "prototypes": list(_origins()),
    }
    images = [
        SourceImage(path.relative_to(IMAGES).as_posix(), classes.index(str(label)), _sha256(path))
        for path, label in zip(digits.paths, digits.labels, strict=True)
    ]
    return SourceFile.build(network, str(IMAGES), classes, images)


def _sha256(path: Path) -> str:
    return hashlib.sha256(read(path, "a packaged image")).hexdigest()


def _origins() -> Iterator[dict[str, Any]]:
    """For each prototype, the patch that it was copied from."""
    with (RUN / "projection_info.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            image = int(row["img_idx"])
            file = PROJECTION / f"{image:04d}.png"
            yield Origin(int(row["proto_idx"]), image, file, int(row["h"]), int(row["w"])).record()
