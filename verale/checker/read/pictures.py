"""Pictures (certificates/network-v1.md, "Pictures"): tensor and PNG files, by the digest of their values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Protocol

from ..errors import FormatError, PictureError
from .json_reader import brief
from .png_reader import SIGNATURE, read_png
from .safetensors_reader import Tensor, read_tensors

__all__ = ["LARGEST", "Picture", "PictureFile", "Pictures"]

LARGEST = 16 * 2**30
"""Bytes of a tensor file."""


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes:
        shape: (C, H, W).
        values: C H W bytes in the order (c, y, x).
    """

    shape: tuple[int, int, int]
    values: bytes

    @property
    def digest(self) -> str:
        """SHA-256, in hex."""
        line = "verale.picture.v1 {} {} {}\n".format(*self.shape)
        return hashlib.sha256(line.encode("ascii") + self.values).hexdigest()


@dataclass(frozen=True)
class PictureFile:
    """A file of pictures.

    Attributes:
        name: for messages; "" where none is needed.
        read: gives its bytes, whenever they are needed. May raise OSError.
    """

    name: str
    read: Callable[[], bytes]


class Pictures:
    """The pictures of some files. Raises PictureError, which names the file, unless each keeps every rule.

    Of a PNG file the filters are undone only when its picture is looked for, and of all files digests alone are kept.

    Args:
        files: tensor and PNG files, in the order in which they are searched.
        shape: (C, H, W) of the network.
    """

    def __init__(self, files: Sequence[PictureFile], shape: tuple[int, int, int]) -> None:
        self._files, self._shape = files, shape
        counts = [len(self._opened(file)) for file in files]
        self._place_of: dict[str, tuple[int, int]] = {}
        self._remaining = self._digests(counts)

    def find(self, digest: str) -> Picture | None:
        """The picture with that digest; None if there is none. Raises PictureError: a file was changed."""
        while digest not in self._place_of:
            entry = next(self._remaining, None)
            if entry is None:
                return None
            self._place_of.setdefault(*entry)
        number, row = self._place_of[digest]
        picture = Picture(self._shape, self._opened(self._files[number]).values(row))
        if picture.digest != digest:
            raise PictureError(f"{self._files[number].name}: was changed meanwhile; start again")
        return picture

    def _digests(self, counts: list[int]) -> Iterator[tuple[str, tuple[int, int]]]:
        for number, count in enumerate(counts):
            stored = self._opened(self._files[number])
            for row in range(min(count, len(stored))):
                yield Picture(self._shape, stored.values(row)).digest, (number, row)

    def _opened(self, file: PictureFile) -> _Stored:
        data = file.read()
        is_png = data[: len(SIGNATURE)] == SIGNATURE
        try:
            return _OfPng(data, self._shape) if is_png else _OfTensor(data, self._shape)
        except FormatError as error:
            kind = "PNG file" if is_png else "pictures file"
            raise PictureError(": ".join(filter(None, (file.name, kind, str(error))))) from None


class _Stored(Protocol):
    """The pictures of one file."""

    def __len__(self) -> int: ...

    def values(self, row: int) -> bytes: ...


class _OfPng:
    def __init__(self, data: bytes, shape: tuple[int, int, int]) -> None:
        self._png = read_png(data, shape)

    def __len__(self) -> int:
        return 1

    def values(self, row: int) -> bytes:
        return self._png.values()


class _OfTensor:
    def __init__(self, data: bytes, shape: tuple[int, int, int]) -> None:
        _, tensors = read_tensors(data)
        if "pictures" not in tensors:
            raise FormatError(
                f"holds {', '.join(map(ascii, tensors)) or 'no tensor'}, expected a tensor 'pictures', or a PNG file"
            )
        self._tensor: Tensor = tensors["pictures"]
        self._size = prod(shape)
        if self._tensor.dtype != "U8":
            raise FormatError(f"tensor 'pictures' has dtype {brief(self._tensor.dtype)}, expected U8")
        if len(self._tensor.shape) != 4 or self._tensor.shape[1:] != shape:
            raise FormatError(
                f"tensor 'pictures' has shape {list(self._tensor.shape)}, expected (N, C, H, W) with the network's"
                f" {list(shape)}"
            )

    def __len__(self) -> int:
        return self._tensor.shape[0]

    def values(self, row: int) -> bytes:
        return bytes(self._tensor.data[row * self._size : (row + 1) * self._size])
