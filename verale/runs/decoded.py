"""The pictures that a network sees, in files. What is no PNG file of the size that it takes is decoded, by Pillow, into
the PNG files that certificates are about.

Which pixels a JPEG file stands for depends on who decodes it, and how a picture is scaled on the library. No proof is
about either. They are done here, before anything is explained; the pixels are kept as a PNG file, which is what the
network sees, what certificates name and what is proved. `source.json` says which file it was made from, and by what.
"""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.checker.errors import PictureError
from verale.checker.read.pictures import LARGEST as LARGEST_PICTURES
from verale.checker.read.pictures import (
    LARGEST_PNG,
    SIGNATURE,
    PictureFile,
    StoredPictures,
    UnreadFile,
    opened_files,
)
from verale.errors import InputError, UsageError, option
from verale.files import read
from verale.pictures import is_turned, opened
from verale.runs.images import IMAGE_SUFFIXES, image_files, tell_left_out, tell_turned

if TYPE_CHECKING:
    from PIL.Image import Image

_PNG = ".png"
_MISNAMED = "expected the suffix .png of a PNG file, and of nothing else: give it another name"
_GREY = ("1", "L")  # Pillow's modes of pictures in black and white, and in grey


@dataclass(frozen=True)
class DecodedPicture:
    """A picture that was made from a file.

    Attributes:
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
    """Makes PNG files that a network can see, whose pictures are (C, H, W). `resize` scales each picture, so that its
    shorter side has so many pixels, and takes H x W from its middle, as torchvision's `Resize` and `CenterCrop` do;
    None takes only pictures of H x W. Raises UsageError: a side that is not above 0."""

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

    def png(self, path: Path, name: str, data: bytes) -> tuple[bytes, DecodedPicture]:
        """The bytes of a PNG file of what a file shows, and where it comes from. Raises InputError: a PNG file with
        another suffix; or a file that cannot be decoded, has transparent pixels, or another size than the network's."""
        from PIL import Image

        if data.startswith(SIGNATURE) and path.suffix.lower() != _PNG:
            raise InputError(path, _MISNAMED)
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

    def record(self, decoded: Mapping[str, DecodedPicture]) -> dict[str, Any]:
        """What `source.json` says of the PNG files, by name, that were made."""
        scaled = None if self.resize is None else {"shorter_side": self.resize, "by": "bilinear", "then": "centre crop"}
        return {"by": self.by, "scaled": scaled, "files": {name: each.record() for name, each in decoded.items()}}


class PictureFiles:
    """The files of pictures (C, H, W) for a network: those of a folder, a single one, or a safetensors file. `names`
    are those of the PNG files that they are, or are made into, relative to `folder`; `decoded` is what PNG files were
    made from, of the files that were read, and `turned` names those that note that they are to be turned, which nothing
    does. Raises InputError: a folder without pictures, or two files that would be PNG files of one name; UsageError: a
    size that cannot be had."""

    def __init__(self, path: Path, shape: tuple[int, int, int], resize: int | None) -> None:
        self.decoder, self.is_folder = Decoder(shape, resize), path.is_dir()
        self.paths = image_files(path) if self.is_folder else [path]
        self.folder = path if self.is_folder else path.parent
        if self.is_folder:
            tell_left_out(path)
        of_png = [each.suffix.lower() == _PNG or not self._is_decoded(each) for each in self.paths]
        named = [each if own else each.with_suffix(_PNG) for each, own in zip(self.paths, of_png, strict=True)]
        self.names = [each.relative_to(self.folder).as_posix() for each in named]
        twice = [name for name, count in Counter(self.names).items() if count > 1]
        if twice:
            raise InputError(self.folder / twice[0], "would be two pictures of this name: rename one of the files")
        self.are_decoded = any(map(self._is_decoded, self.paths))
        if resize is not None and not self.are_decoded:
            raise UsageError(f"{option('resize')} is for picture files, expected none with a tensor of pictures")
        self.decoded: dict[str, DecodedPicture] = {}
        self.turned: dict[str, None] = {}

    def opened(
        self, numbers: Iterable[int] | None = None, keep: dict[str, bytes] | None = None
    ) -> Iterator[StoredPictures | UnreadFile]:
        """The pictures of each of these files, of all by default, or why it cannot be used; `keep` gets the bytes that
        are read, by name.

        A PNG file with another suffix, or something else with that of one, is refused: an audit of the run's folder
        finds PNG files by their suffix.
        """
        chosen = range(len(self.paths)) if numbers is None else list(numbers)
        files = (PictureFile(str(self.paths[number]), partial(self.read, number, keep)) for number in chosen)
        for number, stored in zip(chosen, opened_files(files, self.decoder.shape), strict=True):
            name = Path(self.names[number])
            if isinstance(stored, UnreadFile) or (stored.size is None) != (name.suffix.lower() == _PNG):
                yield stored
            else:
                yield UnreadFile(str(self.folder / name), _MISNAMED)

    def read(self, number: int, keep: dict[str, bytes] | None = None) -> bytes:
        """The bytes of a file as the checker reads them. Raises PictureError: it cannot be read or decoded."""
        path, name = self.paths[number], self.names[number]
        try:
            data = read(path, "a file of pictures", most=LARGEST_PNG if self.is_folder else LARGEST_PICTURES)
            if self._is_decoded(path):
                data, made = self.decoder.png(path, path.relative_to(self.folder).as_posix(), data)
                self.decoded[name] = made
                self.turned |= {made.file: None} if made.turned else {}
            elif data.startswith(SIGNATURE) and b"eXIf" in data:
                # A PNG file may note that it is to be turned; the checker reads pixels alone.
                with suppress(InputError), opened(path, data) as picture:
                    self.turned |= {name: None} if is_turned(picture) else {}
        except InputError as error:
            raise PictureError(error.problem) from error
        if keep is not None:
            keep[name] = data
        return data

    def tell_turned(self) -> None:
        """Say which of the files that were read note that they are to be turned."""
        tell_turned(list(self.turned))

    def _is_decoded(self, path: Path) -> bool:
        """Whether a file is decoded: PNG files of the network's size are taken as they are."""
        suffix = path.suffix.lower()
        return suffix in IMAGE_SUFFIXES and (suffix != _PNG or self.decoder.resize is not None)
