"""Smallest: of each image the explanation with the least to read is kept, and what the others gave is told."""

from __future__ import annotations

import math

import pytest
import torch
from support.problems import small_problem
from support.small import GEOMETRIES, small_head, small_latents

from verale.certificate import ActivationStatement, Certificate
from verale.certificate.statements import to_read
from verale.checker import Auditor, Status
from verale.paradigms import READABLE
from verale.search import Batches, NotKept, SearchOptions, smallest
from verale.search.costs import UNIT_COSTS
from verale.search.explain import explain
from verale.search.paradigms.base import cheaper
from verale.search.problem import Explanation, NoExplanation
from verale.search.smallest import SHORT_ENOUGH, keep_smallest


def results_of(head, latents, paradigm, **options):
    batches = Batches(head, latents, SearchOptions(paradigm, **options))
    return batches, [result for start in batches.starts for result in batches.explain(start)]


class Scripted:
    """A search that gives solutions of known sizes; None for no solution."""

    def __init__(self, name, sizes):
        self.name, self.sizes, self.most = name, sizes, []

    def solve(self, problem, most):
        self.most = most
        return [
            NoExplanation("no luck")
            if size is None
            else Explanation([ActivationStatement(0, 0.0, 1.0)] * size, torch.ones(0), True)
            for size in self.sizes
        ]


def test_the_least_to_read_is_kept_the_earlier_on_a_tie_and_each_is_told_what_it_has_to_beat():
    """Each of these statements has three words to read, as `mixed` may state; a statement about a patch has four."""
    problem = small_problem("euclidean", 2).take([0, 1])
    first, second, third = (
        Scripted(*each) for each in (("top_k", [8, None]), ("mixed", [8, 12]), ("projection", [5, None]))
    )
    kept = keep_smallest(problem, [first, second, third])
    assert (first.most, second.most, third.most) == ([math.inf] * 2, [7, math.inf], [5, 8])
    assert [each.paradigm for each in kept] == ["projection", "mixed"]
    assert kept[0].others == (NotKept("top_k", 8), NotKept("mixed", 8))
    assert kept[1].others == (NotKept("top_k", None, "no luck"), NotKept("projection", None, "no luck"))
    tie = keep_smallest(problem, [first, second])
    assert [each.paradigm for each in tie] == ["top_k", "mixed"]
    keep_smallest(problem, [second, third, first])
    assert (third.most, first.most) == ([5, 8], [4, 11])


def test_what_is_read_at_a_glance_is_not_searched_again():
    """Four statements of three words are; five are not."""
    problem = small_problem("euclidean", 2).take([0, 1])
    first, second = Scripted("top_k", [4, 5]), Scripted("mixed", [2])
    kept = keep_smallest(problem, [first, second])
    assert second.most == [4] and [each.paradigm for each in kept] == ["top_k", "mixed"]
    assert kept[0].others == (NotKept("mixed", None, SHORT_ENOUGH.reason),)


def test_a_reason_is_never_cheaper():
    solution, why = Explanation([], torch.ones(0), True), NoExplanation("why")
    assert cheaper(UNIT_COSTS, why, solution) == cheaper(UNIT_COSTS, solution, why) == solution
    assert cheaper(UNIT_COSTS, why, NoExplanation("or why")) == why


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_no_paradigm_gives_less_to_read(geometry, monkeypatch):
    """But what is read at a glance anyhow."""
    monkeypatch.setattr(smallest, "AT_A_GLANCE", 0)
    head = small_head(geometry, 3)
    latents = small_latents(head, images=1, seed=3)
    batches, results = results_of(head, latents, READABLE)
    auditor = Auditor(head.to_bytes())
    single = {name: explain(head, latents, name) for name in batches.paradigms}
    explained = 0
    for image, result in enumerate(results):
        given = {name: each[image] for name, each in single.items() if isinstance(each[image], Certificate)}
        read = {name: to_read(each.statements, head.size, each.patches) for name, each in given.items()}
        if not given:
            assert not isinstance(result.explanation, Certificate)
            continue
        explained += 1
        assert read[result.explanation.paradigm] == min(read.values())
        assert result.explanation == single[result.explanation.paradigm][image]
        assert auditor.check(result.explanation.to_bytes(), minimality=True).status is Status.PROVED
        assert {other.paradigm for other in result.others} == set(batches.paradigms) - {result.explanation.paradigm}
        for other in result.others:
            assert other.size == given[other.paradigm].size if other.size is not None else "given up" in other.reason
    assert explained


def test_a_paradigm_that_cannot_win_is_given_up(monkeypatch):
    """Its search stops long before it has an explanation."""
    monkeypatch.setattr(smallest, "AT_A_GLANCE", 0)
    head = small_head("euclidean", 5, prototypes=20, depth=12, classes=5)
    latents = small_latents(head, images=2, patches=30, seed=5)
    batches, results = results_of(head, latents, READABLE)
    given_up = [other for result in results for other in result.others if "given up" in other.reason]
    assert given_up and all(other.size is None for other in given_up)
    assert batches.paradigms == ("evidence", "top_k", "mixed", "projection")
