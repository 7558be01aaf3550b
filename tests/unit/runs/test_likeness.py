"""What latents look like: the nearest patches, and where prototypes come from."""

from __future__ import annotations

from pathlib import Path

import torch

from verale.adapters.fields import Origin
from verale.runs.contrast import near_patches, origins_record
from verale.runs.source import Source


def test_the_nearest_patch_of_each_changed_patch() -> None:
    images = torch.tensor([[[0.0, 0], [1, 0], [2, 0]], [[0, 5], [1, 5], [3, 5]]])
    changed = images[0].double().clone()
    changed[1] = torch.tensor([1.0, 4])
    changed[2] = torch.tensor([2.0, 0.5])
    found = near_patches(changed, images[0].double(), images, Source(files=(Path("a/0.png"),)))
    assert [(each.patch, each.image, each.at, each.file) for each in found] == [(1, 1, 1, None), (2, 0, 2, "0.png")]
    assert [each.distance for each in found] == [1.0, 0.5]
    assert [each.moved for each in found] == [4.0, 0.5]


def test_origins() -> None:
    origins = {0: Origin(0, 7, Path("x/y.png"), 1, 2), 3: Origin(3, 9, None, 0, 4)}
    assert str(origins[0]) == "training patch: y.png, row 1, column 2"
    assert str(origins[3]) == "training patch: image 9, row 0, column 4"
    assert origins_record([3, 3, 1], origins) == [{"prototype": 3, "image": 9, "file": None, "row": 0, "column": 4}]
