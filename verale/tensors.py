"""Tensors of torch, from those that the readers of files give (`verale.checker.read`), and as files of their own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from verale.checker.read.formats import Tensor as StoredTensor

KINDS = {"F32": "<f4", "F64": "<f8", "U8": "u1", "I8": "i1", "I16": "<i2", "I32": "<i4", "I64": "<i8"}
"""The types of tensors that heads, latents, networks, pictures and labels have, as numpy spells them."""


def loaded(given: StoredTensor) -> Tensor:
    """A tensor with the same values, of one of `KINDS`. It shares the memory of a file that was read into a buffer that
    can be written, and has its own otherwise."""
    kind = np.dtype(KINDS[given.dtype])
    if not given.data:  # numpy has no array of no images that are larger than memory
        return torch.empty(given.shape, dtype=getattr(torch, kind.name))
    values = np.frombuffer(given.data, kind).reshape(given.shape)
    return torch.from_numpy(np.require(values, kind.newbyteorder("="), ["C", "A", "W"]))


def stored(tensors: Mapping[str, Tensor], metadata: dict[str, str]) -> bytes:
    """The bytes of a safetensors file. Equal tensors, equal bytes, though some share their memory, as tied weights do:
    the library refuses these."""
    apart: dict[str, Tensor] = {}
    memories: set[int] = set()
    for name, tensor in tensors.items():
        own = tensor.detach().cpu().contiguous()
        memory = own.untyped_storage().data_ptr()
        apart[name] = own.clone() if memory in memories else own
        memories.add(memory)
    data: bytes = safetensors.torch.save(apart, metadata)
    return data
