"""What all paradigms promise: statements prove what the search proved, less if they are wider, nothing if some lack."""

from __future__ import annotations

import pytest
import torch
from support.problems import small_problem
from support.small import GEOMETRIES

from verale.search import SearchOptions
from verale.search.digits import in_digits
from verale.search.problem import NoExplanation
from verale.search.smallest import SEARCHES

CASES = [
    *((geometry, "top_k") for geometry in GEOMETRIES),
    ("euclidean", "projection"),
    ("cosine", "projection"),
    ("euclidean", "triangle"),
    ("cosine", "hypersphere"),
    ("euclidean", "mixed"),
    ("softmax", "simplex"),
    ("softmax", "assignment"),
    ("softmax", "sparse"),
]


@pytest.mark.parametrize(("geometry", "paradigm"), CASES)
def test_statements_prove_what_was_proved_of_them(geometry, paradigm):
    problem = small_problem(geometry, 1).take([0])
    search = SEARCHES[paradigm](problem.head, problem.patches, SearchOptions(paradigm, digits="exact"))
    (solution,) = search.solve(problem, [float("inf")])
    assert not isinstance(solution, NoExplanation)
    statements = solution.statements

    def proved(some):
        return search.prove(problem, some, solution.prices)

    again = proved(statements)
    finite = again.isfinite()
    torch.testing.assert_close(again[finite], solution.margins[finite], rtol=1e-5, atol=1e-6)
    wide = [proved(in_digits(statements, digits, 1e-8))[finite] for digits in (6, 3, 1)]
    for narrower, wider in zip([again[finite], *wide], wide, strict=False):
        assert (wider <= narrower + 1e-9).all()
    assert (wide[-1] < again[finite] - 1e-6).any()
    assert not (proved([]) > 0).all()
