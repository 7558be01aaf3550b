"""Where the demonstration's images and prototypes come from, in the form of `verale explain`'s source.json."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any

from verale.adapters.cabrnet.run import DATASET, load_yaml
from verale.demo.network import DATA, IMAGES, RUN, Digits

__all__ = ["PROJECTION", "describe"]

PROJECTION = DATA / "projection"
"""The training images that prototypes were taken from, named by their places in the projection set."""


def describe(digits: Digits) -> dict[str, Any]:
    """What `source.json` says of the packaged images and prototypes."""
    classes = [str(label) for label in sorted(set(digits.labels))]
    return {
        "run": str(RUN),
        "preprocessing": load_yaml(RUN / DATASET)["test_set"]["params"]["transform"],
        "prototypes": list(_origins()),
        "classes": classes,
        "images": [
            {"file": path.relative_to(IMAGES).as_posix(), "label": classes.index(str(label))}
            for path, label in zip(digits.paths, digits.labels, strict=True)
        ],
        "images_folder": str(IMAGES),
    }


def _origins() -> Iterator[dict[str, Any]]:
    with (RUN / "projection_info.csv").open(newline="") as stream:
        for row in csv.DictReader(stream):
            image = int(row["img_idx"])
            yield {
                "prototype": int(row["proto_idx"]),
                "image": image,
                "file": str(PROJECTION / f"{image:04d}.png"),
                "row": int(row["h"]),
                "column": int(row["w"]),
            }
