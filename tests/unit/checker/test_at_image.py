"""Statements at one image: true, false, and what no number of bits decides."""

from __future__ import annotations

from typing import Any

import pytest
from support import files

from verale.checker import Auditor
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.numbers import StatementAt

OWN = [[1.0, 0.0], [0.0, 1.0]]
COSINES: dict[str, Any] = {
    "geometry": files.cosine(0.0),
    "similarity": {"kind": "identity"},
    "domain": files.domain(0.0, 1.0),
}
HEAD = files.head(OWN, [[1.0, 1.0], [1.0, 0.0]], **COSINES)
LATENTS = files.latents([[[0.5, 0.5]]])
"""In the direction of the first prototype: the cosine is 1, through square roots of 2."""
DIGEST = files.digest([[0.5, 0.5]])


@pytest.fixture(params=["proved-or-arb", "arb", "mpmath", "both", "all", "proved"])
def kernel(request: pytest.FixtureRequest, proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    return str(request.param)


def at(kernel: str, *stated: dict[str, Any], paradigm: str = "projection", **options: Any) -> tuple[StatementAt, ...]:
    latents = options.pop("latents", DIGEST)
    document = files.document(options.pop("head", HEAD), list(stated), paradigm=paradigm, **options)
    return Auditor(HEAD, LATENTS, kernel).at_image(files.encode(document), latents)


def test_what_all_prove_is_true(kernel: str) -> None:
    assert (
        at(kernel, files.patch_statement(0, 0, 0.9, 1.5), files.patch_statement(0, 1, 0.5, 0.75))
        == (StatementAt(True),) * 2
    )


def test_each_is_decided_by_the_reading(kernel: str) -> None:
    """Where not all are true the program decides none."""
    answers = at(kernel, files.patch_statement(0, 0, 0.9, 1.5), files.patch_statement(0, 1, 0.75, 1.0))
    if kernel in ("proved", "all"):
        assert answers == (StatementAt(None),) * 2
        return
    first, second = answers
    assert first == StatementAt(True) and second.true is False and second.value is not None
    assert second.value.low is not None and second.value.high is not None
    assert 2 * second.value.low**2 <= 1 <= 2 * second.value.high**2
    assert second.value.high - second.value.low < 2**-100


def test_what_is_not_decided_is_neither(kernel: str) -> None:
    (answer,) = at(kernel, files.patch_statement(0, 0, 1.0, 1.5))
    assert answer.true is None, "it is true; enclosures never say so"


@pytest.mark.parametrize(
    ("stated", "true"),
    [(files.order_clause([0], 0.75), True), (files.order_clause([0], 0.5), False),
     (files.floor([0], 0.5), True), (files.floor([0], 0.75), False),
     (files.activation_statement(1, 0.5, 0.75), True), (files.activation_statement(1, 0.75, 1.0), False)],
)  # fmt: skip
def test_clauses_and_activations_too(stated: dict[str, Any], true: bool) -> None:
    (answer,) = at("arb", stated, paradigm="mixed")
    assert answer.true is true
    if not true:
        assert answer.value is not None and answer.value.low is not None and answer.value.high is not None
        assert 2 * answer.value.low**2 <= 1 <= 2 * answer.value.high**2


def test_statements_of_another_head_are_about_this_ones_prototypes(kernel: str) -> None:
    other = files.head([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]], **COSINES)
    assert at(kernel, files.patch_statement(0, 1, 0.5, 0.75), head=other) == (StatementAt(True),)


def test_other_latents_are_named(kernel: str) -> None:
    with pytest.raises(UnprovedError, match="no image of the latents file has the digest 00000") as raised:
        at(kernel, latents="0" * 64)
    assert raised.value.reason == "subject"
    with pytest.raises(FormatError, match="expected a prototype less than the head's 2"):
        at(kernel, files.patch_statement(0, 2, 0.0, 1.0))


def test_other_patches_are_no_answer() -> None:
    with pytest.raises(UnprovedError, match="have 1 patches, expected the certificate's 2") as raised:
        at("proved-or-arb", files.patch_statement(1, 0, 0.9, 1.5), patches=2)
    assert raised.value.reason == "instance"
