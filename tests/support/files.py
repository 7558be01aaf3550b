"""Head, latents and certificate files in bytes, built with struct and json only, so that a file may be broken anywhere.

Numbers are Python floats; matrices are lists of lists. A test that wants a broken file changes the returned pieces.
"""

from __future__ import annotations

import hashlib
import json
import struct
from math import prod
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Document: TypeAlias = dict[str, Any]
Matrix: TypeAlias = list[list[float]]
Part = Any
"""A JSON object that describes a part of a head."""

EUCLIDEAN: Part = {"kind": "euclidean"}
SOFTMAX: Part = {"kind": "softmax"}
IDENTITY: Part = {"kind": "identity"}
MAX: Part = {"kind": "max"}


def cosine(epsilon: float) -> Part:
    return {"kind": "cosine", "epsilon": epsilon.hex()}


def log_ratio(epsilon: float) -> Part:
    return {"kind": "log_ratio", "epsilon": epsilon.hex()}


def given(value: T | None) -> T:
    """A value that must not be None. Raises ValueError."""
    if value is None:
        raise ValueError("a required part is missing")
    return value


# Tensors.


def flat(values: Any) -> list[float]:
    """The numbers of nested lists, in order."""
    return [x for value in values for x in flat(value)] if isinstance(values, list) else [values]


def shape(values: object) -> list[int]:
    """The shape of nested lists."""
    return [len(values), *shape(values[0])] if isinstance(values, list) else []


def safetensors(tensors: dict[str, tuple[str, list[int], bytes]], metadata: dict[str, str] | None = None) -> bytes:
    """A safetensors file of (dtype, shape, bytes)."""
    header: dict[str, Any] = {} if metadata is None else {"__metadata__": metadata}
    body = b""
    for name, (dtype, sizes, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": sizes, "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    return framed(json.dumps(header).encode(), body)


def framed(header: bytes, body: bytes) -> bytes:
    """A safetensors file of its header's text and its body."""
    return struct.pack("<Q", len(header)) + header + body


def tensor(values: object, dtype: str = "F64", sizes: list[int] | None = None) -> tuple[str, list[int], bytes]:
    """(dtype, shape, bytes) of nested lists, or of their numbers in another shape."""
    numbers, code = flat(values), {"F32": "f", "F64": "d"}[dtype]
    sizes = shape(values) if sizes is None else sizes
    if prod(sizes) != len(numbers):
        raise ValueError(f"{len(numbers)} numbers do not fill the shape {sizes}")
    return dtype, sizes, struct.pack(f"<{len(numbers)}{code}", *numbers)


# Heads.


def description(**changes: object) -> dict[str, Any]:
    """The head's metadata object, euclidean over [0, 1] unless changed."""
    return {
        "version": 1,
        "geometry": EUCLIDEAN,
        "domain": {"lower": "0x0p+0", "upper": "0x1p+0"},
        "similarity": log_ratio(2.0**-10),
        "pooling": MAX,
        "labels": None,
    } | changes


def domain(lower: float | None, upper: float | None) -> Part:
    return {
        "lower": None if lower is None else float(lower).hex(),
        "upper": None if upper is None else float(upper).hex(),
    }


def head(
    weight: Matrix,
    prototypes: Matrix | None = None,
    bias: list[float] | None = None,
    dtype: str = "F64",
    mask: Matrix | None = None,
    **changes: Any,
) -> bytes:
    """A head file; `changes` go to its description."""
    tensors = {"weight": tensor(weight, dtype)}
    if bias is not None:
        tensors["bias"] = tensor(bias, dtype)
    if prototypes is not None:
        tensors["prototypes"] = tensor(prototypes, dtype)
    if mask is not None:
        tensors["mask"] = tensor(mask, dtype)
    return safetensors(tensors, {"verale.head": json.dumps(description(**changes))})


# Latents.


def latents(images: list[Matrix], dtype: str = "F64") -> bytes:
    """A latents file of N images (L, D), stored as (N, L, D)."""
    return safetensors({"latents": tensor(images, dtype)})


def latents_nchw(images: list[Matrix], height: int, width: int) -> bytes:
    """The same, stored as (N, D, H, W)."""
    depth = len(images[0][0])
    values = [image[patch][d] for image in images for d in range(depth) for patch in range(height * width)]
    return safetensors({"latents": tensor(values, sizes=[len(images), depth, height, width])})


def read_latents(data: bytes) -> list[Matrix]:
    """The images (L, D) of a well-formed latents file, stored as (N, D, H, W) or (N, L, D)."""
    length = int.from_bytes(data[:8], "little")
    entry = json.loads(data[8 : 8 + length])["latents"]
    begin, end = (8 + length + offset for offset in entry["data_offsets"])
    code, size = {"F32": ("f", 4), "F64": ("d", 8)}[entry["dtype"]]
    values = struct.unpack(f"<{(end - begin) // size}{code}", data[begin:end])
    count, *sizes = entry["shape"]
    images = []
    for start in range(0, len(values), len(values) // count):
        numbers = values[start : start + len(values) // count]
        if len(sizes) == 3:
            images.append([list(numbers[patch :: prod(sizes[1:])]) for patch in range(prod(sizes[1:]))])
        else:
            images.append([list(numbers[at : at + sizes[1]]) for at in range(0, len(numbers), sizes[1])])
    return images


def digest(image: Matrix) -> str:
    """The digest of one image's latents (L, D)."""
    numbers = flat(image)
    prefix = f"verale.latents.v1 {len(image)} {len(image[0])}\n".encode("ascii")
    return hashlib.sha256(prefix + struct.pack(f"<{len(numbers)}d", *numbers)).hexdigest()


# Certificates.


def patch_statement(patch: int, prototype: int, low: float | None, high: float | None) -> dict[str, object]:
    """A statement about a patch; of an end that is None it says nothing."""
    return {"patch": patch, "prototype": prototype, "interval": interval(low, high)}


def activation_statement(prototype: int, low: float | None, high: float | None) -> dict[str, object]:
    """A statement about an activation; of an end that is None it says nothing."""
    return {"prototype": prototype, "interval": interval(low, high)}


def interval(low: float | None, high: float | None) -> list[str | None]:
    """The ends of a statement."""
    return [None if end is None else float(end).hex() for end in (low, high)]


def order_clause(exempt: list[int], high: float) -> dict[str, object]:
    """The order clause, or ceiling: no activation exceeds `high` but those of the exempt prototypes."""
    return {"except": exempt, "upper": float(high).hex()}


def floor(exempt: list[int], low: float) -> dict[str, object]:
    """The floor: no activation is less than `low` but those of the exempt prototypes."""
    return {"except": exempt, "lower": float(low).hex()}


def total(rivals: list[int] | None, high: float) -> dict[str, object]:
    """A sum: the others take back at most `high` for each of these rivals, of all where there is no list."""
    return {"rivals": rivals, "upper": float(high).hex()}


def document(
    head_bytes: bytes,
    statements: list[dict[str, Any]],
    predicted: int = 0,
    classes: int = 2,
    paradigm: str = "projection",
    patches: int = 1,
    image: Matrix | None = None,
    margins: list[float | None] | None = None,
    minimality: bool = False,
) -> dict[str, Any]:
    """A certificate as a JSON object; its margins are the smallest positive binary64 unless given."""
    subject = [{"name": "head", "digest": {"sha256": hashlib.sha256(head_bytes).hexdigest()}}]
    if image is not None:
        subject.append({"name": "latents", "digest": {"sha256": digest(image)}})
    if margins is None:
        margins = [None if c == predicted else 2.0**-1074 for c in range(classes)]
    claims = ["entailment"] + ["instance"] * (image is not None) + ["minimality"] * minimality
    return {
        "_type": "urn:verale:certificate:v1",
        "subject": subject,
        "predicate": {
            "predicted": predicted,
            "paradigm": paradigm,
            "patches": patches,
            "statements": statements,
            "margins": [None if margin is None else float(margin).hex() for margin in margins],
            "claims": claims,
            "hints": {},
            "generator": {"name": "handmade", "version": "1"},  # the stored corpora have this name
        },
    }


def encode(value: object) -> bytes:
    return json.dumps(value).encode()


def certificate(*arguments: Any, **options: Any) -> bytes:
    """A certificate file; see `document`."""
    return encode(document(*arguments, **options))
