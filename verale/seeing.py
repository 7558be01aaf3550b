"""From a CaBRNet network and a folder of images to a head, latents, and where they are from."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from verale.errors import InputError
from verale.files import write_atomically

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head

__all__ = ["HEAD", "LATENTS", "SOURCE", "image_files", "see_to"]

_log = logging.getLogger(__name__)

HEAD, LATENTS, SOURCE = "head.safetensors", "latents.safetensors", "source.json"

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
"""What torchvision's ImageFolder takes for an image."""


def see_to(
    directory: Path, run: Path, images: Path, files: list[Path], advance: Callable[[int], object] = lambda done: None
) -> tuple[Head, Tensor]:
    """Head and latents of a CaBRNet network and a folder of images, written with `source.json` to `directory`.

    Args:
        files: the images of that folder, `image_files`.
        advance: told how many more are seen.

    Raises:
        InputError: a run that verale cannot load, an image that cannot be read or that head and network see
            differently; nothing is written.
    """
    from verale.adapters.cabrnet import load
    from verale.head import save_latents

    network = load(run)
    seen = network.see(files, advance)
    folders = sorted({file.parent.name for file in files}) if files[0].parent != images else []
    classes = folders if len(folders) == network.head.classes else None
    other = [str(file) for file, differs in zip(files, seen.undecided.tolist(), strict=True) if differs]
    if other:
        _log.warning("CaBRNet's float32 logits name another class than the head's: %s", ", ".join(other))
    source = {
        **network.describe(),
        "classes": classes,
        "images": [
            {"file": str(file.relative_to(images)), "label": classes.index(file.parent.name) if classes else None}
            for file in files
        ],
        "images_folder": str(images.resolve()),
        "largest_difference_of_logits": float(seen.off.max()),
        "largest_share_of_allowed_difference": seen.share,
    }
    network.head.save(directory / HEAD)
    save_latents(directory / LATENTS, seen.latents)
    write_atomically(
        directory / SOURCE, (json.dumps(source, indent=1, ensure_ascii=False, default=str) + "\n").encode()
    )
    return network.head, seen.latents


def image_files(folder: Path) -> list[Path]:
    """The images of a folder, or of its folders, in the order of their names. Raises InputError."""

    def inside(pattern: str) -> list[Path]:
        return sorted(path for path in folder.glob(pattern) if path.suffix.lower() in IMAGE_SUFFIXES)

    flat, nested = inside("*"), inside("*/*")
    if not folder.is_dir() or bool(flat) == bool(nested):
        found = "images and folders of images" if flat else "no images" if folder.is_dir() else "no such folder"
        raise InputError(
            folder, f"{found}; expected images ({', '.join(IMAGE_SUFFIXES)}), or one folder of them a class"
        )
    return flat or nested
