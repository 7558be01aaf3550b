"""Projection with slack: statements of few digits that prove the class, where exact ones leave too little for that."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.digits import digits_of
from support.problems import small_problem

from verale.search import Costs, SearchOptions
from verale.search.digits import in_digits, least_unit
from verale.search.problem import NoExplanation
from verale.search.smallest import SEARCHES


def asked(geometry: str, digits: int):
    """For each image its search, and what it is asked for where so many digits do not prove the class."""
    problem = small_problem(geometry, 1, images=4)
    search = SEARCHES["projection"](problem.head, problem.patches, SearchOptions("projection", digits="exact"))
    least = least_unit(problem.head)
    for number in range(len(problem)):
        image = problem.take([number])
        (solution,) = search.solve(image, [float("inf")])
        assert not isinstance(solution, NoExplanation)
        margins = search.prove(image, in_digits(solution.statements, digits, least))
        if not (margins > 0).all():
            yield search, image, ([solution.statements], (solution.margins - margins)[None], digits, least)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_with_slack_few_digits_prove_the_class(geometry):
    found = []
    for search, image, given in [each for digits in (2, 3) for each in asked(geometry, digits)]:
        (solved,) = search.with_slack(image, *given)
        if solved is None:
            continue
        statements = solved.statements
        found.append(statements)
        assert digits_of(statements) <= given[2] and solved.prices == ()
        assert len(statements) <= 1.1 * len(given[0][0])
        proved = search.prove(image, statements)
        assert (proved > 0).all()
        assert (proved >= solved.margins).all()
    assert found


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_rounds_choose_statements_whose_margins_allow_for_few_digits(geometry, monkeypatch):
    monkeypatch.setattr("verale.search.rounds.explain.SHORT", 0)
    proved = []
    for digits in (2, 3):
        for exact, image, given in asked(geometry, digits):
            search = SEARCHES["projection"](image.head, image.patches, SearchOptions("projection", digits=digits))
            (solution,) = search.solve(image, [float("inf")])
            proved.append(bool((exact.prove(image, in_digits(solution.statements, digits, given[3])) > 0).all()))
    assert any(proved)


def test_with_costs_no_others_are_looked_for():
    search, image, given = next(each for digits in (1, 2, 3) for each in asked("euclidean", digits))
    costly = replace(image, costs=Costs.of(prototypes={0: 2.0}))
    assert search.with_slack(costly, *given) == [None]


def test_images_are_asked_together_as_each_alone():
    problem = small_problem("euclidean", 1, images=4)
    search = SEARCHES["projection"](problem.head, problem.patches, SearchOptions("projection", digits="exact"))
    solutions, least = search.solve(problem, [float("inf")] * len(problem)), least_unit(problem.head)
    for digits in (2, "fewest"):
        together = search.in_short_numbers(problem, solutions, digits, least)
        assert any(together)
        for image, (one, solution) in enumerate(zip(together, solutions, strict=True)):
            (alone,) = search.in_short_numbers(problem.take([image]), [solution], digits, least)
            assert (one and one.statements) == (alone and alone.statements)
