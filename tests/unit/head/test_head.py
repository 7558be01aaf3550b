"""A head checks itself: what verale cannot vouch for is refused with the field's name."""

from __future__ import annotations

import math
from dataclasses import replace

import flint
import pytest
import torch
from support.cases import every
from support.exact import observable as observable_of
from support.exact import pooled
from support.small import small_head, varied_head

from verale.errors import HeadError
from verale.head import (
    BankPooling,
    Box,
    Cosine,
    Euclidean,
    ExpDistance,
    FocalPooling,
    Head,
    Identity,
    InnerProduct,
    LogRatio,
    MaxPooling,
    Negated,
    SoftTree,
    Threshold,
    TopMeanPooling,
    evaluate,
)
from verale.head.pooling import Pooling

WEIGHT = torch.ones(2, 3)
POINTS = torch.rand(3, 4)


@every(
    ("field", "build"),
    [
        ("weight", lambda: Head(torch.full((2, 3), torch.nan), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(2, 3, dtype=torch.float16), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(1, 3), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("weight", lambda: Head(torch.ones(3), Euclidean(), LogRatio(), prototypes=POINTS)),
        ("bias", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, bias=torch.tensor([0.0, torch.inf]))),
        ("prototypes", lambda: Head(WEIGHT, Euclidean(), LogRatio())),
        ("prototypes", lambda: Head(WEIGHT, Cosine(), Identity(), prototypes=POINTS * torch.tensor([[1], [0], [1]]))),
        ("similarity", lambda: Head(WEIGHT, Euclidean(), Identity(), prototypes=POINTS)),
        ("scale", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, scale=torch.tensor([1.0, 0, 1]))),
        ("similarity.epsilon", lambda: LogRatio(0.0)),
        ("similarity.epsilon", lambda: LogRatio(-1e-4)),
        ("similarity.epsilon", lambda: LogRatio(1.0)),
        ("geometry.epsilon", lambda: Head(WEIGHT, Cosine(-1e-8), Identity(), prototypes=POINTS + 1)),
        ("domain.lower", lambda: Box(float("-inf"), 1)),
        ("domain", lambda: Box(1, 1)),
        ("pooling", lambda: FocalPooling("mean")),
        ("labels", lambda: Head(WEIGHT, Euclidean(), LogRatio(), prototypes=POINTS, labels=("a",))),
        ("geometry.radius", lambda: Head(WEIGHT, InnerProduct(0.0), Identity(), prototypes=POINTS)),
        ("domain", lambda: Head(WEIGHT, Euclidean(), Negated(), prototypes=POINTS)),
        ("similarity.epsilon", lambda: ExpDistance(-1.0)),
        ("similarity.threshold", lambda: Threshold(0.0)),
        ("similarity.threshold", lambda: Threshold(1.0)),
        ("pooling.class_token", lambda: replace(small_head("euclidean"), pooling=BankPooling(0))),
        ("pooling.k", lambda: replace(small_head("euclidean"), pooling=TopMeanPooling(0))),
        ("pooling", lambda: replace(small_head("euclidean"), pooling=TopMeanPooling(2.5))),
        ("geometry.epsilon", lambda: Cosine(math.nan)),
        ("geometry.radius", lambda: InnerProduct(math.inf)),
        ("labels", lambda: replace(small_head("euclidean"), labels=["a", "b", "\ud800"])),
        ("readout", lambda: replace(varied_head("tree"), readout=SoftTree((-1.0,), (-2.0,)))),
        ("readout", lambda: replace(varied_head("tree"), readout=SoftTree((-1,), (-2, -3)))),
    ],
)
def test_what_cannot_be_vouched_for_is_refused(field, build):
    with pytest.raises(HeadError) as refusal:
        build()
    assert refusal.value.field in (None, field) and field.split(".")[0] in str(refusal.value)
    assert any(words in str(refusal.value) for words in ("expected", "is missing", "which is defined for"))
    assert "hex float" not in str(refusal.value)


def test_what_python_shows_of_a_head_is_one_line_of_sizes_and_parts() -> None:
    head = Head(WEIGHT, Euclidean(), LogRatio(), POINTS)
    shown = "Head(2 classes, 3 prototypes, 4 channels, Euclidean(), LogRatio(epsilon=0.0001), MaxPooling(), Linear())"
    assert repr(head) == shown


# The reference evaluation against formulas written out one pair at a time.


FOCAL_KINDS = ("max_minus_mean", "max_minus_mean_distance")


@pytest.mark.parametrize("scale", [None, 1e-3, 1e3])
@pytest.mark.parametrize("pooling", [MaxPooling(), TopMeanPooling(2), *map(FocalPooling, FOCAL_KINDS)], ids=str)
@pytest.mark.parametrize("size", [1e-160, 1e-3, 1e8, 1e150, 3e153, 1e160, 1e300])
def test_a_log_ratio_is_exact_at_distances_of_any_size(size: float, pooling: Pooling, scale: float | None):
    """Also where the squared distance is beyond float64, and the similarity as good as 0."""
    points = torch.tensor([[0.0, 0.5], [1.0, -0.25], [-2.0, 1.0]], dtype=torch.float64) * size
    patches = torch.tensor([[[1.0, -0.25], [0.5, 3.0], [-1.0, 0.0]]], dtype=torch.float64) * size
    scales = None if scale is None else torch.full((3,), scale, dtype=torch.float64)
    head = Head(torch.eye(3), Euclidean(), LogRatio(1e-4), points, scale=scales, pooling=pooling)
    activations = evaluate(head, patches).activations[0].tolist()
    with flint.ctx.workprec(4 * 1100):
        for j, activation in enumerate(activations):
            observed = [observable_of(head, patch, j) for patch in patches[0].tolist()]
            assert activation == pytest.approx(float(pooled(head, observed, j)), rel=1e-14, abs=1e-14)
    assert head.logits(patches)[0].tolist() == activations
