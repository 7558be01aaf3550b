"""Dropping what is stated of activations: estimated trials decide as proved ones do."""

from __future__ import annotations

import pytest
import torch
from support.problems import problem_of, small_problem
from support.small import varied_head

from verale.search.activations import Activations
from verale.search.fewest import Cover
from verale.search.loosened import CEILING, FLOOR, Loosened

HEADS = ("euclidean", "cosine", "softmax", "tree", "maximum")


def everything(name) -> Activations:
    problem = small_problem(name) if name in HEADS[:3] else problem_of(varied_head(name))
    return Activations(problem.take([0]))


def loosened(activations, exact) -> Loosened:
    """All statements and both clauses, from which to drop."""
    observed = activations.observed
    prototypes = list(range(len(observed.lower)))
    stated = activations.cover(Cover(prototypes, float(observed.upper.median()), float(observed.lower.median())))
    return Loosened(activations.problem.margins, activations.range, stated, exact)


@pytest.mark.parametrize("name", HEADS)
def test_estimated_trials_decide_as_proved_ones_do(name):
    activations = everything(name)
    estimated, proved = loosened(activations, False), loosened(activations, True)
    items = [CEILING, *range(activations.problem.head.size), FLOOR]
    for item in items:
        assert estimated.least(item) == pytest.approx(proved.least(item), abs=1e-9)
        assert estimated.drop(item) == proved.drop(item)
    assert estimated.minimal and proved.minimal
    one, other = estimated.stated, proved.stated
    assert torch.equal(one.lower, other.lower) and torch.equal(one.upper, other.upper)


@pytest.mark.parametrize("exact", [False, True])
def test_what_is_dropped_is_no_longer_stated(exact):
    ends = loosened(everything("euclidean"), exact)
    before = ends.least(FLOOR)
    assert ends.drop(FLOOR, -1e9) and not ends.drop(FLOOR, -1e9)
    assert ends.stated.has_ceiling and not ends.stated.has_floor
    assert ends.drop(0, -1e9, lower=False) and ends.stated.upper[0].isinf() and ends.stated.lower[0].isfinite()
    assert ends.drop(0, -1e9) and not ends.drop(0, -1e9)
    assert ends.least(1) <= before


@pytest.mark.parametrize("exact", [False, True])
def test_what_rounding_may_decide_is_not_called_needed(exact):
    """It stays, and the explanation does not claim that it is needed."""
    activations = everything("euclidean")
    ends = loosened(activations, exact)
    assert not ends.drop(0, ends.least(0)) and not ends.minimal
    ends = loosened(activations, exact)
    assert not ends.drop(0, ends.least(0) + 1e-3) and ends.minimal
