"""Paradigms of patches: what the search asks of their bounds."""

from __future__ import annotations

import math

import pytest
from support.problems import small_problem
from support.published import require_its_own_and_no_smaller
from support.small import small_head, small_latents

from verale.bounds import Hypersphere, Triangle
from verale.errors import UsageError
from verale.paradigms import ORDERS
from verale.search import SearchOptions
from verale.search.explain import explain
from verale.search.smallest import SEARCHES


def test_products_that_do_not_fit_into_memory_are_refused(monkeypatch):
    head = small_head("euclidean")
    monkeypatch.setattr(type(head), "size", 2**20)
    with pytest.raises(UsageError, match="the products of 1048576 prototypes take about"):
        SEARCHES["projection"](head, 5, SearchOptions("projection"))


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
@pytest.mark.parametrize(("name", "bounds"), [("triangle", Triangle), ("hypersphere", Hypersphere)])
def test_explanations_by_published_bounds_are_its_own_and_no_smaller(name, bounds, geometry):
    require_its_own_and_no_smaller(name, bounds, geometry)


# simplex: of both orders the smaller explanation is kept, unless one is chosen


def test_the_smaller_of_both_orders_is_kept():
    best = set()
    for seed in range(4):
        head = small_head("softmax", seed, prototypes=16)
        images = small_latents(head, images=4, patches=6)
        by_order = [explain(head, images, "simplex", order=order) for order in ORDERS]
        for kept, *each in zip(explain(head, images, "simplex"), *by_order, strict=True):
            sizes = [one.size for one in each]
            assert kept.size == min(sizes)
            best |= {sizes.index(min(sizes))} if len(set(sizes)) > 1 else set()
    assert best == {0, 1}, "neither order is always best"


def test_the_second_order_is_told_how_many_statements_the_first_one_has(monkeypatch):
    problem = small_problem("softmax")
    search = SEARCHES["simplex"](problem.head, problem.patches, SearchOptions("simplex"))
    told = []
    explain_ = type(search).explain
    monkeypatch.setattr(type(search), "explain", lambda self, *given: told.append(given[1:]) or explain_(self, *given))
    search.propose(problem, [2.0] + [math.inf] * (len(problem) - 1))
    monkeypatch.undo()
    sizes = [len(each.pairs) for each in search.explain(problem, ORDERS[0], [math.inf] * len(problem))]
    assert [order for order, _ in told] == list(ORDERS)
    assert told[1][1] == [2.0, *sizes[1:]]
