"""Deleting in rounds: what is left entails the class, and all of it is needed."""

from __future__ import annotations

import torch
from support.named import problem_named
from support.problems import margins_from_scratch

from verale.bounds import Projection
from verale.search.rounds.deletion import Deletion, _greatest_of_others
from verale.search.rounds.images import Images


def left_of_all(problem, paradigm, guard, early=None):
    """What is left of all statements about all patches, but for those that depend on others."""
    room = problem.head.depth
    stated, count = torch.arange(room).repeat(problem.patches, 1), torch.full((problem.patches,), room)
    deletion = Deletion(Images(problem, paradigm), paradigm, problem.observed, stated, count)
    deletion.shrink(guard, early)
    spans = deletion.spans
    rows, places = spans.there.nonzero(as_tuple=True)
    return list(zip(rows.tolist(), spans.stated[rows, places].tolist(), strict=True))


def test_deletion_leaves_what_is_needed():
    """All statements about all patches, but for those that depend on others, are far too many."""
    problem = problem_named("euclidean").take([0])
    paradigm = Projection(problem.head)
    room = problem.head.depth
    stated, count = torch.arange(room).repeat(problem.patches, 1), torch.full((problem.patches,), room)
    deletion = Deletion(Images(problem, paradigm), paradigm, problem.observed, stated, count)
    assert deletion.spans.clear.all() and float(deletion.least) > 0
    deletion.shrink(torch.zeros(1, dtype=torch.float64))
    left = int(deletion.spans.count.sum())
    assert 0 < left < room * problem.patches
    assert float(deletion.least) > 0
    assert not deletion.doubtful(torch.full((1,), 1e-12, dtype=torch.float64)).any()


def test_a_statement_that_is_to_go_early_goes_unless_it_is_needed_from_the_first():
    problem = problem_named("euclidean").take([0])
    paradigm, room = Projection(problem.head), problem.head.depth
    every = [(patch, j) for patch in range(problem.patches) for j in range(room)]
    guard, gone = torch.full((1,), 1e-6, dtype=torch.float64), 0
    for patch, j in left_of_all(problem, paradigm, guard):
        without = [[pair for pair in every if pair != (patch, j)]]
        if (margins_from_scratch(problem, paradigm, without) > 1e-3).all():
            assert (patch, j) not in left_of_all(problem, paradigm, guard, {patch: [j]})
            gone += 1
    assert gone


def test_of_each_patch_the_greatest_of_the_others():
    values = torch.tensor([[[1.0, 5.0], [3.0, 5.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]])
    expected = [[[3.0, 5.0], [2.0, 5.0], [3.0, 5.0]], [[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]]
    assert _greatest_of_others(values.double()).tolist() == expected
