"""Statements about activations: dropped while the class follows, and with one side where that is enough."""

from __future__ import annotations

import math

import pytest
import torch
from support.activations import ends_of
from support.problems import problem_of, small_problem
from support.small import varied_head

from verale.certificate import ActivationStatement
from verale.search.activations import CEILING, FLOOR, Activations, _without
from verale.search.covers import Cover


def everything(activations) -> tuple[Cover, list[int]]:
    observed = activations.observed
    prototypes = list(range(len(observed.lower)))
    return Cover(prototypes, float(observed.upper.median()), float(observed.lower.median())), prototypes


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "softmax"])
def test_a_cover_states_what_is_true_and_counts_its_clauses(geometry):
    activations = Activations(small_problem(geometry).take([0]))
    cover, prototypes = everything(activations)
    stated = activations.cover(cover)
    assert (stated.size, stated.prototypes) == (cover.size, prototypes) == (len(prototypes) + 2, prototypes)
    actual = activations.problem.activations
    assert (stated.ends.lower <= actual.lower).all() and (stated.ends.upper >= actual.upper).all()
    without = activations.state(prototypes)
    assert without.size == len(prototypes) and not (without.has_ceiling or without.has_floor)


@pytest.mark.parametrize("geometry", ["euclidean", "cosine", "softmax"])
def test_from_what_is_left_nothing_can_be_dropped(geometry):
    problem = small_problem(geometry, 2)
    for image in range(len(problem)):
        activations = Activations(problem.take([image]))
        cover, order = everything(activations)
        left, minimal = activations.shrunk(activations.cover(cover), order)
        assert minimal and activations.least(left) > 0
        again, _ = activations.shrunk(left, order)
        assert again.size == left.size


def test_a_side_that_no_rival_needs_is_dropped():
    """Prototypes of the predicted class need a lower end, those of the others an upper end."""
    problem = small_problem("euclidean", 2)
    for image in range(len(problem)):
        activations = Activations(problem.take([image]))
        cover, order = everything(activations)
        left, _ = activations.shrunk(activations.cover(cover), order)
        one_sided = activations.one_sided(left)
        assert one_sided.prototypes == left.prototypes
        assert activations.least(one_sided) >= activations.least(left) / 2 > 0
        difference = activations.problem.margins
        for j in one_sided.prototypes:
            low, high = (bool(end[j].isfinite()) for end in (one_sided.lower, one_sided.upper))
            favour, against = bool((difference.positive[0, j] > 0).any()), bool((difference.negative[0, j] < 0).any())
            assert low or high
            assert favour or not low or not high
            assert against or not low or not high


def test_the_statements_say_what_was_found():
    for name in ("euclidean", "tree"):
        problem = small_problem(name) if name == "euclidean" else problem_of(varied_head(name))
        activations = Activations(problem.take([0]))
        cover, order = everything(activations)
        explanation = activations.smallest([(activations.cover(cover), order)], None)
        ends = ends_of(explanation.statements, problem.head.size)
        margins = problem.take([0]).margins.lower(activations.range.intersect(ends)[None, None])[0, 0]
        torch.testing.assert_close(margins, explanation.margins, rtol=1e-9, atol=1e-12)
        singles = [each for each in explanation.statements if isinstance(each, ActivationStatement)]
        assert all(math.isfinite(each.lower) or math.isfinite(each.upper) for each in singles)


def test_a_cover_that_is_not_proved_is_left_out():
    activations = Activations(small_problem("euclidean").take([0]))
    cover, order = everything(activations)
    start = activations.cover(cover), order
    nothing = Cover([])
    assert activations.least(activations.cover(nothing)) <= 0
    assert activations.smallest([start], nothing).statements == activations.smallest([start], None).statements


HEADS = ("euclidean", "cosine", "softmax", "tree", "maximum")


@pytest.mark.parametrize("name", HEADS)
def test_estimated_trials_decide_as_proved_ones_do(name):
    problem = small_problem(name) if name in HEADS[:3] else problem_of(varied_head(name))
    activations = Activations(problem.take([0]))
    cover, order = everything(activations)
    stated = activations.cover(cover)
    margins = activations.margins(stated)
    for item in (CEILING, *order, FLOOR):
        fewer = _without(stated, item)
        estimated, drift = activations._after(stated, fewer, item, margins, False)
        assert torch.allclose(estimated, activations.margins(fewer), rtol=0, atol=max(drift, 1e-12))


def test_what_is_dropped_is_no_longer_stated():
    activations = Activations(small_problem("euclidean").take([0]))
    stated = activations.cover(everything(activations)[0])
    without = _without(stated, FLOOR)
    assert without.has_ceiling and not without.has_floor and _without(without, FLOOR) is None
    one_end = _without(stated, 0, lower=False)
    assert one_end.upper[0].isinf() and one_end.lower[0].isfinite() and _without(one_end, 0, lower=False) is None
    assert 0 not in _without(one_end, 0).prototypes


def test_what_rounding_may_decide_is_not_called_needed(monkeypatch):
    """It stays, and the explanation does not claim that it is needed."""
    activations = Activations(small_problem("euclidean", 2).take([0]))
    cover, order = everything(activations)
    left, minimal = activations.shrunk(activations.cover(cover), order)
    assert minimal
    least = min(
        activations.least(_without(left, item)) for item in (*left.prototypes, CEILING, FLOOR) if _without(left, item)
    )
    assert least < 0
    monkeypatch.setattr(Activations, "_error", -least)
    again, minimal = activations.without_needless(left, left.prototypes)
    assert again.prototypes == left.prototypes and not minimal
