"""Pictures: bytes of a network's shape, from PNG files and tensors, and their digest (certificates/network-v1.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from verale.errors import InputError
from verale.files import LARGEST_LATENTS, read
from verale.pictures import opened

__all__ = ["load_picture", "load_pictures", "picture_digest", "pictures_file"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_LARGEST = 64 * 2**20
"""Bytes of a PNG file."""
_MODES = {(0, 1): "L", (2, 3): "RGB"}
"""PIL's names for the colour types that are read, with their channels."""
_CONVERT = "convert it to 8 bits a colour, grey or red-green-blue, not interlaced, of the network's size"


def picture_digest(picture: Tensor) -> str:
    """SHA-256 (hex) of a picture, uint8 (C, H, W), by value: the same of a PNG file and of a tensor."""
    channels, height, width = picture.shape
    head = f"verale.picture.v1 {channels} {height} {width}\n".encode()
    return hashlib.sha256(head + picture.contiguous().numpy().tobytes()).hexdigest()


def pictures_file(pictures: Tensor) -> bytes:
    """The bytes of a file (safetensors) of pictures, uint8 (N, C, H, W)."""
    return safetensors.torch.save({"pictures": pictures.contiguous()})


def load_picture(path: Path, shape: Sequence[int]) -> Tensor:
    """The picture of a PNG file, uint8 (C, H, W).

    Args:
        path: the file.
        shape: (C, H, W) of the network. Nothing is resized or converted.

    Raises:
        InputError: a file that is no such PNG; the message says what to do.
    """
    data = read(path, "a PNG file", most=_LARGEST)
    if data[:8] != _SIGNATURE or len(data) < 33:
        raise InputError(path, f"is no PNG file: {_CONVERT}")
    width, height = (int.from_bytes(data[at : at + 4], "big") for at in (16, 20))
    depth, colour, interlace = data[24], data[25], data[28]
    mode = _MODES.get((colour, shape[0]))
    if depth != 8 or mode is None or interlace:
        kind = {0: "grey", 2: "red-green-blue", 3: "a palette", 4: "grey with alpha", 6: "colours with alpha"}
        expected = "grey" if shape[0] == 1 else "red-green-blue"
        raise InputError(
            path,
            f"is {kind.get(colour, 'of an unknown kind')}, {depth} bits{', interlaced' if interlace else ''}, expected"
            f" {expected}, 8 bits: {_CONVERT}",
        )
    if (height, width) != tuple(shape[1:]):
        raise InputError(
            path, f"has {height} rows and {width} columns, expected the network's {shape[1]} and {shape[2]}: {_CONVERT}"
        )
    with opened(path, data) as image:
        image.load()
        pixels = bytearray(image.tobytes()) if image.mode == mode else bytearray()
    if len(pixels) != shape[0] * height * width:
        raise InputError(path, f"cannot be read as {mode}: {_CONVERT}")
    flat = torch.frombuffer(pixels, dtype=torch.uint8)
    return flat.view(height, width, shape[0]).permute(2, 0, 1).contiguous()


def load_pictures(path: str | Path, shape: Sequence[int]) -> Tensor:
    """The tensor `pictures` of a safetensors file, uint8 (N, C, H, W) of the network's shape. Raises InputError."""
    data = read(path, "a file of pictures (safetensors)", most=LARGEST_LATENTS)
    try:
        tensors: dict[str, Tensor] = safetensors.torch.load(data)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise InputError(
            path, f"is not a readable safetensors file ({error}); or give a folder of PNG files"
        ) from error
    pictures = tensors.get("pictures")
    if pictures is None or pictures.dtype != torch.uint8 or tuple(pictures.shape[1:]) != tuple(shape):
        found = "no tensor 'pictures'" if pictures is None else f"pictures {pictures.dtype} {tuple(pictures.shape)}"
        raise InputError(
            path, f"holds {found}, expected 'pictures', uint8 (N, C, H, W) with the network's {tuple(shape)}"
        )
    return pictures
