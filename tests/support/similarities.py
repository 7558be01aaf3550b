"""The similarities: one row generates the tests of each, with a formula that shares nothing with the package's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import flint
import torch

from verale.head import (
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    Geometry,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    Similarity,
    Softmax,
    Threshold,
)

Formula = Callable[[Any, Any, Any, Any], Any]
"""S in balls, from the observable m, the similarity (for its numbers), the prototype's scale and its peak."""


@dataclass(frozen=True)
class Row:
    """One similarity, the geometries it is defined for, its JSON, and its formula."""

    similarity: Similarity
    geometries: tuple[Geometry, ...]
    json: dict[str, Any]
    formula: Formula


COSINES = (Cosine(1e-8), Cosine(1e-4, rooted=True))
ONE_THOUSANDTH, ONE_TENTH = 0.001, 0.1

ROWS = (
    Row(Identity(), (*COSINES, InnerProduct(4.0), Softmax()), {"kind": "identity"}, lambda m, s, scale, peak: m),
    Row(
        LogRatio(ONE_THOUSANDTH),
        (Euclidean(),),
        {"kind": "log_ratio", "epsilon": "0x1.0624dd2f1a9fcp-10"},
        lambda m, s, scale, peak: ((scale * m + 1) / (scale * m + flint.arb(s.epsilon))).log(),
    ),
    Row(Negated(), (Euclidean(),), {"kind": "negated"}, lambda m, s, scale, peak: -scale * m),
    Row(
        ExpDistance(ONE_THOUSANDTH),
        (Euclidean(),),
        {"kind": "exp_distance", "epsilon": "0x1.0624dd2f1a9fcp-10"},
        lambda m, s, scale, peak: (-(m + flint.arb(s.epsilon)).sqrt()).exp(),
    ),
    Row(Exponential(), (Euclidean(),), {"kind": "exponential"}, lambda m, s, scale, peak: (-scale * m).exp()),
    Row(Exponential(), COSINES, {"kind": "exponential"}, lambda m, s, scale, peak: (-scale * (1 - m)).exp()),
    Row(
        Quadratic(),
        (Euclidean(), *COSINES, InnerProduct(4.0)),
        {"kind": "quadratic"},
        lambda m, s, scale, peak: -((m - peak) ** 2),
    ),
    Row(
        Rectified(),
        (*COSINES, InnerProduct(4.0)),
        {"kind": "rectified"},
        lambda m, s, scale, peak: m.max(flint.arb(0)),
    ),
    Row(
        Threshold(ONE_TENTH),
        (Softmax(),),
        {"kind": "threshold", "threshold": "0x1.999999999999ap-4"},
        lambda m, s, scale, peak: m if m >= flint.arb(s.threshold) else flint.arb(0),
    ),
)
"""Every similarity; a new one is one more row."""

CASES = [(row, geometry) for row in ROWS for geometry in row.geometries]
NAMES = [f"{row.json['kind']}-{geometry.kind}" for row, geometry in CASES]


def similarity(head: Head, value: Any, j: int) -> Any:
    """S of one observable of prototype j, a ball (call within `flint.ctx.workprec`)."""
    (row,) = [
        row
        for row, geometry in CASES
        if type(row.similarity) is type(head.similarity) and geometry.kind == head.geometry.kind
    ]
    scale = flint.arb(1.0 if head.scale is None else float(head.scale[j]))
    peak = flint.arb(0.0 if head.peak is None else float(head.peak[j]))
    return row.formula(value, head.similarity, scale, peak)


def head_of(row: Row, geometry: Geometry, prototypes: int = 5, seed: int = 0) -> Head:
    """A head with the similarity, with `scale` and `peak` where it takes them."""
    generator = torch.Generator().manual_seed(seed)
    points = torch.rand(prototypes, 4, generator=generator) - 0.3
    numbers = {
        "scale": 10 ** (2 * torch.rand(prototypes, generator=generator) - 1),
        "peak": 2 * torch.rand(prototypes, generator=generator) - 0.7,
    }
    return Head(
        torch.ones(2, prototypes),
        geometry,
        row.similarity,
        prototypes=points if geometry.has_prototypes else None,
        domain=Box(-1, 1),
        **{name: numbers[name] for name in row.similarity.tensors},
    )
