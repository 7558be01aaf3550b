"""Shrinking: what is kept entails the class, and nothing more can be dropped."""

from __future__ import annotations

import pytest
import torch
from support.problems import MONOTONE, SLACK, SPATIAL, margins_from_scratch, small_problem

from verale.bounds import Projection, extend_all
from verale.search import shrink as module
from verale.search.grow import grow
from verale.search.shrink import proved_margins, shrink


def shrunk(problem, paradigm):
    """The problem of the images that can be explained, and their explanations before and after."""
    growths, rows = grow(problem, paradigm)
    explained = [image for image, growth in enumerate(growths) if not growth.failure]
    pairs = [growths[image].pairs for image in explained]
    rows = module.take(rows, problem.rows_of(explained))
    problem = problem.take(explained)
    return problem, pairs, shrink(problem, paradigm, pairs, rows)


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_what_is_kept_still_entails_the_class(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    problem, before, kept = shrunk(problem, paradigm)
    assert sum(map(len, kept)) < sum(map(len, before)), "nothing was dropped, so the test shows nothing"
    for old, new in zip(before, kept, strict=True):
        assert new == [pair for pair in old if pair in new]
    assert (margins_from_scratch(problem, paradigm, kept) > 0).all()


@pytest.mark.parametrize(("geometry", "paradigm"), MONOTONE)
def test_nothing_more_can_be_dropped(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    problem, _, kept = shrunk(problem, paradigm)
    for image, pairs in enumerate(kept):
        one = problem.take([image])
        for pair in pairs:
            least = float(margins_from_scratch(one, paradigm, [[p for p in pairs if p != pair]]).amin())
            assert least <= SLACK


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_margins_never_fall_when_a_statement_is_added_under_projection(geometry):
    problem = small_problem(geometry)
    paradigm = Projection(problem.head)
    generator = torch.Generator().manual_seed(1)
    rows = paradigm.start(len(problem) * problem.patches)
    before = proved_margins(problem, rows)
    order = torch.rand(problem.observed.shape, generator=generator).argsort(1)
    for prototypes in order.T:
        observed = problem.observed[torch.arange(len(prototypes)), prototypes]
        rows = paradigm.extend(rows, prototypes, observed)
        margins = proved_margins(problem, rows)
        assert (margins >= before - SLACK).all()
        before = margins


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_lists_of_statements_are_extended_like_each_alone(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    where, prototypes = [1, 0, 2], [[3, 0, 5], [], [4, 1]]
    together = extend_all(paradigm, paradigm.start(3), where, prototypes, problem.observed).range
    for row, (patch, stated) in enumerate(zip(where, prototypes, strict=True)):
        alone = extend_all(paradigm, paradigm.start(1), [patch], [stated], problem.observed).range
        torch.testing.assert_close(together.lower[row], alone.lower[0], rtol=SLACK, atol=SLACK)
        torch.testing.assert_close(together.upper[row], alone.upper[0], rtol=SLACK, atol=SLACK)


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_halving_leaves_out_each_statement_once(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    groups = {0: [3, 1, 4, 7, 5], 2: [6]}
    pairs, rows = module.without_each(paradigm, problem, groups)
    assert sorted(pairs) == sorted((patch, j) for patch, stated in groups.items() for j in stated)
    for row, (patch, j) in enumerate(pairs):
        others = [[k for k in groups[patch] if k != j]]
        expected = extend_all(paradigm, paradigm.start(1), [patch], others, problem.observed).range
        torch.testing.assert_close(rows.range.lower[row], expected.lower[0], rtol=SLACK, atol=SLACK)
        torch.testing.assert_close(rows.range.upper[row], expected.upper[0], rtol=SLACK, atol=SLACK)


def test_chunks_hold_every_item_and_little_weight():
    weights = [1, 200, 100, 300, 5, 5]
    chunks = module.chunks(list(range(6)), weights.__getitem__)
    assert [item for chunk in chunks for item in chunk] == list(range(6))
    assert all(sum(weights[item] for item in chunk) <= 256 or len(chunk) == 1 for chunk in chunks)
    assert len(chunks) == 4
