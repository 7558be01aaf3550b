"""What a head computes, read from certificates/v1.md alone: balls of 300 bits, from a description and lists of floats.

Call within `flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import flint

from verale.soundness.independent import files as hm

PRECISION = 300


@dataclass(frozen=True)
class Made:
    """A head as its description and its tensors, the numbers of which are floats."""

    weight: hm.Matrix
    prototypes: hm.Matrix | None = None
    parts: dict[str, Any] = field(default_factory=dict)
    bias: list[float] | None = None
    scale: list[float] | None = None
    peak: list[float] | None = None

    def part(self, name: str) -> dict[str, Any]:
        return dict(({"readout": {"kind": "linear"}} | hm.description(**self.parts))[name])

    @property
    def count(self) -> int:
        return len(self.prototypes or self.weight[0])

    @property
    def data(self) -> bytes:
        """The head's file."""
        tensors = {name: getattr(self, name) for name in ("weight", "prototypes", "bias", "scale", "peak")}
        return hm.safetensors(
            {name: hm.tensor(values) for name, values in tensors.items() if values is not None},
            {"verale.head": json.dumps(hm.description(**self.parts))},
        )

    def observable(self, z: list[float], j: int) -> Any:
        """A Fraction where it is exact, else a ball."""
        geometry = self.part("geometry")
        if geometry["kind"] == "softmax":
            return 1 / sum((flint.arb(x) - flint.arb(z[j])).exp() for x in z)
        p = hm.given(self.prototypes)[j]
        match geometry["kind"]:
            case "euclidean":
                return hm.squared_distance(z, p)
            case "inner_product":
                return hm.product(z, p)
        length, epsilon = ball(hm.product(z, z)), ball(Fraction(float.fromhex(geometry["epsilon"])))
        length = length.sqrt() + epsilon if geometry["kind"] == "cosine" else (length + epsilon).sqrt()
        return ball(hm.product(z, p)) / (length * ball(hm.product(p, p)).sqrt())

    def similarity(self, m: Any, j: int) -> Any:
        part = self.part("similarity")
        scale = flint.arb(1.0 if self.scale is None else self.scale[j])
        epsilon = flint.arb(float.fromhex(part.get("epsilon", "0x0p+0")))
        m = ball(m)
        match part["kind"]:
            case "log_ratio":
                return ((scale * m + 1) / (scale * m + epsilon)).log()
            case "negated":
                return -scale * m
            case "exp_distance":
                return (-(m + epsilon).sqrt()).exp()
            case "exponential":
                return (-scale * (m if self.part("geometry")["kind"] == "euclidean" else 1 - m)).exp()
            case "quadratic":
                return -((m - flint.arb(0.0 if self.peak is None else self.peak[j])) ** 2)
            case "rectified":
                return m.max(flint.arb(0))
            case "threshold":
                threshold = flint.arb(float.fromhex(part["threshold"]))
                if not (m >= threshold or m < threshold):
                    raise ValueError("a mass cannot be told from the threshold")
                return m if m >= threshold else flint.arb(0)
            case _:
                return m

    def activation(self, image: hm.Matrix, j: int) -> Any:
        pooling = self.part("pooling")
        observed = [self.observable(z, j) for z in image]
        similar = [self.similarity(m, j) for m in observed]
        match pooling["kind"]:
            case "max":
                return greatest(similar)
            case "banks":
                return similar[0] if j < pooling["class_token"] else greatest(similar[1:])
            case "top_mean":
                kept = sorted(similar, key=float, reverse=True)[: pooling["k"]]
                return sum(kept, flint.arb(0)) / len(kept)
            case "max_minus_mean":
                return greatest(similar) - sum(similar, flint.arb(0)) / len(similar)
            case _:
                return greatest(similar) - self.similarity(sum(observed, Fraction(0)) / len(observed), j)

    def logits(self, activations: list[Any]) -> list[Any]:
        readout = self.part("readout")
        bias = [0.0] * max(len(self.weight), self.count) if self.bias is None else self.bias
        match readout["kind"]:
            case "maximum":
                return [
                    greatest([a + flint.arb(bias[j]) for j, a in enumerate(activations) if row[j]])
                    for row in self.weight
                ]
            case "soft_tree":
                return [self._below(0, row, activations) for row in self.weight]
            case _:
                each = (zip(row, activations, strict=True) for row in self.weight)
                return [
                    flint.arb(b) + sum(flint.arb(w) * a for w, a in row) for b, row in zip(bias, each, strict=False)
                ]

    def _below(self, node: int, row: list[float], activations: list[Any]) -> Any:
        if node < 0:
            return flint.arb(row[-1 - node])
        readout, a = self.part("readout"), activations[node]
        absent, present = (self._below(readout[side][node], row, activations) for side in ("absent", "present"))
        return (1 - a) * absent + a * present


def ball(value: Any) -> Any:
    return flint.arb(flint.fmpq(value.numerator, value.denominator)) if isinstance(value, Fraction) else value


def greatest(values: list[Any]) -> Any:
    found = values[0]
    for value in values[1:]:
        found = found.max(value)
    return found


def ends(value: Any) -> tuple[Fraction, Fraction]:
    """The ends of a ball, or a Fraction twice."""
    if isinstance(value, Fraction):
        return value, value
    found = []
    for end in (value.lower(), value.upper()):
        mantissa, exponent = map(int, end.man_exp())
        found.append(Fraction(mantissa) * Fraction(2) ** exponent)
    return found[0], found[1]
