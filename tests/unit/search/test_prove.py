"""The loop: what is not proved is asked for again, what is in doubt is tried without, and nothing unproved is kept.

Minimality is claimed where every statement is needed, whatever the rounding and the multipliers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product

import pytest
import torch
from support.named import ADMITTED, NOT_LINEAR, head_named, problem_named
from support.problems import MONOTONE, SLACK, SPATIAL, margins_from_scratch, small_problem, tied_problem
from support.small import small_latents

from verale.bounds import ExactParadigm, Projection, Simplex, Triangle
from verale.head import Softmax, as_patches
from verale.head.similarity import SIMILARITIES, NamedSteps
from verale.paradigms import ORDERS
from verale.search.problem import NoExplanation, Pair, Problem
from verale.search.prove import (
    HOPELESS,
    UNSETTLED,
    Proved,
    SpatialExplanation,
    not_surely_needed,
    without_doubtful,
)
from verale.search.rounds.explain import GUARD, explain_spatial, propose_and_prove
from verale.search.rounds.stepwise import Stepwise, first_statements

FAILS, DOUBTFUL = [(9, 9)], (0, 5)
OPEN, GIVEN_UP = NoExplanation("open", stays_open=True), NoExplanation("given up")


@dataclass
class Scripted:
    """An engine that gives what was written down; it proves all but FAILS, and doubts DOUBTFUL."""

    problem: Problem
    answers: dict[int, list[list[Pair] | NoExplanation | None]]
    paradigm: object = None
    guards: tuple[float, ...] = (1.0, 2.0)
    asked: list[tuple[int, float, float]] = field(default_factory=list)

    def choose(self, images, guard, most):
        self.asked += list(zip(images, [guard] * len(images), most, strict=True))
        return [self.answers[image].pop(0) for image in images]

    def prove(self, chosen) -> dict[int, Proved | None]:
        return {image: None if pairs == FAILS else self._proved(pairs) for image, pairs in chosen.items()}

    def _proved(self, pairs: list[Pair]) -> Proved:
        doubtful = [pair for pair in pairs if pair == DOUBTFUL]
        return SpatialExplanation(pairs, torch.ones(2), not doubtful), doubtful


def scripted(*answers) -> Scripted:
    problem = small_problem("euclidean", images=len(answers) + 2).take(list(range(len(answers))))
    return Scripted(problem, dict(enumerate(answers)), Projection(problem.head))


def test_each_image_has_its_own_outcome():
    engine = scripted([[(0, 1)]], [GIVEN_UP], [None], [FAILS, [(0, 2)]], [FAILS, FAILS])
    explained = propose_and_prove(engine)
    assert {image: getattr(each, "pairs", each) for image, each in explained.items()} == {
        0: [(0, 1)],
        1: GIVEN_UP,
        3: [(0, 2)],
        4: UNSETTLED,
    }
    assert [(image, guard) for image, guard, _ in engine.asked] == [
        *((i, 1.0) for i in range(5)),
        (3, 2.0),
        (4, 2.0),
    ]


def test_a_class_that_stays_open_is_searched_with_smaller_guards_alone():
    engine = scripted([OPEN, [(0, 1)]], [FAILS, FAILS], [OPEN, replace(OPEN, reason="still open")])
    engine.guards = (1.0, 2.0, 0.5)
    explained = propose_and_prove(engine)
    assert explained[0].pairs == [(0, 1)] and explained[1] == UNSETTLED and explained[2].reason == "still open"
    assert [(image, guard) for image, guard, _ in engine.asked][3:] == [(1, 2.0), (0, 0.5), (2, 0.5)]


def test_a_limit_is_told_with_room_for_what_shrinking_drops():
    engine = scripted([[(0, 1)]], [GIVEN_UP])
    propose_and_prove(engine, [4.0, 2.0])
    assert [most for _, _, most in engine.asked] == [4.0 * HOPELESS, 2.0 * HOPELESS]


def test_where_doubt_stays_the_explanation_does_without_the_claim():
    engine = scripted([[(0, 1), DOUBTFUL]])
    (explanation,) = propose_and_prove(engine).values()
    assert explanation.pairs == [(0, 1), DOUBTFUL] and not explanation.minimal


def doubtful(problem, paradigm, explanations, among=None):
    """For each image the statements that are not surely needed."""
    return [
        not_surely_needed(problem.take([image]), paradigm, pairs, among and among[image])
        for image, pairs in enumerate(explanations)
    ]


def added(problem, paradigm):
    """For each image statements that entail the class, not all of which are needed."""
    explained = []
    for image in range(len(problem)):
        pairs = first_statements(problem.take([image]), paradigm, problem.observed.lower.numel())
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
    assert not any(doubtful(problem, paradigm, kept))
    assert [bool(each) for each in doubtful(problem, paradigm, grown)] == dropped


@pytest.mark.parametrize(("geometry", "paradigm"), [case for case in MONOTONE if case[1] is not Triangle])
def test_only_what_is_in_question_is_decided(geometry, paradigm) -> None:
    """As it would be among all statements."""
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    grown = added(problem, paradigm)
    needless = doubtful(problem, paradigm, grown)
    assert any(needless), "otherwise the test shows nothing"
    for among in ([pairs[::2] for pairs in grown], [pairs[1:2] for pairs in grown]):
        expected = [[pair for pair in pairs if pair in of] for pairs, of in zip(needless, among, strict=True)]
        assert doubtful(problem, paradigm, grown, among) == expected


@pytest.mark.parametrize(("softmax", "paradigm"), [(False, Projection), (True, Simplex)])
def test_a_margin_of_zero_shows_nothing(softmax, paradigm) -> None:
    """Both logits are equal, so the class is missed by nothing: rounding could decide it."""
    problem = tied_problem(softmax)
    assert not_surely_needed(problem, paradigm(problem.head), [(0, 0)]) == [(0, 0)]


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


# Spatial explanations: proved from their statements alone, in a readable order, and minimal where they say so.


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
@pytest.mark.parametrize("order", ORDERS)
def test_the_statements_alone_prove_the_class_and_each_is_needed(geometry, paradigm, order):
    problem = small_problem(geometry, 1, images=1)
    paradigm = paradigm(problem.head)
    explanations = explain_spatial(problem, paradigm, order)
    assert any(isinstance(explanation, SpatialExplanation) for explanation in explanations)
    for image, explanation in enumerate(explanations):
        if isinstance(explanation, NoExplanation):
            continue
        one, pairs = problem.take([image]), explanation.pairs
        assert (explanation.margins > 0).all() and explanation.prices == {}
        torch.testing.assert_close(
            margins_from_scratch(one, paradigm, [pairs])[0], explanation.margins, rtol=SLACK, atol=SLACK
        )
        assert [patch for patch, _ in pairs] == sorted(patch for patch, _ in pairs)
        assert paradigm.ordered or pairs == sorted(pairs)
        assert explanation.minimal == isinstance(paradigm, ExactParadigm)
        for dropped in pairs:
            rest = [pair for pair in pairs if pair != dropped]
            assert not (margins_from_scratch(one, paradigm, [rest]) > 0).all()


def test_within_a_tolerance_minimality_is_not_claimed():
    problem = small_problem("euclidean", tolerance=0.01)
    explanations = explain_spatial(problem, Projection(problem.head), "rival")
    assert not any(explanation.minimal for explanation in explanations if not isinstance(explanation, NoExplanation))


@pytest.mark.parametrize("name", [*ADMITTED, *NOT_LINEAR])
@pytest.mark.parametrize("tolerance", [0.0, pytest.param(0.002, marks=pytest.mark.long)])
def test_every_head_has_explanations(name, tolerance):
    problem = problem_named(name, 0, tolerance)
    paradigm = Projection(problem.head)
    for image, explanation in enumerate(explain_spatial(problem, paradigm, "rival")):
        assert isinstance(explanation, SpatialExplanation)
        assert explanation.minimal == (tolerance == 0)
        again = margins_from_scratch(problem.take([image]), paradigm, [explanation.pairs])
        assert (explanation.margins > 0).all() and (again > 0).all()


def test_these_heads_have_every_similarity_of_metric_heads():
    parts = {each.part for each in SIMILARITIES.values() if not issubclass(each.part, NamedSteps)}
    similarities = {part for part in parts if set(part.geometries) != {Softmax}}
    assert {type(head_named(name).similarity) for name in ADMITTED} == similarities


def test_a_choice_that_proves_nothing_is_refused(monkeypatch):
    """The choice is a lie: nothing is stated. No certificate may come of it."""
    problem, asked = small_problem("euclidean").take([0]), []

    def nothing(self, images, guard, *_):
        asked.append(guard)
        return [[] for _ in images]

    monkeypatch.setattr(Stepwise, "choose", nothing)
    (explanation,) = explain_spatial(problem, Projection(problem.head), "nearest")
    assert explanation == UNSETTLED and len(set(asked)) > 1


def test_a_margin_below_the_guard_is_searched_with_smaller_ones():
    """All statements together leave a margin that the first guard does not pass."""
    problem = small_problem("euclidean").take([0])
    bias = problem.head.bias.to(torch.float64).clone()
    bias[problem.margins.predicted[0]] -= float(problem.settled[0]) - 0.6 * GUARD
    near = replace(problem.head, bias=bias)
    tight = Problem.of(near, as_patches(small_latents(near)))
    (image,) = [at for at, margin in enumerate(tight.settled.tolist()) if 0 < margin < GUARD]
    (explanation,) = explain_spatial(tight.take([image]), Projection(near), "rival")
    assert isinstance(explanation, SpatialExplanation) and 0 < explanation.margins.min() < GUARD


def test_a_needless_statement_that_was_chosen_is_dropped_by_rounded_bounds(monkeypatch):
    problem = small_problem("euclidean").take([0])
    paradigm = Projection(problem.head)
    (right,) = explain_spatial(problem, paradigm, "nearest")
    extra = next((0, j) for j in range(problem.head.size) if (0, j) not in right.pairs)
    monkeypatch.setattr(Stepwise, "choose", lambda *_: [[*right.pairs, extra]])
    (repaired,) = explain_spatial(problem, paradigm, "nearest")
    assert repaired.minimal and len(repaired.pairs) <= len(right.pairs)
