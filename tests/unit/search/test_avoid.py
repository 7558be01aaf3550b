"""Avoid: what is avoided is never stated, what remains is proved, and where nothing remains the reason says so."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import safetensors.torch
import torch
from support.cases import every
from support.joint import HEADS, joint_head
from support.problems import small_problem
from support.small import small_head, small_latents, varied_head
from torch import Tensor

from verale.certificate import (
    ActivationStatement,
    Certificate,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    SumStatement,
)
from verale.checker import Auditor, Status
from verale.errors import UsageError
from verale.head import Head, as_patches, evaluate
from verale.paradigms import ORDERS, READABLE
from verale.search import Avoid, Batches, SearchOptions, Unexplained
from verale.search.activations import Activations
from verale.search.covers import START
from verale.search.explain import explain

PROTOTYPES = Avoid(prototypes=(0, 3, 4))
PATCHES = Avoid(patches=(1,), prototypes=(4,))

SPATIAL = [
    ("euclidean", "projection"),
    ("scaled", "projection"),
    ("cosine", "projection"),
    ("top mean", "projection"),
    ("euclidean", "triangle"),
    ("cosine", "hypersphere"),
    ("softmax", "simplex"),
    ("softmax", "assignment"),
]
OF_ACTIVATIONS = [
    ("euclidean", "top_k"),
    ("softmax", "top_k"),
    ("tree", "top_k"),
    ("softmax", "sparse"),
    ("euclidean", "mixed"),
    pytest.param("cosine", "mixed", marks=pytest.mark.long),
]


def head_of(name: str) -> Head:
    return varied_head(name, 3) if name in ("top mean", "tree") else small_head(name, 3)


def named(statement) -> tuple[set[int], set[int]]:
    """The patches and the prototypes that a statement is about; none for a clause."""
    match statement:
        case PatchStatement():
            return {statement.patch}, {statement.prototype}
        case ActivationStatement():
            return set(), {statement.prototype}
        case OrderStatement() | FloorStatement() | SumStatement():
            return set(), set()
    raise TypeError(statement)


def certificates(head: Head, images, paradigm: str, avoid: Avoid, **options) -> list[Certificate]:
    """The certificates, each of which the checker proves and none of which states what is avoided."""
    results = explain(head, images, paradigm, avoid=avoid, **options)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images}))
    for result in results:
        if isinstance(result, Unexplained):
            assert result.reason.endswith(f"; avoided: {avoid}")
            continue
        verdict = auditor.check(result.to_bytes(), minimality=result.minimal)
        assert verdict.status is Status.PROVED, verdict.message
        for patches, prototypes in map(named, result.statements):
            assert not patches & set(avoid.patches) and not prototypes & set(avoid.prototypes)
    return [result for result in results if isinstance(result, Certificate)]


def states(certificate: Certificate, avoid: Avoid) -> bool:
    return any(
        patches & set(avoid.patches) or prototypes & set(avoid.prototypes)
        for patches, prototypes in map(named, certificate.statements)
    )


@pytest.mark.parametrize(("name", "paradigm"), [*SPATIAL, *OF_ACTIVATIONS])
def test_prototypes_are_avoided_that_would_be_stated(name, paradigm):
    head = head_of(name)
    images = small_latents(head, images={"mixed": 4, "top_k": 6, "sparse": 6}.get(paradigm, 2))
    plain = [each for each in explain(head, images, paradigm) if isinstance(each, Certificate)]
    assert any(states(each, PROTOTYPES) for each in plain)
    assert sum(len(certificates(head, images, paradigm, each)) for each in (PROTOTYPES, Avoid((3,))))


def head_of_support(name: str, images: Tensor) -> Head:
    """A head whose first class is entailed by evidence for it alone, wherever it is; nothing speaks for the others."""
    head = head_of(name)
    weight = torch.zeros_like(head.weight)
    weight[0] = 1.0
    support = replace(head, weight=weight, bias=None)
    least = float(evaluate(support, as_patches(images)).logits[:, 0].amin())
    return replace(support, bias=torch.tensor([0.0, 0.5 * least, 0.5 * least]))


@pytest.mark.parametrize(
    ("name", "paradigm", "order"),
    [
        pytest.param(*case, order, marks=[pytest.mark.long] * (number % len(ORDERS) != place))
        for number, case in enumerate(SPATIAL)
        for place, order in enumerate(ORDERS)
    ],
)
def test_patches_are_avoided_that_would_be_stated(name, paradigm, order):
    images = small_latents(head_of(name), images=6)
    head, explained = head_of_support(name, images), 0
    plain = [each for each in explain(head, images, paradigm, order=order) if isinstance(each, Certificate)]
    for avoid in (Avoid((4,), (1,)), Avoid((), (0,))):
        assert any(states(each, avoid) for each in plain)
        explained += len(certificates(head, images, paradigm, avoid, order=order))
    assert explained


@pytest.mark.parametrize(("name", "few"), [*zip(HEADS, (2**17, 0) * 3, strict=True)])  # test_costs.py has the others
def test_joint_avoids(name, few, monkeypatch):
    monkeypatch.setattr("verale.search.paradigms.joint._TRIALS", few)
    head = joint_head(name, 1, 14)
    images = small_latents(head, images=1, patches=1)
    plain = [each for each in explain(head, images, "joint") if isinstance(each, Certificate)]
    avoid = Avoid(tuple({j for each in plain for s in each.statements for j in named(s)[1]}))
    assert avoid and certificates(head, images, "joint", avoid)


@every("order", ORDERS)
@every("everything", [Avoid(tuple(range(12))), Avoid(patches=tuple(range(5)))])
@every(("name", "paradigm"), [*SPATIAL, ("euclidean", "top_k"), ("softmax", "sparse")])
def test_nothing_left_to_state_is_a_reason_that_names_what_was_avoided(name, paradigm, everything, order):
    head = head_of(name)
    images = small_latents(head, images=3)
    if paradigm in ("top_k", "sparse") and everything.patches:
        with pytest.raises(UsageError, match=f"paradigm '{paradigm}' states activations, which speak of all patches"):
            explain(head, images, paradigm, avoid=everything)
        return
    for result in explain(head, images, paradigm, avoid=everything, order=order):
        if isinstance(result, Certificate):  # clauses alone
            assert all(isinstance(each, (OrderStatement, FloorStatement)) for each in result.statements)
        else:
            assert result.reason.endswith(f"; avoided: {everything}")


@pytest.mark.parametrize("paradigm", ["top_k", pytest.param("mixed", marks=pytest.mark.long)])
def test_a_reason_claims_no_more_than_was_tried(paradigm):
    head, everything = head_of("euclidean"), Avoid(tuple(range(12)))
    results = explain(head, small_latents(head, images=3), paradigm, avoid=everything)
    reasons = {result.reason for result in results if isinstance(result, Unexplained)}
    assert reasons == {"no explanation was found; avoided: prototypes 0-11"}


def test_a_joint_explanation_without_its_patch_has_a_reason():
    head = joint_head("plain", 1, 40)
    images = small_latents(head, images=2, patches=1)
    for result in explain(head, images, "joint", avoid=Avoid(patches=(0,))):
        assert isinstance(result, Unexplained)
        assert result.reason == "the class stays open though every observable is stated; avoided: patches 0"


def test_smallest_tries_what_can_avoid_patches():
    head = head_of("euclidean")
    images = small_latents(head, images=2)
    assert {"top_k", "mixed"} <= set(Batches(head, images, SearchOptions(READABLE)).paradigms)
    assert Batches(head, images, SearchOptions(READABLE, avoid=PATCHES)).paradigms == ("projection",)
    assert certificates(head, images, READABLE, PROTOTYPES)


def test_where_no_paradigm_is_left_the_refusal_is_given(monkeypatch):
    def refuse(needed, what, options):
        raise UsageError(f"{what} take too much")

    monkeypatch.setattr("verale.search.paradigms.base.require_memory", refuse)
    head = head_of("euclidean")
    with pytest.raises(UsageError, match="the products of 12 prototypes take too much"):
        Batches(head, small_latents(head), SearchOptions(READABLE, avoid=PATCHES))


def test_a_cover_is_found_under_clauses_where_the_first_ceiling_does_not_serve():
    """Of some images every cover needs a ceiling, or a floor, where the first ceiling would exempt what is avoided."""
    problem, later = small_problem("euclidean", 2, images=6), 0
    for image in range(len(problem)):
        for j in range(problem.head.size):
            activations = Activations(replace(problem.take([image]), avoid=Avoid((j,))))
            covers, clauses = activations.covers, activations.clauses
            start = float(np.quantile(activations.observed.upper.numpy(), START, method="nearest"))
            cover = covers.best(clauses)
            assert cover is None or j not in cover.stated
            if cover is not None and covers._solve(clauses, (start, -math.inf), math.inf) is None:
                assert activations.least(activations.cover(cover)) > 0
                later += 1
    assert later


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], Avoid()),
        (["prototypes:3,7-9"], Avoid((3, 7, 8, 9))),
        (["patches:0-2", "prototypes: 5 , 4", "patches:2,9"], Avoid((4, 5), (0, 1, 2, 9))),
    ],
)
def test_what_the_command_line_says(texts, expected):
    assert Avoid.parse(texts) == expected
    assert bool(expected) == bool(texts)


def test_it_reads_as_it_is_written():
    assert str(Avoid((9, 3, 7, 8), (0,))) == "prototypes 3, 7-9 and patches 0"
    assert str(Avoid(patches=(1, 0))) == "patches 0-1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3", "'3' does not say what to avoid, expected prototypes:3,7-9 or patches:0-7"),
        ("classes:1", "'classes:1' does not say what to avoid"),
        ("patches:", "'' is not an index or a range"),
        ("patches:1,,2", "'' is not an index or a range"),
        ("patches:-1", "'-1' is not an index or a range"),
        ("patches:0-999999999", "'0-999999999' is not an index or a range"),
        ("patches:7-3", "the range 7-3 is empty"),
        ("prototypes:a", "'a' is not an index"),
    ],
)
def test_another_form_is_named(text, message):
    with pytest.raises(UsageError, match=message):
        Avoid.parse([text])


@pytest.mark.parametrize(
    ("avoid", "message"),
    [
        (Avoid((12,)), "prototypes to avoid: there is no 12, expected 0 to 11"),
        (Avoid(patches=(5,)), "patches to avoid: there is no 5, expected 0 to 4"),
    ],
)
def test_what_there_is_not_cannot_be_avoided(avoid, message):
    head = head_of("euclidean")
    with pytest.raises(UsageError, match=message):
        explain(head, small_latents(head), avoid=avoid)
    with pytest.raises(UsageError, match="prototypes to avoid: -1 is negative"):
        Avoid((-1,))
