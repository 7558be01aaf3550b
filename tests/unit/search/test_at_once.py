"""Ranges at once, for paradigms that can; others are entered one after the other."""

from __future__ import annotations

import pytest
import torch
from support.compiled import first_image, random_statements
from support.problems import small_problem

from verale.bounds import Projection, Triangle
from verale.search.at_once import range_without, ranges_from_scratch, ranges_without_each
from verale.search.shrink import rows_from_scratch, without_each

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
    theirs, rows = without_each(paradigm, problem, groups)
    assert ours == theirs
    close(ranges.range, rows.range)


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
