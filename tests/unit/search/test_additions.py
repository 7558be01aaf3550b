"""What can be added to statements: against the margins of every addition, one by one."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from support.problems import small_problem

from verale.bounds import activation_range
from verale.bounds.lipschitz import Lipschitz
from verale.rounding import Enclosure
from verale.search import additions
from verale.search.additions import Additions


def case(geometry: str, seed: int) -> tuple[Additions, Enclosure]:
    """Additions of one image with three ceilings and three floors, and the ranges that hold without statements."""
    problem = small_problem(geometry, seed).take([0])
    observed = problem.stated_activations()[0]
    own = activation_range(problem.head, problem.patches)
    uppers = torch.stack([own.upper, *(torch.maximum(observed.upper, observed.upper.quantile(q)) for q in (0.5, 0.9))])
    lowers = torch.stack([own.lower, *(torch.minimum(observed.lower, observed.lower.quantile(q)) for q in (0.1, 0.5))])
    costs = torch.ones(len(own.lower) + 1, len(uppers), len(lowers), dtype=torch.float64)
    return Additions(problem.margins, Lipschitz(problem.head).ranges(observed), uppers, lowers, costs), own


def stated(found: Additions, own: Enclosure, k: int) -> Enclosure:
    """The ranges with the activation k stated."""
    return Enclosure.unchecked(
        torch.maximum(own.lower, found.table.lower[k]), torch.minimum(own.upper, found.table.upper[k])
    )


CASES = pytest.mark.parametrize(("geometry", "seed"), list(product(["euclidean", "scaled", "cosine"], range(3))))


@CASES
def test_the_least_margin_of_each_addition(geometry, seed):
    found, own = case(geometry, seed)
    least = found.least(own)
    for k, ceiling, floor in product(*map(range, least.shape)):
        box = own if k == len(own.lower) else stated(found, own, k)
        upper, lower = torch.minimum(box.upper, found.uppers[ceiling]), torch.maximum(box.lower, found.lowers[floor])
        margin = found.linear.lower(Enclosure.unchecked(lower, upper)[None, None]).amin()
        assert float(least[k, ceiling, floor]) == pytest.approx(float(margin), abs=1e-9)


@pytest.mark.parametrize("geometry", ["euclidean", "scaled", "cosine"])
def test_what_two_activations_prove_is_promising(geometry):
    proving = []
    for found, own in (case(geometry, seed) for seed in range(3)):
        promising = found.promising(own)
        for k in range(len(own.lower)):
            if (found.least(stated(found, own, k)) > 0).any():
                proving.append(bool(promising[k]))
    assert proving, "otherwise the test shows nothing"
    assert all(proving)


def test_what_proves_nothing_is_not_promising():
    found, own = case("euclidean", 0)
    nothing = Enclosure.unchecked(own.lower.expand(len(own.lower), -1), own.upper.expand(len(own.upper), -1))
    assert (
        not Additions(found.linear, nothing, found.uppers[:1], found.lowers[:1], found.costs[:, :1, :1])
        .promising(own)
        .any()
    )


@CASES
def test_places_are_those_of_positive_margins_also_within_others(geometry, seed, monkeypatch):
    found, own = case(geometry, seed)
    every = found.places(stated(found, own, 0), None)
    assert every is not None
    assert every.tolist() == (found.least(stated(found, own, 0)).flatten() > -1e-9).nonzero()[:, 0].tolist()
    within = found.places(own, every)
    assert within is not None
    assert within.tolist() == (found.least(own).flatten() > -1e-9).nonzero()[:, 0].tolist()
    monkeypatch.setattr(additions, "_MANY", -1)
    assert found.places(own, None) is None
