"""Pictures as tensors, of files that are read as the checker reads them (certificates/network-v1.md)."""

from __future__ import annotations

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from verale.checker.read.pictures import Picture, StoredPictures

__all__ = ["picture_digest", "pictures_file", "pictures_of"]


def picture_digest(picture: Tensor) -> str:
    """SHA-256 (hex) of a picture, uint8 (C, H, W), by value: the same of a PNG file and of a tensor."""
    channels, rows, columns = picture.shape
    return Picture((channels, rows, columns), picture.contiguous().numpy().tobytes()).digest


def pictures_file(pictures: Tensor) -> bytes:
    """The bytes of a file (safetensors) of pictures, uint8 (N, C, H, W)."""
    return safetensors.torch.save({"pictures": pictures.contiguous()})


def pictures_of(stored: StoredPictures) -> Tensor:
    """The pictures of a file, uint8 (N, C, H, W)."""
    values = np.frombuffer(stored.data, np.uint8) if stored.data else np.empty(0, np.uint8)
    return torch.from_numpy(np.require(values.reshape(-1, *stored.shape), requirements=["C", "W"]))
