"""Shrinking leaves statements none of which can be dropped; deleting by dual bases is building again."""

from __future__ import annotations

import numpy as np
import pytest
from support.cases import every
from support.compiled import ADMITTED, NOT_LINEAR, built, first_image, random_statements
from support.problems import ranges_one_by_one

from verale.search.compiled.grow import grow_statements
from verale.search.compiled.shrink import by_patch, find_dual, shrink_statements, without_statement
from verale.search.needed import proved_margins

GUARD = 1e-6


def margins_one_by_one(problem, paradigm, pairs):
    """(1, C) what plain floats do, rounded outward: intervals narrow the ranges one after the other."""
    return proved_margins(problem, ranges_one_by_one(problem, paradigm, pairs))


def shrunk(image, statements, exact=True, first=()):
    rank = np.isin(np.arange(len(statements)), first).astype(float)
    return shrink_statements(image, statements, rank, exact, GUARD)


@pytest.mark.parametrize(
    ("name", "tolerance"),
    [
        *((name, 0.0) for name in (*ADMITTED, *NOT_LINEAR)),
        *(pytest.param(name, 0.002, marks=pytest.mark.long if at % 3 else ()) for at, name in enumerate(ADMITTED)),
    ],
)
def test_no_statement_that_is_kept_can_be_dropped(name, tolerance):
    problem, paradigm, image = first_image(name, tolerance=tolerance)
    _, statements, *_ = grow_statements(image, GUARD, np.inf)
    kept, left = shrunk(image, statements, not tolerance)
    pairs = list(map(tuple, statements[kept].tolist()))
    assert margins_one_by_one(problem, paradigm, pairs).min() > 0
    assert (left[kept] <= GUARD).all() and (left[~kept] > GUARD).all()
    for pair in pairs:
        rest = [other for other in pairs if other != pair]
        assert margins_one_by_one(problem, paradigm, rest).min() < 1e-5


@every("name", ADMITTED)
def test_deleting_by_dual_bases_is_building_again(name):
    _, _, image = first_image(name)
    statements = random_statements(image, 15)
    stated = by_patch(image, statements)
    hulls, duals, trial = built(image, stated)
    compared = 0
    for patch, count in enumerate(stated.length):
        find_dual(image, hulls, stated, duals, patch)
        for place in range(count):
            ranges = []
            for exact in (True, False):
                without_statement(image, hulls, stated, duals, patch, place, exact, trial)
                ranges.append((trial.lower.copy(), trial.upper.copy()))
            np.testing.assert_allclose(*ranges, atol=1e-6)
            compared += duals.usable[patch] and stated.direction[patch, place] >= 0
    assert compared > 3


@every("name", ADMITTED)
def test_after_many_deletions_dual_bases_are_those_of_the_rest(name):
    """They go in an order that is set: where two deletions leave the same, rounding decides which is first, and then
    others are kept. What a deletion leaves is off by less than the guard, so no decision may be as near to it."""
    _, _, image = first_image(name)
    statements = random_statements(image, image.low.size)
    rank = np.random.default_rng(0).permutation(len(statements)).astype(float)
    (kept, left), (kept_again, left_again) = (
        shrink_statements(image, statements, rank, exact, GUARD) for exact in (True, False)
    )
    assert (np.abs(left - GUARD) > 2 * GUARD).all()
    np.testing.assert_allclose(left, left_again, rtol=0, atol=GUARD)
    np.testing.assert_array_equal(kept, kept_again)
    assert kept.sum() < 0.8 * len(statements)


def test_what_goes_first_goes_first():
    _, _, image = first_image("euclidean", 1)
    statements = random_statements(image, image.low.size)
    kept, _ = shrunk(image, statements)
    some = np.flatnonzero(kept)[:3]
    assert not shrunk(image, statements, first=some)[0][some].any()
