"""Paradigms of patches: what the search asks of their bounds."""

from __future__ import annotations

import pytest
from support.small import small_head

from verale.errors import UsageError
from verale.search import SearchOptions
from verale.search.searches import SEARCHES


@pytest.mark.parametrize("name", ["projection", "triangle", "hypersphere"])
def test_a_row_takes_memory_and_more_prototypes_take_more(name):
    few, many = (
        SEARCHES[name](small_head("euclidean", prototypes=count), 5, SearchOptions(name)).bytes_per_patch
        for count in (8, 32)
    )
    assert 8 * 8 <= few < many


def test_products_that_do_not_fit_into_memory_are_refused(monkeypatch):
    head = small_head("euclidean")
    monkeypatch.setattr(type(head), "size", 2**20)
    with pytest.raises(UsageError, match="the products of 1048576 prototypes take about"):
        SEARCHES["projection"](head, 5, SearchOptions("projection"))
