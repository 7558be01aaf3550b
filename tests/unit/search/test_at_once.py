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


@pytest.mark.parametrize("paradigm", [Projection, Triangle])
@pytest.mark.parametrize("tolerance", [0.0, 0.01])
def test_ranges_are_those_of_the_rows(paradigm, tolerance):
    problem = small_problem("euclidean", tolerance=tolerance)
    paradigm = paradigm(problem.head)
    generator = torch.Generator().manual_seed(0)
    explanations = [
        [divmod(pair, problem.head.size) for pair in torch.randperm(60, generator=generator)[:14].tolist()]
        for _ in range(len(problem))
    ]
    close(
        ranges_from_scratch(problem, paradigm, explanations).range,
        rows_from_scratch(problem, paradigm, explanations).range,
    )
    groups = problem.by_patch(explanations)
    ours, ranges = ranges_without_each(problem, paradigm, groups)
    theirs, rows = without_each(paradigm, problem, groups)
    assert ours == theirs
    close(ranges.range, rows.range)


def test_a_patch_without_one_of_its_statements():
    problem, paradigm, image = first_image("cosine")
    pairs = list(map(tuple, random_statements(image, 15).tolist()))
    groups = problem.by_patch([pairs])
    left_out, each = ranges_without_each(problem, paradigm, groups)
    index = left_out.index(pairs[3])
    close(range_without(problem, paradigm, pairs, pairs[3]).range, each.range[[index]])
