"""Image files: which files are images, and which of them a folder of images stands for."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from verale.errors import InputError

__all__ = ["IMAGE_SUFFIXES", "class_folders", "flat_or_nested", "image_files", "labels_of"]

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")
"""The suffixes of image files, as torchvision's ImageFolder has them."""


def image_files(folder: Path) -> list[Path]:
    """The images of a folder, or of its subfolders, sorted by name. Raises InputError."""
    if not folder.is_dir():
        raise _unexpected(folder, "no such folder")
    files = (path for pattern in ("*", "*/*") for path in folder.glob(pattern))
    names = [path.relative_to(folder).as_posix() for path in files if path.suffix.lower() in IMAGE_SUFFIXES]
    return [folder / name for name in flat_or_nested(folder, names)]


def flat_or_nested(folder: object, names: Iterable[str]) -> list[str]:
    """The images of a folder that holds either images or one subfolder of images for each class.

    Args:
        folder: its path or URI, for messages.
        names: paths of image files relative to the folder, with `/`; deeper ones are left out.

    Returns:
        Their names, sorted part by part.

    Raises:
        InputError: there are no images, or images lie both in the folder and in its subfolders.
    """
    names = list(names)
    flat = [name for name in names if name.count("/") == 0]
    nested = [name for name in names if name.count("/") == 1]
    if bool(flat) == bool(nested):
        raise _unexpected(folder, "images and folders of images" if flat else "no images")
    return sorted(flat or nested, key=lambda name: name.split("/"))


def class_folders(names: Iterable[str], classes: int) -> list[str] | None:
    """The subfolders of images, sorted, if there is one for each class. Names are relative to the folder, with `/`."""
    folders = sorted({name.split("/")[0] for name in names if "/" in name})
    return folders if len(folders) == classes else None


def labels_of(names: Iterable[str], folders: list[str]) -> list[int]:
    """The true classes of images: the indices of their subfolders."""
    return [folders.index(name.split("/")[0]) for name in names]


def _unexpected(folder: object, problem: str) -> InputError:
    suffixes = ", ".join(IMAGE_SUFFIXES)
    return InputError(folder, f"{problem}; expected images ({suffixes}), or one folder of images for each class")
