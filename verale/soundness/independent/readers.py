"""Files read again: JSON, safetensors and latents. Meant for well-formed files, and strict about what numbers mean."""

from __future__ import annotations

import json
import struct
from typing import Any, TypeAlias

from verale.soundness.independent.arithmetic import Matrix

Document: TypeAlias = dict[str, Any]
Tensor: TypeAlias = tuple[list[int], list[float]]
"""Shape and entries."""


class WrongError(Exception):
    """A file contradicts certificates/v1.md, or a certificate claims something false."""


def read_json(data: bytes) -> Any:
    """JSON whose numbers are integers. Raises WrongError on a repeated key or another number."""

    def unique(pairs: list[tuple[str, Any]]) -> Document:
        if len(dict(pairs)) != len(pairs):
            raise WrongError("a key is repeated")
        return dict(pairs)

    def refuse(literal: str) -> object:
        raise WrongError(f"the number {literal} is not an integer")

    return json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_float=refuse, parse_constant=refuse)


def read_tensors(data: bytes) -> tuple[dict[str, str], dict[str, Tensor]]:
    """Metadata and tensors of a safetensors file. Raises WrongError where an entry is not finite."""
    length = int.from_bytes(data[:8], "little")
    header = read_json(data[8 : 8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        code, size = {"F32": ("f", 4), "F64": ("d", 8)}[entry["dtype"]]
        values = list(struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end]))
        if any(value != value or abs(value) == float("inf") for value in values):
            raise WrongError(f"{name} is not finite")
        tensors[name] = entry["shape"], values
    return metadata, tensors


def read_latents(data: bytes) -> list[Matrix]:
    """The images (L, D) of a latents file, stored as (N, D, H, W) or (N, L, D)."""
    shape, values = read_tensors(data)[1]["latents"]
    images = []
    size = len(values) // shape[0]
    for n in range(shape[0]):
        own = values[n * size : (n + 1) * size]
        if len(shape) == 4:
            depth, patches = shape[1], shape[2] * shape[3]
            images.append([[own[d * patches + patch] for d in range(depth)] for patch in range(patches)])
        else:
            images.append([own[start : start + shape[2]] for start in range(0, size, shape[2])])
    return images
