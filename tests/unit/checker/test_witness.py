"""Refutation by a witness: REFUTED only if the latents satisfy every statement and are classified otherwise."""

from __future__ import annotations

import math
from typing import Any

import pytest
from support import files

from verale.checker import Auditor, LatentsError, Status, Verdict
from verale.checker.options import KERNELS

# Two classes, one prototype each, on the line: whoever is nearer wins. Only patch 0 is spoken of.
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]])
STATEMENTS = [files.patch_statement(0, 0, 0.0625, 0.0625)]
IMAGE = [[0.25], [0.25]]
WITNESS = [[0.25], [1.0]]


def refute(witness: Any, kernel: str = "arb", data: bytes = HEAD, **options: Any) -> Verdict:
    options = {"patches": 2, "image": IMAGE, "paradigm": "projection"} | options
    certificate = files.certificate(data, options.pop("statements", STATEMENTS), **options)
    return Auditor(data, kernel=kernel).refute(certificate, files.latents([witness]))


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_a_counterexample_refutes_whatever_latents_are_named(kernel: str) -> None:
    for image in (IMAGE, None):
        verdict = refute(WITNESS, kernel, image=image)
        assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.REFUTED, "refuted", 4)
        assert "rival 1" in verdict.message
        instance = "not claimed" if image is None else "not checked"
        assert verdict.claims == {"entailment": "not checked", "instance": instance}
        assert verdict.margins == ()


@pytest.mark.parametrize("kernel", [*KERNELS, "both"])
def test_a_witness_that_is_classified_alike_proves_nothing(kernel: str) -> None:
    verdict = refute(IMAGE, kernel)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_REFUTED, "witness", 11)
    assert verdict.line("x").startswith("NOT_REFUTED  x  class 0  projection  1 statements  witness: ")


def test_one_ulp_decides_and_what_is_not_certain_does_not_refute() -> None:
    """At 3/4 both are equally near: a tie, which enclosures of logarithms do not show."""
    assert refute([[0.25], [math.nextafter(0.75, 1)]]).status is Status.REFUTED
    assert refute([[0.25], [0.75]]).reason == "witness"
    assert refute([[0.25], [math.nextafter(0.75, 0)]]).reason == "witness"


@pytest.mark.parametrize(
    ("witness", "message"),
    [
        ([[math.nextafter(0.25, 1)], [1.0]], "statement 0 (patch 0, prototype 0) is false"),
        ([[0.25], [math.nextafter(1.0, 2)]], "patch 1: a coordinate"),
        ([[0.25]], "1 patches, expected the certificate's 2"),
    ],
)
def test_the_part_that_fails_is_named(witness: Any, message: str) -> None:
    verdict = refute(witness)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_REFUTED, "instance", 7)
    assert message in verdict.message


def test_activations_and_their_order() -> None:
    """The witness shows the rival's prototype as well as the clause allows, one ulp more is too much."""
    biased = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], [0.0, 1.0])
    similar = math.log((0.0625 + 1) / (0.0625 + 2.0**-10))
    clause = [
        files.activation_statement(0, similar * (1 - 2**-50), similar * (1 + 2**-50)),
        files.order_clause([0], similar * (1 - 2**-40)),
    ]
    options: dict[str, Any] = {"data": biased, "paradigm": "top_k", "statements": clause}
    assert refute([[0.25], [0.7499]], **options).status is Status.REFUTED
    assert refute([[0.25], [0.75]], **options).reason == "instance"


def test_another_head_and_a_malformed_certificate() -> None:
    auditor, witness = Auditor(HEAD), files.latents([WITNESS])
    other = files.head([[1.0, 0.0], [0.0, 2.0]], [[0.0], [1.0]])
    verdict = auditor.refute(files.certificate(other, STATEMENTS, patches=2), witness)
    assert (verdict.status, verdict.reason, verdict.exit_code) == (Status.NOT_REFUTED, "subject", 6)
    for data in (b"", files.certificate(HEAD, [files.patch_statement(2, 0, 0.0, 1.0)], patches=2)):
        assert auditor.refute(data, witness).status is Status.MALFORMED


@pytest.mark.parametrize("images", [[WITNESS, WITNESS], [[[0.25, 1.0]]]])
def test_a_witness_is_one_image_of_the_head(images: Any) -> None:
    with pytest.raises(LatentsError, match="expected"):
        Auditor(HEAD).refute(files.certificate(HEAD, STATEMENTS, patches=2), files.latents(images))
