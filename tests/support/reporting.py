"""Folders of certificates for the tests of reports, as `verale explain` leaves them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from support.small import small_head

from verale.certificate import Certificate
from verale.head import Head, save_latents
from verale.report.collect import Collection, collect
from verale.report.page import page
from verale.report.verdicts import audited
from verale.search import best_paradigm
from verale.search.explain import explain

IMAGES = 4
GRID = (2, 3)


def browser(own: str) -> str:
    """A Chromium's path: one of the PATH, else playwright's own. Without one the test fails, and says what to do."""
    for path in (*map(shutil.which, ("chromium", "chromium-browser", "google-chrome")), own):
        if path and Path(path).exists():
            return path
    raise AssertionError(
        "the report's test needs a Chromium, and none is installed: apt-get install chromium, or"
        " .venv/bin/playwright install chromium"
    )


def report_head(geometry: str = "euclidean", labels: Sequence[str] | None = ("ant", "bee", "cat")) -> Head:
    return replace(small_head(geometry), labels=None if labels is None else tuple(labels))


def report_latents(head: Head, images: int = IMAGES, grid: tuple[int, int] = GRID) -> torch.Tensor:
    """(N, D, 2, 3), or with another grid."""
    values = torch.rand(images, head.depth, *grid, generator=torch.Generator().manual_seed(3))
    return values * 6 if head.prototypes is None else values


@cache
def _explained(head: bytes, paradigm: str, images: int, grid: tuple[int, int]) -> list[Certificate]:
    """The certificates of these latents, which many tests need."""
    known = Head.from_bytes(head)
    certificates = list(explain(known, report_latents(known, images, grid), paradigm))
    assert all(isinstance(each, Certificate) for each in certificates)
    return certificates  # type: ignore[return-value]


def written(path: Path, collection: Collection, title: str = "A report", **options: Any) -> Path:
    """The page of a collection, as a file."""
    path.write_bytes(page(collection, title, **options))
    return path


def folder_of(
    folder: Path,
    head: Head | None = None,
    paradigm: str | None = None,
    names: Sequence[str] = tuple(f"{n}.png" for n in range(IMAGES)),
    classes: Sequence[str] | None = None,
    grid: tuple[int, int] = GRID,
    **changes: Any,
) -> Path:
    """Certificates, head, latents, CSV, images and source.json; `changes` are fields of the last."""
    head = head or report_head()
    latents = report_latents(head, len(names), grid)
    folder.mkdir(parents=True, exist_ok=True)
    head.save(folder / "head.safetensors")
    save_latents(folder / "latents.safetensors", latents)
    lines = ["Idx,Pred Label,Exp Size,Runtime (s),Certificate,Reason"]
    for index, certificate in enumerate(_explained(head.to_bytes(), paradigm or best_paradigm(head), len(names), grid)):
        certificate.save(folder / f"{index:06d}.ale.json")
        lines.append(f"{index},{certificate.predicted},{certificate.size},0.{index + 1}25,{index:06d}.ale.json,")
    (folder / "explanations.csv").write_text("\n".join(lines) + "\n")
    (folder / "images").mkdir()
    for index, name in enumerate(names):
        Image.new("RGB", (30, 20), (40 * index, 90, 120)).save(folder / "images" / name, "PNG")
    source = {
        "preprocessing": {"tensor": {"type": "ToTensor"}},
        "prototypes": [{"prototype": 0, "image": 7, "file": str(folder / "images" / names[0]), "row": 1, "column": 2}],
        "classes": classes,
        "images": [{"file": name, "label": index % 3} for index, name in enumerate(names)],
        "images_folder": str(folder / "images"),
    }
    (folder / "source.json").write_text(json.dumps(source | changes))
    return folder


def reported(where: Path, *given: Any, **options: Any) -> Path:
    """The page of a folder `where/out` that is made as `folder_of` says, whose certificates are audited."""
    return written(where / "report.html", audited(collect(folder_of(where / "out", *given, **options))))


def with_pictures(folder: Path, first: int = 0) -> Path:
    """The folder, with a grey picture of each prototype from one on."""
    (folder / "prototypes").mkdir()
    for number in range(first, report_head().size):
        Image.new("L", (8, 8), 20 * number).save(folder / "prototypes" / f"{number:04d}.png")
    return folder
