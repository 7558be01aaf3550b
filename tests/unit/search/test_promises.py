"""What every paradigm promises: nothing of a tie, nothing avoided, the same bytes, numbers as wide as is asked."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import cache

import pytest
import safetensors.torch
import torch
from support.alike import alike
from support.digits import digits_of, told
from support.joint import joint_head
from support.small import small_head, small_latents, varied_head
from torch import Tensor

from verale.certificate import ActivationStatement, Certificate, PatchStatement, SumStatement
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Head, as_patches
from verale.paradigms import ORDERS, PARADIGMS
from verale.search import Batches, Costs, SearchOptions, Unexplained
from verale.search.digits import FEW_DIGITS
from verale.search.explain import explain
from verale.search.problem import NoExplanation, Problem
from verale.search.smallest import SEARCHES

EVERY = pytest.mark.parametrize("paradigm", PARADIGMS)


def subject(paradigm: str) -> tuple[Head, Tensor]:
    """A head that has the paradigm, and three images."""
    if paradigm == "joint":
        head = joint_head("plain", 1, 8)
        return head, small_latents(head, images=3, patches=1)
    kind = "euclidean" if "euclidean" in PARADIGMS[paradigm].geometries else "softmax"
    head = small_head(kind, 3, prototypes=8)
    return head, small_latents(head, images=3)


@cache
def plain(paradigm: str) -> list[Certificate | Unexplained]:
    """What is found without options."""
    head, images = subject(paradigm)
    return list(explain(head, images, paradigm))


def certificates(results) -> list[Certificate]:
    """Those there are."""
    return [each for each in results if isinstance(each, Certificate)]


def in_bytes(results) -> list[bytes | str]:
    return [each.to_bytes() if isinstance(each, Certificate) else str(each) for each in results]


def own(results) -> dict[object, PatchStatement | ActivationStatement]:
    """Statements about single numbers, by image and by what they are about."""
    return {
        (each.latents, getattr(said, "patch", None), said.prototype): said
        for each in certificates(results)
        for said in each.statements
        if isinstance(said, PatchStatement | ActivationStatement)
    }


@EVERY
def test_a_tie_has_no_explanation(paradigm):
    """Neither for a user nor for whoever asks the search for one."""
    head, images = subject(paradigm)
    tied = replace(head, weight=torch.ones_like(head.weight), bias=None)
    for result in explain(tied, images, paradigm):
        assert isinstance(result, Unexplained) and "a tie" in result.reason
    problem = Problem.of(tied, as_patches(images))
    assert bool((problem.settled <= 0).all())
    solutions = SEARCHES[paradigm](tied, problem.patches, SearchOptions(paradigm)).solve(problem, [math.inf] * 3)
    assert all(isinstance(each, NoExplanation) for each in solutions)


@EVERY
def test_the_same_images_have_the_same_bytes(paradigm):
    """Again, with costs of 1, batch by batch in another order; alike whatever the batch is; and none of no images."""
    head, images = subject(paradigm)
    ones = Costs.of(dict.fromkeys(range(head.size), 1.0), {0: 1.0}, {(0, 2): 1.0}, 1.0, 1.0)
    found = plain(paradigm)
    assert in_bytes(explain(head, images, paradigm, costs=ones)) == in_bytes(found)
    batches = Batches(head, images, SearchOptions(paradigm, batch=2))
    parts = {start: [each.explanation for each in batches.explain(start)] for start in (2, 0)}
    by_two = [each for start in batches.starts for each in parts[start]]
    whole = found if batches.are_alone else explain(head, images, paradigm, batch=2)
    assert in_bytes(whole) == in_bytes(by_two) and alike(by_two, found)
    assert list(explain(head, images[:0], paradigm)) == []


@EVERY
def test_within_a_tolerance_statements_are_wider_short_and_proved(paradigm):
    head, images = subject(paradigm)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images}), "both")
    exact, wide = explain(head, images, paradigm, digits="exact"), explain(head, images, paradigm, tolerance=0.01)
    assert all(digits_of(each.statements) > FEW_DIGITS for each in certificates(exact) if each.statements)
    assert any(each.statements for each in certificates(wide))
    for each in certificates(wide):
        assert auditor.check(each.to_bytes(), minimality=True).status is Status.PROVED
        numbers = told([said for said in each.statements if not isinstance(said, SumStatement)])
        assert all(Decimal(text) % Decimal("0.01") == 0 for text in numbers)
        assert PARADIGMS[paradigm].minimal or not each.minimal
    narrow = own(exact)
    for about, said in own(wide).items():
        assert not said.upper - said.lower < 0.01 - 1e-9
        if about in narrow:
            assert not (said.lower > narrow[about].lower > -math.inf or said.upper < narrow[about].upper < math.inf)
    for result in explain(head, images, paradigm, tolerance=100.0):
        assert isinstance(result, Unexplained) and "tolerance" in result.reason


@EVERY
def test_what_does_not_fit_into_memory_is_refused(paradigm, monkeypatch):
    """An image; and before that what the search keeps of a head alone: products, or what activations say of others."""
    head, images = subject(paradigm)
    monkeypatch.setattr(Head, "depth", images.shape[-1])
    monkeypatch.setattr(Head, "size", 2**30)
    with pytest.raises(UsageError, match=r"patch(es)? of an image take about .* expected at most 4: allow more"):
        Batches(head, images, SearchOptions(paradigm))
    monkeypatch.setattr(Head, "size", 2**20)
    if paradigm in ("projection", "triangle", "hypersphere", "mixed", "joint"):
        words = "activations says of the others" if paradigm == "mixed" else "the products of 1048576 prototypes"
        with pytest.raises(UsageError, match=rf"{words} take about .* GiB, expected at most 4: allow more"):
            SEARCHES[paradigm](head, images.shape[1], SearchOptions(paradigm))


@pytest.mark.parametrize("order", [None, *ORDERS])
def test_an_order_that_is_chosen_is_the_only_one(order):
    for paradigm, both in (("simplex", True), ("projection", False), ("assignment", False)):
        head, _ = subject(paradigm)
        default = ORDERS if both else ORDERS[:1]
        assert SEARCHES[paradigm](head, 5, SearchOptions(paradigm, order)).orders == (
            default if order is None else (order,)
        )


def test_a_sum_needs_a_linear_readout():
    with pytest.raises(UsageError, match="needs a linear readout"):
        SEARCHES["evidence"](varied_head("tree"), 9, SearchOptions("evidence"))
