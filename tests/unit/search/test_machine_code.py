"""Machine code proposes; what it lies about is not taken."""

from __future__ import annotations

from dataclasses import replace

import torch
from support.problems import small_problem
from support.small import small_latents

from verale.bounds import Projection
from verale.head import as_patches
from verale.search import machine_code as engine
from verale.search.compiled.statements import GUARDS, ChosenStatements
from verale.search.problem import Problem
from verale.search.prove import UNSETTLED, SpatialExplanation
from verale.search.spatial import explain_spatial


def test_what_the_rounded_proof_refuses_is_searched_with_a_larger_guard_and_is_not_explained(monkeypatch):
    """The choice is a lie: nothing is stated. No certificate may come of it."""
    guards = []

    def nothing(problem, image, guard, most, first, order):
        guards.append(guard)
        return ChosenStatements([])

    problem = small_problem("euclidean").take([0])
    monkeypatch.setattr(engine, "choose_statements", nothing)
    (explanation,) = explain_spatial(problem, Projection(problem.head), "rival")
    assert guards == [guard for guard in GUARDS if guard >= GUARDS[0]]
    assert explanation == UNSETTLED


def test_a_margin_below_the_guard_is_searched_with_smaller_ones():
    """All statements together leave a margin that the first guard does not pass."""
    problem = small_problem("euclidean").take([0])
    least = float(problem.settled[0])
    bias = problem.head.bias.to(torch.float64).clone()
    bias[problem.margins.predicted[0]] -= least - 6e-7
    near = replace(problem.head, bias=bias)
    tight = Problem.of(near, as_patches(small_latents(near)))
    (image,) = [at for at, margin in enumerate(tight.settled.tolist()) if 0 < margin < GUARDS[0]]
    (explanation,) = explain_spatial(tight.take([image]), Projection(near), "rival")
    assert isinstance(explanation, SpatialExplanation) and 0 < explanation.margins.min() < GUARDS[0]


def test_a_needless_statement_that_was_chosen_is_dropped_by_rounded_bounds(monkeypatch):
    problem = small_problem("euclidean").take([0])
    paradigm = Projection(problem.head)
    (right,) = explain_spatial(problem, paradigm, "rival")
    extra = next((0, j) for j in range(problem.head.size) if (0, j) not in right.pairs)
    chosen = ChosenStatements([*right.pairs, extra])
    monkeypatch.setattr(engine, "choose_statements", lambda *arguments: chosen)
    (repaired,) = explain_spatial(problem, paradigm, "rival")
    assert repaired.pairs == right.pairs and repaired.minimal


def test_where_a_claim_fails_the_search_tries_to_do_without_what_is_doubtful(monkeypatch):
    """The first choice has a statement that rounded bounds cannot drop, and are said not to be sure of."""
    problem = small_problem("euclidean").take([0])
    paradigm = Projection(problem.head)
    (right,) = explain_spatial(problem, paradigm, "rival")
    asked, doubts = [], iter([right.pairs[:1], right.pairs[:1]])
    choose, decide = engine.choose_statements, engine.not_surely_needed

    def choose_and_note(problem, image, guard, most, first, order):
        asked.append(list(first))
        return choose(problem, image, guard, most, first, order)

    monkeypatch.setattr(engine, "choose_statements", choose_and_note)
    monkeypatch.setattr(engine, "prove", lambda *given: None)
    monkeypatch.setattr(engine, "not_surely_needed", lambda *given: [next(doubts, decide(*given)[0])])
    (explanation,) = explain_spatial(problem, paradigm, "rival")
    assert asked == [[], right.pairs[:1]]
    assert explanation.minimal and (explanation.margins > 0).all()
