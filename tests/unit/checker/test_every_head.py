"""Every geometry, similarity, pooling and readout: what the rules prove holds at random latents, against 300-bit balls.

The reference evaluation is that of `verale.head`, on exact numbers (`support.exact`).
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest
from support import arithmetic, files
from support.cases import case
from support.every_head import CLASSES, COUNT, GEOMETRIES, PATCHES, around, cases, cases_of, draw, head_with

from verale.checker import Status, check
from verale.checker.certificate import ActivationStatement, OrderStatement, PatchStatement, Statement
from verale.checker.dyadic import exact
from verale.checker.head import read_head
from verale.checker.network.enclosure import EnclosedLatents
from verale.checker.options import KERNELS, load_arithmetic
from verale.checker.read.similarities import COSINES, SIMILARITIES
from verale.checker.reading.evaluation import Evaluation
from verale.checker.reading.margin import lower_bound
from verale.checker.reading.masses import Simplex
from verale.checker.reading.paradigms import Activations
from verale.checker.reading.quadratic import QuadraticRule
from verale.checker.reading.space import Space


def rules(space: Space) -> list[Activations]:
    if space.head.geometry == "softmax":
        return [Activations(space, Simplex(space))]
    return [Activations(space, QuadraticRule(space))]


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
            space = Space(read_head(head.data), load_arithmetic(kernel))
            image = draw(head, generator)
            activations = head.at(image).activations
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
                Activations(space, Simplex(space)).box(statements, PATCHES)
                for statements in ([], [*pooled, OrderStatement((0, 2, 4), most)])
            ]
            evaluation = Evaluation(space, EnclosedLatents.exactly(exact(files.flat(image), len(image[0]))))
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
        logits = head.at(image).logits
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
    assert {parts[1].split()[0] for parts in cases()} == set(SIMILARITIES)
    assert len({parts[2]["kind"] for parts in cases()}) == 6
