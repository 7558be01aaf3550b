"""Several explanations: all different, all proved, nothing to drop from any; and the same for the same seed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import islice

import pytest
import torch
from support.small import small_head, small_latents

from verale.certificate import FloorStatement, OrderStatement
from verale.checker import Auditor
from verale.errors import LatentsError, UsageError
from verale.head import as_patches
from verale.paradigms import PARADIGMS
from verale.search import several as searching
from verale.search.explain import explain
from verale.search.problem import UnexplainedError
from verale.search.several import several

CASES = [
    ("euclidean", "top_k"),
    ("cosine", "top_k"),
    ("softmax", "sparse"),
    ("euclidean", "projection"),
    ("softmax", "simplex"),
]
ORDERS = 8


def given(geometry: str, seed: int = 1):
    head = small_head(geometry, seed)
    return head, as_patches(small_latents(head, images=1, patches=3, seed=seed))[0]


def found(head, patches, paradigm: str, seed: int = 0):
    tried = list(islice(several(head, patches, paradigm, seed), ORDERS))
    return tried, [each.certificate for each in tried if each.certificate is not None]


def items(certificate) -> frozenset[object]:
    """What each statement is about."""
    return frozenset(
        type(each)
        if isinstance(each, OrderStatement | FloorStatement)
        else (getattr(each, "patch", None), each.prototype)
        for each in certificate.statements
    )


@cache
def found_of(geometry: str, paradigm: str):
    """What is found of a small head's image."""
    return found(*given(geometry), paradigm)


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_all_are_different_and_proved_with_nothing_to_drop(geometry, paradigm):
    head, _ = given(geometry)
    tried, certificates = found_of(geometry, paradigm)
    assert len(certificates) > 1 and tried[-1].found == len(certificates)
    stated = [items(each) for each in certificates]
    for number, one in enumerate(stated):
        assert not any(one <= other or other <= one for other in stated[:number])
    auditor, by_rules = Auditor(head.to_bytes(), None), Auditor(head.to_bytes(), None, "arb")
    for each in certificates:
        assert each.paradigm == paradigm and (each.minimal or paradigm == "top_k")
        verdict = auditor.check(each.to_bytes(), minimality=True, entailment_only=True)
        assert verdict.status.value == "PROVED", verdict.reason
        assert verdict.claims.get("minimality") == ("proved" if each.minimal else None)
        # By the reference ranges nothing can be dropped, also where activations say more of each other.
        claimed = replace(each, minimal=True).to_bytes()
        assert by_rules.check(claimed, minimality=True, entailment_only=True).claims["minimality"] == "proved"


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_the_first_is_what_explain_gives(geometry, paradigm):
    head, patches = given(geometry)
    usual = explain(head, patches[None], paradigm, order="rival")
    _, certificates = found_of(geometry, paradigm)
    assert items(certificates[0]) == items(usual[0] if isinstance(usual, list) else usual)


def test_the_seed_decides():
    head, patches = given("euclidean")
    first, again, other = ([each.to_bytes() for each in found(head, patches, "top_k", seed)[1]] for seed in (1, 1, 2))
    assert first == again and first != other and first[0] == other[0]


def test_an_order_that_gives_nothing_new_has_no_certificate():
    head, patches = given("euclidean")
    tried = list(islice(several(head, patches, "top_k"), 60))
    counts = [each.found for each in tried]
    assert any(each.certificate is None for each in tried)
    assert counts == [sum(each.certificate is not None for each in tried[: n + 1]) for n in range(len(tried))]


def test_a_class_that_needs_no_statement_has_one_explanation():
    head, patches = given("euclidean")
    bias = torch.tensor([1e6, 0.0, 0.0])
    for paradigm in ("top_k", "projection"):
        tried, certificates = found(replace(head, bias=bias), patches, paradigm)
        assert [each.size for each in certificates] == [0] and tried[-1].found == 1


def test_what_cannot_be_explained_is_named(monkeypatch):
    head, patches = given("euclidean")
    with pytest.raises(UsageError, match="paradigm is 'hypersphere', expected one of projection, top_k"):
        several(head, patches, "hypersphere")
    with pytest.raises(UsageError, match="paradigm is 'sparse'"):
        several(head, patches, "sparse")
    with pytest.raises(LatentsError):
        several(head, patches + 2, "top_k")
    tied = replace(head, weight=torch.zeros_like(head.weight), bias=None)
    with pytest.raises(UnexplainedError, match="no class certainly"):
        several(tied, patches, "top_k")
    monkeypatch.setattr(searching, "_MOST_PAIRS", 3 * head.size - 1)
    with pytest.raises(UsageError, match="more than 35 statements"):
        several(head, patches, "projection")


def test_each_is_a_paradigm_that_may_claim_minimality():
    assert all(PARADIGMS[name].minimal for name in PARADIGMS if PARADIGMS[name].several)
