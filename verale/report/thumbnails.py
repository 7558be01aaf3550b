"""Thumbnails: the part of an image that the network receives, made smaller.

A picture that a certificate names is drawn whole, from the values that the checker reads. What is written has no
profile and nothing else by which a program would change colours.
"""

from __future__ import annotations

import hashlib
import io
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from PIL import Image

from verale.checker.read.pictures import LARGEST_PNG, Picture
from verale.errors import InputError
from verale.files import read
from verale.pictures import opened
from verale.report.images import Match, named_picture
from verale.runs.source import Source

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
_WHOLE = 1024
"""Pixels a side of an image of which a part is drawn."""
_TINY = 64
"""Images with at most so many pixels a side are stored as PNG: JPEG would blur them."""


@dataclass(frozen=True)
class Window:
    """The part of an image that reaches the network: name and size of Resize and CenterCrop in their order, a size one
    number or (height, width); and the names of other steps that may move pixels, so that squares may be off."""

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
        params = (step.get("params") or {}) if isinstance(step, Mapping) and name in ("Resize", "CenterCrop") else {}
        is_plain = isinstance(params, Mapping) and set(params) <= {"size", "interpolation"}
        size = params.get("size") if is_plain else None
        sizes = tuple(size) if isinstance(size, (list, tuple)) else (size,)
        if 1 <= len(sizes) <= 2 and all(type(one) is int and 0 < one <= _LARGEST for one in sizes):
            known.append((name, sizes))
        elif name not in _COLOURS:
            unknown.append(name)
    return Window(tuple(known), tuple(unknown))


@dataclass(frozen=True)
class ImageFile:
    """An image's file, and what is drawn of it.

    Attributes:
        path: of the file.
        window: the part that is drawn.
        sha256: which its bytes have to have; None for any.
        picture: the digest of the picture that it has to hold, which is drawn as the checker reads it; None for an
            image that no certificate names.
        held: that picture, or the bytes of the file, where they are at hand.
    """

    path: str | Path
    window: Window = Window()
    sha256: str | None = None
    picture: str | None = None
    held: Picture | bytes | None = field(default=None, compare=False)


def to_draw(source: Source, match: Match | None) -> ImageFile | None:
    """What is drawn of a certificate's image; None where nothing may be shown.

    Soundness: with a certificate that names a picture nothing else than this picture is drawn, whole: `source.json` may
    not cut it.
    """
    file = None if match is None or match.file is None or not match.is_shown else source.admitted(match.file)
    if match is None or file is None:
        return None
    if match.picture is not None:
        return ImageFile(file, picture=match.picture, held=match.held)
    return ImageFile(file, window_of(source.preprocessing), match.sha256, held=match.held)


def image_of(picture: Picture) -> Image.Image:
    """A picture's values as an image in red, green and blue."""
    channels, rows, columns = picture.shape
    size = rows * columns
    planes = [
        Image.frombytes("L", (columns, rows), picture.values[channel * size : (channel + 1) * size])
        for channel in range(channels)
    ]
    return Image.merge("RGB", planes if channels == 3 else planes * 3)


def open_image(file: ImageFile, bound: int) -> Image.Image:
    """What is drawn of an image, at most `bound` pixels a side.

    Raises:
        InputError: a file that is not an image, or too large, or has other bytes, or holds another picture, than it has
            to.
    """
    if file.picture is not None:
        held = file.held if isinstance(file.held, Picture) else None
        if held is None:
            held = named_picture(read(file.path, "a PNG file", most=LARGEST_PNG), file.picture)
        if held is None:
            raise InputError(file.path, "does not hold the picture that the certificate names: it changed")
        return _reduced(image_of(held), bound)
    data = file.held if isinstance(file.held, bytes) else read(file.path, "an image")
    if file.sha256 is not None and hashlib.sha256(data).hexdigest() != file.sha256:
        raise InputError(file.path, "is not the image that was explained: its bytes changed")
    with opened(file.path, data) as picture:
        left, top, right, bottom = file.window.box(*picture.size)
        picture.draft("RGB", (int(bound / (right - left)) + 1, int(bound / (bottom - top)) + 1))
        image: Image.Image = picture.convert("RGB")
    return _reduced(_part_of(image, (left, top, right, bottom)), bound)


def _reduced(image: Image.Image, bound: int) -> Image.Image:
    """The image with at most `bound` pixels a side; its profile and the like are left out."""
    image.thumbnail((bound, bound), Image.Resampling.LANCZOS)
    image.info.clear()
    return image


def _part_of(image: Image.Image, part: tuple[float, float, float, float]) -> Image.Image:
    """A part of an image, left, top, right, bottom as shares of its sides: at least one pixel."""
    wide, high = image.size
    left, top = min(round(part[0] * wide), wide - 1), min(round(part[1] * high), high - 1)
    return image.crop((left, top, max(round(part[2] * wide), left + 1), max(round(part[3] * high), top + 1)))


def thumbnail(file: ImageFile, bound: int, part: tuple[float, float, float, float] | None = None) -> str:
    """An image as a data URI, or a part of it: left, top, right, bottom as shares of its sides. Raises InputError, as
    `open_image` does."""
    image = open_image(file, bound if part is None else _WHOLE)
    image = image if part is None else _reduced(_part_of(image, part), bound)
    data, kind = io.BytesIO(), "PNG" if max(image.size) <= _TINY else "JPEG"
    image.save(data, kind, **({"optimize": True} if kind == "PNG" else {"quality": 85, "optimize": True}))
    return f"data:image/{kind.lower()};base64,{b64encode(data.getvalue()).decode()}"
