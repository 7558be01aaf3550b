"""The parts of a head, one table each: the formulas of certificates/v1.md, by the names that head files use.

A new similarity is one entry of SIMILARITIES. `fields` are the fields of a part as its JSON object holds them, hex
floats as balls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, TypeAlias

from verale.soundness.independent.arithmetic import (
    Ball,
    Matrix,
    Number,
    Vector,
    ball,
    balls,
    greatest,
    largest,
    mean,
    norm,
    product,
    squared_distance,
)

Fields: TypeAlias = dict[str, Any]


def fields(part: dict[str, Any]) -> Fields:
    """The fields of a part, hex floats as balls."""
    return {
        name: ball(float.fromhex(value)) if isinstance(value, str) else value
        for name, value in part.items()
        if name != "kind"
    }


# Lengths: what a cosine divides by besides |p|, from |z|^2.

LENGTHS: dict[str, Callable[[Ball, Fields], Ball]] = {
    "cosine": lambda square, f: square.sqrt() + f["epsilon"],
    "rooted_cosine": lambda square, f: (square + f["epsilon"]).sqrt(),
}


# Observables: m(z, p). For softmax p is the index of a channel.

OBSERVABLES: dict[str, Callable[[Vector, Any, Fields], Number]] = {
    "euclidean": lambda z, p, f: squared_distance(z, p),
    "inner_product": lambda z, p, f: product(z, p),
    "cosine": lambda z, p, f: _cosine("cosine", z, p, f),
    "rooted_cosine": lambda z, p, f: _cosine("rooted_cosine", z, p, f),
    "softmax": lambda z, p, f: _mass(z, p),
}


def _cosine(kind: str, z: Vector, p: Vector, f: Fields) -> Ball:
    z, p = balls([z, p])
    return product(z, p) / (LENGTHS[kind](product(z, z), f) * norm(p))


def _mass(z: Vector, channel: int) -> Ball:
    return 1 / sum(((ball(x) - ball(z[channel])).exp() for x in z), ball(0))


# Similarities: S of an observable m, a ball.


@dataclass(frozen=True)
class SimilarityValues:
    """What a similarity reads besides its observable.

    Attributes:
        geometry: the geometry's kind.
        scale: s, 1 where the head has none.
        peak: c, 0 where the head has none.
        fields: of the similarity's part.
    """

    geometry: str
    scale: Ball
    peak: Ball
    fields: Fields


SIMILARITIES: dict[str, Callable[[Ball, SimilarityValues], Ball]] = {
    "identity": lambda m, v: m,
    "log_ratio": lambda m, v: ((v.scale * m + 1) / (v.scale * m + v.fields["epsilon"])).log(),
    "negated": lambda m, v: -v.scale * m,
    "exp_distance": lambda m, v: (-(m + v.fields["epsilon"]).sqrt()).exp(),
    "exponential": lambda m, v: (-v.scale * (m if v.geometry == "euclidean" else 1 - m)).exp(),
    "quadratic": lambda m, v: -((m - v.peak) ** 2),
    "rectified": lambda m, v: m.max(ball(0)),
    "threshold": lambda m, v: _cut(m, v.fields["threshold"]),
}


def _cut(m: Ball, threshold: Ball) -> Ball:
    """m where m >= threshold, else 0. Raises ValueError where the ball decides neither."""
    if not (m >= threshold or m < threshold):
        raise ValueError("a mass cannot be compared with the threshold at this precision")
    return m if m >= threshold else ball(0)


# Poolings: the activation of a prototype.


@dataclass(frozen=True)
class PatchValues:
    """What a pooling reads of one prototype.

    Attributes:
        prototype: its index.
        observables: m, one a patch.
        similarities: S(m), one a patch.
        similarity: S of this prototype.
        fields: of the pooling's part.
        looks: the prototype's row of the mask; empty without one.
    """

    prototype: int
    observables: list[Number]
    similarities: list[Ball]
    similarity: Callable[[Number], Ball]
    fields: Fields
    looks: list[float] = field(default_factory=list)


def _repeated(row: list[float]) -> Iterator[float]:
    """The entries of a mask's row, the last one again and again."""
    return chain(row, repeat(row[-1]))


POOLINGS: dict[str, Callable[[PatchValues], Ball]] = {
    "max": lambda v: greatest(v.similarities),
    "banks": lambda v: v.similarities[0] if v.prototype < v.fields["class_token"] else greatest(v.similarities[1:]),
    "masked_max": lambda v: greatest([g for g, at in zip(v.similarities, _repeated(v.looks), strict=False) if at]),
    "top_mean": lambda v: mean(largest(v.similarities, v.fields["k"])),
    "max_minus_mean": lambda v: greatest(v.similarities) - mean(v.similarities),
    "max_minus_mean_distance": lambda v: greatest(v.similarities) - v.similarity(mean(v.observables)),
}


# Readouts: the logits of all classes, from weight, bias (None where the head has none) and activations.

Readout: TypeAlias = Callable[[Matrix, "list[float] | None", list[Ball], Fields], list[Ball]]


def _linear(weight: Matrix, bias: list[float] | None, activations: list[Ball], f: Fields) -> list[Ball]:
    offsets = [0.0] * len(weight) if bias is None else bias
    return [
        sum((ball(w) * a for w, a in zip(row, activations, strict=True)), ball(offset))
        for row, offset in zip(weight, offsets, strict=True)
    ]


def _maximum(weight: Matrix, bias: list[float] | None, activations: list[Ball], f: Fields) -> list[Ball]:
    offsets = [0.0] * len(activations) if bias is None else bias
    sums = [a + ball(offset) for a, offset in zip(activations, offsets, strict=True)]
    return [greatest([value for w, value in zip(row, sums, strict=True) if w]) for row in weight]


def _soft_tree(weight: Matrix, bias: list[float] | None, activations: list[Ball], f: Fields) -> list[Ball]:
    def value(child: int, leaves: list[float]) -> Ball:
        if child < 0:
            return ball(leaves[-1 - child])
        a = activations[child]
        return (1 - a) * value(f["absent"][child], leaves) + a * value(f["present"][child], leaves)

    return [value(0, leaves) for leaves in weight]


READOUTS: dict[str, Readout] = {"linear": _linear, "maximum": _maximum, "soft_tree": _soft_tree}
