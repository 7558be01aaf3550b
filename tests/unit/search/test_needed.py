"""Minimality is claimed where every statement is needed, whatever the rounding and the multipliers."""

from __future__ import annotations

from itertools import product

import pytest
from support.named import problem_named
from support.problems import MONOTONE, small_problem, tied_problem

from verale.bounds import Projection, Simplex, Triangle
from verale.search import needed
from verale.search.needed import not_surely_needed, surely_needed, without_doubtful
from verale.search.prove import SpatialExplanation
from verale.search.rounds.stepwise import first_statements
from verale.search.spatial import explain_spatial


def added(problem, paradigm):
    """For each image statements that entail the class, not all of which are needed."""
    explained = []
    for image in range(len(problem)):
        pairs = first_statements(problem.take([image]), paradigm)
        others = ((patch, j) for patch in range(problem.patches) for j in range(problem.head.size - 1))
        explained.append([*pairs, next(pair for pair in others if pair not in pairs)])
    return explained


@pytest.mark.parametrize(("geometry", "paradigm"), [case for case in MONOTONE if case[1] is not Triangle])
def test_what_is_shrunk_is_needed_and_what_grew_is_not(geometry, paradigm) -> None:
    """A statement that could be dropped takes the claim from the whole explanation."""
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    grown, kept = added(problem, paradigm), [each.pairs for each in explain_spatial(problem, paradigm, "rival")]
    dropped = [len(before) > len(after) for before, after in zip(grown, kept, strict=True)]
    assert any(dropped), "otherwise the test shows nothing"
    assert surely_needed(problem, paradigm, kept) == [True] * len(kept)
    assert surely_needed(problem, paradigm, grown) == [not each for each in dropped]


@pytest.mark.parametrize(("geometry", "paradigm"), [case for case in MONOTONE if case[1] is not Triangle])
def test_only_what_is_in_question_is_decided(geometry, paradigm) -> None:
    """As it would be among all statements."""
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    grown = added(problem, paradigm)
    needless = not_surely_needed(problem, paradigm, grown)
    assert any(needless), "otherwise the test shows nothing"
    for among in ([pairs[::2] for pairs in grown], [pairs[1:2] for pairs in grown]):
        expected = [[pair for pair in pairs if pair in of] for pairs, of in zip(needless, among, strict=True)]
        assert not_surely_needed(problem, paradigm, grown, among) == expected


@pytest.mark.parametrize(("softmax", "paradigm"), [(False, Projection), (True, Simplex)])
def test_a_margin_of_zero_shows_nothing(softmax, paradigm) -> None:
    """Both logits are equal, so the class is missed by nothing: rounding could decide it."""
    problem = tied_problem(softmax)
    assert surely_needed(problem, paradigm(problem.head), [[(0, 0)]]) == [False]


@pytest.mark.parametrize("name", ["euclidean", "cosine", "top mean"])
def test_of_doubtful_statements_the_needless_are_dropped(name):
    problem = problem_named(name, 1).take([0])
    paradigm = Projection(problem.head)
    (explanation,) = explain_spatial(problem, paradigm, "rival")
    assert isinstance(explanation, SpatialExplanation)
    pairs = explanation.pairs
    extra = next(pair for pair in product(range(problem.patches), range(problem.head.size)) if pair not in pairs)
    assert without_doubtful(problem, paradigm, [*pairs, extra], [extra, pairs[0]]) == pairs
    assert without_doubtful(problem, paradigm, [*pairs, extra], [pairs[0]]) != pairs


def test_chunks_hold_every_item_and_little_weight():
    weights = [1, 200, 100, 300, 5, 5]
    chunks = needed._chunks(list(range(6)), weights.__getitem__)
    assert [item for chunk in chunks for item in chunk] == list(range(6))
    assert all(sum(weights[item] for item in chunk) <= 256 or len(chunk) == 1 for chunk in chunks)
    assert len(chunks) == 4
