"""Ranges from nothing but statements: of whole explanations, and without single statements."""

from __future__ import annotations

import pytest
import torch
from support.named import problem_named
from support.problems import MONOTONE, SPATIAL, small_problem

from verale.bounds import Projection, Triangle
from verale.search.at_once import range_without, ranges_from_scratch, ranges_without_each

SLACK = 1e-5


def close(first, second):
    torch.testing.assert_close(first.lower, second.lower, rtol=SLACK, atol=SLACK)
    torch.testing.assert_close(first.upper, second.upper, rtol=SLACK, atol=SLACK)


def random_explanations(problem):
    generator = torch.Generator().manual_seed(0)
    return [
        [divmod(pair, problem.head.size) for pair in torch.randperm(60, generator=generator)[:14].tolist()]
        for _ in range(len(problem))
    ]


@pytest.mark.parametrize(("paradigm", "tolerance"), [(Projection, 0.0), (Triangle, 0.0), (Triangle, 0.01)])
def test_ranges_are_those_of_each_patch_by_itself(paradigm, tolerance):
    problem = small_problem("euclidean", tolerance=tolerance)
    paradigm, explanations = paradigm(problem.head), random_explanations(problem)
    groups = problem.by_patch(explanations)
    ranges = ranges_from_scratch(problem, paradigm, explanations)
    for patch in range(len(ranges.lower)):
        close(ranges[[patch]], paradigm.ranges([groups.get(patch, [])], problem.observed[[patch]]))
    ours, ranges = ranges_without_each(problem, paradigm, groups)
    assert sorted(ours) == sorted((patch, j) for patch, stated in groups.items() for j in stated)
    for row, (patch, j) in enumerate(ours):
        others = [[k for k in groups[patch] if k != j]]
        close(ranges[[row]], paradigm.ranges(others, problem.observed[[patch]]))


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_lists_of_statements_are_entered_like_each_alone(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm, observed = paradigm(problem.head), problem.observed[[1, 0, 2]]
    stated = [[3, 0, 5], [], [4, 1]]
    together = paradigm.ranges(stated, observed)
    for row, each in enumerate(stated):
        close(together[[row]], paradigm.ranges([each], observed[[row]]))


@pytest.mark.parametrize(("geometry", "paradigm"), MONOTONE)
def test_ranges_never_grow_when_a_statement_is_added(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm, explanations = paradigm(problem.head), random_explanations(problem)
    fewer = [pairs[:9] for pairs in explanations]
    before, after = (ranges_from_scratch(problem, paradigm, each) for each in (fewer, explanations))
    assert (after.lower >= before.lower - SLACK).all() and (after.upper <= before.upper + SLACK).all()


@pytest.mark.parametrize("seed", range(4))
def test_wide_intervals_say_more_together_than_each_alone(seed):
    problem = small_problem("euclidean", seed, tolerance=0.01).take([0])
    paradigm, (pairs, *_) = Projection(problem.head), random_explanations(problem)
    together, alone = (ranges_from_scratch(problem, paradigm, [each]) for each in (pairs, []))
    for pair in pairs:
        alone = alone.intersect(ranges_from_scratch(problem, paradigm, [[pair]]))
    assert (together.upper - together.lower).sum() < 0.9 * (alone.upper - alone.lower).sum()


def test_a_patch_without_one_of_its_statements():
    problem = problem_named("cosine").take([0])
    paradigm, (pairs, *_) = Projection(problem.head), random_explanations(problem)
    groups = problem.by_patch([pairs])
    left_out, each = ranges_without_each(problem, paradigm, groups)
    index = left_out.index(pairs[3])
    close(range_without(problem, paradigm, pairs, pairs[3]), each[[index]])
