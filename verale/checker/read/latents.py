"""The latents file (certificates/v1.md, "The latents"): images, by the digest of their values."""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

from ..dyadic import Exact, exact
from ..errors import FormatError, LatentsError
from .formats import Tensor, read_tensors

LARGEST = 16 * 2**30
"""Bytes of a latents file that is read. A file can claim more than any machine has, and take no space."""


@dataclass(frozen=True)
class Image:
    """The latents (L, D) of one image: finite numbers in the order (patch, coordinate)."""

    values: array[float]
    depth: int

    @property
    def patches(self) -> int:
        """L."""
        return len(self.values) // self.depth

    @cached_property
    def exact(self) -> Exact:
        """The same as integers."""
        return exact(self.values, self.depth)


@dataclass(frozen=True)
class LatentsFile:
    """A latents file, whose numbers stay as they are stored: its tensor (N, D, H, W) or (N, L, D), all of them finite;
    and all tensors of the file, by name. Of others nothing is known."""

    tensor: Tensor
    tensors: Mapping[str, Tensor]

    @property
    def channels_first(self) -> bool:
        """Whether the shape is (N, D, H, W)."""
        return len(self.tensor.shape) == 4

    @property
    def images(self) -> int:
        """N."""
        return self.tensor.shape[0]

    @property
    def patches(self) -> int:
        """L."""
        return prod(self.tensor.shape[2:]) if self.channels_first else self.tensor.shape[1]

    @property
    def depth(self) -> int:
        """D."""
        return self.tensor.shape[1 if self.channels_first else 2]


def read_latents_file(data: bytes | bytearray) -> LatentsFile:
    """The latents file of these bytes. Raises LatentsError."""
    try:
        _, tensors = read_tensors(data)
        if "latents" not in tensors:
            raise FormatError(f"holds {', '.join(map(ascii, tensors)) or 'no tensor'}, expected a tensor 'latents'")
        tensor = tensors["latents"]
        if len(tensor.shape) not in (3, 4) or 0 in tensor.shape[1:]:
            raise FormatError(
                f"tensor 'latents' has shape {list(tensor.shape)}, expected (N, D, H, W) or (N, L, D), with a patch and"
                " a coordinate"
            )
        tensor.check_finite()
        return LatentsFile(tensor, tensors)
    except FormatError as error:
        raise LatentsError(f"latents file: {error}") from None


class Latents:
    """The images of a latents file. Raises LatentsError unless it holds finite latents of the head's depth."""

    def __init__(self, data: bytes, depth: int) -> None:
        self._file = read_latents_file(data)
        if self._file.depth != depth:
            raise LatentsError(
                f"latents file: tensor 'latents' has shape {list(self._file.tensor.shape)}, expected D = {depth}, the"
                " head's"
            )
        self._index_of: dict[str, int] = {}
        self._remaining = self._digests()

    def find(self, digest: str) -> Image | None:
        """The latents (L, D) of the image with that digest; None if no image has it."""
        while digest not in self._index_of:
            entry = next(self._remaining, None)
            if entry is None:
                return None
            self._index_of.setdefault(*entry)
        return Image(self._values(self._index_of[digest]), self._file.depth)

    def only(self) -> Image:
        """The latents (L, D) of the only image. Raises LatentsError unless the file holds exactly one."""
        if self._file.images != 1:
            raise LatentsError(f"latents file: holds {self._file.images} images, expected 1, the witness")
        return Image(self._values(0), self._file.depth)

    def _digests(self) -> Iterator[tuple[str, int]]:
        prefix = f"verale.latents.v1 {self._file.patches} {self._file.depth}\n".encode("ascii")
        for image in range(self._file.images):
            values = self._values(image)
            if sys.byteorder == "big":
                values.byteswap()
            yield hashlib.sha256(prefix + values.tobytes()).hexdigest(), image

    def _values(self, image: int) -> array[float]:
        """The binary64 values of one image in the order (patch, coordinate)."""
        patches, depth = self._file.patches, self._file.depth
        size = patches * depth
        stored = self._file.tensor.floats(image * size, (image + 1) * size)
        if not self._file.channels_first:
            return stored
        values = array("d", bytes(8 * size))
        for coordinate in range(depth):
            values[coordinate::depth] = stored[coordinate * patches : (coordinate + 1) * patches]
        return values
