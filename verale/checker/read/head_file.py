"""The head file (certificates/v1.md, "The head file"): its parts and tensors, and the rules that they keep.

Numbers stay as they are stored. Who computes with a head converts them: `verale.checker.head` to integers, who explains
to tensors.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from ..dyadic import about
from ..errors import FormatError, HeadError
from .formats import (
    Readers,
    Tensor,
    brief,
    index,
    integer,
    listed,
    nullable,
    number,
    of_kind,
    read_described,
    record,
    such,
    text,
)
from .similarities import COSINES, GEOMETRIES, SIMILARITIES, STEPS, Chain

METADATA_KEY = "verale.head"
_OWN = tuple(dict.fromkeys(each.tensor for each in STEPS.values() if each.tensor is not None))
TENSORS = ("weight", "bias", "prototypes", "mask", *_OWN)
"""The names of tensors."""
_EPSILON = such(number, lambda epsilon: epsilon >= 0, "at least 0")
_RADIUS = nullable(such(number, lambda radius: radius > 0, "a positive number, or null for no ball"))
_KINDS: dict[str, dict[str, Readers]] = {
    "geometry": {
        **{name: {"epsilon": _EPSILON} if name in COSINES else {} for name in GEOMETRIES},
        "inner_product": {"radius": _RADIUS},
    },
    "similarity": {name: each.readers for name, each in SIMILARITIES.items()},
    "pooling": {
        "max": {},
        "max_minus_mean": {},
        "max_minus_mean_distance": {},
        "banks": {"class_token": index},
        "masked_max": {},
        "top_mean": {"k": such(index, lambda k: k >= 1, "at least 1")},
    },
    "readout": {"linear": {}, "soft_tree": dict.fromkeys(("absent", "present"), listed(integer)), "maximum": {}},
}
"""The kinds of each part of a head, and the fields of each kind."""
LARGEST = 128 * 2**20
"""Bytes."""
MOST_COLUMNS = 2**16
"""Of a mask."""


@dataclass(frozen=True)
class HeadPart:
    """A part of a head: its kind, and the fields of that: fractions, integers, tuples of integers, or None."""

    kind: str
    numbers: Mapping[str, Any]


@dataclass(frozen=True)
class HeadFile:
    """A head file. Checks itself when built: FormatError names the part or the tensor.

    Attributes:
        sha256: digest of the file's bytes.
        size: of the file, in bytes.
        geometry, similarity, pooling, readout: its parts.
        lower, upper: the domain of every latent coordinate, None where unbounded.
        labels: the names of the C classes, where the file has them.
        compared: whether its maker compared its logits with those of the network. Nothing that is proved depends on it.
        tensors: by their names in the file; all values are finite. For each prototype its own number stands in `scale`
            or `peak`.
    """

    sha256: str
    size: int
    geometry: HeadPart
    similarity: HeadPart
    pooling: HeadPart
    readout: HeadPart
    lower: Fraction | None
    upper: Fraction | None
    labels: tuple[str, ...] | None
    tensors: Mapping[str, Tensor]
    compared: bool = False

    def __post_init__(self) -> None:
        self._check_tensors()
        self._check_similarity()
        self._check_domain()
        self._check_pooling()
        self._check_readout()

    @cached_property
    def chain(self) -> Chain:
        """The steps of its similarity."""
        return SIMILARITIES[self.similarity.kind].chain(self.geometry.kind, self.similarity.numbers)

    @property
    def classes(self) -> int:
        """C."""
        return self.tensors["weight"].shape[0]

    @property
    def columns(self) -> int:
        """Those of `weight`: P, or P + 1 of a soft tree, whose leaves they are."""
        return self.tensors["weight"].shape[1]

    @property
    def count(self) -> int:
        """P."""
        return self.columns - (self.readout.kind == "soft_tree")

    @property
    def depth(self) -> int:
        """D."""
        return self.tensors["prototypes"].shape[1] if "prototypes" in self.tensors else self.count

    def _check_tensors(self) -> None:
        """All tensors are there, of the shapes that go together, and finite."""
        for name in self.tensors:
            if name not in TENSORS:
                raise FormatError(f"tensor {brief(name)} is unknown, expected {', '.join(TENSORS)}")
        classes, columns = self._require("weight", "C", "P")
        if classes < 2 or self.count < 1:
            raise FormatError(
                f"tensor 'weight' has shape [{classes}, {columns}], expected at least 2 classes, and a column for each"
                " prototype, of a soft_tree for each leaf"
            )
        if self.labels is not None and len(self.labels) != classes:
            raise FormatError(f"labels has {len(self.labels)} strings, expected {classes}, one a class")
        if self.readout.kind == "soft_tree":
            self._refuse("bias", "soft_tree, which adds up leaves alone")
        elif "bias" in self.tensors:
            self._require("bias", self.count if self.readout.kind == "maximum" else classes)
        if self.geometry.kind == "softmax":
            self._refuse("prototypes", "softmax")
        else:
            self._require("prototypes", self.count, "D")
        for name in (name for name in _OWN if name in self.tensors):
            if name not in self.chain.tensors:
                takers = ", ".join(taker for taker, each in SIMILARITIES.items() if name in each.tensors)
                self._refuse(name, f"{self.similarity.kind}, but for {takers} only")
            self._require(name, self.count)
        if self.pooling.kind == "masked_max":
            self._require("mask", self.count, "K", most=MOST_COLUMNS)
            self._check_rows("mask", _is_some, "not of 0 and 1 with a 1, expected which patches it looks at")
        else:
            self._refuse("mask", f"{self.pooling.kind}, but for masked_max only")
        for tensor in self.tensors.values():
            tensor.check_finite()

    def _require(self, name: str, *sizes: int | str, most: int | None = None) -> tuple[int, ...]:
        """The shape of a tensor that has to be there, of these sizes; a letter stands for any from 1, up to `most`."""
        if name not in self.tensors:
            raise FormatError(f"the tensor {name!r} is missing")
        shape = self.tensors[name].shape
        if len(shape) != len(sizes):
            raise FormatError(f"tensor {name!r} has shape {list(shape)}, expected {len(sizes)} dimensions")
        fits = [
            size == expected if isinstance(expected, int) else 1 <= size <= (most or size)
            for size, expected in zip(shape, sizes, strict=True)
        ]
        if not all(fits):
            letters = " and ".join(letter for letter in sizes if isinstance(letter, str))
            ends = f" with {letters} from 1" * bool(letters) + (f" to {most}" if most else "")
            wanted = ", ".join(map(str, sizes))
            raise FormatError(f"tensor {name!r} has shape {list(shape)}, expected [{wanted}]{ends}")
        return shape

    def _refuse(self, name: str, why: str) -> None:
        if name in self.tensors:
            raise FormatError(f"tensor {name!r} is there, expected none for {why}")

    def _check_rows(self, name: str, is_right: Callable[[array[float]], bool], wrong: str) -> None:
        """Raises FormatError unless each row of a matrix is as it should be."""
        tensor = self.tensors[name]
        rows, width = tensor.shape
        for row in range(rows):
            if not is_right(tensor.floats(row * width, (row + 1) * width)):
                raise FormatError(f"tensor {name!r}: row {row} is {wrong}")

    def _check_similarity(self) -> None:
        geometry, name = self.geometry.kind, self.similarity.kind
        if geometry not in SIMILARITIES[name].geometries:
            expected = " or ".join(name for name, each in SIMILARITIES.items() if geometry in each.geometries)
            raise FormatError(f"similarity is {name}, expected {expected} for {geometry}")
        self.chain.check()
        for j, scale in enumerate(self.tensors["scale"].floats() if "scale" in self.tensors else ()):
            if scale <= 0:
                raise FormatError(f"scale: entry {j} is not positive, expected what shrinks or stretches a distance")

    def _check_domain(self) -> None:
        lower, upper, radius = self.lower, self.upper, self.geometry.numbers.get("radius")
        if lower is not None and upper is not None and lower >= upper:
            raise FormatError(f"domain: lower is {about(lower)}, expected less than upper, {about(upper)}")
        bounded = lower is not None and upper is not None
        nearest = max(lower or Fraction(0), -(upper or Fraction(0)), Fraction(0))
        if radius is not None and self.depth * nearest**2 > radius**2:
            raise FormatError(
                f"domain is empty: latents with {self.depth} coordinates, each at least {about(nearest)} away from 0,"
                f" are longer than the radius, {about(radius)}; expected latents both in the box and in the ball"
            )
        if self.geometry.kind == "inner_product" and radius is None and not bounded:
            raise FormatError("domain is unbounded, expected two ends, or a radius of the geometry, for inner_product")
        if self.geometry.kind == "euclidean" and not self.chain.has_limit and not bounded:
            raise FormatError(
                f"domain is unbounded, expected two ends: {self.similarity.kind} has no least value without"
            )
        if self.geometry.kind in COSINES:
            self._check_rows("prototypes", any, "zero, which has no direction: expected none for cosine")

    def _check_pooling(self) -> None:
        kind, numbers = self.pooling.kind, self.pooling.numbers
        if kind == "banks" and not 1 <= numbers["class_token"] < self.count:
            raise FormatError(
                f"pooling: class_token is {numbers['class_token']}, expected from 1 to less than the {self.count}"
                " prototypes"
            )
        if kind == "max_minus_mean_distance" and self.geometry.kind != "euclidean":
            raise FormatError(f"pooling is {kind}, which is defined for euclidean only, not for {self.geometry.kind}")
        if kind.startswith("max_minus") and not SIMILARITIES[self.similarity.kind].focal:
            expected = " and ".join(name for name, each in SIMILARITIES.items() if each.focal)
            raise FormatError(f"pooling is {kind}, which is defined for {expected} only")
        if kind.startswith("max_minus") and self.readout.kind != "linear":
            raise FormatError(f"pooling is {kind}, which is defined for linear only, not for {self.readout.kind}")

    def _check_readout(self) -> None:
        if self.geometry.kind == "softmax" and self.readout.kind != "linear":
            raise FormatError(f"readout is {self.readout.kind}, expected linear for softmax")
        if self.readout.kind == "maximum":
            self._check_rows("weight", _is_some, "not of 0 and 1 with a 1, expected which prototypes it has")
        if self.readout.kind == "soft_tree":
            kind = SIMILARITIES[self.similarity.kind]
            if not kind.allows_soft_trees(self.chain) or self.pooling.kind != "max":
                expected = " or ".join(name for name, each in SIMILARITIES.items() if each.soft_tree)
                raise FormatError(f"readout is soft_tree, expected activations in [0, 1]: {expected}, pooling max")
            self._check_tree(self.readout.numbers["absent"], self.readout.numbers["present"])

    def _check_tree(self, absent: tuple[int, ...], present: tuple[int, ...]) -> None:
        count = len(absent)
        if len(present) != count or self.count != count:
            raise FormatError(
                f"readout has {count} absent and {len(present)} present children for {self.count} prototypes,"
                " expected one of each for each"
            )
        for node, children in enumerate(zip(absent, present, strict=True)):
            for child in children:
                if not (node < child < count or -1 - count <= child < 0):
                    raise FormatError(
                        f"readout: node {node} has the child {child}, expected a later node,"
                        f" or a leaf from -1 to {-1 - count}"
                    )
        if len({*absent, *present}) != 2 * count:
            raise FormatError("readout has a node or a leaf with two parents, expected a tree")


def read_head_file(data: bytes) -> HeadFile:
    """The head file of these bytes. Raises HeadError, which names the field or tensor."""
    try:
        description, tensors = read_described(data, LARGEST, METADATA_KEY, _REQUIRED, _OPTIONAL)
        del description["version"]
        return HeadFile(
            sha256=hashlib.sha256(data).hexdigest(),
            size=len(data),
            tensors=tensors,
            **{"readout": HeadPart("linear", {})} | description.pop("domain") | description,
        )
    except FormatError as error:
        raise HeadError(f"head file: {error}") from None


def _part(value: Any, where: str) -> HeadPart:
    """A part, in the field of its name."""
    return HeadPart(*of_kind(value, where, _KINDS[where]))


_REQUIRED: Readers = {
    "geometry": _part,
    "domain": partial(record, required=dict.fromkeys(("lower", "upper"), nullable(number))),
    "similarity": _part,
    "pooling": _part,
    "labels": nullable(listed(text, expected="null or a list of strings, one a class")),
}
_OPTIONAL: Readers = {
    "readout": _part,
    "compared": such(lambda value, where: value, lambda value: isinstance(value, bool), "true or false"),
}


def _is_some(row: array[float]) -> bool:
    """Whether a row is of 0 and 1, with a 1."""
    entries = set(row)
    return entries <= {0, 1} and 1 in entries
