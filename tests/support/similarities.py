"""The similarities, one row each: it generates the tests of every similarity, on both sides of the wall.

The formula that bounds and rules are compared with is that of `verale.head`, on exact numbers (`support.exact`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from support.exact import exact

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
    StepChain,
    Threshold,
)
from verale.head.similarity import StudentT  # type: ignore[attr-defined]


@dataclass(frozen=True)
class Row:
    """What certificates/v1.md says of one similarity.

    Attributes:
        similarity: an example.
        geometries: those it is defined for.
        json: of the example, in a head file.
        tensor: the tensor that it may have, and the number that stands for it where a file has none; of steps it is in
            `similarity` alone.
        focal, soft_tree: as `verale.checker.read.similarities.SimilarityKind` has them.
        unimodal, unchanged, has_limit: as its chain has them.
    """

    similarity: Similarity
    geometries: tuple[Geometry, ...]
    json: dict[str, Any]
    tensor: tuple[str, int] | None = None
    focal: bool = False
    soft_tree: bool = False
    unimodal: bool = False
    unchanged: bool = False
    has_limit: bool = True


COSINES = (Cosine(1e-8), Cosine(1e-4, rooted=True))
INNER = InnerProduct(4.0)
ONE_THOUSANDTH, ONE_TENTH = 0.001, 0.1
HEX_THOUSANDTH, HEX_TENTH = "0x1.0624dd2f1a9fcp-10", "0x1.999999999999ap-4"


def _steps(geometries: tuple[Geometry, ...], *steps: dict[str, Any], **traits: bool) -> Row:
    """A row of steps; numbers are floats here, and hex floats in the head file."""
    spelled = [{name: each.hex() if isinstance(each, float) else each for name, each in step.items()} for step in steps]
    return Row(StepChain(steps), geometries, {"kind": "steps", "steps": spelled}, **traits)  # type: ignore[arg-type]


def _step(kind: str, **numbers: float) -> dict[str, Any]:
    return {"kind": kind, **numbers}


ROWS = (
    Row(Identity(), (*COSINES, INNER, Softmax()), {"kind": "identity"}, focal=True, unchanged=True),
    Row(
        LogRatio(ONE_THOUSANDTH),
        (Euclidean(),),
        {"kind": "log_ratio", "epsilon": HEX_THOUSANDTH},
        tensor=("scale", 1),
        focal=True,
    ),
    Row(Negated(), (Euclidean(),), {"kind": "negated"}, tensor=("scale", 1), has_limit=False),
    Row(
        ExpDistance(ONE_THOUSANDTH), (Euclidean(),), {"kind": "exp_distance", "epsilon": HEX_THOUSANDTH}, soft_tree=True
    ),
    Row(Exponential(), (Euclidean(), *COSINES), {"kind": "exponential"}, tensor=("scale", 1), soft_tree=True),
    Row(
        Quadratic(),
        (Euclidean(), *COSINES, INNER),
        {"kind": "quadratic"},
        tensor=("peak", 0),
        unimodal=True,
        has_limit=False,
    ),
    Row(Rectified(), (*COSINES, INNER), {"kind": "rectified"}),
    Row(Threshold(ONE_TENTH), (Softmax(),), {"kind": "threshold", "threshold": HEX_TENTH}),
    Row(StudentT(ONE_TENTH), (Euclidean(),), {"kind": "student_t", "nu": HEX_TENTH}, soft_tree=True),
    _steps(
        (Euclidean(),),
        *(_step("scale"), _step("add", number=0.125), _step("root"), _step("reciprocal", number=ONE_TENTH)),
        _step("multiply", number=3.0),
    ),
    _steps(
        (*COSINES, Softmax()),
        *(_step("negate"), _step("add", number=1.0), _step("rectify"), _step("scale")),
        _step("log_ratio", over=2.0, under=ONE_TENTH),
    ),
    _steps((*COSINES, INNER), _step("rectify"), _step("threshold", number=ONE_TENTH)),
    _steps(
        (Euclidean(), *COSINES, INNER),
        *(_step("from_peak"), _step("square"), _step("scale"), _step("negate"), _step("exp")),
        unimodal=True,
        has_limit=False,
    ),
)
"""Every similarity; a new one is one more row."""

CASES = [(row, geometry) for row in ROWS for geometry in row.geometries]
NAMES = [f"{row.json['kind']}-{geometry.kind}" for row, geometry in CASES]


def similarity(head: Head, value: Any, j: int) -> Any:
    """S of one observable of prototype j, a ball (call within `flint.ctx.workprec`)."""
    return exact(head).similarity(value, j)


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
