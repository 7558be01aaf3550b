"""Joint: the smallest sets of statements about one patch, proved by the checker."""

from __future__ import annotations

from itertools import combinations
from math import inf

import pytest
import safetensors.torch
import torch
from support.joint import HEADS, joint_head, margins_of_sets
from support.small import small_latents

from verale.bounds import Joint
from verale.certificate import Certificate
from verale.checker import Auditor, Status
from verale.head import Head, as_patches
from verale.search.explain import explain
from verale.search.options import SearchOptions
from verale.search.paradigms.joint import _TRIALS, _Estimates
from verale.search.problem import NoExplanation, Problem
from verale.search.smallest import SEARCHES


def explained(problem: Problem, most: float = inf):
    search = SEARCHES["joint"](problem.head, 1, SearchOptions("joint"))
    return search.explain(problem, "rival", [most] * len(problem))


def latents(head: Head, seed: int) -> torch.Tensor:
    return small_latents(head, images=2, patches=1, seed=seed)


@pytest.mark.parametrize(
    ("name", "prototypes", "tolerance"),
    [
        pytest.param(name, *sizes, marks=[pytest.mark.long] * (place != number % 2))
        for number, name in enumerate(HEADS)
        for place, sizes in enumerate(((5, 0.001), (20, 0.0), (5, 0.0), (20, 0.001)))
    ],
)
def test_the_checker_proves_what_is_found_and_that_it_is_minimal(name: str, prototypes: int, tolerance: float) -> None:
    head = joint_head(name, 1, prototypes)
    images = latents(head, 1)
    auditor = Auditor(head.to_bytes(), safetensors.torch.save({"latents": images}))
    for explanation in explain(head, images, "joint", tolerance=tolerance):
        assert isinstance(explanation, Certificate)
        assert explanation.minimal or tolerance
        verdict = auditor.check(explanation.to_bytes(), minimality=explanation.minimal)
        assert verdict.status is Status.PROVED, verdict.message


@pytest.mark.parametrize("name", HEADS)
def test_no_smaller_set_is_proved(name: str) -> None:
    head = joint_head(name, 2)
    joint, problem = Joint(head), Problem.of(head, as_patches(latents(head, 2)))
    for image, explanation in enumerate(explained(problem)):
        assert not isinstance(explanation, NoExplanation)
        sets = list(combinations(range(head.size), max(0, len(explanation.pairs) - 1)))
        margins = margins_of_sets(joint, problem, image, sets)
        assert not explanation.pairs or not (margins > 0).all(1).any()


@pytest.mark.parametrize("name", HEADS)
def test_estimates_are_what_is_proved(name: str) -> None:
    head = joint_head(name, 3)
    joint, problem = Joint(head), Problem.of(head, as_patches(latents(head, 3)))
    observed, predicted = problem.observed[:1], problem.margins.predicted[:1]
    estimates = _Estimates(joint, int(predicted), (observed.lower + observed.upper)[0] / 2)
    for count in (1, 2, 3):
        sets = list(combinations(range(head.size - 1), count))  # the last prototype equals the first
        found, proved = estimates.of_sets(torch.tensor(sets)), margins_of_sets(joint, problem, 0, sets)
        rivals = torch.arange(head.classes) != predicted
        assert torch.allclose(found[:, rivals], proved[:, rivals], rtol=0, atol=1e-4)


def test_many_prototypes_are_added_one_by_one() -> None:
    head = joint_head("inner product", 4, 400)
    assert 400 * 399 // 2 * head.classes > _TRIALS
    for explanation in explain(head, latents(head, 4), "joint"):
        assert isinstance(explanation, Certificate) and 1 <= explanation.size <= 6 and explanation.minimal


@pytest.mark.parametrize("trials", [_TRIALS, 0])
def test_a_limit_of_statements_is_kept(trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verale.search.paradigms.joint._TRIALS", trials)
    head = joint_head("inner product", 1, 9)
    problem = Problem.of(head, as_patches(latents(head, 1)[:2]))
    sizes = [len(each.pairs) for each in explained(problem) if not isinstance(each, NoExplanation)]
    assert len(sizes) == 2 and max(sizes) > 1
    for limit in (1.0, 5.0):
        for size, each in zip(sizes, explained(problem, limit), strict=True):
            if size <= limit:
                assert not isinstance(each, NoExplanation) and len(each.pairs) == size
            else:
                assert each.reason == f"no explanation was found with at most {limit:.0f} statements"


def test_a_tie_gives_a_reason() -> None:
    head = joint_head("plain")
    tied = Head(
        torch.ones(2, head.size), head.geometry, head.similarity, prototypes=head.prototypes, domain=head.domain
    )
    (reason,) = explain(tied, latents(tied, 0)[:1], "joint")
    assert not isinstance(reason, Certificate)


def test_nothing_is_stated_where_nothing_has_to_be() -> None:
    head = joint_head("negated", 5)
    bias = torch.zeros(head.classes)
    bias[1] = 1e3
    sure = Head(head.weight, head.geometry, head.similarity, head.prototypes, bias, head.scale, domain=head.domain)
    for explanation in explain(sure, latents(sure, 5), "joint"):
        assert isinstance(explanation, Certificate) and explanation.size == 0 and explanation.minimal
