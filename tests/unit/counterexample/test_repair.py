"""Repair: floats whose observables lie in intervals one ulp wide, exactly."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter

import flint
import numpy as np
import pytest
import torch
from support import arithmetic
from support.exact import PRECISION, inside, observable
from support.small import small_head, varied_head

from verale.certificate import Certificate, PatchStatement
from verale.counterexample.demands import demands_of
from verale.counterexample.repair import repair
from verale.head import Head

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
    margins = (None, *[1.0] * (head.classes - 1))
    return Certificate(head.digest, None, 0, "projection", len(image), statements, margins, False, "0")


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
