"""Where certificates come from: image files, labels, class names, and the training images of the prototypes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verale.errors import InputError
from verale.files import read
from verale.runs.images import image_files

__all__ = ["Origin", "Source", "load_source"]


@dataclass(frozen=True)
class Origin:
    """Where projection took a prototype from: the training image's place in its set, its file where that is known, row
    and column of the latent grid."""

    image: int
    file: Path | None
    row: int
    column: int


@dataclass(frozen=True)
class Source:
    """What is known of where the latents come from; by default nothing.

    Attributes:
        files: the images in the latents' order.
        labels: their true classes, where known; as many as files.
        digests: SHA-256 of the files that were seen, where known; as many as files.
        classes: the names of the classes.
        preprocessing: the steps from image to tensor, as CaBRNet's dataset.yml states them.
        origins: by prototype.
    """

    files: tuple[Path, ...] = ()
    labels: tuple[int | None, ...] = ()
    digests: tuple[str | None, ...] = ()
    classes: tuple[str, ...] | None = None
    preprocessing: Any = None
    origins: Mapping[int, Origin] = field(default_factory=dict)


def load_source(path: Path | None, images: Path | None) -> Source:
    """What `source.json` says, with the images looked for in `images` where that is given.

    Args:
        path: the file, or None if there is none; then images come from `images` in the order of their names.

    Raises:
        InputError: a file that is not what `verale explain` writes; a folder without images.
    """
    if path is None:
        return Source() if images is None else _named(image_files(images))
    try:
        record = json.loads(read(path, "what verale explain writes of its source"))
        folder = Path(record["images_folder"])
        source = Source(
            files=tuple(folder / _inside(one["file"]) for one in record["images"]),
            labels=tuple(_index_or_none(one["label"]) for one in record["images"]),
            digests=tuple(None if one.get("sha256") is None else _text(one["sha256"]) for one in record["images"]),
            classes=None if record["classes"] is None else tuple(map(_text, record["classes"])),
            preprocessing=record["preprocessing"],
            origins=_origins(record["prototypes"] or ()),
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise InputError(
            path, f"is not what verale explain writes ({error}): remove it, or explain the images again"
        ) from error
    if images is None:
        return source
    return replace(source, files=tuple(images / file.relative_to(folder) for file in source.files))


def _named(files: list[Path]) -> Source:
    return Source(files=tuple(files), labels=(None,) * len(files), digests=(None,) * len(files))


def _origins(entries: Iterable[Mapping[str, Any]]) -> dict[int, Origin]:
    """By prototype; of several the first (PIP-Net's channels have several)."""
    found: dict[int, Origin] = {}
    for entry in entries:
        file = entry["file"]
        origin = Origin(
            *(_index(entry["image"]), None if file is None else Path(_text(file))),
            *(_index(entry["row"]), _index(entry["column"])),
        )
        found.setdefault(_index(entry["prototype"]), origin)
    return found


def _inside(value: object) -> Path:
    """A path that leads out of no folder."""
    path = Path(_text(value))
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{value!r} leads out of the images' folder")
    return path


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _index(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError(f"{value!r} is no index")
    return value


def _index_or_none(value: object) -> int | None:
    return None if value is None else _index(value)
