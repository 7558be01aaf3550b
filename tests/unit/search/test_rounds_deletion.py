"""Deleting in rounds: what is left entails the class, and all of it is needed."""

from __future__ import annotations

import pytest
import torch
from support.named import problem_named
from support.problems import margins_from_scratch

from verale.bounds import Projection
from verale.bounds.intervals import ranges_of_listed
from verale.rounding import Enclosure
from verale.search.rounds.deletion import Deletion, _greatest_of_others
from verale.search.rounds.images import Images


def all_stated(name, room=None):
    """One image with the first statements about all patches; by default all but those that depend on others."""
    problem = problem_named(name).take([0])
    paradigm, room = Projection(problem.head), room or problem.head.depth
    stated, count = torch.arange(room).repeat(problem.patches, 1), torch.full((problem.patches,), room)
    return Deletion(Images(problem, paradigm), paradigm, problem.observed, stated, count), problem


def left_of_all(guard, early=None):
    deletion, _ = all_stated("euclidean")
    deletion.shrink(guard, early)
    spans = deletion.spans
    rows, places = spans.there.nonzero(as_tuple=True)
    return list(zip(rows.tolist(), spans.stated[rows, places].tolist(), strict=True))


def test_deletion_leaves_what_is_needed():
    """All statements about all patches, but for those that depend on others, are far too many."""
    deletion, _ = all_stated("euclidean")
    every, noise = int(deletion.spans.count.sum()), torch.full((1,), 1e-12, dtype=torch.float64)
    assert deletion.spans.clear.all() and float(deletion.least) > 0
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    assert 0 < int(deletion.spans.count.sum()) < every
    assert float(deletion.least) > 0
    assert not deletion.doubtful(noise, torch.tensor([True])).any()
    assert (deletion.doubtful(noise, torch.tensor([False])) == deletion.spans.there).all()


@pytest.mark.parametrize("name", ["euclidean", "cosine", "inner product", "quartic"])
def test_what_narrow_intervals_cost_is_known_to_first_order(name):
    deletion, problem = all_stated(name, room=2)
    spans, observed, width = deletion.spans, problem.observed, 2.0**-16
    wide = Enclosure.unchecked(observed.lower - width, observed.upper + 2 * width)
    estimate = deletion.lost(lambda own: Enclosure.unchecked(own.lower - width, own.upper + 2 * width))
    exact, widened = (
        problem.proved_margins(ranges_of_listed(Projection(problem.head), spans.stated, spans.count, ends))
        for ends in (observed, wide)
    )
    lost = exact - widened
    rivals = lost.isfinite()
    assert (lost[rivals] > 0).all()
    assert ((estimate - lost)[rivals].abs() < 0.01 * lost[rivals]).all()


def test_margins_that_are_asked_for_are_left():
    deletion, problem = all_stated("euclidean")
    deletion.images.ask(torch.full_like(problem.margins.bias, 0.25 * float(problem.settled)))
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    asked, left = int(deletion.spans.count.sum()), float(deletion.least)
    deletion.images.ask(torch.zeros_like(problem.margins.bias))
    assert left > 0 and float(deletion.least) > 0.25 * float(problem.settled)
    assert int(deletion.spared) > 0
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    assert int(deletion.spans.count.sum()) < asked


def test_a_statement_that_is_to_go_early_goes_unless_it_is_needed_from_the_first():
    problem = problem_named("euclidean").take([0])
    paradigm, room = Projection(problem.head), problem.head.depth
    every = [(patch, j) for patch in range(problem.patches) for j in range(room)]
    guard, gone = torch.full((1,), 1e-6, dtype=torch.float64), 0
    for patch, j in left_of_all(guard):
        without = [[pair for pair in every if pair != (patch, j)]]
        if (margins_from_scratch(problem, paradigm, without) > 1e-3).all():
            assert (patch, j) not in left_of_all(guard, {patch: [j]})
            gone += 1
    assert gone


def test_of_each_patch_the_greatest_of_the_others():
    values = torch.tensor([[[1.0, 5.0], [3.0, 5.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]])
    expected = [[[3.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]]
    assert _greatest_of_others(values.double()).tolist() == expected
