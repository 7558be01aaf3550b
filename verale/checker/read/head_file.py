"""The head file (certificates/v1.md, "The head file"), read into exact numbers."""

from __future__ import annotations

import hashlib
from fractions import Fraction
from itertools import compress
from typing import Any

from ..dyadic import Exact, exact, hex_float
from ..errors import FormatError, HeadError
from ..head import GEOMETRIES, Head
from ..similarities import SIMILARITIES, Similarity
from .json_reader import brief, fields, index, text
from .safetensors_reader import Tensor, read_described

__all__ = ["LARGEST", "MOST_COLUMNS", "read_head"]

_METADATA_KEY = "verale.head"
_DESCRIPTION = ("version", "geometry", "domain", "similarity", "pooling", "labels")
_OWN = tuple(dict.fromkeys(each.tensor for each in SIMILARITIES.values() if each.tensor is not None))
_TENSORS = ("weight", "bias", "prototypes", "mask", *_OWN)
_FIELDS: dict[str, dict[str, tuple[str, ...]]] = {
    "geometry": dict.fromkeys(GEOMETRIES, ())
    | {"cosine": ("epsilon",), "rooted_cosine": ("epsilon",), "inner_product": ("radius",)},
    "similarity": {name: each.fields for name, each in SIMILARITIES.items()},
    "pooling": {
        "max": (),
        "max_minus_mean": (),
        "max_minus_mean_distance": (),
        "banks": ("class_token",),
        "masked_max": (),
        "top_mean": ("k",),
    },
    "readout": {"linear": (), "soft_tree": ("absent", "present"), "maximum": ()},
}
"""The kinds of each part of a head, and the fields of each kind."""
LARGEST = 128 * 2**20
"""Bytes."""
MOST_COLUMNS = 2**16
"""Of a mask."""


def read_head(data: bytes) -> Head:
    """The head of a file's bytes. Raises HeadError, which names the field or tensor."""
    try:
        return _read(data)
    except FormatError as error:
        raise HeadError(f"head file: {error}") from None


def _read(data: bytes) -> Head:
    description, tensors = read_described(data, LARGEST, _METADATA_KEY, _DESCRIPTION, ("readout",))
    parts, similarity = _part(description, "geometry"), _part(description, "similarity")
    parts |= _part(description, "pooling") | _part({"readout": {"kind": "linear"}} | description, "readout")
    domain = fields(description["domain"], "domain", ("lower", "upper"))

    for name in tensors:
        if name not in _TENSORS:
            raise FormatError(f"tensor {brief(name)} is unknown, expected {', '.join(_TENSORS)}")
    classes, columns = _shape(tensors, "weight", 2)
    if classes < 2 or columns < 1:
        raise FormatError(
            f"tensor 'weight' has shape [{classes}, {columns}], expected at least 2 classes and 1 prototype"
        )
    count = columns if parts["readout"] != "soft_tree" else columns - 1
    if count < 1:
        raise FormatError("tensor 'weight' has 1 column, expected at least 2 for a soft tree, one a leaf")
    _check_labels(description["labels"], classes)
    mask, mask_columns = _mask(tensors, parts, count)
    return Head(
        sha256=hashlib.sha256(data).hexdigest(),
        lower=_end(domain["lower"], "domain.lower"),
        upper=_end(domain["upper"], "domain.upper"),
        weight=exact(tensors["weight"].floats(), columns),
        bias=_bias(tensors, parts["readout"], classes, count),
        prototypes=_prototypes(tensors, parts["geometry"], count),
        similarity=_similarity(tensors, similarity, parts["geometry"], count),
        mask=mask,
        columns=mask_columns,
        depth=count if parts["geometry"] == "softmax" else tensors["prototypes"].shape[1],
        **parts,
    )


def _part(description: dict[str, Any], where: str) -> dict[str, Any]:
    """The kind of a part under the part's name, and the fields of this kind."""
    value, kinds = description[where], _FIELDS[where]
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise FormatError(f"{where} is {brief(value)}, expected an object whose kind is one of {', '.join(kinds)}")
    fields(value, where, ("kind", *kinds[kind]))
    return {where: kind} | {name: _READERS.get(name, _number)(value[name], f"{where}.{name}") for name in kinds[kind]}


def _number(value: Any, where: str) -> Fraction:
    number = hex_float(text(value, where))
    if number is None:
        raise FormatError(f"{where} is {brief(value)}, expected the hex float of a finite binary64, such as '0x1.8p+0'")
    return number


def _end(value: Any, where: str) -> Fraction | None:
    return None if value is None else _number(value, where)


def _children(value: Any, where: str) -> tuple[int, ...]:
    if not isinstance(value, list) or any(type(child) is not int for child in value):
        raise FormatError(f"{where} is {brief(value)}, expected a list of integers")
    return tuple(value)


_READERS = {
    "radius": _end,
    "class_token": index,
    "k": index,
    "absent": _children,
    "present": _children,
}


def _bias(tensors: dict[str, Tensor], readout: str, classes: int, count: int) -> Exact:
    """(1, C), or (1, P) for the readout `maximum`; zeros if the file has none."""
    size = count if readout == "maximum" else classes
    if "bias" not in tensors:
        return Exact([[0] * size], 0)
    if readout == "soft_tree":
        raise FormatError("tensor 'bias' is there, expected none for soft_tree, which adds up leaves alone")
    if _shape(tensors, "bias", 1) != (size,):
        raise FormatError(f"tensor 'bias' has shape {list(tensors['bias'].shape)}, expected [{size}]")
    return exact(tensors["bias"].floats(), size)


def _prototypes(tensors: dict[str, Tensor], geometry: str, count: int) -> Exact:
    if geometry == "softmax":
        if "prototypes" in tensors:
            raise FormatError("tensor 'prototypes' is there, expected none for softmax")
        return Exact([], 0)
    rows, depth = _shape(tensors, "prototypes", 2)
    if rows != count or depth < 1:
        raise FormatError(f"tensor 'prototypes' has shape [{rows}, {depth}], expected [{count}, D] with D from 1")
    return exact(tensors["prototypes"].floats(), depth)


def _similarity(tensors: dict[str, Tensor], part: dict[str, Any], geometry: str, count: int) -> Similarity:
    """The similarity, with its tensor of one number a prototype."""
    kind = SIMILARITIES[part.pop("similarity")]
    own = Exact([[kind.default] * count], 0)
    for name in _OWN:
        if name not in tensors:
            continue
        if name != kind.tensor:
            takers = ", ".join(taker for taker, each in SIMILARITIES.items() if each.tensor == name)
            raise FormatError(f"tensor {name!r} is there, expected none for {kind.name}, but for {takers} only")
        if _shape(tensors, name, 1) != (count,):
            raise FormatError(f"tensor {name!r} has shape {list(tensors[name].shape)}, expected [{count}]")
        own = exact(tensors[name].floats(), count)
    return kind(geometry, part, own)


def _mask(tensors: dict[str, Tensor], parts: dict[str, Any], count: int) -> tuple[tuple[tuple[int, ...], ...], int]:
    """For each prototype the columns that it looks at, and how many there are. Two banks are a mask of two columns."""
    if "mask" in tensors and parts["pooling"] != "masked_max":
        raise FormatError(f"tensor 'mask' is there, expected none for {parts['pooling']}, but for masked_max only")
    if parts["pooling"] == "banks":
        token = parts.pop("class_token")
        if not 1 <= token < count:
            raise FormatError(f"pooling: class_token is {token}, expected from 1 to less than the {count} prototypes")
        parts["pooling"] = "masked_max"
        return ((0,),) * token + ((1,),) * (count - token), 2
    if parts["pooling"] != "masked_max":
        return (), 1
    rows, columns = _shape(tensors, "mask", 2)
    if rows != count or not 1 <= columns <= MOST_COLUMNS:
        raise FormatError(
            f"tensor 'mask' has shape [{rows}, {columns}], expected [{count}, K] with K from 1 to {MOST_COLUMNS}"
        )
    entries, every = tensors["mask"].floats(), tuple(range(columns))
    mask = tuple(tuple(compress(every, entries[j * columns : (j + 1) * columns])) for j in range(count))
    for j, seen in enumerate(mask):
        if not seen or any(entry not in (0, 1) for entry in entries[j * columns : (j + 1) * columns]):
            raise FormatError(f"tensor 'mask': row {j} is not of 0 and 1 with a 1, expected which patches it looks at")
    return mask, columns


def _shape(tensors: dict[str, Tensor], name: str, dimensions: int) -> tuple[int, ...]:
    if name not in tensors:
        raise FormatError(f"the tensor {name!r} is missing")
    shape = tensors[name].shape
    if len(shape) != dimensions:
        raise FormatError(f"tensor {name!r} has shape {list(shape)}, expected {dimensions} dimensions")
    return shape


def _check_labels(labels: Any, classes: int) -> None:
    if labels is None:
        return
    if not isinstance(labels, list) or len(labels) != classes or not all(isinstance(label, str) for label in labels):
        raise FormatError(f"labels is {brief(labels)}, expected null or a list of {classes} strings")
