"""Statements at one image: true, false, and what no number of bits decides."""

from __future__ import annotations

import pytest
import torch

from verale.certificate import Certificate, PatchStatement
from verale.checker import LatentsError
from verale.checker.certificate import read_certificate
from verale.checker.head import read_head
from verale.head import Box, Cosine, Head, Identity, as_patches, digest, latents_file
from verale.runs.truth import OutsideError, Truths

HEAD = Head(
    weight=torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
    prototypes=torch.tensor([[1.0, 1.0], [1.0, 0.0]]),
    geometry=Cosine(epsilon=0.0),
    similarity=Identity(),
    domain=Box(0, 1),
)
LATENTS = torch.tensor([[[0.5, 0.5]]], dtype=torch.float64)
"""In the direction of the first prototype: the cosine is 1, through square roots of 2."""


def answers(*statements: PatchStatement, patches: int = 1) -> list[bool | None]:
    certificate = Certificate(HEAD.digest, None, 0, "projection", patches, statements, (None, 0.5), False, "test")
    read = read_certificate(certificate.to_bytes())
    data = HEAD.to_bytes()
    truths = Truths(read_head(data), len(data), latents_file(LATENTS))
    there = truths.at(truths.image(digest(as_patches(LATENTS)[0])), patches, 100)
    assert all(there.value(each) == pytest.approx(1.0) for each in read.statements)
    return [there.is_true(each, read) for each in read.statements]


def test_there_are_three_answers() -> None:
    assert answers(PatchStatement(0, 0, 0.9, 1.5)) == [True]
    assert answers(PatchStatement(0, 0, 0.5, 0.9)) == [False]
    assert answers(PatchStatement(0, 0, 1.0, 1.5)) == [None], "it is true; enclosures never say so"


def test_other_patches_are_outside() -> None:
    with pytest.raises(OutsideError, match="have 1 patches, expected the certificate's 2"):
        answers(PatchStatement(1, 0, 0.9, 1.5), patches=2)


def test_only_the_latents_of_the_file_are_known() -> None:
    data = HEAD.to_bytes()
    assert Truths(read_head(data), len(data), latents_file(LATENTS)).image("0" * 64) is None
    with pytest.raises(LatentsError):
        Truths(read_head(data), len(data), latents_file(torch.rand(1, 2, 3)))
