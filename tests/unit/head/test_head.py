"""A head checks itself: what verale cannot vouch for is refused with the field's name."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from support.cases import every
from support.small import small_head, small_latents, varied_head

from verale.errors import HeadError, LatentsError
from verale.head import (
    BankPooling,
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    Exponential,
    FocalPooling,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    Maximum,
    Negated,
    Quadratic,
    Softmax,
    SoftTree,
    Threshold,
    TopMeanPooling,
)

WEIGHT = torch.ones(2, 3)
POINTS = torch.rand(3, 4)


@every(
    ("field", "build"),
    [
        ("weight", lambda: Head(torch.full((2, 3), torch.nan), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(2, 3, dtype=torch.float16), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(1, 3), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(3), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("bias", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, bias=torch.ones(3))),
        ("bias", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, bias=torch.tensor([0.0, torch.inf]))),
        ("prototypes", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS[:2])),
        ("prototypes", lambda: Head(WEIGHT, Euclidean(), LogRatio())),
        ("prototypes", lambda: Head(WEIGHT, Softmax(), Identity(), prototypes=POINTS)),
        ("prototypes", lambda: Head(WEIGHT, Cosine(), Identity(), prototypes=POINTS * torch.tensor([[1], [0], [1]]))),
        ("similarity", lambda: Head(WEIGHT, Euclidean(), Identity(), prototypes=POINTS)),
        ("scale", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, scale=torch.ones(2))),
        ("scale", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, scale=torch.tensor([1.0, 0, 1]))),
        ("scale", lambda: Head(WEIGHT, Cosine(), Identity(), prototypes=POINTS + 1, scale=torch.ones(3))),
        ("similarity.epsilon", lambda: LogRatio(0.0)),
        ("similarity.epsilon", lambda: LogRatio(-1e-4)),
        ("similarity.epsilon", lambda: LogRatio(1.0)),
        ("geometry.epsilon", lambda: Cosine(-1e-8)),
        ("geometry.epsilon", lambda: Cosine(float("nan"))),
        ("domain.lower", lambda: Box(float("-inf"), 1)),
        ("domain", lambda: Box(1, 1)),
        ("pooling", lambda: FocalPooling("mean")),
        (
            "pooling",
            lambda: Head(WEIGHT, Softmax(), Identity(), pooling=FocalPooling("max_minus_mean_distance")),
        ),
        (
            "pooling",
            lambda: Head(
                WEIGHT, Cosine(), Identity(), prototypes=POINTS + 1, pooling=FocalPooling("max_minus_mean_distance")
            ),
        ),
        ("labels", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, labels=("a",))),
        ("geometry.radius", lambda: InnerProduct(0.0)),
        ("geometry.radius", lambda: InnerProduct(float("inf"))),
        ("domain", lambda: Head(WEIGHT, InnerProduct(), Identity(), prototypes=POINTS, domain=Box(0, None))),
        ("domain", lambda: Head(WEIGHT, InnerProduct(1.0), Identity(), prototypes=POINTS, domain=Box(2, 3))),
        ("domain", lambda: Head(WEIGHT, InnerProduct(1.0), Identity(), prototypes=POINTS, domain=Box(None, -2))),
        ("domain", lambda: Head(WEIGHT, Euclidean(), Negated(), prototypes=POINTS)),
        ("domain", lambda: Head(WEIGHT, Euclidean(), Quadratic(), prototypes=POINTS, domain=Box(0, None))),
        ("similarity", lambda: Head(WEIGHT, InnerProduct(9.0), Exponential(), prototypes=POINTS)),
        ("similarity.epsilon", lambda: ExpDistance(-1.0)),
        ("similarity.threshold", lambda: Threshold(0.0)),
        ("similarity.threshold", lambda: Threshold(1.0)),
        ("peak", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, peak=torch.ones(3))),
        ("peak", lambda: replace(varied_head("cosine quadratic"), peak=torch.ones(3))),
        ("scale", lambda: replace(varied_head("exp_distance"), scale=torch.ones(12))),
        ("pooling.class_token", lambda: BankPooling(0)),
        ("pooling.class_token", lambda: replace(small_head("euclidean"), pooling=BankPooling(12))),
        ("pooling.k", lambda: TopMeanPooling(0)),
        ("pooling", lambda: replace(varied_head("exp_distance"), pooling=FocalPooling())),
        ("pooling", lambda: replace(varied_head("cosine maximum"), pooling=FocalPooling())),
        ("readout", lambda: SoftTree((), ())),
        ("readout", lambda: SoftTree((-1,), (-2, -3))),
        ("readout", lambda: SoftTree((0,), (-1,))),
        ("readout", lambda: SoftTree((-1,), (-3,))),
        ("readout", lambda: SoftTree((-1,), (-1,))),
        ("readout", lambda: SoftTree((1, -1), (-2, 2))),
        ("readout", lambda: replace(varied_head("tree"), similarity=LogRatio())),
        ("readout", lambda: replace(varied_head("tree"), pooling=TopMeanPooling(2))),
        ("readout", lambda: replace(small_head("softmax"), bias=None, readout=Maximum())),
        ("weight", lambda: replace(varied_head("tree"), weight=torch.ones(3, 12))),
        ("prototypes", lambda: replace(varied_head("tree"), prototypes=torch.ones(3, 12))),
        ("bias", lambda: replace(varied_head("tree"), bias=torch.ones(3))),
        ("weight", lambda: replace(varied_head("maximum"), weight=torch.full((3, 12), 0.5))),
        ("weight", lambda: replace(varied_head("maximum"), weight=torch.eye(3, 12) * torch.tensor([[1], [1], [0]]))),
        ("bias", lambda: replace(varied_head("maximum"), bias=torch.ones(3))),
    ],
)
def test_what_cannot_be_vouched_for_is_refused(field, build):
    with pytest.raises(HeadError) as refusal:
        build()
    assert refusal.value.field == field
    assert "expected" in str(refusal.value) or "remove" in str(refusal.value)


def test_the_logits_are_those_of_the_reference_evaluation():
    head = small_head("euclidean")
    grid = small_latents(head, images=2, patches=6).transpose(1, 2).reshape(2, 6, 2, 3)
    logits = head.logits(grid)
    assert logits.shape == (2, 3) and logits.dtype == torch.float64
    patches = grid.flatten(2).transpose(1, 2).double()
    distances = (patches[:, :, None] - head.points.double()).square().sum(-1).amin(1)
    expected = ((distances + 1) / (distances + 1e-4)).log() @ head.weight.double().T + head.bias.double()
    torch.testing.assert_close(logits, expected, rtol=1e-12, atol=1e-12)


def test_the_logits_of_other_latents_are_refused():
    with pytest.raises(LatentsError, match=r"5 channels in shape .*, expected the head.s 6"):
        small_head("euclidean").logits(torch.rand(1, 5, 2, 2))


def test_what_python_shows_of_a_head_is_one_line_of_sizes_and_parts() -> None:
    head = Head(WEIGHT, Euclidean(), LogRatio(), POINTS)
    shown = "Head(2 classes, 3 prototypes, 4 channels, Euclidean(), LogRatio(epsilon=0.0001), MaxPooling(), Linear())"
    assert repr(head) == shown
