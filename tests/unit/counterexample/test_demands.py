"""Demands: what is asked of single observables is what the statements say of the image, and latents can comply."""

from __future__ import annotations

import flint
import numpy as np
import pytest
import torch
from support.cases import every
from support.exact import PRECISION, inside, observable, pooled
from support.small import GEOMETRIES, VARIED, small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.counterexample.demands import Demands, demands_of
from verale.counterexample.repair import repair
from verale.head import BankPooling, Head, MaskedMaxPooling, MaxPooling, as_patches, evaluate

NAMES = (*GEOMETRIES, *VARIED)


def head_of(name: str) -> Head:
    return small_head(name, depth=16) if name in GEOMETRIES else varied_head(name, depth=16)


def stated(head: Head, image: torch.Tensor) -> tuple[Certificate, Demands]:
    """Three activations, a little more exactly than float64 knows them, and that no other exceeds the greatest."""
    activations = evaluate(head, image[None]).activations[0].tolist()
    slack = 1e-12
    statements = [ActivationStatement(j, a - slack, a + slack) for j, a in enumerate(activations[:3])]
    order = OrderStatement((0, 1, 2), max(activations[3:]) + slack)
    margins = (None, *[1.0] * (head.classes - 1))
    certificate = Certificate(head.digest, None, 0, "top_k", len(image), (*statements, order), margins, False, "0")
    return certificate, demands_of(head, certificate, image, known=True)


@every("name", NAMES)
def test_the_image_complies_and_another_does_not(name):
    head = head_of(name)
    image, other = as_patches(small_latents(head, images=2))
    _, demands = stated(head, image)
    assert demands.pinned.all() == (not isinstance(head.pooling, (MaxPooling, BankPooling, MaskedMaxPooling)))
    if not demands.pinned.any():
        assert float(demands.violation(image[None])) < 1e-9
        assert float(demands.violation(other[None])) > 1e-6


@pytest.mark.parametrize("name", ["euclidean", "cosine", "softmax", "negated", "exp_distance", "cosine exponential"])
def test_latents_that_comply_have_the_activations_stated(name):
    head = head_of(name)
    image, other = as_patches(small_latents(head, images=2))
    certificate, demands = stated(head, image)
    repaired = repair(demands, demands.comply(other[None], 60)[0], np.random.default_rng(0))
    assert repaired is not None and not repaired.equal(image)
    with flint.ctx.workprec(PRECISION):
        activations = [
            pooled(head, [flint.arb(1) * _ball(observable(head, z, j)) for z in repaired.tolist()], j)
            for j in range(head.size)
        ]
        *three, order = certificate.statements
        assert all(inside(activations[s.prototype], s.lower, s.upper) for s in three)
        assert all(a <= order.upper for a in activations[3:])


@pytest.mark.parametrize("name", ["euclidean", "cosine", "softmax", "negated", "exp_distance", "cosine exponential"])
def test_latents_that_comply_have_the_ends_stated(name):
    """One end of two activations, a ceiling, and a floor."""
    head = head_of(name)
    image, other = as_patches(small_latents(head, images=2))
    activations, slack = evaluate(head, image[None]).activations[0].tolist(), 1e-12
    first, second, *_ = activations
    statements = (
        ActivationStatement(0, first - slack, torch.inf),
        ActivationStatement(1, -torch.inf, second + slack),
        OrderStatement((0,), max(activations[1:]) + slack),
        FloorStatement((1, 2), min(first, *activations[3:]) - slack),
    )
    margins = (None, *[1.0] * (head.classes - 1))
    certificate = Certificate(head.digest, None, 0, "top_k", len(image), statements, margins, False, "0")
    demands = demands_of(head, certificate, image, known=True)
    assert float(demands.violation(image[None])) < 1e-9
    repaired = repair(demands, demands.comply(other[None], 60)[0], np.random.default_rng(0))
    assert repaired is not None and not repaired.equal(image)
    with flint.ctx.workprec(PRECISION):
        reached = [
            pooled(head, [flint.arb(1) * _ball(observable(head, z, j)) for z in repaired.tolist()], j)
            for j in range(head.size)
        ]
        assert first - slack <= reached[0] and reached[1] <= second + slack
        assert all(a <= statements[2].upper for a in reached[1:])
        assert all(a >= statements[3].lower for j, a in enumerate(reached) if j not in (1, 2))


def test_what_is_stated_on_one_side_is_asked_on_one_side():
    head = head_of("euclidean")
    image = as_patches(small_latents(head, images=1))[0]
    ends = [(0.5, torch.inf), (-torch.inf, 0.5)]
    statements = tuple(PatchStatement(patch, patch, *each) for patch, each in enumerate(ends))
    certificate = Certificate(head.digest, None, 0, "projection", len(image), statements, (None, 1.0, 1.0), False, "0")
    demands = demands_of(head, certificate, image, known=True)
    assert [each for patch in demands.exact for each in patch.values()] == [(0.5, None), (None, 0.5)]


def _ball(value):
    return value if isinstance(value, flint.arb) else flint.arb(flint.fmpq(value.numerator, value.denominator))


def test_nothing_stated_asks_for_nothing():
    head = head_of("euclidean")
    image = as_patches(small_latents(head, images=1))
    certificate = Certificate(head.digest, None, 0, "projection", 5, (), (None, 1.0, 1.0), False, "0")
    demands = demands_of(head, certificate, image[0], known=True)
    assert demands.violation(image).tolist() == [0.0]
    assert demands.comply(image + 5, 3).equal(torch.ones_like(image))
