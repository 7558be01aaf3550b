"""The head file: safetensors with one metadata entry `verale.head` (certificates/v1.md, "The head file")."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import safetensors
import safetensors.torch

from verale.errors import HeadError
from verale.head.head import (
    Box,
    Cosine,
    Euclidean,
    FocalPooling,
    Geometry,
    Head,
    Identity,
    LogRatio,
    MaxPooling,
    Pooling,
    Similarity,
    Softmax,
)

__all__ = ["METADATA_KEY", "VERSION", "decode", "encode"]

METADATA_KEY = "verale.head"
VERSION = 1
_FIELDS = {"version", "geometry", "domain", "similarity", "pooling", "labels"}
_TENSORS = {"weight", "bias", "prototypes", "scale"}


def encode(head: Head) -> bytes:
    """The head's file. The same head gives the same bytes."""
    description = {
        "version": VERSION,
        "geometry": _encode_kind(head.geometry),
        "domain": {"lower": _hex(head.domain.lower), "upper": _hex(head.domain.upper)},
        "similarity": _encode_kind(head.similarity),
        "pooling": {"kind": _pooling_kind(head.pooling)},
        "labels": None if head.labels is None else list(head.labels),
    }
    tensors = {"weight": head.weight, "bias": head.bias, "prototypes": head.prototypes, "scale": head.scale}
    return safetensors.torch.save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items() if tensor is not None},
        metadata={METADATA_KEY: json.dumps(description, ensure_ascii=False)},
    )


def decode(data: bytes) -> Head:
    """The head of a file's bytes. Raises HeadError, which names the field."""
    try:
        tensors = safetensors.torch.load(data)
        metadata = _metadata(data)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise HeadError(
            "file", f"is not a readable safetensors file ({error}): write it again with Head.save"
        ) from error
    if METADATA_KEY not in metadata:
        raise HeadError(
            METADATA_KEY, "is missing from the file's metadata: this is no head file; make one with Head.save"
        )
    unknown = sorted(set(tensors) - _TENSORS)
    if unknown:
        raise HeadError(unknown[0], f"is an unknown tensor, expected only {', '.join(sorted(_TENSORS))}")
    if "weight" not in tensors:
        raise HeadError("weight", "is missing from the file")
    description = _description(metadata[METADATA_KEY])
    labels = description["labels"]
    if labels is not None and not (isinstance(labels, list) and all(isinstance(name, str) for name in labels)):
        raise HeadError("labels", "is not a list of strings or null")
    return Head(
        weight=tensors["weight"],
        geometry=_geometry(description["geometry"]),
        similarity=_similarity(description["similarity"]),
        prototypes=tensors.get("prototypes"),
        bias=tensors.get("bias"),
        scale=tensors.get("scale"),
        domain=_domain(description["domain"]),
        pooling=_pooling(description["pooling"]),
        labels=None if labels is None else tuple(labels),
        _digest=hashlib.sha256(data).hexdigest(),
    )


def _metadata(data: bytes) -> dict[str, str]:
    length = int.from_bytes(data[:8], "little")
    metadata = json.loads(data[8 : 8 + length]).get("__metadata__", {})
    if not isinstance(metadata, dict):
        raise ValueError("__metadata__ is not an object")
    return metadata


def _description(text: str) -> dict[str, Any]:
    try:
        description = json.loads(text)
    except ValueError as error:
        raise HeadError(METADATA_KEY, f"is not JSON ({error})") from error
    if not isinstance(description, dict):
        raise HeadError(METADATA_KEY, "is not a JSON object")
    if description.get("version") != VERSION or isinstance(description.get("version"), bool):
        raise HeadError("version", f"is {description.get('version')!r}, expected {VERSION}: written by another verale?")
    for name in sorted(_FIELDS - set(description)):
        raise HeadError(name, "is missing")
    for name in sorted(set(description) - _FIELDS):
        raise HeadError(name, f"is an unknown field, expected {', '.join(sorted(_FIELDS))}")
    return description


def _encode_kind(value: Geometry | Similarity) -> dict[str, str]:
    match value:
        case Euclidean():
            return {"kind": "euclidean"}
        case Cosine(epsilon):
            return {"kind": "cosine", "epsilon": epsilon.hex()}
        case Softmax():
            return {"kind": "softmax"}
        case LogRatio(epsilon):
            return {"kind": "log_ratio", "epsilon": epsilon.hex()}
        case Identity():
            return {"kind": "identity"}


def _kind(name: str, value: Any, kinds: dict[str, tuple[str, ...]]) -> str:
    """The kind of a tagged object, after checking that it has exactly the fields of that kind."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise HeadError(name, f"is {value!r}, expected an object whose kind is one of {', '.join(kinds)}")
    if set(value) != {"kind", *kinds[kind]}:
        raise HeadError(name, f"has fields {sorted(value)}, expected {sorted({'kind', *kinds[kind]})}")
    return kind


def _geometry(value: Any) -> Geometry:
    match _kind("geometry", value, {"euclidean": (), "cosine": ("epsilon",), "softmax": ()}):
        case "euclidean":
            return Euclidean()
        case "cosine":
            return Cosine(_number("geometry.epsilon", value["epsilon"]))
        case _:
            return Softmax()


def _similarity(value: Any) -> Similarity:
    if _kind("similarity", value, {"identity": (), "log_ratio": ("epsilon",)}) == "identity":
        return Identity()
    return LogRatio(_number("similarity.epsilon", value["epsilon"]))


def _pooling_kind(pooling: Pooling) -> str:
    return pooling.kind if isinstance(pooling, FocalPooling) else "max"


def _pooling(value: Any) -> Pooling:
    kind = _kind("pooling", value, {"max": (), "max_minus_mean": (), "max_minus_mean_distance": ()})
    return MaxPooling() if kind == "max" else FocalPooling(kind)


def _domain(value: Any) -> Box:
    if not isinstance(value, dict) or set(value) != {"lower", "upper"}:
        raise HeadError("domain", f"is {value!r}, expected an object with lower and upper")
    return Box(*(None if value[end] is None else _number(f"domain.{end}", value[end]) for end in ("lower", "upper")))


def _number(name: str, value: Any) -> float:
    try:
        if not isinstance(value, str) or not value.lstrip("-").startswith("0x"):
            raise ValueError
        return float.fromhex(value)
    except (ValueError, OverflowError):
        raise HeadError(name, f"is {value!r}, expected a hex float such as '0x1.8p+0'") from None


def _hex(value: float | None) -> str | None:
    return None if value is None else value.hex()
