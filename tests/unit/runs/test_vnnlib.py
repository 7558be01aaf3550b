"""Certificates as ONNX and VNN-LIB: the network computes the head, and the property is the certificate's question."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx.reference import ReferenceEvaluator
from support.cases import every
from support.small import small_head, small_latents, varied_head

from verale.certificate import Certificate, FloorStatement, SumStatement
from verale.errors import UsageError
from verale.head import (
    Box,
    ExpDistance,
    Exponential,
    Head,
    Identity,
    LogRatio,
    Negated,
    Quadratic,
    Rectified,
    StepChain,
    evaluate,
)
from verale.runs.vnnlib import VerifierQuestion, question_of
from verale.search.explain import explain

PARTS = {
    "inner product": (
        *(Identity(), Rectified(), Quadratic()),
        StepChain([{"kind": "from_peak"}, {"kind": "negate"}, {"kind": "exp"}]),
        StepChain([{"kind": "rectify"}, {"kind": "square"}]),
    ),
    "euclidean": (
        *(LogRatio(0.01), ExpDistance(0.01), Exponential(), Negated()),
        StepChain(
            [
                *({"kind": "scale"}, {"kind": "add", "number": 0.5}, {"kind": "root"}),
                *({"kind": "reciprocal", "number": 0.25}, {"kind": "multiply", "number": 2.0}),
            ]
        ),
        StepChain([{"kind": "log_ratio", "over": 2.0, "under": 0.5}]),
    ),
}
CASES = [(name, similarity) for name, parts in PARTS.items() for similarity in parts]


def head_named(name: str, similarity: Any) -> Head:
    head = (varied_head if name == "inner product" else small_head)(name, 4, prototypes=6)
    return Head(
        head.weight, head.geometry, similarity, prototypes=head.prototypes, bias=torch.arange(float(head.classes)) / 8,
        domain=Box(-2, 2) if name == "inner product" else head.domain,
    )  # fmt: skip


def explained(head: Head, paradigm: str) -> tuple[torch.Tensor, Certificate]:
    for image in small_latents(head, images=6, patches=3, seed=4):
        (result,) = explain(head, image[None], paradigm)
        if isinstance(result, Certificate):
            return image, result
    raise AssertionError("no image of these is explained")


def outputs_of(question: VerifierQuestion, image: torch.Tensor) -> np.ndarray:
    network = ReferenceEvaluator(onnx.load_from_string(question.onnx))
    (found,) = network.run(None, {"X": image.to(torch.float32).numpy()})
    return found[0]


def bounds_of(question: VerifierQuestion, letter: str) -> list[tuple[str, int, Fraction]]:
    found = re.findall(rf"\(assert \((<=|>=) {letter}_(\d+) (-?\d+\.\d+)\)\)", question.vnnlib)
    return [(relation, int(number), Fraction(value)) for relation, number, value in found]


@every("case", CASES)
def test_the_network_computes_what_is_stated_and_the_leads(case: Any) -> None:
    head = head_named(*case)
    first = case[1] is PARTS[case[0]][0]  # statements about patches are about what comes before the similarity
    for paradigm in ("top_k", "projection")[: 1 + first]:
        image, certificate = explained(head, paradigm)
        question = question_of(head, certificate)
        outputs = outputs_of(question, image)
        logits = evaluate(head, image[None].to(torch.float64)).logits[0]
        leads = [float(logits[certificate.predicted] - each) for each in logits]
        rivals = [lead for c, lead in enumerate(leads) if c != certificate.predicted]
        np.testing.assert_allclose(outputs[-len(rivals) :], rivals, rtol=1e-3, atol=1e-3)
        for relation, number, value in bounds_of(question, "Y"):
            off = outputs[number] - float(value)
            assert off < 1e-3 if relation == "<=" else off > -1e-3


def test_the_property_has_every_end_exactly_and_asks_for_any_rival() -> None:
    head = head_named("inner product", Identity())
    _, certificate = explained(head, "projection")
    question = question_of(head, certificate)
    ends = {(relation, value) for relation, _, value in bounds_of(question, "Y")}
    assert ends == {(">=", Fraction(each.lower)) for each in certificate.statements} | {
        ("<=", Fraction(each.upper)) for each in certificate.statements
    }
    assert len(bounds_of(question, "X")) == 2 * 3 * head.depth
    assert question.vnnlib.count("(and (<= Y_") == head.classes - 1


def test_sums_are_refused_by_name() -> None:
    head = head_named("inner product", Identity())
    _, certificate = explained(head, "top_k")
    statements = (*certificate.statements, SumStatement(None, 1.0))
    with pytest.raises(UsageError, match="statements about sums are not exported"):
        question_of(head, replace(certificate, paradigm="evidence", minimal=False, statements=statements))


def test_clauses_bound_all_that_they_mean() -> None:
    head = head_named("inner product", Identity())
    _, certificate = explained(head, "top_k")
    floor = replace(certificate, paradigm="mixed", minimal=False, statements=(FloorStatement((1, 3), -7.5),))
    assert bounds_of(question_of(head, floor), "Y") == [(">=", number, Fraction("-7.5")) for number in (0, 2, 4, 5)]


@pytest.mark.parametrize(
    ("head", "why"),
    [
        (small_head("softmax", 4), "softmax heads are not exported"),
        (small_head("cosine", 4), "cosine heads are not exported"),
        (varied_head("banks", 4), "the pooling banks and the readout linear are not exported"),
        (replace(small_head("euclidean", 4), domain=Box(None, None)), "does not bound the latents"),
    ],
    ids=["softmax", "cosine", "banks", "unbounded"],
)
def test_what_is_not_exported_is_refused_by_name(head: Head, why: str) -> None:
    _, certificate = explained(head, "top_k")
    with pytest.raises(UsageError, match=why):
        question_of(head, certificate)
