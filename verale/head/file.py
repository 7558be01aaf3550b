"""The head file: bytes to plain data and back (certificates/v1.md, "The head file").

A safetensors file whose metadata has one entry `verale.head`, a JSON object. What its fields mean is for the parts of
the head to say; this module knows no part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from verale.errors import HeadError

__all__ = ["METADATA_KEY", "TENSORS", "VERSION", "decode", "encode"]

METADATA_KEY = "verale.head"
VERSION = 1
TENSORS = ("weight", "bias", "prototypes", "scale", "peak")
"""The tensors of a head that a file may hold; the first one is required."""

_OF_PARTS = ("mask",)
"""Those that belong to a part of the head."""

_FIELDS = {"version", "geometry", "domain", "similarity", "pooling", "labels"}
_OPTIONAL = {"readout"}
"""Left out where it is linear."""


def encode(fields: Mapping[str, object], tensors: Mapping[str, Tensor]) -> bytes:
    """The bytes of a file with these JSON fields, without the version, and these tensors. Equal data, equal bytes."""
    return safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        metadata={METADATA_KEY: json.dumps({"version": VERSION, **fields}, ensure_ascii=False)},
    )


def decode(data: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The JSON fields and the tensors of a file's bytes.

    All required fields are there and none is unknown; of their values only the version's is checked.

    Raises:
        HeadError: anything else; it names the field.
    """
    try:
        tensors: dict[str, Tensor] = safetensors.torch.load(data)
        metadata = _metadata(data)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise HeadError(
            "file", f"is not a readable safetensors file ({error}): write it again with Head.save"
        ) from error
    if METADATA_KEY not in metadata:
        raise HeadError(
            METADATA_KEY, "is missing from the file's metadata: this is no head file; write one with Head.save"
        )
    known = {*TENSORS, *_OF_PARTS}
    unknown = sorted(set(tensors) - known)
    if unknown:
        raise HeadError(unknown[0], f"is an unknown tensor, expected only {', '.join(sorted(known))}")
    if TENSORS[0] not in tensors:
        raise HeadError(TENSORS[0], "is missing from the file")
    return _fields(metadata[METADATA_KEY]), tensors


def _metadata(data: bytes) -> dict[str, str]:
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length]).get("__metadata__", {})
    if not isinstance(metadata, dict):
        raise ValueError("__metadata__ is not an object")
    return metadata


def _fields(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise HeadError(METADATA_KEY, f"is not JSON ({error})") from error
    if not isinstance(fields, dict):
        raise HeadError(METADATA_KEY, "is not a JSON object")
    if fields.get("version") != VERSION or isinstance(fields.get("version"), bool):
        raise HeadError("version", f"is {fields.get('version')!r}, expected {VERSION}: written by another verale?")
    for name in sorted(_FIELDS - set(fields)):
        raise HeadError(name, "is missing")
    for name in sorted(set(fields) - _FIELDS - _OPTIONAL):
        raise HeadError(name, f"is an unknown field, expected {', '.join(sorted(_FIELDS))}")
    return fields
