"""Picture files of other formats or sizes: decoded once, by Pillow, into the PNG files that certificates are about.

Which pixels a JPEG file stands for depends on who decodes it, and how a picture is scaled on the library. No proof is
about either. They are done here, before anything is explained; the pixels are kept as a PNG file, which is what the
network sees, what certificates name and what is proved. `source.json` says which file it was made from, and by what.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.checker.errors import PictureError
from verale.checker.read.pictures import SIGNATURE
from verale.errors import InputError, UsageError, option
from verale.files import read
from verale.pictures import is_turned, opened
from verale.runs.images import IMAGE_SUFFIXES

if TYPE_CHECKING:
    from PIL.Image import Image

_PNG = ".png"
_GREY = ("1", "L")
"""Pillow's modes of pictures in black and white, and in grey."""


@dataclass(frozen=True)
class DecodedPicture:
    """A picture that was made from a file.

    Attributes:
        file: its name.
        sha256: of its bytes.
        turned: whether it notes that it is to be turned, which nothing does.
    """

    file: str
    sha256: str
    turned: bool

    def record(self) -> dict[str, str]:
        """The entry of `source.json`."""
        return {"file": self.file, "sha256": self.sha256}


@dataclass(frozen=True)
class Decoder:
    """Makes PNG files that a network can see.

    Args:
        shape: (C, H, W) of the network's pictures.
        resize: scale each picture, so that its shorter side has so many pixels, and take H x W from its middle, as
            torchvision's `Resize` and `CenterCrop` do; None takes only pictures of H x W.

    Raises:
        UsageError: a side that is not above 0.
    """

    shape: tuple[int, int, int]
    resize: int | None = None

    def __post_init__(self) -> None:
        if self.resize is not None and self.resize < 1:
            raise UsageError(f"{option('resize')} is {self.resize}, expected a number of pixels above 0")

    @property
    def by(self) -> str:
        """The library, for `source.json`."""
        return f"Pillow {version('pillow')}"

    @property
    def in_words(self) -> str:
        """How PNG files were made, after "pictures are"."""
        scaled = "" if self.resize is None else f", scaled to a shorter side of {self.resize} and cropped to the middle"
        return f"decoded by {self.by}{scaled}"

    def require_files(self) -> None:
        """Raise UsageError where a tensor of pictures is to be scaled."""
        if self.resize is not None:
            raise UsageError(f"{option('resize')} is for picture files, expected none with a tensor of pictures")

    def takes(self, path: Path) -> bool:
        """Whether a file is decoded: PNG files of the network's size are taken as they are."""
        suffix = path.suffix.lower()
        return suffix in IMAGE_SUFFIXES and (suffix != _PNG or self.resize is not None)

    def name_of(self, path: Path) -> Path:
        """The PNG file's name, for a file's."""
        return path.with_suffix(_PNG) if self.takes(path) and path.suffix.lower() != _PNG else path

    def names(self, paths: Iterable[Path], folder: Path) -> list[str]:
        """The PNG files' names, relative to a folder. Raises InputError: two of them are one."""
        names = [self.name_of(path).relative_to(folder).as_posix() for path in paths]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise InputError(folder / twice[0], "would be two pictures of this name: rename one of the files")
        return names

    def read(self, path: Path, folder: Path, most: int) -> tuple[bytes, DecodedPicture | None]:
        """The bytes of a file as the checker reads them; and what they were made from, if they were.

        Args:
            path: the file.
            folder: to which the name of what they were made from is relative.
            most: bytes of the file.

        Raises:
            PictureError: a file that cannot be read or decoded.
        """
        try:
            data = read(path, "a file of pictures", most=most)
            return self.png(path, path.relative_to(folder).as_posix(), data) if self.takes(path) else (data, None)
        except InputError as error:
            raise PictureError(error.problem) from error

    def png(self, path: Path, name: str, data: bytes) -> tuple[bytes, DecodedPicture]:
        """The bytes of a PNG file of what a file shows, and where it comes from.

        Args:
            path: the file, for messages.
            name: its name, for `source.json`.
            data: its bytes.

        Raises:
            InputError: a PNG file with another suffix; or a file that cannot be decoded, has transparent pixels, or
                another size than the network's.
        """
        from PIL import Image

        if data.startswith(SIGNATURE) and path.suffix.lower() != _PNG:
            raise InputError(path, "expected the suffix .png of a PNG file, and of nothing else: give it another name")
        with opened(path, data) as picture:
            if "A" in picture.getbands() or "transparency" in picture.info:
                raise InputError(path, "has transparent pixels, expected none: save it on a background of your choice")
            turned = is_turned(picture)
            seen = self._of_size(path, picture.convert("L" if picture.mode in _GREY else "RGB"))
            stream = io.BytesIO()
            Image.frombytes(seen.mode, seen.size, seen.tobytes()).save(stream, "PNG")  # without notes or profiles
        return stream.getvalue(), DecodedPicture(name, hashlib.sha256(data).hexdigest(), turned)

    def _of_size(self, path: Path, picture: Image) -> Image:
        """The picture, scaled where that is asked for. Raises InputError: it has another size than the network's."""
        from PIL.Image import Resampling

        _, rows, columns = self.shape
        if self.resize is None:
            if picture.size != (columns, rows):
                raise InputError(
                    path,
                    f"has {picture.height} rows and {picture.width} columns, expected the network's {rows} and"
                    f" {columns}: scale and crop it before, as the network was trained, or give {option('resize')}",
                )
            return picture
        short = min(picture.size)
        wide, high = (self.resize * side // short for side in picture.size)
        if wide < columns or high < rows:
            raise InputError(
                path,
                f"has {high} rows and {wide} columns after it is scaled, expected the network's {rows} and {columns} at"
                f" least: give a greater {option('resize')}",
            )
        left, top = round((wide - columns) / 2), round((high - rows) / 2)
        scaled = picture.resize((wide, high), Resampling.BILINEAR)
        return scaled.crop((left, top, left + columns, top + rows))

    def record(self, decoded: dict[str, DecodedPicture]) -> dict[str, Any]:
        """What `source.json` says of the PNG files, by name, that were made."""
        scaled = None if self.resize is None else {"shorter_side": self.resize, "by": "bilinear", "then": "centre crop"}
        return {"by": self.by, "scaled": scaled, "files": {name: each.record() for name, each in decoded.items()}}
