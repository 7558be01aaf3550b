"""Thumbnails: the part of an image that the network receives, made smaller."""

from __future__ import annotations

import hashlib
import io
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from verale.errors import InputError
from verale.files import read
from verale.pictures import opened

__all__ = ["Thumbnails", "Window", "open_image", "thumbnail", "window_of"]

_COLOURS = (
    "ToTensor",
    "PILToTensor",
    "ToImage",
    "ToDtype",
    "ConvertImageDtype",
    "Normalize",
    "ToPILImage",
    "Grayscale",
)
"""Preprocessing steps that move no pixel."""
_LARGEST = 2**20
"""The most pixels a side of a preprocessing step."""
_MOST_STEPS = 100
_TINY = 64
"""Images with at most so many pixels a side are stored as PNG: JPEG would blur them."""


@dataclass(frozen=True)
class Window:
    """The part of an image that reaches the network.

    Attributes:
        steps: (name, size) of Resize and CenterCrop in their order; a size is one number or (height, width).
        unknown: names of steps that may move pixels; with such steps, outlined squares may be off.
    """

    steps: tuple[tuple[str, tuple[int, ...]], ...] = ()
    unknown: tuple[str, ...] = ()

    def box(self, width: int, height: int) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the part of an image, as shares of its sides."""
        left, top, right, bottom = 0.0, 0.0, 1.0, 1.0
        wide, high = float(width), float(height)
        for name, size in self.steps:
            if name == "Resize":
                scale = size[0] / min(wide, high)
                wide, high = (wide * scale, high * scale) if len(size) == 1 else (float(size[1]), float(size[0]))
            else:
                across, down = min(1.0, size[-1] / wide), min(1.0, size[0] / high)
                inset, below = (right - left) * (1 - across) / 2, (bottom - top) * (1 - down) / 2
                left, right, top, bottom = left + inset, right - inset, top + below, bottom - below
                wide, high = min(wide, float(size[-1])), min(high, float(size[0]))
        return left, top, right, bottom


def window_of(preprocessing: object) -> Window:
    """The window of CaBRNet's preprocessing steps (`dataset.yml`, kept in `source.json`)."""
    if not preprocessing:
        return Window()
    steps = list(preprocessing.values()) if isinstance(preprocessing, Mapping) else preprocessing
    known: list[tuple[str, tuple[int, ...]]] = []
    unknown: list[str] = []
    for step in steps if isinstance(steps, list) and len(steps) <= _MOST_STEPS else [None]:
        name = str(step.get("type")) if isinstance(step, Mapping) else "an invalid step"
        size = _size(step) if isinstance(step, Mapping) and name in ("Resize", "CenterCrop") else None
        if size is not None:
            known.append((name, size))
        elif name not in _COLOURS:
            unknown.append(name)
    return Window(tuple(known), tuple(unknown))


def _size(step: Mapping[str, object]) -> tuple[int, ...] | None:
    params = step.get("params") or {}
    size = params.get("size") if isinstance(params, Mapping) and set(params) <= {"size", "interpolation"} else None
    sizes = tuple(size) if isinstance(size, (list, tuple)) else (size,)
    return sizes if 1 <= len(sizes) <= 2 and all(type(one) is int and 0 < one <= _LARGEST for one in sizes) else None


def open_image(path: Path, window: Window, bound: int, sha256: str | None = None) -> Image.Image:
    """The part of an image that the network receives, at most `bound` pixels a side.

    Raises:
        InputError: a file that is not an image, or too large, or whose digest differs from the given one.
    """
    return _decoded(path, _bytes_of(path, sha256), window, bound)


def _bytes_of(path: Path, sha256: str | None) -> bytes:
    data = read(path, "an image")
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(path, "is not the image that was explained: its bytes changed")
    return data


def _decoded(path: Path, data: bytes, window: Window, bound: int) -> Image.Image:
    with opened(path, data) as picture:
        left, top, right, bottom = window.box(*picture.size)
        picture.draft("RGB", (int(bound / (right - left)) + 1, int(bound / (bottom - top)) + 1))
        image: Image.Image = picture.convert("RGB")
    wide, high = image.size
    left_end, right_end = _pixels(left, right, wide)
    upper_end, lower_end = _pixels(top, bottom, high)
    image = image.crop((left_end, upper_end, right_end, lower_end))
    image.thumbnail((bound, bound), Image.Resampling.LANCZOS)
    return image


def _pixels(first: float, last: float, side: int) -> tuple[int, int]:
    """The pixels from one share of a side to another: at least one."""
    start = min(round(first * side), side - 1)
    return start, max(round(last * side), start + 1)


class Thumbnails:
    """Thumbnails of at most `side` pixels a side, as data URIs; the same bytes are decoded once."""

    def __init__(self, side: int) -> None:
        self._side = side
        self._made: dict[tuple[str, Window], str | InputError] = {}

    def uri(self, path: Path, window: Window, sha256: str | None = None) -> str:
        """The data URI of an image. Raises InputError, as `open_image` does."""
        data = _bytes_of(path, sha256)
        key = hashlib.sha256(data).hexdigest(), window
        if key not in self._made:
            try:
                self._made[key], *_ = _encoded(_decoded(path, data, window, self._side))
            except InputError as error:
                self._made[key] = error
        made = self._made[key]
        if isinstance(made, InputError):
            raise InputError(path, made.problem)
        return made


def thumbnail(path: Path, window: Window, bound: int, sha256: str | None = None) -> tuple[str, int, int]:
    """An image as a data URI, with its width and height. Raises InputError, as `open_image` does."""
    return _encoded(open_image(path, window, bound, sha256))


def _encoded(image: Image.Image) -> tuple[str, int, int]:
    data, kind = io.BytesIO(), "PNG" if max(image.size) <= _TINY else "JPEG"
    image.save(data, kind, **({"optimize": True} if kind == "PNG" else {"quality": 85, "optimize": True}))
    return f"data:image/{kind.lower()};base64,{b64encode(data.getvalue()).decode()}", *image.size
