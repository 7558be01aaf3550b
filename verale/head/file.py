"""The head file: safetensors with one metadata entry `verale.head` (certificates/v1.md, "The head file")."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import safetensors
import safetensors.torch

from verale.errors import HeadError
from verale.head.geometry import Box, Cosine, Euclidean, Geometry, InnerProduct, Softmax
from verale.head.head import Head
from verale.head.pooling import BankPooling, FocalPooling, MaxPooling, Pooling, TopMeanPooling
from verale.head.readout import Linear, Maximum, Readout, SoftTree
from verale.head.similarity import (
    ExpDistance,
    Exponential,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Threshold,
)

__all__ = ["METADATA_KEY", "VERSION", "decode", "encode"]

METADATA_KEY = "verale.head"
VERSION = 1
_FIELDS = {"version", "geometry", "domain", "similarity", "pooling", "labels"}
_OPTIONAL = {"readout"}
"""Left out where it is linear."""
_TENSORS = ("weight", "bias", "prototypes", "scale", "peak")


def encode(head: Head) -> bytes:
    """The head's file. The same head gives the same bytes."""
    description: dict[str, Any] = {
        "version": VERSION,
        "geometry": _encode_geometry(head.geometry),
        "domain": {"lower": _hex(head.domain.lower), "upper": _hex(head.domain.upper)},
        "similarity": _encode_similarity(head.similarity),
        "pooling": _encode_pooling(head.pooling),
        "labels": None if head.labels is None else list(head.labels),
    }
    if head.readout != Linear():
        description["readout"] = _encode_readout(head.readout)
    tensors = {name: getattr(head, name) for name in _TENSORS}
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
    unknown = sorted(set(tensors) - set(_TENSORS))
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
        peak=tensors.get("peak"),
        domain=_domain(description["domain"]),
        pooling=_pooling(description["pooling"]),
        readout=_readout(description.get("readout", {"kind": "linear"})),
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
    for name in sorted(set(description) - _FIELDS - _OPTIONAL):
        raise HeadError(name, f"is an unknown field, expected {', '.join(sorted(_FIELDS))}")
    return description


def _encode_geometry(geometry: Geometry) -> dict[str, Any]:
    match geometry:
        case Euclidean():
            return {"kind": "euclidean"}
        case Cosine(epsilon, rooted):
            return {"kind": "rooted_cosine" if rooted else "cosine", "epsilon": epsilon.hex()}
        case InnerProduct(radius):
            return {"kind": "inner_product", "radius": _hex(radius)}
        case Softmax():
            return {"kind": "softmax"}


def _geometry(value: Any) -> Geometry:
    kinds = {
        "euclidean": (),
        "cosine": ("epsilon",),
        "rooted_cosine": ("epsilon",),
        "inner_product": ("radius",),
        "softmax": (),
    }
    match _kind("geometry", value, kinds):
        case "euclidean":
            return Euclidean()
        case "softmax":
            return Softmax()
        case "inner_product":
            return InnerProduct(None if value["radius"] is None else _number("geometry.radius", value["radius"]))
        case kind:
            return Cosine(_number("geometry.epsilon", value["epsilon"]), rooted=kind == "rooted_cosine")


_PLAIN_SIMILARITIES: dict[str, type[Identity | Negated | Exponential | Quadratic | Rectified]] = {
    "identity": Identity,
    "negated": Negated,
    "exponential": Exponential,
    "quadratic": Quadratic,
    "rectified": Rectified,
}


def _encode_similarity(similarity: Similarity) -> dict[str, Any]:
    match similarity:
        case LogRatio(epsilon):
            return {"kind": "log_ratio", "epsilon": epsilon.hex()}
        case ExpDistance(epsilon):
            return {"kind": "exp_distance", "epsilon": epsilon.hex()}
        case Threshold(threshold):
            return {"kind": "threshold", "threshold": threshold.hex()}
        case _:
            return {"kind": next(kind for kind, made in _PLAIN_SIMILARITIES.items() if type(similarity) is made)}


def _similarity(value: Any) -> Similarity:
    kinds: dict[str, tuple[str, ...]] = {"log_ratio": ("epsilon",), "exp_distance": ("epsilon",)}
    kinds |= {"threshold": ("threshold",), **dict.fromkeys(_PLAIN_SIMILARITIES, ())}
    match _kind("similarity", value, kinds):
        case "log_ratio":
            return LogRatio(_number("similarity.epsilon", value["epsilon"]))
        case "exp_distance":
            return ExpDistance(_number("similarity.epsilon", value["epsilon"]))
        case "threshold":
            return Threshold(_number("similarity.threshold", value["threshold"]))
        case kind:
            return _PLAIN_SIMILARITIES[kind]()


def _encode_pooling(pooling: Pooling) -> dict[str, Any]:
    match pooling:
        case MaxPooling():
            return {"kind": "max"}
        case BankPooling(class_token):
            return {"kind": "banks", "class_token": class_token}
        case TopMeanPooling(k):
            return {"kind": "top_mean", "k": k}
        case FocalPooling(kind):
            return {"kind": kind}


def _pooling(value: Any) -> Pooling:
    kinds = {
        "max": (),
        "banks": ("class_token",),
        "top_mean": ("k",),
        "max_minus_mean": (),
        "max_minus_mean_distance": (),
    }
    match _kind("pooling", value, kinds):
        case "max":
            return MaxPooling()
        case "banks":
            return BankPooling(_integer("pooling.class_token", value["class_token"]))
        case "top_mean":
            return TopMeanPooling(_integer("pooling.k", value["k"]))
        case kind:
            return FocalPooling(kind)


def _encode_readout(readout: Readout) -> dict[str, Any]:
    match readout:
        case Linear():
            return {"kind": "linear"}
        case SoftTree(absent, present):
            return {"kind": "soft_tree", "absent": list(absent), "present": list(present)}
        case Maximum():
            return {"kind": "maximum"}


def _readout(value: Any) -> Readout:
    match _kind("readout", value, {"linear": (), "soft_tree": ("absent", "present"), "maximum": ()}):
        case "linear":
            return Linear()
        case "maximum":
            return Maximum()
        case _:
            return SoftTree(*(_integers(f"readout.{name}", value[name]) for name in ("absent", "present")))


def _kind(name: str, value: Any, kinds: dict[str, tuple[str, ...]]) -> str:
    """The kind of a tagged object, after checking that it has exactly the fields of that kind."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise HeadError(name, f"is {value!r}, expected an object whose kind is one of {', '.join(kinds)}")
    if set(value) != {"kind", *kinds[kind]}:
        raise HeadError(name, f"has fields {sorted(value)}, expected {sorted({'kind', *kinds[kind]})}")
    return kind


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


def _integers(name: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        raise HeadError(name, "is not a list of integers")
    return tuple(_integer(name, each) for each in value)


def _integer(name: str, value: Any) -> int:
    if type(value) is not int:
        raise HeadError(name, f"is {value!r}, expected an integer")
    return value


def _hex(value: float | None) -> str | None:
    return None if value is None else value.hex()
