"""Minimality, both ways, and that the ranges it is shown with lie within those that entailment is proved with."""

from __future__ import annotations

import random
from typing import Any

import pytest
from support import arithmetic, files
from support.rationals import cosine_ends

from verale.checker import Status, check
from verale.checker.certificate import read_certificate
from verale.checker.head import read_head
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.reading.masses import Simplex
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Space

# One prototype for each of two classes, far apart; the latent lies on the first.
NEAR, FAR = [0.0, 0.0], [1.0, 1.0]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [NEAR, FAR], domain=files.domain(None, None))
OWN, OTHER = files.patch_statement(0, 0, 0.0, 0.0), files.patch_statement(0, 1, 2.0, 2.0)


def test_not_minimal() -> None:
    result = check(files.certificate(HEAD, [OTHER, OWN], minimality=True), HEAD, kernel="arb", minimality=True)
    assert (result.status, result.reason, result.exit_code) == (Status.NOT_PROVED, "minimality", 8)
    assert "statement 0 (patch 0, prototype 1) is not shown to be needed: without it every margin" in result.message
    assert result.claims == {"entailment": "proved", "instance": "not claimed", "minimality": "not checked"}


def test_not_asked_or_not_claimed() -> None:
    certificate = files.certificate(HEAD, [OTHER, OWN], minimality=True)
    expected = {"entailment": "proved", "instance": "not claimed"}
    assert check(certificate, HEAD).claims == expected | {"minimality": "not checked"}
    certificate = files.certificate(HEAD, [OTHER, OWN])
    assert check(certificate, HEAD, minimality=True).claims == expected


PARTS: list[tuple[str, dict[str, Any]]] = [
    *(
        (geometry, {"kind": kind})
        for geometry in ("euclidean", "cosine", "softmax")
        for kind in ("max", "max_minus_mean")
    ),
    *((geometry, {"kind": "banks", "class_token": 2}) for geometry in ("euclidean", "cosine", "softmax")),
    *((geometry, {"kind": "masked_max"}) for geometry in ("euclidean", "cosine", "softmax")),
    *(("euclidean", {"kind": "top_mean", "k": k}) for k in (1, 3, 9)),
    ("euclidean", {"kind": "max_minus_mean_distance"}),
]


@pytest.mark.parametrize(
    ("geometry", "pooling", "stated_patches"),
    [
        # Each has one number of patches in the short run, and each number has every third.
        pytest.param(*parts, stated, marks=[pytest.mark.long] * (place != number % 3))
        for number, parts in enumerate(PARTS)
        for place, stated in enumerate((1, 2, 5))
    ],
)
def test_ranges_without_a_statement_lie_within_the_enclosures(
    geometry: str, pooling: dict[str, Any], stated_patches: int
) -> None:
    generator = random.Random(stated_patches)
    weight = [[1.0] * 6, [0.0] * 6]
    rows = [[generator.random() for _ in range(4)] for _ in range(6)]
    mask = [[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]] * 3 if pooling["kind"] == "masked_max" else None
    parts: dict[str, Any] = {"pooling": pooling, "mask": mask}
    if geometry == "softmax":
        data = files.head(weight, geometry=files.SOFTMAX, similarity=files.IDENTITY, **parts)
    elif geometry == "cosine":
        data = files.head(weight, rows, geometry=files.cosine(0.0), similarity=files.IDENTITY, **parts)
    else:
        data = files.head(weight, rows, **parts)
    statements = [
        files.patch_statement(patch, j, low, low + 0.1)
        for patch in range(stated_patches)
        for z in [[generator.random() for _ in range(4)]]
        for j in generator.sample(range(6), 3)
        for low in [near(geometry, z, rows[j]) - 0.1 * generator.random()]
    ]
    generator.shuffle(statements)
    paradigm = "simplex" if geometry == "softmax" else "projection"
    certificate = read_certificate(files.certificate(data, statements, patches=5, paradigm=paradigm))
    for kernel in KERNELS:
        space = Space(read_head(data), load_arithmetic(kernel))
        rule = Activations(space, Simplex(space) if geometry == "softmax" else QuadraticRule(space))
        result = dict(rule.boxes_without(certificate.statements, 5))
        assert sorted(result) == list(range(len(statements)))
        for index, box in result.items():
            rest = [*certificate.statements[:index], *certificate.statements[index + 1 :]]
            assert box is not None
            outer = rule.box(rest, 5)
            for low, high, least, most in zip(box.lower, box.upper, outer.lower, outer.upper, strict=True):
                assert least <= low and high <= most
                assert low - least + most - high <= (most - least >> 20) + 8, (index, low - least, most - high)


def near(geometry: str, z: list[float], row: list[float]) -> float:
    """About the observable, so that the statements contradict each other nowhere."""
    if geometry == "softmax":
        return 0.15
    value = cosine_ends(z, row, 0.0)[0] if geometry == "cosine" else arithmetic.squared_distance(z, row)
    return max(float(value), 0.1)
