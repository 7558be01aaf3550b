"""The picture that a certificate names: found by the digest of its values, and read as the checker reads it.

Whoever shows it draws these values. Another program may see another picture in the same bytes, by what a PNG file holds
beside them: frames of an animation, a colour profile, transparency, an orientation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import prod
from pathlib import Path
from typing import TypeVar

from verale.checker.errors import FormatError
from verale.checker.read.pictures import LARGEST_PNG, SIGNATURE, Picture, read_png
from verale.errors import InputError
from verale.files import read

__all__ = ["NamedPictures", "ReadFiles", "named_picture", "pictures_in"]

Held = TypeVar("Held", Picture, bytes)
_CHANNELS = (1, 3)
"""Of pictures that networks see: a grey PNG file may stand for either."""
_LARGEST = 2**24
"""The most values of a picture (certificates/network-v1.md, "Limits")."""
_SEARCHED = 2**28
"""Of more values in all, files are not looked through for a picture that does not lie where it is noted."""
_LAST = 4
"""So many files are at hand that were read last: whoever asks where a picture lies mostly asks of one file."""
_KEPT = 2**26
"""The most bytes of pictures and files that are kept to be drawn: of those beyond, the files are read again."""
_HEADER = 33
"""Bytes up to the end of the first chunk."""


def pictures_in(data: bytes) -> Iterator[Picture]:
    """The pictures that the checker reads from a PNG file, for networks of one channel and of three; none where it
    refuses the file."""
    for shape in _shapes(data):
        try:
            yield Picture(shape, read_png(data, shape))
        except FormatError:
            continue


def named_picture(file: str | Path, digest: str) -> Picture:
    """The picture with this digest in a PNG file. Raises InputError: the file cannot be read, or holds none."""
    found = _named(read(file, "a PNG file", most=LARGEST_PNG), digest)
    if found is None:
        raise InputError(file, "does not hold the picture that the certificate names: it changed")
    return found


class ReadFiles:
    """Files of images, of which the last few, and what is kept to be drawn, are not read again."""

    def __init__(self) -> None:
        self._last: dict[str, bytes] = {}
        self._room = _KEPT

    def read(self, file: str | Path) -> bytes:
        """The bytes of a file. Raises InputError."""
        if str(file) not in self._last:
            self._last[str(file)] = read(file, "an image")
            if len(self._last) > _LAST:
                del self._last[next(iter(self._last))]
        return self._last[str(file)]

    def kept(self, held: Held, size: int) -> Held | None:
        """What is to be drawn, if there is room for its size in bytes."""
        if size > self._room:
            return None
        self._room -= size
        return held


class NamedPictures:
    """Finds pictures by their digests, where they are noted or among other files, each of which is read once.

    Attributes:
        found: those that were found last, by digest, as long as there is room.

    Args:
        files: reads them.
        others: gives the PNG files that may hold pictures that do not lie where they are noted; asked once, if at all.
    """

    def __init__(self, others: Callable[[], Iterable[Path]], files: ReadFiles) -> None:
        self._others, self._files = others, files
        self.found: dict[str, Picture] = {}
        self._remaining: Iterator[Path] | None = None
        self._file_of: dict[str, Path] = {}
        self._left = _SEARCHED

    def find(self, digest: str, noted: Sequence[Path]) -> Path | None:
        """A file that holds the picture with this digest, of those that are noted first; None if none is found."""
        for file in noted:
            if self._holds(file, digest):
                return file
        if self._remaining is None:
            self._remaining = iter(list(self._others()))
        while digest not in self._file_of:
            other = next(self._remaining, None)
            if other is None:
                return None
            self._look_through(other)
        return self._file_of[digest]

    def _look_through(self, file: Path) -> None:
        """Keep the digests of a file's pictures."""
        data = self._bytes(file)
        size = sum(map(prod, _shapes(data)))
        if size <= self._left:
            self._left -= size
            for picture in pictures_in(data):
                self._file_of.setdefault(picture.digest, file)

    def _holds(self, file: Path, digest: str) -> bool:
        """Whether a file holds the picture with this digest."""
        picture = _named(self._bytes(file), digest)
        if picture is not None and (kept := self._files.kept(picture, len(picture.values))) is not None:
            self.found[digest] = kept
        return picture is not None

    def _bytes(self, file: Path) -> bytes:
        """A file's bytes; none where it cannot be read, or is too large."""
        try:
            data = self._files.read(file)
        except InputError:
            return b""
        return data if len(data) <= LARGEST_PNG else b""


def _named(data: bytes, digest: str) -> Picture | None:
    """The picture with this digest among those that a PNG file with these bytes holds."""
    return next((picture for picture in pictures_in(data) if picture.digest == digest), None)


def _shapes(data: bytes) -> Iterator[tuple[int, int, int]]:
    """The shapes that the picture of a PNG file may have, by its header, where they are not too large."""
    if data.startswith(SIGNATURE) and len(data) >= _HEADER:
        columns, rows = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
        yield from ((channels, rows, columns) for channels in _CHANNELS if 0 < channels * rows * columns <= _LARGEST)
