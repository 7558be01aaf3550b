"""The head file (certificates/v1.md, "The head file"), read into exact numbers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .dyadic import Exact, about, exact, hex_float
from .errors import FormatError, HeadError
from .json_reader import brief, fields, read_object, text
from .safetensors_reader import Tensor, read_tensors

__all__ = ["Head", "read_head"]

_METADATA_KEY = "verale.head"
_DESCRIPTION = ("version", "geometry", "domain", "similarity", "pooling", "labels")
_TENSORS = ("weight", "bias", "prototypes", "scale")
_SIMILARITY_OF = {"euclidean": "log_ratio", "cosine": "identity", "softmax": "identity"}
_POOLINGS = ("max", "max_minus_mean", "max_minus_mean_distance")
_LONGEST_DESCRIPTION = 2**26


@dataclass(frozen=True)
class Head:
    """A prototype head. Checks itself when built.

    Attributes:
        sha256: digest of the file's bytes.
        geometry: `euclidean`, `cosine` or `softmax`.
        epsilon: the epsilon of log_ratio (euclidean) or of the cosine; 0 for softmax.
        pooling: `max`, `max_minus_mean` or, euclidean only, `max_minus_mean_distance`.
        lower, upper: the domain of every latent coordinate, None where unbounded.
        weight: (C, P).
        bias: (1, C), zeros where the file has none.
        prototypes: (P, D); no rows for softmax.
        scales: (1, P), what squared distances are multiplied by; ones where the file has none.
        depth: D.
    """

    sha256: str
    geometry: str
    epsilon: Fraction
    pooling: str
    lower: Fraction | None
    upper: Fraction | None
    weight: Exact
    bias: Exact
    prototypes: Exact
    scales: Exact
    depth: int

    def __post_init__(self) -> None:
        if self.lower is not None and self.upper is not None and self.lower >= self.upper:
            raise HeadError(f"domain: lower is {about(self.lower)}, expected less than upper, {about(self.upper)}")
        if self.geometry == "euclidean" and not 0 < self.epsilon < 1:
            raise HeadError(f"similarity: epsilon is {about(self.epsilon)}, expected between 0 and 1, both excluded")
        for j, scale in enumerate(self.scales.rows[0]):
            if scale <= 0:
                raise HeadError(f"scale: entry {j} is not positive, expected what shrinks or stretches a distance")
        if self.pooling == "max_minus_mean_distance" and self.geometry != "euclidean":
            raise HeadError(f"pooling is {self.pooling}, which is defined for euclidean only, not for {self.geometry}")
        if self.geometry == "cosine":
            if self.epsilon < 0:
                raise HeadError(f"geometry: epsilon is {about(self.epsilon)}, expected at least 0")
            for j, row in enumerate(self.prototypes.rows):
                if not any(row):
                    raise HeadError(f"prototypes: row {j} is zero, which has no direction: expected none for cosine")

    @property
    def classes(self) -> int:
        """C."""
        return len(self.weight.rows)

    @property
    def count(self) -> int:
        """P."""
        return len(self.weight.rows[0])


def read_head(data: bytes) -> Head:
    """The head of a file's bytes. Raises HeadError, which names the field or tensor."""
    try:
        return _read(data)
    except FormatError as error:
        raise HeadError(f"head file: {error}") from None


def _read(data: bytes) -> Head:
    metadata, tensors = read_tensors(data)
    if set(metadata) != {_METADATA_KEY}:
        raise FormatError(f"__metadata__ has the entries {brief(sorted(metadata))}, expected one: {_METADATA_KEY!r}")
    description = read_object(metadata[_METADATA_KEY].encode("utf-8"), _METADATA_KEY, _LONGEST_DESCRIPTION)
    fields(description, _METADATA_KEY, _DESCRIPTION)
    if type(description["version"]) is not int or description["version"] != 1:
        raise FormatError(f"version is {brief(description['version'])}, expected 1")
    geometry, geometry_epsilon = _kind(description["geometry"], "geometry", {"euclidean": 0, "cosine": 1, "softmax": 0})
    similarity, similarity_epsilon = _kind(description["similarity"], "similarity", {"log_ratio": 1, "identity": 0})
    pooling, _ = _kind(description["pooling"], "pooling", dict.fromkeys(_POOLINGS, 0))
    if similarity != _SIMILARITY_OF[geometry]:
        raise FormatError(f"similarity is {similarity}, expected {_SIMILARITY_OF[geometry]} for {geometry}")
    domain = fields(description["domain"], "domain", ("lower", "upper"))
    lower, upper = (
        None if domain[end] is None else _number(domain[end], f"domain.{end}") for end in ("lower", "upper")
    )

    for name in tensors:
        if name not in _TENSORS:
            raise FormatError(f"tensor {brief(name)} is unknown, expected {', '.join(_TENSORS)}")
    classes, count = _shape(tensors, "weight", 2)
    if classes < 2 or count < 1:
        raise FormatError(
            f"tensor 'weight' has shape [{classes}, {count}], expected at least 2 classes and 1 prototype"
        )
    if "bias" in tensors and _shape(tensors, "bias", 1) != (classes,):
        raise FormatError(f"tensor 'bias' has shape {list(tensors['bias'].shape)}, expected [{classes}]")
    if "scale" in tensors and (geometry != "euclidean" or _shape(tensors, "scale", 1) != (count,)):
        raise FormatError(
            f"tensor 'scale' has shape {list(tensors['scale'].shape)}, expected [{count}], euclidean only"
        )
    _check_labels(description["labels"], classes)
    depth = count
    if geometry == "softmax":
        if "prototypes" in tensors:
            raise FormatError("tensor 'prototypes' is there, expected none for softmax")
    else:
        rows, depth = _shape(tensors, "prototypes", 2)
        if rows != count or depth < 1:
            raise FormatError(f"tensor 'prototypes' has shape [{rows}, {depth}], expected [{count}, D] with D from 1")
    return Head(
        sha256=hashlib.sha256(data).hexdigest(),
        geometry=geometry,
        epsilon=similarity_epsilon if geometry == "euclidean" else geometry_epsilon,
        pooling=pooling,
        lower=lower,
        upper=upper,
        weight=exact(tensors["weight"].floats(), count),
        bias=exact(tensors["bias"].floats(), classes) if "bias" in tensors else Exact([[0] * classes], 0),
        prototypes=exact(tensors["prototypes"].floats(), depth) if "prototypes" in tensors else Exact([], 0),
        scales=exact(tensors["scale"].floats(), count) if "scale" in tensors else Exact([[1] * count], 0),
        depth=depth,
    )


def _kind(value: Any, where: str, kinds: dict[str, int]) -> tuple[str, Fraction]:
    """The kind of a tagged object and its epsilon (0 where that kind has none)."""
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise FormatError(f"{where} is {brief(value)}, expected an object whose kind is one of {', '.join(kinds)}")
    if not kinds[kind]:
        fields(value, where, ("kind",))
        return kind, Fraction(0)
    fields(value, where, ("kind", "epsilon"))
    return kind, _number(value["epsilon"], f"{where}.epsilon")


def _number(value: Any, where: str) -> Fraction:
    number = hex_float(text(value, where))
    if number is None:
        raise FormatError(f"{where} is {brief(value)}, expected the hex float of a finite binary64, such as '0x1.8p+0'")
    return number


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
