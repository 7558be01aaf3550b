"""Statements about activations: dropped while the class follows, and with one side where that is enough."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from math import inf

import pytest
import safetensors.torch
import torch
from support.activations import ends_of, least_margin
from support.problems import SLACK, problem_of, small_problem, tied_problem
from support.small import GEOMETRIES, VARIED, small_head, small_latents, varied_head

from verale.adapters.cabrnet import load_head
from verale.bounds import LinearMargins
from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.checker import Status, check
from verale.demo.network import RUN, load_images, load_network
from verale.errors import UsageError
from verale.head import as_patches
from verale.paradigms import HIGHEST
from verale.search import SearchOptions
from verale.search.activations import Activations, Stated
from verale.search.batches import Batches
from verale.search.covers import one_by_one
from verale.search.explain import explain
from verale.search.least import least_document
from verale.search.linked import Linked
from verale.search.paradigms.of_activations import highest
from verale.search.problem import GivenUpError, NoExplanation, Problem, UnexplainedError
from verale.search.smallest import SEARCHES


def test_a_side_that_no_rival_needs_is_dropped_and_the_statements_say_what_was_found():
    """Prototypes of the predicted class need a lower end, those of the others an upper end."""
    for problem in (small_problem("euclidean", 2), problem_of(varied_head("tree"))):
        activations = Activations(problem.take([0]))
        every = activations.state(list(range(problem.head.size)))
        linked, margins = Linked(problem.head, problem.patches), activations.problem.margins
        left, proved, _ = linked.shrunk(margins, every.statements(ActivationStatement))
        one_sided = Stated.of(left, problem.head.size)
        assert bool((proved > 0).all()) and activations.least(every) > 0
        torch.testing.assert_close(linked.proved(margins, left), proved, rtol=1e-9, atol=1e-12)
        if not isinstance(margins, LinearMargins):
            continue
        for j in one_sided.prototypes:
            low, high = (bool(end[j].isfinite()) for end in (one_sided.lower, one_sided.upper))
            favour, against = bool((margins.positive[0, j] > 0).any()), bool((margins.negative[0, j] < 0).any())
            assert low or high
            assert favour or not low or not high
            assert against or not low or not high


def test_what_goes_one_by_one_leaves_all_margins_above_the_least():
    margins = torch.tensor([3.0, 2.0])
    lost = torch.tensor([[2.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 3.0], [0.5, 0.5]])
    gone, left = one_by_one(margins, lost, 0.0)
    assert gone.tolist() == [True, False, True, False, True] and left.tolist() == [0.5, 0.5]
    gone, left = one_by_one(margins, lost[:0], 0.0)
    assert not len(gone) and left is margins


# Paradigms of activations: true, entailing, no statement too many, and no larger than the k highest or what is left


def each_of(problem: Problem) -> list[Problem]:
    return [problem.take([image]) for image in range(len(problem))]


def search_of(name: str, problem: Problem, **options):
    return SEARCHES[name](problem.head, problem.patches, SearchOptions(name, **options))


def explained(name: str, problem: Problem, **options):
    (solution,) = search_of(name, problem, digits="exact", **options).solve(problem, [math.inf])
    return solution


@pytest.mark.parametrize(("error", "tries"), [(UnexplainedError, 2), (GivenUpError, 1)])
def test_a_search_without_an_explanation_says_why(error, tries, monkeypatch):
    """In exact numbers too, unless it was given up."""
    tried = []

    def fails(self, problem, most):
        tried.append(most)
        raise error("no statement helps")

    problem = small_problem("euclidean", 1).take([0])
    search = search_of("top_k", problem)
    monkeypatch.setattr(type(search), "explain", fails)
    assert search.solve(problem, [7]) == [NoExplanation("no statement helps")] and tried == [7] * tries


@pytest.mark.parametrize(
    ("paradigm", "geometry", "seed"),
    [*(("top_k", name, 2) for name in GEOMETRIES), *(("sparse", "softmax", seed) for seed in range(4))],
)
def test_the_class_follows_and_every_statement_is_needed(paradigm, geometry, seed):
    for one in each_of(small_problem(geometry, seed)):
        explanation = explained(paradigm, one)
        statements = explanation.statements
        assert explanation.minimal and (explanation.margins > 0).all()
        search = search_of(paradigm, one)
        assert (search.prove(one, statements) - explanation.margins).nan_to_num(0).abs().amax() <= SLACK
        for dropped in statements:
            fewer = [each for each in statements if each is not dropped]
            assert least_margin(one, fewer) <= float(search.prove(one, fewer).amin()) <= SLACK
        if paradigm == "sparse":
            prototypes = [each.prototype for each in statements if isinstance(each, ActivationStatement)]
            assert prototypes == sorted(set(prototypes)) and len(prototypes) == len(statements)


@pytest.mark.parametrize("name", VARIED)
def test_statements_are_true_and_no_more_than_the_highest_need(name):
    """Under every readout and pooling."""
    for one in each_of(problem_of(varied_head(name), images=2)):
        statements = explained("top_k", one).statements
        ends = ends_of(statements, one.head.size)
        assert (ends.lower <= one.activations.lower[0]).all() and (ends.upper >= one.activations.upper[0]).all()
        assert [type(each) for each in statements].count(OrderStatement) <= 1
        assert [type(each) for each in statements].count(FloorStatement) <= 1
        assert len(statements) <= len(explained("top_k", one, order=HIGHEST).statements)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_k_is_the_least_and_the_clause_is_true(geometry):
    for one in each_of(small_problem(geometry, 2)):
        activations = Activations(one)
        upper = activations.observed.upper
        stated = highest(activations)
        prototypes = sorted(stated.prototypes, key=upper.tolist().__getitem__, reverse=True)
        assert (upper <= stated.clauses[1]).all()
        assert (~stated.below).nonzero()[:, 0].tolist() == sorted(prototypes)
        assert activations.least(stated) > 0
        if prototypes:
            fewer = prototypes[:-1]
            below = torch.ones_like(stated.below)
            below[fewer] = False
            ceiling = float(upper[fewer[-1]] if fewer else upper.max())
            assert activations.least(activations.state(fewer).under(ceiling, below)) <= SLACK


def test_a_tie_gives_a_reason():
    for name, why in (
        ("top_k", "though every activation is"),
        ("sparse", "though every activation that could help is"),
    ):
        assert f"{why} stated" in explained(name, tied_problem(softmax=name == "sparse")).reason


def test_where_far_fewer_statements_are_wanted_it_is_given_up() -> None:
    """But of the highest activations all are stated: for them no programme is solved, and there are never fewer."""
    one, sizes = small_problem("euclidean", 3).take([0]), {}
    for order, is_given_up in ((None, True), (HIGHEST, False)):
        search = search_of("top_k", one, digits="exact", order=order)
        (found,) = search.solve(one, [math.inf])
        size = sizes[order] = len(found.statements)
        assert size > 2 and found.minimal and [len(each.statements) for each in search.solve(one, [size])] == [size]
        (given,) = search.solve(one, [0.25])
        assert isinstance(given, NoExplanation) == is_given_up
        assert not is_given_up or "a smaller explanation is known" in given.reason
    assert sizes[None] <= sizes[HIGHEST]


def test_digits_reach_the_bound_of_all_explanations():
    """Their covers need just the right ceiling and floor: none of these are left out."""
    head, digits = load_head(RUN), as_patches(load_network().latents(load_images().images[:2]))
    for image in digits:
        (least, _), activations = least_document(head, image), Activations(Problem.of(head, image[None]))
        best = activations.covers.best(activations.clauses)
        assert len(best.stated) + best.clauses == least


# Mixed explanations: proved by the checker, from which nothing can be dropped, and small.


MIXED = ("euclidean", "scaled", "cosine", "negated", "rooted", "cosine rectified")


def head_of(name: str, seed: int = 0):
    return small_head(name, seed) if name in ("euclidean", "scaled", "cosine") else varied_head(name, seed)


def mixed_of(problem: Problem):
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
        for number, name in enumerate(MIXED)
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
    found = explain(head, small_latents(head, images=1, seed=1), "mixed")
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
        mixed_of(tied).explain(tied, inf)
    problem = small_problem("euclidean").take([0])
    size = len(mixed_of(problem).explain(problem, inf).statements)
    assert len(mixed_of(problem).explain(problem, size).statements) == size
    with pytest.raises(GivenUpError, match="given up at"):
        mixed_of(problem).explain(problem, 0)
