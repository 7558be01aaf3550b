"""Ceilings and floors: true of the image, and no looser than what they say themselves."""

from __future__ import annotations

import pytest
import torch
from support.problems import small_problem

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.search.clauses import Clauses, ClausesOf
from verale.search.costs import Costs


def parts(geometry):
    problem = small_problem(geometry).take([0])
    observed, range_ = problem.activations[0], activation_range(problem.head, problem.patches)
    return observed, range_, ClausesOf(observed, range_, Lipschitz(problem.head))


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_every_clause_is_true_and_cuts_what_it_speaks_of(geometry):
    observed, range_, known = parts(geometry)
    ceilings, floors = known.levels
    assert ceilings[0] is None and floors[0] is None and len(ceilings) > 2 and len(floors) > 2
    for level in ceilings[1:]:
        clause = known.at((level, None)).ceiling
        assert torch.equal(clause.exempt, observed.upper > clause.end)
        assert clause.exempts == tuple(clause.exempt.nonzero().flatten().tolist())
        assert (clause.ends >= observed.lower).all() and (clause.ends <= range_.upper).all()
        assert (clause.ends[~clause.exempt] <= clause.end).all()
    for level in floors[1:]:
        clause = known.at((None, level)).floor
        assert torch.equal(clause.exempt, observed.lower < clause.end)
        assert (clause.ends <= observed.upper).all() and (clause.ends >= range_.lower).all()
        assert (clause.ends[~clause.exempt] >= clause.end).all()


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_all_at_once_are_those_one_by_one(geometry):
    _, _, one_by_one = parts(geometry)
    _, _, at_once = parts(geometry)
    ceilings, floors = (levels[1:] for levels in at_once.levels)
    at_once.know(ceilings, floors)
    for pair in zip(ceilings, floors, strict=False):
        one, other = one_by_one.at(pair), at_once.at(pair)
        for side in ("ceiling", "floor"):
            assert torch.equal(getattr(one, side).ends, getattr(other, side).ends)


def test_clauses_are_counted_and_cost_what_each_costs():
    _, range_, known = parts("euclidean")
    ceilings, floors = known.levels
    both, costs = known.at((ceilings[1], floors[1])), Costs(ceiling=2.0, floor=3.0)
    assert (Clauses().size, both.size, both.cost(costs), Clauses().cost(costs)) == (0, 2, 5.0, 0)
    cut = both.cut(range_)
    assert torch.equal(cut.upper, both.ceiling.ends) and torch.equal(cut.lower, both.floor.ends)
    assert Clauses().cut(range_).upper is range_.upper
