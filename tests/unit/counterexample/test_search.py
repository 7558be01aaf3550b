"""Counterexamples: what is asked of observables, floats that comply exactly, latents that satisfy all statements."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import inf, nextafter

import flint
import numpy as np
import pytest
import torch
from support import arithmetic
from support.boxes import coordinates
from support.cases import every
from support.exact import PRECISION, inside, observable, pooled
from support.small import GEOMETRIES, VARIED, small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.certificate.statements import activations_bounded
from verale.counterexample import counterexamples
from verale.counterexample.demands import Demands, demands_of
from verale.counterexample.repair import repair
from verale.head import BankPooling, Head, MaskedMaxPooling, MaxPooling, as_patches, evaluate
from verale.search.explain import explain

NAMES = (*GEOMETRIES, *VARIED)


def head_of(name: str) -> Head:
    return small_head(name, depth=16) if name in GEOMETRIES else varied_head(name, depth=16)


def bounds_of(certificate: Certificate, prototypes: int) -> list[tuple[int, float, float]]:
    return [bound for each in certificate.statements for bound in activations_bounded(each, prototypes)]


def certificate_of(head: Head, patches: int, statements: tuple, paradigm: str = "top_k") -> Certificate:
    margins = (None, *[1.0] * (head.classes - 1))
    return Certificate(head.digest, None, 0, paradigm, patches, statements, margins, False, "0")


def stated(head: Head, image: torch.Tensor, both_ends: bool = True) -> tuple[Certificate, Demands]:
    """Three activations, a little more exactly than float64 knows them, and that no other exceeds the greatest; or one
    end of two, a ceiling and a floor."""
    activations, slack = evaluate(head, image[None]).activations[0].tolist(), 1e-12
    first, second, *_ = activations
    statements = (
        *(ActivationStatement(j, a - slack, a + slack) for j, a in enumerate(activations[:3])),
        OrderStatement((0, 1, 2), max(activations[3:]) + slack),
    )
    if not both_ends:
        statements = (
            ActivationStatement(0, first - slack, torch.inf),
            ActivationStatement(1, -torch.inf, second + slack),
            OrderStatement((0,), max(activations[1:]) + slack),
            FloorStatement((1, 2), min(first, *activations[3:]) - slack),
        )
    certificate = certificate_of(head, len(image), statements)
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


@pytest.mark.parametrize("both_ends", [True, False], ids=["both ends", "one end"])
@pytest.mark.parametrize("name", ["euclidean", "cosine", "softmax", "negated", "exp_distance", "cosine exponential"])
def test_latents_that_comply_have_the_activations_stated(name, both_ends):
    head = head_of(name)
    image, other = as_patches(small_latents(head, images=2))
    certificate, demands = stated(head, image, both_ends)
    assert float(demands.violation(image[None])) < 1e-9
    repaired = repair(demands, demands.comply(other[None], 60)[0], np.random.default_rng(0))
    assert repaired is not None and not repaired.equal(image)
    with flint.ctx.workprec(PRECISION):
        reached = [
            pooled(head, [flint.arb(1) * _ball(observable(head, z, j)) for z in repaired.tolist()], j)
            for j in range(head.size)
        ]
        assert all(
            lower <= reached[j] and reached[j] <= upper
            for each in certificate.statements
            for j, lower, upper in activations_bounded(each, head.size)
        )


def _ball(value):
    return value if isinstance(value, flint.arb) else flint.arb(flint.fmpq(value.numerator, value.denominator))


def test_nothing_stated_asks_for_nothing():
    head = head_of("euclidean")
    image = as_patches(small_latents(head, images=1))
    demands = demands_of(head, certificate_of(head, 5, (), "projection"), image[0], known=True)
    assert demands.violation(image).tolist() == [0.0]
    assert demands.comply(image + 5, 3).equal(torch.ones_like(image))


DEPTH = 16
HEADS = {
    "euclidean": small_head("euclidean", depth=DEPTH),
    "cosine": small_head("cosine", depth=DEPTH),
    "rooted": varied_head("rooted", depth=DEPTH),
    "inner product": varied_head("inner product", depth=DEPTH),
    "inner product in a ball": varied_head("inner product in a ball", depth=DEPTH),
    "softmax": small_head("softmax"),
}


def neighbours(truth) -> tuple[float, float]:
    """The floats around a number."""
    if isinstance(truth, Fraction):
        return arithmetic.below(truth), arithmetic.above(truth)
    near = float(truth.mid())
    return (near, nextafter(near, inf)) if flint.arb(near) <= truth else (nextafter(near, -inf), near)


def narrow(head: Head, image: torch.Tensor, each: int) -> Certificate:
    """Statements about the first prototypes of every patch, with neighbouring floats for ends."""
    with flint.ctx.workprec(PRECISION):
        statements = tuple(
            PatchStatement(patch, j, *neighbours(observable(head, z, j)))
            for patch, z in enumerate(image.tolist())
            for j in range(each)
        )
    return certificate_of(head, len(image), statements, "projection")


@pytest.mark.parametrize("name", HEADS)
def test_other_latents_comply_exactly(name):
    head = HEADS[name]
    generator = torch.Generator().manual_seed(3)
    image, other = 0.1 + 0.8 * torch.rand(2, 4, head.depth, generator=generator, dtype=torch.float64)
    if "ball" in name:
        image, other = image * 0.5, other * 0.5
    certificate = narrow(head, image, 4)
    demands = demands_of(head, certificate, other, known=False)
    near = demands.comply(other[None], 60)
    assert float(demands.violation(near)) < 1e-9
    repaired = repair(demands, near[0], np.random.default_rng(0))
    assert repaired is not None
    assert bool(((repaired - image).abs().amax(1) > 1e-3).all())
    with flint.ctx.workprec(PRECISION):
        for s in certificate.statements:
            assert inside(observable(head, repaired[s.patch].tolist(), s.prototype), s.lower, s.upper)


def test_latents_that_comply_are_left_as_they_are():
    head = HEADS["euclidean"]
    image = torch.rand(3, DEPTH, generator=torch.Generator().manual_seed(4)).double()
    certificate = narrow(head, image, 12)
    demands = demands_of(head, certificate, image, known=True)
    assert repair(demands, image, np.random.default_rng(0)).equal(image)
    # Of float32 latents that statements pin, the last bits are recovered.
    assert repair(demands, image + 1e-12, np.random.default_rng(0)).equal(image)


def test_what_cannot_be_met_is_not_met():
    """Equal prototypes with different distances."""
    head = HEADS["euclidean"]
    image = torch.rand(1, DEPTH, generator=torch.Generator().manual_seed(5)).double()
    certificate = narrow(head, image, 1)
    (stated,) = certificate.statements
    both = (stated, replace(stated, prototype=head.size - 1, lower=stated.upper * 1.1, upper=stated.upper * 1.2))
    demands = demands_of(head, replace(certificate, statements=both), image, known=False)
    near = demands.comply(image[None], 60)
    assert float(demands.violation(near)) > 1e-3
    assert repair(demands, near[0], np.random.default_rng(0)) is None


def test_a_goal_is_ahead_of_all_other_classes() -> None:
    """Class 1 passes class 0 wherever class 2 does, and is never first."""
    head, certificate = coordinates(1, (0.5, 0.0, 0.25))
    free, zero = replace(certificate, statements=()), torch.zeros(1, 1, dtype=torch.float64)
    first = [evaluate(head, each[None]).predicted for each in counterexamples(head, free, zero, 0, goal=1)][1:]
    assert first == []
    found = counterexamples(head, free, zero, 60, goal=2)
    assert torch.equal(next(found), zero), "the given image comes first"
    assert int(evaluate(head, next(found)[None]).predicted) == 2


def test_the_rivals_that_are_asked_for() -> None:
    head, certificate = coordinates(2, (0.5, 0.0, 0.0))
    free, zero = replace(certificate, statements=()), torch.zeros(1, 2, dtype=torch.float64)
    head = replace(head, weight=torch.tensor([[0.0, 0], [1, 0], [0, 1]]))
    for rival in (1, 2):
        found = counterexamples(head, free, zero, 60, rivals=[rival])
        assert torch.equal(next(found), zero)
        logits = evaluate(head, next(found)[None]).logits[0]
        assert logits[rival] > logits[0]


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("euclidean", 3),
        pytest.param("cosine", 3, marks=pytest.mark.long),
        pytest.param("negated", 3, marks=pytest.mark.long),
        pytest.param("exponential", 3, marks=pytest.mark.long),
        pytest.param("banks", 3, marks=pytest.mark.long),
        ("inner product", 1),
        ("tree", 1),
    ],
)
def test_what_bounds_every_patch_is_complied_with(name, count) -> None:
    """A ceiling just above the image's activations, a floor just below, and one activation: the rest may move.

    Where one climb finds nothing but the given image, there is one climb.
    """
    head = small_head(name) if name in ("euclidean", "cosine") else varied_head(name)
    image = as_patches(small_latents(head, images=1, patches=8))[0]
    activations = evaluate(head, image[None]).activations[0]
    shown = int(activations.argmax())
    gap = float(activations.max() - activations.min())
    predicted = int(evaluate(head, image[None]).predicted)
    statements = (
        ActivationStatement(shown, float(activations[shown]) - 1e-3 * gap, float(activations[shown]) + 1e-3 * gap),
        OrderStatement((shown,), float(activations.max()) + 0.2 * gap),
        FloorStatement((shown,), float(activations.min()) - 0.2 * gap),
    )
    margins = tuple(None if c == predicted else 1.0 for c in range(head.classes))
    certificate = replace(certificate_of(head, 8, statements), predicted=predicted, margins=margins)
    found = list(islice(counterexamples(head, certificate, image, 60 if count > 1 else 0), 3))
    assert len(found) == count
    for each in found:
        reached = evaluate(head, each[None]).activations[0].tolist()  # but for the last bits
        assert all(
            lower - 1e-9 <= reached[j] <= upper + 1e-9
            for each in certificate.statements
            for j, lower, upper in activations_bounded(each, head.size)
        )


def test_one_sided_statements_about_patches() -> None:
    head = small_head("euclidean")
    image = as_patches(small_latents(head, images=1))[0]
    certificate = explain(head, image[None], "projection")[0]
    observed = evaluate(head, image[None]).observables[0]
    one_sided = tuple(
        replace(each, **({"lower": -torch.inf} if number % 2 else {"upper": torch.inf}))
        for number, each in enumerate(certificate.statements)
        if isinstance(each, PatchStatement)
    )
    found = list(islice(counterexamples(head, replace(certificate, statements=one_sided, latents=None), image, 60), 6))
    assert torch.equal(found[0], image) and len(found) == 6
    for each in found[1:]:
        observed = evaluate(head, each[None]).observables[0]
        for one in one_sided:
            assert one.lower - 1e-9 <= float(observed[one.patch, one.prototype]) <= one.upper + 1e-9
