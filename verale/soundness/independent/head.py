"""What a head computes, read from certificates/v1.md alone: rationals where they are exact, else balls.

Call what evaluates a head within `flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from verale.soundness.independent import files
from verale.soundness.independent.arithmetic import Ball, Matrix, Number, Vector, ball, balls, product
from verale.soundness.independent.parts import (
    LENGTHS,
    OBSERVABLES,
    POOLINGS,
    READOUTS,
    SIMILARITIES,
    Fields,
    PatchValues,
    SimilarityValues,
    fields,
)
from verale.soundness.independent.readers import WrongError, read_json, read_tensors

_PARTS = ("geometry", "similarity", "pooling", "readout")


class Encodable(Protocol):
    """Whatever can write a head's file."""

    def to_bytes(self) -> bytes: ...


@dataclass(frozen=True)
class Head:
    """A head as its description and its tensors.

    Latents are lists of floats or of balls. Of floats, observables that are rational are Fractions.

    Attributes:
        weight: (C, P); of a soft tree (C, P + 1).
        prototypes: (P, D); None for softmax.
        parts: the fields of the description that differ from `files.description()`.
        bias: (C); of the readout `maximum` (P); or None.
        scale: (P), or None.
        peak: (P), or None.
        mask: (P, K), of the pooling masked_max; or None.
    """

    weight: Matrix
    prototypes: Matrix | None = None
    parts: dict[str, Any] = field(default_factory=dict)
    bias: list[float] | None = None
    scale: list[float] | None = None
    peak: list[float] | None = None
    mask: Matrix | None = None

    @classmethod
    def read(cls, data: bytes) -> Head:
        """A head from its file. Raises WrongError."""
        metadata, tensors = read_tensors(data)
        description = read_json(metadata["verale.head"].encode())

        def rows(name: str) -> Matrix | None:
            if name not in tensors:
                return None
            (_, width), values = tensors[name]
            return [values[start : start + width] for start in range(0, len(values), width)]

        parts = {name: description[name] for name in description if name not in ("version", "labels", "compared")}
        vectors = {name: tensors[name][1] for name in ("bias", "scale", "peak") if name in tensors}
        head = cls(files.given(rows("weight")), rows("prototypes"), parts, **vectors, mask=rows("mask"))
        if head.part("readout")["kind"] == "soft_tree" and head.prototypes is None:
            raise WrongError("a soft tree without prototypes")
        return head

    @classmethod
    def of(cls, head: Encodable) -> Head:
        """The same of an object that writes a head's file."""
        return cls.read(head.to_bytes())

    @property
    def data(self) -> bytes:
        """The head's file."""
        tensors = {name: getattr(self, name) for name in ("weight", "prototypes", "bias", "scale", "peak", "mask")}
        return files.safetensors(
            {name: files.tensor(values) for name, values in tensors.items() if values is not None},
            {"verale.head": json.dumps(files.description(**self.parts))},
        )

    @cached_property
    def _description(self) -> dict[str, Any]:
        return {"readout": {"kind": "linear"}} | files.description(**self.parts)

    @cached_property
    def _fields(self) -> dict[str, Fields]:
        return {name: fields(self.part(name)) for name in _PARTS}

    def part(self, name: str) -> dict[str, Any]:
        """A field of the description: a part, or the domain."""
        return dict(self._description[name])

    def kind(self, name: str) -> str:
        """The kind of a part."""
        return str(self._description[name]["kind"])

    @property
    def count(self) -> int:
        """P, the number of prototypes."""
        return len(self.prototypes or self.weight[0])

    def length(self, z: Vector) -> Ball:
        """What a cosine divides by besides |p|: |z| + E or (|z|^2 + E)^(1/2)."""
        (z,) = balls([z])
        return LENGTHS[self.kind("geometry")](product(z, z), self._fields["geometry"])

    def observable(self, z: Vector, j: int) -> Number:
        """m of a patch and a prototype: a Fraction where it is exact, else a ball."""
        p = j if self.prototypes is None else self.prototypes[j]
        return OBSERVABLES[self.kind("geometry")](z, p, self._fields["geometry"])

    def similarity(self, m: Number, j: int) -> Ball:
        """S of an observable."""
        scale = ball(1.0 if self.scale is None else self.scale[j])
        peak = ball(0.0 if self.peak is None else self.peak[j])
        values = SimilarityValues(self.kind("geometry"), scale, peak, self._fields["similarity"])
        return SIMILARITIES[self.kind("similarity")](ball(m), values)

    def pooled(self, observables: list[Number], j: int, similarities: list[Ball] | None = None) -> Ball:
        """The activation of a prototype, from its observables at all patches, and their similarities if known."""
        if similarities is None:
            similarities = [self.similarity(m, j) for m in observables]
        looks = [] if self.mask is None else self.mask[j]
        values = PatchValues(
            j, observables, similarities, lambda m: self.similarity(m, j), self._fields["pooling"], looks
        )
        return POOLINGS[self.kind("pooling")](values)

    def activation(self, image: list[Vector], j: int) -> Ball:
        """The activation of a prototype at latents (L, D)."""
        return self.pooled([self.observable(z, j) for z in image], j)

    def logits(self, activations: list[Ball]) -> list[Ball]:
        """The logits of all classes."""
        return READOUTS[self.kind("readout")](self.weight, self.bias, activations, self._fields["readout"])

    def admits(self, z: Vector) -> bool:
        """Whether one patch's latent certainly lies in the domain."""
        low, high = (None if end is None else ball(float.fromhex(end)) for end in self.part("domain").values())
        geometry = self._fields["geometry"]
        radius, epsilon = geometry.get("radius"), geometry.get("epsilon")
        (z,) = balls([z])
        return (
            (low is None or all(x >= low for x in z))
            and (high is None or all(x <= high for x in z))
            and (radius is None or bool(product(z, z) <= radius**2))
            and (epsilon is None or bool(epsilon > 0) or bool(product(z, z) > 0))
        )
