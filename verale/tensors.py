"""Tensors of torch, from those that the readers of files give (`verale.checker.read`)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from verale.checker.read.formats import Tensor as StoredTensor

KINDS = {"F32": "<f4", "F64": "<f8", "U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
"""The types of tensors that heads, latents, networks, pictures and labels have, as numpy spells them."""


def loaded(stored: StoredTensor) -> Tensor:
    """A tensor with the same values, of one of `KINDS`. It shares the memory of a file that was read into a buffer that
    can be written, and has its own otherwise."""
    kind = np.dtype(KINDS[stored.dtype])
    if not stored.data:  # numpy has no array of no images that are larger than memory
        return torch.empty(stored.shape, dtype=getattr(torch, kind.name))
    values = np.frombuffer(stored.data, kind).reshape(stored.shape)
    return torch.from_numpy(np.require(values, kind.newbyteorder("="), ["C", "A", "W"]))
