"""The search: classes that are asked for, and statements that bound every patch."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
import torch
from support.boxes import coordinates
from support.small import small_head, small_latents, varied_head

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.counterexample import counterexamples
from verale.head import as_patches, evaluate
from verale.search.explain import explain


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


def complies(certificate: Certificate, activations: torch.Tensor) -> bool:
    """Whether activations (P,) satisfy statements about activations, but for the last bits."""
    for statement in certificate.statements:
        match statement:
            case ActivationStatement(prototype, lower, upper):
                values = activations[[prototype]]
            case OrderStatement(exempt, upper):
                values, lower = activations[[j not in exempt for j in range(len(activations))]], -torch.inf
            case FloorStatement(exempt, lower):
                values, upper = activations[[j not in exempt for j in range(len(activations))]], torch.inf
            case _:
                raise TypeError
        if not (lower - 1e-9 <= float(values.min()) and float(values.max()) <= upper + 1e-9):
            return False
    return True


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("euclidean", 3),
        ("cosine", 3),
        pytest.param("negated", 3, marks=pytest.mark.long),
        pytest.param("exponential", 3, marks=pytest.mark.long),
        ("banks", 3),
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
    certificate = Certificate(
        head=head.digest,
        latents=None,
        predicted=int(evaluate(head, image[None]).predicted),
        paradigm="top_k",
        patches=8,
        statements=(
            ActivationStatement(shown, float(activations[shown]) - 1e-3 * gap, float(activations[shown]) + 1e-3 * gap),
            OrderStatement((shown,), float(activations.max()) + 0.2 * gap),
            FloorStatement((shown,), float(activations.min()) - 0.2 * gap),
        ),
        margins=tuple(None if c == int(evaluate(head, image[None]).predicted) else 1.0 for c in range(head.classes)),
        minimal=False,
        version="test",
    )
    found = list(islice(counterexamples(head, certificate, image, 60 if count > 1 else 0), 3))
    assert len(found) == count
    for each in found:
        assert complies(certificate, evaluate(head, each[None]).activations[0])


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
