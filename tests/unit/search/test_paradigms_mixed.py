"""Mixed explanations: proved by the checker, from which nothing can be dropped, and small."""

from __future__ import annotations

import json
from dataclasses import replace
from math import inf

import pytest
import safetensors.torch
from support.problems import small_problem, tied_problem
from support.small import small_head, small_latents, varied_head

from verale.adapters.cabrnet import load_head
from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.checker import Status, check
from verale.demo.network import RUN, load_images, load_network
from verale.errors import UsageError
from verale.search.batches import Batches
from verale.search.explain import explain
from verale.search.options import SearchOptions
from verale.search.problem import GivenUpError, Problem, UnexplainedError
from verale.search.smallest import SEARCHES

HEADS = ("euclidean", "scaled", "cosine", "negated", "rooted", "cosine rectified")


def head_of(name: str, seed: int = 0):
    return small_head(name, seed) if name in ("euclidean", "scaled", "cosine") else varied_head(name, seed)


def search_of(problem: Problem):
    return SEARCHES["mixed"](problem.head, problem.patches, SearchOptions("mixed"))


def without(data: bytes, number: int) -> bytes:
    document = json.loads(data)
    del document["predicate"]["statements"][number]
    document["predicate"]["margins"] = [end and (2.0**-1074).hex() for end in document["predicate"]["margins"]]
    return json.dumps(document).encode()


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        pytest.param(name, tolerance, marks=[pytest.mark.long] * (place != number % 2))
        for number, name in enumerate(HEADS)
        for place, tolerance in enumerate((0.0, 0.01))
    ],
)
def test_the_checker_proves_them_and_nothing_can_be_dropped(name, tolerance):
    head = head_of(name)
    latents = small_latents(head, images=1, seed=1)
    file, images = head.to_bytes(), safetensors.torch.save({"latents": latents})
    emitted = [c for c in explain(head, latents, "mixed", tolerance=tolerance) if isinstance(c, Certificate)]
    assert emitted
    for certificate in emitted:
        assert not certificate.minimal
        data = certificate.to_bytes()
        verdict = check(data, file, images, kernel="both")
        assert verdict.status is Status.PROVED, verdict.message
        assert dict(verdict.claims) == {"entailment": "proved", "instance": "proved"}
        for number in range(certificate.size):
            assert check(without(data, number), file, images).reason == "entailment"


def test_digits_need_few_statements():
    """Without floors these three took 4, 4 and 6."""
    head = load_head(RUN)
    found = explain(head, load_network().latents(load_images().images[5:8]), "mixed")
    sizes = [certificate.size for certificate in found]
    assert sum(sizes) <= 12, sizes
    assert {type(s) for c in found for s in c.statements} == {ActivationStatement, OrderStatement, FloorStatement}


def test_statements_about_patches_take_part():
    """Where ceilings and most activations say little, patches do."""
    head = replace(small_head("euclidean", 1, prototypes=40, depth=3), scale=None)
    found = explain(head, small_latents(head, images=4, seed=1), "mixed")
    forms = {type(s) for c in found if isinstance(c, Certificate) for s in c.statements}
    assert PatchStatement in forms


@pytest.mark.parametrize("name", ["tree", "maximum", "banks", "inner product", "quartic", "top mean"])
def test_heads_that_the_paradigm_does_not_cover(name):
    head = varied_head(name)
    with pytest.raises(UsageError, match="mixed"):
        explain(head, small_latents(head, images=1), "mixed")


def test_many_classes_and_little_memory_are_refused(monkeypatch):
    many = small_head("euclidean", classes=2049)
    with pytest.raises(UsageError, match="at most 2048 classes, not 2049"):
        explain(many, small_latents(many, images=1), "mixed")
    head = small_head("euclidean")
    monkeypatch.setattr(SearchOptions, "bytes", 64 * head.size**2 - 1)
    with pytest.raises(UsageError, match="what each of 12 activations says"):
        Batches(head, small_latents(head, images=1), SearchOptions("mixed"))


def test_a_tie_gives_a_reason_and_it_is_given_up_where_a_smaller_explanation_is_known():
    tied = tied_problem().take([0])
    with pytest.raises(UnexplainedError, match="though every activation is stated"):
        search_of(tied).explain(tied, inf)
    problem = small_problem("euclidean").take([0])
    size = len(search_of(problem).explain(problem, inf).statements)
    assert len(search_of(problem).explain(problem, size).statements) == size
    with pytest.raises(GivenUpError, match="given up at"):
        search_of(problem).explain(problem, 0)
