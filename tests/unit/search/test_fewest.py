"""Covers: they close every rival, none is smaller, and what bounds their size from below does."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import torch
from support.problems import problem_of
from support.small import small_head

from verale.bounds import TopK
from verale.rounding import Enclosure
from verale.search import fewest
from verale.search.activations import Activations

SEEDS = range(2)
GEOMETRIES = ("euclidean", "cosine", "softmax")


def images(geometry, seed) -> list[Activations]:
    problem = problem_of(small_head(geometry, seed, prototypes=8), seed=seed, images=3)
    return [Activations(problem.take([image])) for image in range(len(problem))]


def clauses(activations) -> list[tuple[float, float]]:
    """Every ceiling and floor that an image can have."""
    observed = activations.observed
    ceilings = [*sorted(set(observed.upper.tolist())), math.inf]
    return [(ceiling, floor) for ceiling in ceilings for floor in [*sorted(set(observed.lower.tolist())), -math.inf]]


def covered(activations, count, ceiling, floor) -> bool:
    """Whether some so many activations with these clauses close every rival by more than the reserve."""
    size = len(activations.observed.lower)
    stated = torch.zeros(math.comb(size, count), size, dtype=torch.bool)
    for row, chosen in enumerate(combinations(range(size), count)):
        stated[row, list(chosen)] = True
    clauses, all_ = activations.cover(fewest.Cover([], ceiling, floor)).ends, activations.observed
    lower = torch.where(stated, all_.lower, clauses.lower)
    upper = torch.where(stated, all_.upper, clauses.upper)
    boxes = TopK(activations.range).box(Enclosure(lower, upper))
    reserve = (fewest._RESERVE + 1) * activations.problem.margins.error[0]
    return bool((activations.problem.margins.lower(boxes[None])[0] > reserve).all(1).any())


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_cover_closes_every_rival_and_none_is_smaller(geometry, seed):
    for activations in images(geometry, seed):
        best = activations.covering.best()
        assert activations.least(activations.cover(best)) > 0
        assert covered(activations, len(best.stated), best.ceiling, best.floor)
        for ceiling, floor in clauses(activations):
            fewer = best.size - 1 - fewest.Cover([], ceiling, floor).size
            assert fewer < 0 or not covered(activations, fewer, ceiling, floor)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_a_floor_is_stated_only_where_that_saves_a_statement(geometry):
    for activations in images(geometry, 2):
        best = activations.covering.best()
        if best.floor > -math.inf:
            assert not covered(activations, best.size - (best.ceiling < math.inf), best.ceiling, -math.inf)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_prices_of_one_pair_bound_the_covers_of_all(geometry):
    """Weak duality."""
    for activations in images(geometry, 0):
        problem = activations.covering
        pairs = clauses(activations)
        solved = {pair: problem._solve(*pair, math.inf) for pair in pairs[:: len(pairs) // 9]}
        for _, prices in solved.values():
            for other in solved:
                (bound,) = problem._bounds(prices, np.array([other[0]]), np.array([other[1]])).flatten()
                assert bound <= solved[other][0].size + 1e-6


def test_without_clauses_none_is_stated():
    for activations in images("softmax", 0):
        cover = activations.covering.plain()
        assert (cover.ceiling, cover.floor) == (math.inf, -math.inf) and cover.size == len(cover.stated)
        assert activations.least(activations.cover(cover)) > 0


def gains_of(gains, each=None, need=1.0) -> fewest._Gains:
    """The problem of some gains (R, K), which are those of upper ends."""
    rivals, columns = gains.shape
    return fewest._Gains(
        favour=np.zeros(gains.shape),
        low=np.zeros(columns),
        against=gains,
        high=np.ones(columns),
        columns=np.arange(columns),
        need=np.full(rivals, need),
        each=np.ones(columns) if each is None else each,
        step=1.0 if each is None else 1e-6,
    )


def test_rows_that_all_columns_leave_open_have_no_cover():
    assert gains_of(np.array([[0.3, 0.3, 0.3]])).relaxed(None, math.inf) is None
    problem = gains_of(np.array([[0.3, 0.3, 0.9]]))
    relaxed = problem.relaxed(None, math.inf)
    assert relaxed.share.sum() == pytest.approx(1 + 0.1 / 0.3)
    assert sorted(problem.rounded(relaxed.share)) in ([0, 2], [1, 2])


def test_a_row_that_rounding_leaves_open_is_closed_by_other_columns():
    problem = gains_of(np.array([[1 - 1e-9, 0.0, 0.5], [0.0, 1.0, 0.0]]))
    assert sorted(problem.rounded(np.array([1.0, 1.0, 0.0]))) == [0, 1, 2]


def test_a_cover_of_few_of_the_activations_is_one_of_all():
    gains = np.eye(5) + np.roll(np.eye(5), 1, axis=1)
    few = replace(gains_of(gains), columns=np.array([0, 2, 3]), each=np.ones(3))
    assert few.rows(np.arange(5)).tolist() == few.of(np.arange(3)).tolist() == gains[:, [0, 2, 3]].tolist()
    assert few.given(np.array([1.0, 0.5, 0.0])).tolist() == (gains[:, 0] + gains[:, 2] / 2).tolist()


def test_whole_numbers_beat_the_rounded_relaxation():
    """Five rows in a circle, each covered by two neighbouring columns: three columns are needed, and are enough."""
    gains = np.eye(5) + np.roll(np.eye(5), 1, axis=1)
    problem = gains_of(gains)
    relaxed = problem.relaxed(None, math.inf)
    assert relaxed.bound == pytest.approx(2.5)
    assert len(problem.whole(relaxed, 3)) == 3
    assert problem.whole(relaxed, 2) is None
    many = gains_of(np.tile(gains, 20))
    share, reduced = np.tile(relaxed.share / 20, 20), np.zeros(100)
    assert many.whole(replace(relaxed, share=share, reduced=reduced), 3) is None


def test_whole_numbers_cost_least():
    """Three columns of the circle are needed; of the five covers by three, the one without the two costly ones."""
    gains, each = np.eye(5) + np.roll(np.eye(5), 1, axis=1), np.array([1.0, 5.0, 1.0, 1.0, 1.5])
    problem = gains_of(gains, each)
    relaxed = problem.relaxed(None, math.inf)
    cheapest = min(
        sum(each[list(chosen)])
        for count in range(6)
        for chosen in combinations(range(5), count)
        if (gains[:, list(chosen)].sum(1) >= 1).all()
    )
    chosen = problem.whole(relaxed, 20.0)
    assert each[chosen].sum() == cheapest >= relaxed.bound
