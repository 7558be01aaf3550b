"""Every geometry, similarity, pooling and readout: what the rules prove holds at random latents, against 300-bit balls.

The reference evaluation is written from certificates/v1.md alone (`verale/soundness/independent/head.py`).
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from support.cases import case

from verale.checker import Status, check
from verale.checker.certificate import ActivationStatement, OrderStatement, PatchStatement, Statement
from verale.checker.dyadic import exact
from verale.checker.head import COSINES, read_head
from verale.checker.kernel import KERNELS, load_kernel
from verale.checker.plain.evaluation import Evaluation
from verale.checker.plain.margin import lower_bound
from verale.checker.plain.quadratic import QuadraticRule
from verale.checker.plain.simplex import Simplex
from verale.checker.plain.space import Space
from verale.checker.plain.spatial import SpatialRule
from verale.checker.plain.top_k import TopK
from verale.checker.similarities import SIMILARITIES
from verale.soundness.independent import arithmetic, files
from verale.soundness.independent.head import Head as IndependentHead

COUNT, DEPTH, CLASSES, PATCHES = 5, 3, 3, 4
GEOMETRIES: dict[str, dict[str, Any]] = {
    "euclidean": {"geometry": files.EUCLIDEAN, "domain": files.domain(-1.0, 1.0)},
    "cosine": {"geometry": files.cosine(0.25), "domain": files.domain(None, None)},
    "rooted_cosine": {
        "geometry": {"kind": "rooted_cosine", "epsilon": (0.1).hex()},
        "domain": files.domain(0.0, None),
    },
    "inner_product": {"geometry": {"kind": "inner_product", "radius": None}, "domain": files.domain(-0.3, 1.0)},
    "inner_product in a ball": {
        "geometry": {"kind": "inner_product", "radius": (1.5).hex()},
        "domain": files.domain(None, None),
    },
    "inner_product in an orthant of a ball": {
        "geometry": {"kind": "inner_product", "radius": (1.5).hex()},
        "domain": files.domain(0.0, 1.0),
    },
    "softmax": {"geometry": files.SOFTMAX, "domain": files.domain(None, None)},
}
SIMILARITY_FIELDS = {
    "log_ratio": {"epsilon": (1e-3).hex()},
    "exp_distance": {"epsilon": (1e-14).hex()},
    "threshold": {"threshold": (0.15).hex()},
}
POOLINGS: list[dict[str, Any]] = [
    files.MAX,
    {"kind": "banks", "class_token": 2},
    {"kind": "masked_max"},
    {"kind": "top_mean", "k": 1},
    {"kind": "top_mean", "k": 3},
    {"kind": "top_mean", "k": 10**17},
    {"kind": "max_minus_mean"},
    {"kind": "max_minus_mean_distance"},
]
LINEAR = {"kind": "linear"}
TREE = {"kind": "soft_tree", "absent": [1, -1, -3, -5, -4], "present": [2, 3, 4, -2, -6]}


def cases() -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Every combination of parts that v1.md allows, but for readouts under every pooling."""
    result = []
    for geometry in GEOMETRIES:
        kind = geometry.split()[0]
        similarities = [name for name, each in SIMILARITIES.items() if kind in each.geometries]
        for similarity, pooling in product(similarities, POOLINGS):
            focal = similarity in ("log_ratio", "identity") and (
                pooling["kind"] == "max_minus_mean" or similarity == "log_ratio"
            )
            if not pooling["kind"].startswith("max_minus") or focal:
                result.append((geometry, similarity, pooling, LINEAR))
        if kind != "softmax":
            result += [(geometry, similarity, files.MAX, {"kind": "maximum"}) for similarity in similarities]
        result += [
            (geometry, each, files.MAX, TREE) for each in similarities if each in ("exp_distance", "exponential")
        ]
    return result


def cases_of(geometry: str) -> list[tuple[str, str, dict[str, Any], dict[str, Any]]]:
    """Those of one geometry."""
    return [parts for parts in cases() if parts[0] == geometry]


def head_with(
    geometry: str, similarity: str, pooling: dict[str, Any], readout: dict[str, Any], generator: random.Random
) -> IndependentHead:
    """A head with these parts, its other numbers drawn."""

    def gauss(rows: int, columns: int) -> files.Matrix:
        return [[generator.gauss(0, 1) for _ in range(columns)] for _ in range(rows)]

    prototypes = None if geometry == "softmax" else gauss(COUNT, DEPTH)
    if prototypes:
        prototypes[-1] = prototypes[0]  # a duplicate, as projection leaves them
    weight = gauss(CLASSES, COUNT + (readout == TREE))
    if readout["kind"] == "maximum":
        weight = [[float(j % CLASSES == c) for j in range(COUNT)] for c in range(CLASSES)]
    size = COUNT if readout["kind"] == "maximum" else CLASSES
    scaled = similarity in ("log_ratio", "negated", "exponential") and generator.random() < 0.7
    return IndependentHead(
        weight,
        prototypes,
        GEOMETRIES[geometry]
        | {"similarity": {"kind": similarity, **SIMILARITY_FIELDS.get(similarity, {})}, "pooling": pooling}
        | ({} if readout == LINEAR else {"readout": readout}),
        bias=None if readout == TREE else gauss(1, size)[0],
        scale=[generator.choice((0.1, 1.0, 3.0)) for _ in range(COUNT)] if scaled else None,
        peak=gauss(1, COUNT)[0] if similarity == "quadratic" and generator.random() < 0.7 else None,
        mask=masked(generator) if pooling["kind"] == "masked_max" else None,
    )


def masked(generator: random.Random) -> files.Matrix:
    """A mask of some columns; each prototype looks at one at least."""
    columns = generator.randrange(1, PATCHES + 1)
    rows = [[float(generator.random() < 0.4) for _ in range(columns)] for _ in range(COUNT)]
    for row in rows:
        row[generator.randrange(columns)] = 1.0
    return rows


def draw(head: IndependentHead, generator: random.Random) -> files.Matrix:
    """Latents in the head's domain; some near a prototype or at a corner."""
    ends = [None if x is None else float.fromhex(x) for x in head.part("domain").values()]
    low, high = (d if x is None else x for x, d in zip(ends, (-1.5, 1.5), strict=True))
    radius = head.part("geometry").get("radius")
    image = []
    while len(image) < PATCHES:
        centre = generator.choice(head.prototypes or [[0.0] * COUNT])
        size = generator.choice((0.01, 0.5, 5.0))
        z = [min(high, max(low, generator.choice((-1, 1, 1)) * x + generator.gauss(0, size))) for x in centre]
        if any(z) and (radius is None or arithmetic.product(z, z) <= Fraction(float.fromhex(radius)) ** 2):
            image.append(z)
    return image


def around(value: Any, generator: random.Random) -> tuple[Fraction, Fraction]:
    """An interval that holds a number, narrow or wide."""
    low, high = arithmetic.ends(value)
    width = generator.choice((Fraction(0), Fraction(1, 2**50), Fraction(1, 10)))
    return Fraction(arithmetic.below(low - width)), Fraction(arithmetic.above(high + width * generator.randrange(3)))


def rules(space: Space) -> list[SpatialRule]:
    if space.head.geometry == "softmax":
        return [SpatialRule(space, Simplex(space))]
    return [SpatialRule(space, QuadraticRule(space))]


@pytest.mark.parametrize("first", [1, pytest.param(0, marks=pytest.mark.long)], ids=["half", "the others"])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_what_is_proved_holds(geometry: str, first: int) -> None:
    for parts in cases_of(geometry)[first::2]:
        with case(*parts):
            require_that_what_is_proved_holds(parts)


def require_that_what_is_proved_holds(parts: tuple[Any, ...]) -> None:
    generator = random.Random(str(parts))
    with flint.ctx.workprec(arithmetic.PRECISION):
        for kernel in KERNELS:
            head = head_with(*parts, generator)
            space = Space(read_head(head.data), load_kernel(kernel))
            image = draw(head, generator)
            activations = [head.activation(image, j) for j in range(COUNT)]
            logits = head.logits(activations)
            stated: list[Statement] = []
            for patch, j in generator.sample(list(product(range(PATCHES), range(COUNT))), generator.randrange(9)):
                stated.append(PatchStatement(patch, j, *around(head.observable(image[patch], j), generator)))
            boxes = [rule.box(stated, PATCHES) for rule in rules(space)]
            pooled: list[Statement] = [
                ActivationStatement(j, *around(activations[j], generator)) for j in range(0, COUNT, 2)
            ]
            most = max(arithmetic.ends(activations[j])[1] for j in (1, 3))
            boxes += [
                TopK(space).box(statements, PATCHES) for statements in ([], [*pooled, OrderStatement((0, 2, 4), most)])
            ]
            evaluation = Evaluation(space, exact(files.flat(image), len(image[0])))
            boxes += [evaluation.activations(bits) for bits in (0, 3, 20, 200)]
            for box in boxes:
                for a, low, high in zip(activations, box.lower, box.upper, strict=True):
                    least, greatest = arithmetic.ends(a)
                    assert Fraction(int(low), 1 << box.bits) <= greatest
                    assert least <= Fraction(int(high), 1 << box.bits)
                for c, d in product(range(CLASSES), repeat=2):
                    assert (
                        lower_bound(space.head, box, c, d) <= arithmetic.ends(arithmetic.ball(logits[c] - logits[d]))[1]
                    )
            narrow = boxes[-1]
            for low, high in zip(narrow.lower, narrow.upper, strict=True):
                assert high - low <= 1 << 20
            for patch, j in product(range(PATCHES), range(COUNT)):
                least, greatest = arithmetic.ends(head.observable(image[patch], j))
                for bits in (0, 3, 20, 200):
                    m_low, m_high = evaluation.observable(patch, j, bits)
                    assert m_low <= greatest
                    assert least <= m_high
                    assert m_high - m_low <= Fraction(16, 1 << bits)


@pytest.mark.parametrize("first", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 8))])
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_certificates_of_every_claim(geometry: str, first: int) -> None:
    """With everything stated the class is proved and a worse one refuted; step 8 comes to an answer.

    Its eighth in a short run is of the cases that the test above leaves out there.
    """
    for parts in cases_of(geometry)[first::8]:
        with case(*parts):
            require_answers(parts)


def require_answers(parts: tuple[Any, ...]) -> None:
    generator = random.Random(str(parts) + "whole")
    paradigm = "simplex" if parts[0] == "softmax" else "projection"
    with flint.ctx.workprec(arithmetic.PRECISION):
        head = head_with(*parts, generator)
        image = draw(head, generator)
        logits = head.logits([head.activation(image, j) for j in range(COUNT)])
        order = sorted(range(CLASSES), key=lambda c: float(logits[c]))
        statements = []
        for patch, j in product(range(PATCHES), range(COUNT)):
            low, high = arithmetic.ends(head.observable(image[patch], j))
            statements.append(files.patch_statement(patch, j, arithmetic.below(low), arithmetic.above(high)))
    options: dict[str, Any] = {"classes": CLASSES, "patches": PATCHES, "image": image, "paradigm": paradigm}
    best = files.document(head.data, statements, predicted=order[-1], minimality=True, **options)
    verdict = check(files.encode(best), head.data, files.latents([image]), "both", minimality=True)
    assert verdict.reason in ("", "minimality"), verdict.message
    assert verdict.claims["entailment"] == verdict.claims["instance"] == "proved"
    worst = files.document(head.data, statements, predicted=order[0], **options)
    assert check(files.encode(worst), head.data, files.latents([image]), "both").status is Status.REFUTED


def test_the_cases_name_every_part() -> None:
    assert {parts[0].split()[0] for parts in cases()} == {"euclidean", *COSINES, "inner_product", "softmax"}
    assert {parts[1] for parts in cases()} == set(SIMILARITIES)
    assert len({parts[2]["kind"] for parts in cases()}) == 6
