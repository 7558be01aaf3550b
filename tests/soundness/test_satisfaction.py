"""Whatever satisfies all statements of an explanation about activations is of the explained class, in exact numbers."""

from __future__ import annotations

import flint
import pytest
import torch
from support.exact import PRECISION, differences
from support.small import GEOMETRIES, small_head, small_latents, varied_head
from torch import Tensor

from verale.certificate import Certificate
from verale.counterexample.demands import into_domain
from verale.head import Head, as_patches
from verale.rules.coverage import coverage_of
from verale.search.explain import explain

HEADS = (*GEOMETRIES, "cosine rectified", "inner product", "top mean")
SHARES = (0.003, 0.03, 0.1, 0.3, 1.0)


def head_of(name: str, seed: int) -> Head:
    return (small_head if name in GEOMETRIES else varied_head)(name, seed)


def around(head: Head, image: Tensor, generator: torch.Generator) -> Tensor:
    """(N, L, D): the image with some patches drawn anew, and all moved a little or far towards others."""
    some = []
    for share in SHARES:
        drawn = as_patches(small_latents(head, seed=int(torch.randint(1 << 20, (1,), generator=generator))))
        kept = torch.rand(*drawn.shape[:2], 1, generator=generator) < 0.5
        some += [torch.lerp(image, drawn, share), torch.where(kept, image, torch.lerp(image, drawn, share))]
    return into_domain(head, torch.cat(some))


def others_of_a_class(name: str, paradigm: str, seeds: range, first: bool) -> tuple[int, int]:
    """How many latents satisfied all statements, and how many of these were of another class than the explained one.

    Args:
        first: of the statements the first alone counts.
    """
    satisfied = wrong = 0
    for seed in seeds:
        head, generator = head_of(name, seed), torch.Generator().manual_seed(seed)
        images = as_patches(small_latents(head, seed=seed))
        for image, certificate in zip(images, explain(head, images, paradigm), strict=True):
            if not isinstance(certificate, Certificate):
                continue
            others = around(head, image, generator)
            statements, predicted = certificate.statements[: 1 if first else None], certificate.predicted
            some = others[coverage_of(head, others, statements, predicted).certain]
            satisfied += len(some)
            with flint.ctx.workprec(PRECISION):
                for other in some:
                    leads = [each for c, each in enumerate(differences(head, other, predicted)) if c != predicted]
                    wrong += not all(lead > 0 for lead in leads)
                    if wrong and first:
                        return satisfied, wrong
    return satisfied, wrong


@pytest.mark.parametrize("paradigm", ["evidence", "top_k"])
@pytest.mark.parametrize(
    ("name", "seeds"),
    [
        *((name, range(1)) for name in HEADS),
        *(pytest.param(name, range(1, 3), marks=pytest.mark.long) for name in HEADS),
    ],
)
def test_what_satisfies_all_statements_is_of_the_class(name: str, paradigm: str, seeds: range) -> None:
    satisfied, wrong = others_of_a_class(name, paradigm, seeds, first=False)
    assert satisfied >= 3 * len(seeds), "hardly anything was tried"
    assert not wrong


@pytest.mark.parametrize("paradigm", ["evidence", "top_k"])
def test_of_one_statement_alone_another_class_is_met(paradigm: str) -> None:
    _, wrong = others_of_a_class("euclidean", paradigm, range(3), first=True)
    assert wrong, "the latents that are tried could not show a wrong proof"
