"""IDX files, in which MNIST is published: bytes in an array, perhaps compressed with gzip."""

from __future__ import annotations

import math
import struct
import zlib
from pathlib import Path

import torch
from torch import Tensor

from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read

_GZIP = b"\x1f\x8b"
_MOST_A_BYTE = 64
"""Each byte of a compressed file may stand for so many; MNIST's images take five."""


def read_idx(path: str | Path, dimensions: int) -> Tensor:
    """The array of an IDX file of unsigned bytes, uint8: images (N, H, W) or labels (N,).

    Raises:
        InputError: a file that is missing, that holds something else, or that claims more than it holds.
    """
    data = read(path, "an IDX file, such as t10k-images-idx3-ubyte.gz", most=LARGEST_LATENTS)
    header = 4 + 4 * dimensions
    try:
        start = _first(data, header)
        zeros, kind, count = struct.unpack(">HBB", start[:4])
        shape = struct.unpack(f">{dimensions}I", start[4:])
    except (struct.error, zlib.error) as error:
        raise _other(path, dimensions) from error
    if (zeros, kind, count) != (0, 8, dimensions):
        raise _other(path, dimensions)
    size = math.prod(shape)
    if size > _MOST_A_BYTE * len(data) or len(content := _first(data, header + size + 1)) != header + size:
        raise InputError(path, f"claims {shape} numbers, and does not hold them: download it again")
    return torch.frombuffer(bytearray(content), dtype=torch.uint8)[header:].view(shape)


def _first(data: bytes, count: int) -> bytes:
    """The first bytes of the content. Raises zlib.error."""
    return zlib.decompressobj(31).decompress(data, count) if data[:2] == _GZIP else data[:count]


def _other(path: str | Path, dimensions: int) -> InputError:
    return InputError(path, f"is not an IDX file of unsigned bytes in {dimensions} dimension(s), as MNIST's files are")
