"""Numbers of every choice of checker: they are of the same certificate, and no less than what its verdict is about."""

from __future__ import annotations

import pytest
from support import files
from support.cases import case
from support.proved import fake

from verale.checker import Auditor
from verale.checker.certificate import read_certificate
from verale.checker.errors import UnprovedError
from verale.checker.numbers import Interval
from verale.soundness.corpus.cases import Case, stored

CHOICES = ("arb", "mpmath", "both", "proved", "all", "proved-or-arb")


@pytest.fixture(autouse=True)
def executable(proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", proved_checker)


def accepted(one_in: int, first: int = 0) -> list[Case]:
    return [each for each in stored("accept") if each.status == "PROVED"][first::one_in]


@pytest.mark.parametrize("one_in", [30, pytest.param(4, marks=pytest.mark.long)])
@pytest.mark.parametrize("kernel", CHOICES)
def test_margins_are_at_least_those_that_are_proved(kernel: str, one_in: int) -> None:
    """Others for each kernel: in the long run all, each by one or two."""
    for each in accepted(one_in, 5 * CHOICES.index(kernel) % one_in):
        auditor = Auditor(each.head, None, kernel)
        if auditor.check(each.certificate, entailment_only=True).status.value != "PROVED":
            continue
        certificate = read_certificate(each.certificate)
        with case(each.name):
            numbers = auditor.numbers(each.certificate)
            for margin, stated in zip(numbers.margins, certificate.margins, strict=True):
                assert (margin is None) == (stated is None)
                assert margin is None or stated is None or margin >= stated
            for a in numbers.activations:
                assert a.low is not None and a.high is not None
                assert a.low <= a.high or "contradiction" in each.name


def test_what_several_prove_is_what_each_does() -> None:
    for each in accepted(40):
        by = [Auditor(each.head, None, kernel).numbers(each.certificate) for kernel in ("both", "proved", "all")]
        for low, high, every in zip(*(one.margins for one in by), strict=True):
            assert every == (None if low is None or high is None else min(low, high))
        for first, second, both in zip(*(one.activations for one in by), strict=True):
            assert both == Interval(min(first.low, second.low), max(first.high, second.high))


def head_and_certificate() -> tuple[bytes, bytes]:
    head = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [1.0]], [0.0, 0.0], domain=files.domain(0.0, 1.0))
    stated = [files.patch_statement(0, 0, 0.0, 2.0**-4), files.activation_statement(1, None, 1.0)]
    return head, files.encode(files.document(head, stated, classes=2, patches=1, paradigm="mixed", minimality=False))


@pytest.mark.parametrize("kernel", ["arb", "proved"])
def test_statements_that_give_an_end_are_told(kernel: str) -> None:
    head, certificate = head_and_certificate()
    numbers = Auditor(head, None, kernel).numbers(certificate)
    assert numbers.givers[1][1] == (1,)
    assert numbers.activations[1].high == 1


def test_rules_are_asked_where_the_program_gives_up(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, "return None if question == 'head' else 'limit: it is tired'"))
    head, certificate = head_and_certificate()
    with pytest.raises(UnprovedError, match="it is tired"):
        Auditor(head, None, "proved").numbers(certificate)
    assert Auditor(head, None, "proved-or-arb").numbers(certificate) == Auditor(head, None, "arb").numbers(certificate)


def test_a_certificate_of_another_head_has_no_numbers() -> None:
    _, certificate = head_and_certificate()
    other = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0], [0.5]], [0.0, 0.0], domain=files.domain(0.0, 1.0))
    for kernel in CHOICES:
        with pytest.raises(UnprovedError, match="the certificate speaks of the head"):
            Auditor(other, None, kernel).numbers(certificate)
