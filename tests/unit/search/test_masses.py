"""Growth of statements about masses: they entail the class by the ranges of `simplex`, or it says why not."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from support.problems import margins_from_scratch, problem_of, small_problem, tied_problem
from support.small import small_head

from verale.bounds import Simplex
from verale.head import Box
from verale.paradigms import ORDERS
from verale.search import masses
from verale.search.masses import Masses, grow_masses


def grown(problem, order="rival", most=math.inf):
    return grow_masses(Masses.of(problem), order, [most] * len(problem))


def pairs_of(stated):
    return [tuple(pair) for pair in stated.nonzero().tolist()]


@pytest.fixture(params=["small", "large"])
def size(request, monkeypatch):
    """Whether images count as having too many pairs for rounds: then growth goes by levels."""
    if request.param == "large":
        monkeypatch.setattr(masses, "_MOST_PAIRS", 0)
    return request.param


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("tolerance", [0.0, 0.001])
@pytest.mark.parametrize("domain", [Box(), Box(-9, 9)])
@pytest.mark.parametrize("seed", range(3))
def test_statements_entail_the_class(seed, domain, tolerance, order, size):
    head = replace(small_head("softmax", seed), domain=domain)
    problem = problem_of(head, tolerance, seed=seed, images=5, patches=7)
    some = 0
    for image, each in enumerate(grown(problem, order)):
        if each.failure:
            continue
        some += 1
        one = problem.take([image])
        assert (margins_from_scratch(one, Simplex(head), [pairs_of(each.stated)]) > 0).all()
    assert some


@pytest.mark.parametrize("seed", range(3))
def test_against_the_worst_rival_fewer_are_stated_than_in_the_published_order(seed):
    problem = small_problem("softmax", seed, images=6, patches=9)
    rival, nearest = (sum(int(each.stated.sum()) for each in grown(problem, order)) for order in ORDERS)
    assert rival <= nearest


@pytest.mark.parametrize("order", ORDERS)
def test_too_many_statements_are_given_up_and_a_tie_stays_open(order, size):
    assert all("given up" in each.failure.reason for each in grown(small_problem("softmax", 0), order, 0.0))
    (tied,) = grown(tied_problem(softmax=True), order)
    assert tied.failure.stays_open and "stays open" in tied.failure.reason


def test_a_level_is_the_same_for_all_patches_and_the_next_higher_one_leaves_a_rival_open(monkeypatch):
    monkeypatch.setattr(masses, "_MOST_PAIRS", 0)
    problem = small_problem("softmax", 4, images=6, patches=9)
    for image, growth in enumerate(grown(problem)):
        low = Masses.of(problem).low[image]
        left = 1 - (low * growth.stated).sum(1)
        last = low.masked_fill(~growth.stated, torch.inf).amin(1)  # without it, each patch had at least the level
        before = (left + last.where(last.isfinite(), 0.0))[growth.stated.any(1)]
        assert float(left.max()) <= float(before.min()) + 1e-12
        fewer = growth.stated & ~((low == last[:, None]) & (left + last <= 1.0)[:, None])
        one = problem.take([image])
        assert not (margins_from_scratch(one, Simplex(problem.head), [pairs_of(fewer)]) > 0).all()
