"""How many statements covers have at least: never more than those that are found, and more than few; whatever else the
batch holds."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from support.problems import small_problem
from support.small import GEOMETRIES

from verale.search.activations import Activations
from verale.search.costs import Avoid
from verale.search.hopeless import least_sizes


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_no_cover_is_smaller(geometry: str) -> None:
    found = []
    for seed in range(4):
        problem = small_problem(geometry, seed, images=4)
        for image, least in enumerate(least_sizes(problem)):
            activations = Activations(problem.take([image]))
            assert activations.covers is not None
            cover = activations.covers.best(activations.clauses)
            assert cover is None or least <= (len(cover.stated) + cover.clauses) + 1e-6
            found.append(least)
    assert max(found) > 1


def test_an_image_of_which_nothing_is_known_is_not_hopeless() -> None:
    """Where even all statements leave a rival open, and where none is needed."""
    problem = small_problem("euclidean", 3)
    every = tuple(range(problem.head.size))
    assert not any(least_sizes(replace(problem, avoid=Avoid(prototypes=every))))
    bias = problem.margins.bias.clamp(min=1e3)
    assert not any(least_sizes(replace(problem, margins=replace(problem.margins, bias=bias))))


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_what_is_known_of_an_image_does_not_depend_on_the_others(geometry: str) -> None:
    problem = small_problem(geometry, 2, images=4)
    for image, least in enumerate(least_sizes(problem)):
        (alone,) = least_sizes(problem.take([image]))
        assert math.isclose(least, alone, rel_tol=1e-9, abs_tol=1e-9)
