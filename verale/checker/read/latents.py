"""The latents file (certificates/v1.md, "The latents"): images, by the digest of their values."""

from __future__ import annotations

import hashlib
import sys
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ..dyadic import Exact, exact
from ..errors import FormatError, LatentsError
from .safetensors_reader import read_tensors

__all__ = ["LARGEST", "Image", "Latents"]

LARGEST = 16 * 2**30
"""Bytes of a latents file that is read. A file can claim more than any machine has, and take no space."""


@dataclass(frozen=True)
class Image:
    """The latents (L, D) of one image.

    Attributes:
        values: finite numbers in the order (patch, coordinate).
        depth: D.
    """

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


class Latents:
    """The images of a latents file. Raises LatentsError unless it holds finite latents of the head's depth.

    Args:
        data: the file's bytes.
        depth: D of the head.
    """

    def __init__(self, data: bytes, depth: int) -> None:
        try:
            _, tensors = read_tensors(data)
            if "latents" not in tensors:
                raise FormatError(f"holds {', '.join(map(ascii, tensors)) or 'no tensor'}, expected a tensor 'latents'")
            self._tensor = tensors["latents"]
            shape = self._tensor.shape
            if len(shape) not in (3, 4):
                raise FormatError(f"tensor 'latents' has shape {list(shape)}, expected (N, D, H, W) or (N, L, D)")
            self._channels_first = len(shape) == 4
            self._images = shape[0]
            self._patches = shape[2] * shape[3] if self._channels_first else shape[1]
            self._depth = shape[1] if self._channels_first else shape[2]
            if self._depth != depth or self._patches < 1:
                raise FormatError(
                    f"tensor 'latents' has shape {list(shape)}, expected D = {depth}, the head's, and a patch"
                )
            self._tensor.floats()  # all of them finite
        except FormatError as error:
            raise LatentsError(f"latents file: {error}") from None
        self._index_of: dict[str, int] = {}
        self._remaining = self._digests()

    def find(self, digest: str) -> Image | None:
        """The latents (L, D) of the image with that digest; None if no image has it."""
        while digest not in self._index_of:
            entry = next(self._remaining, None)
            if entry is None:
                return None
            self._index_of.setdefault(*entry)
        return Image(self._values(self._index_of[digest]), self._depth)

    def only(self) -> Image:
        """The latents (L, D) of the only image. Raises LatentsError unless the file holds exactly one."""
        if self._images != 1:
            raise LatentsError(f"latents file: holds {self._images} images, expected 1, the witness")
        return Image(self._values(0), self._depth)

    def _digests(self) -> Iterator[tuple[str, int]]:
        prefix = f"verale.latents.v1 {self._patches} {self._depth}\n".encode("ascii")
        for image in range(self._images):
            values = self._values(image)
            if sys.byteorder == "big":
                values.byteswap()
            yield hashlib.sha256(prefix + values.tobytes()).hexdigest(), image

    def _values(self, image: int) -> array[float]:
        """The binary64 values of one image in the order (patch, coordinate)."""
        size = self._patches * self._depth
        stored = self._tensor.floats(image * size, (image + 1) * size)
        if not self._channels_first:
            return stored
        values = array("d", bytes(8 * size))
        for coordinate in range(self._depth):
            values[coordinate :: self._depth] = stored[coordinate * self._patches : (coordinate + 1) * self._patches]
        return values
