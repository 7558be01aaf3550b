"""Ranges at once, for paradigms that can; others are entered one after the other."""

from __future__ import annotations

import pytest
import torch
from support.compiled import first_image, random_statements
from support.problems import MONOTONE, SPATIAL, small_problem

from verale.bounds import Projection, Triangle, extend_all
from verale.search.at_once import range_without, ranges_from_scratch, ranges_without_each, rows_from_scratch

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
def test_ranges_are_those_of_the_rows(paradigm, tolerance):
    problem = small_problem("euclidean", tolerance=tolerance)
    paradigm, explanations = paradigm(problem.head), random_explanations(problem)
    close(
        ranges_from_scratch(problem, paradigm, explanations).range,
        rows_from_scratch(problem, paradigm, explanations).range,
    )
    groups = problem.by_patch(explanations)
    ours, ranges = ranges_without_each(problem, paradigm, groups)
    assert sorted(ours) == sorted((patch, j) for patch, stated in groups.items() for j in stated)
    for row, (patch, j) in enumerate(ours):
        others = [[k for k in groups[patch] if k != j]]
        alone = extend_all(paradigm, paradigm.start(1), [patch], others, problem.observed).range
        close(ranges.range[[row]], alone)


@pytest.mark.parametrize(("geometry", "paradigm"), SPATIAL)
def test_lists_of_statements_are_entered_like_each_alone(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm = paradigm(problem.head)
    where, prototypes = [1, 0, 2], [[3, 0, 5], [], [4, 1]]
    together = extend_all(paradigm, paradigm.start(3), where, prototypes, problem.observed).range
    for row, (patch, stated) in enumerate(zip(where, prototypes, strict=True)):
        close(together[[row]], extend_all(paradigm, paradigm.start(1), [patch], [stated], problem.observed).range)


@pytest.mark.parametrize(("geometry", "paradigm"), MONOTONE)
def test_ranges_never_grow_when_a_statement_is_added(geometry, paradigm):
    problem = small_problem(geometry)
    paradigm, explanations = paradigm(problem.head), random_explanations(problem)
    fewer = [pairs[:9] for pairs in explanations]
    before, after = (ranges_from_scratch(problem, paradigm, each).range for each in (fewer, explanations))
    assert (after.lower >= before.lower - SLACK).all() and (after.upper <= before.upper + SLACK).all()


def test_of_wide_intervals_they_are_narrower():
    problem = small_problem("euclidean", tolerance=0.01)
    paradigm, explanations = Projection(problem.head), random_explanations(problem)
    ours, rows = (each(problem, paradigm, explanations).range for each in (ranges_from_scratch, rows_from_scratch))
    assert (ours.upper - ours.lower).sum() < 0.99 * (rows.upper - rows.lower).sum()


def test_a_patch_without_one_of_its_statements():
    problem, paradigm, image = first_image("cosine")
    pairs = list(map(tuple, random_statements(image, 15).tolist()))
    groups = problem.by_patch([pairs])
    left_out, each = ranges_without_each(problem, paradigm, groups)
    index = left_out.index(pairs[3])
    close(range_without(problem, paradigm, pairs, pairs[3]).range, each.range[[index]])
