"""Thumbnails: the part of an image that the network receives, made smaller."""

from __future__ import annotations

import hashlib
import io
import warnings
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image

from verale.errors import InputError
from verale.files import read

__all__ = ["Window", "open_image", "thumbnail", "window_of"]

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


def window_of(preprocessing: Any) -> Window:
    """The window of CaBRNet's preprocessing steps (`dataset.yml`, kept in `source.json`)."""
    if not preprocessing:
        return Window()
    steps = list(preprocessing.values()) if isinstance(preprocessing, Mapping) else preprocessing
    known: list[tuple[str, tuple[int, ...]]] = []
    unknown: list[str] = []
    for step in steps if isinstance(steps, list) else [None]:
        name = str(step.get("type")) if isinstance(step, Mapping) else "an invalid step"
        size = _size(step) if isinstance(step, Mapping) and name in ("Resize", "CenterCrop") else None
        if size is not None:
            known.append((name, size))
        elif name not in _COLOURS:
            unknown.append(name)
    return Window(tuple(known), tuple(unknown))


def _size(step: Mapping[str, Any]) -> tuple[int, ...] | None:
    params = step.get("params") or {}
    size = params.get("size") if isinstance(params, Mapping) and set(params) <= {"size", "interpolation"} else None
    sizes = tuple(size) if isinstance(size, (list, tuple)) else (size,)
    return sizes if 1 <= len(sizes) <= 2 and all(type(one) is int and one > 0 for one in sizes) else None


def open_image(path: Path, window: Window, bound: int, sha256: str | None = None) -> Image.Image:
    """The part of an image that the network receives, at most `bound` pixels a side.

    Raises:
        InputError: a file that is not an image, or too large, or whose digest differs from the given one.
    """
    data = read(path, "an image")
    if sha256 is not None and hashlib.sha256(data).hexdigest() != sha256:
        raise InputError(path, "is not the image that was explained: its bytes changed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data)) as opened:
                left, top, right, bottom = window.box(*opened.size)
                opened.draft("RGB", (int(bound / (right - left)) + 1, int(bound / (bottom - top)) + 1))
                image: Image.Image = opened.convert("RGB")
    except Exception as error:  # PIL raises errors of any kind on broken bytes
        raise InputError(
            path, f"cannot be read as an image ({type(error).__name__}): is this the right folder?"
        ) from error
    wide, high = image.size
    image = image.crop((round(left * wide), round(top * high), round(right * wide), round(bottom * high)))
    image.thumbnail((bound, bound), Image.Resampling.LANCZOS)
    return image


def thumbnail(path: Path, window: Window, bound: int, sha256: str | None = None) -> tuple[str, int, int]:
    """An image as a data URI, with its width and height. Raises InputError, as `open_image` does."""
    image = open_image(path, window, bound, sha256)
    data, kind = io.BytesIO(), "PNG" if max(image.size) <= _TINY else "JPEG"
    image.save(data, kind, **({"optimize": True} if kind == "PNG" else {"quality": 85, "optimize": True}))
    return f"data:image/{kind.lower()};base64,{b64encode(data.getvalue()).decode()}", *image.size
