"""The search in rounds: what it states is proved, none of it can be dropped, and it does not depend on the batch."""

from __future__ import annotations

import pytest
from support.named import ADMITTED, problem_named
from support.problems import margins_from_scratch

from verale.bounds import Projection
from verale.search.prove import not_surely_needed
from verale.search.rounds.explain import Rounds, admits, propose_and_prove

NAMES = tuple(name for name in ADMITTED if "mean" not in name)
"""Where each activation is that of one patch."""


def searched(problem):
    return propose_and_prove(Rounds(problem, Projection(problem.head)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(2))
def test_every_image_is_explained_and_no_statement_can_be_dropped(name, seed):
    problem = problem_named(name, seed)
    paradigm = Projection(problem.head)
    assert admits(problem, paradigm, "rival") and len(problem) > 0
    explained = searched(problem)
    assert sorted(explained) == list(range(len(problem)))
    for image, explanation in explained.items():
        one = problem.take([image])
        assert (margins_from_scratch(one, paradigm, [explanation.pairs]) > 0).all()
        assert not explanation.minimal or not not_surely_needed(one, paradigm, explanation.pairs)
    assert any(explanation.minimal for explanation in explained.values())


@pytest.mark.parametrize("name", ["euclidean", "cosine", "masked"])
def test_what_an_image_gets_does_not_depend_on_the_others(name):
    problem = problem_named(name)
    together = searched(problem)
    for image, explanation in together.items():
        (alone,) = searched(problem.take([image])).values()
        assert alone.pairs == explanation.pairs
