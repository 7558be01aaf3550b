"""The linear programme of covers, beside HiGHS; where it is stopped, what it says still bounds the cost from below."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from verale.search import programme
from verale.search.programme import Basis, relaxed

SHAPES = ((1, 4), (5, 5), (12, 60), (40, 25), (60, 300))


def drawn(rows, columns, seed):
    """Gains, needs that all columns meet, and costs; half of the gains are 0."""
    random = np.random.default_rng(seed)
    gains = random.random((rows, columns)) * (random.random((rows, columns)) < 0.5)
    gains[:, 0] += 0.1
    return gains, gains.sum(1) * random.uniform(-0.1, 0.9, rows), random.uniform(0.5, 2.0, columns).round(1)


def solved(gains, need, each, start=None, most=math.inf):
    return relaxed(lambda rows: gains[rows], lambda share: gains @ share, need, each, start, most)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", SHAPES)
def test_it_finds_the_least_cost(shape, seed):
    gains, need, each = drawn(*shape, seed)
    found, known = solved(gains, need, each), linprog(each, A_ub=-gains, b_ub=-need, bounds=(0, 1))
    assert found.is_solved
    assert each @ found.share == pytest.approx(known.fun, rel=1e-6) == pytest.approx(found.bound, rel=1e-6)
    assert (gains @ found.share >= need - 1e-7).all() and (found.share >= 0).all() and (found.share <= 1).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("steps", [0, 1])
def test_prices_bound_the_cost_from_below_whenever_it_is_stopped(monkeypatch, steps, seed):
    monkeypatch.setattr(programme, "_STEPS", steps)
    gains, need, each = drawn(40, 200, seed)
    stopped, known = solved(gains, need, each), linprog(each, A_ub=-gains, b_ub=-need, bounds=(0, 1))
    assert not stopped.is_solved and (stopped.prices >= 0).all()
    bound = stopped.prices @ need + np.minimum(each - stopped.prices @ gains, 0).sum()
    assert stopped.bound <= known.fun + 1e-9 and bound <= known.fun + 1e-9


def test_it_stops_where_every_solution_costs_more():
    gains, need, each = drawn(60, 300, 0)
    least = solved(gains, need, each)
    early = solved(gains, need, each, most=least.bound / 2)
    assert least.bound / 2 < early.bound < least.bound
    assert len(early.basis.rows) < len(least.basis.rows)


@pytest.mark.parametrize("seed", range(4))
def test_a_similar_programme_is_solved_from_the_basis_of_another(monkeypatch, seed):
    gains, need, each = drawn(40, 200, seed)
    first = solved(gains, need, each)
    random = np.random.default_rng(seed)
    gains, need = gains * random.uniform(0.95, 1.05, gains.shape), need * random.uniform(0.9, 1.05, need.shape)
    steps = []
    step = programme._Tableau._step
    monkeypatch.setattr(programme._Tableau, "_step", lambda *given: steps.append(1) or step(*given))
    cold, count = solved(gains, need, each), len(steps)
    warm = solved(gains, need, each, first.basis)
    assert warm.bound == pytest.approx(cold.bound, rel=1e-6)
    assert len(steps) - count < count / 2


def test_what_is_no_basis_is_not_begun_with():
    gains, need, each = drawn(12, 60, 0)
    known = solved(gains, need, each)
    none = Basis(known.basis.rows, [0] * len(known.basis.rows))
    assert solved(gains, need, each, none).bound == pytest.approx(known.bound, rel=1e-6)


def test_rows_that_need_nothing_cost_nothing():
    found = solved(np.zeros((2, 3)), np.array([0.0, -1.0]), np.ones(3))
    assert found.bound == 0 and not found.share.any()


def test_what_all_columns_do_not_meet_has_no_solution():
    assert solved(np.array([[0.3, 0.3, 0.3]]), np.ones(1), np.ones(3)) is None


def test_the_same_programme_gives_the_same_bits():
    gains, need, each = drawn(60, 300, 1)
    one, other = solved(gains, need, each), solved(gains.copy(), need.copy(), each.copy())
    assert one.share.tobytes() == other.share.tobytes() and one.prices.tobytes() == other.prices.tobytes()
