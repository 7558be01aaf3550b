"""The head file: plain data to bytes (certificates/v1.md, "The head file"); `verale.checker.read` reads it.

A safetensors file whose metadata has one entry `verale.head`, a JSON object. What its fields mean is for the parts of
the head to say; this module knows no part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import safetensors.torch
from torch import Tensor

from verale.checker.read.head_file import METADATA_KEY as HEAD_KEY

__all__ = ["TENSORS", "VERSION", "encode"]

VERSION = 1
TENSORS = ("weight", "bias", "prototypes", "scale", "peak")
"""The tensors of a head that a file may hold beside those of its parts; the first one is required."""


def encode(fields: Mapping[str, object], tensors: Mapping[str, Tensor]) -> bytes:
    """The bytes of a file with these JSON fields, without the version, and these tensors. Equal data, equal bytes."""
    return safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        metadata={HEAD_KEY: json.dumps({"version": VERSION, **fields}, ensure_ascii=False)},
    )
