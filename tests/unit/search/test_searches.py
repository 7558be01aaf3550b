"""Searches: those that a head has, in the order in which they are tried, and what is refused."""

from __future__ import annotations

import pytest
from support.small import focal_head, small_head, varied_head

from verale.errors import UsageError
from verale.paradigms import PARADIGMS, READABLE
from verale.search import SearchOptions
from verale.search.paradigms.base import require_memory
from verale.search.smallest import SEARCHES, best_paradigm, paradigms_taken, searches_of


def names_of(head, paradigm=READABLE, patches=5, **options):
    return [each.name for each in searches_of(head, patches, paradigm, SearchOptions(paradigm, **options))]


def test_smallest_tries_what_the_head_has_and_leaves_out_what_is_seldom_smaller():
    assert names_of(small_head("euclidean")) == ["evidence", "top_k", "mixed", "projection"]
    assert names_of(small_head("softmax")) == ["evidence", "sparse", "top_k", "assignment"]
    assert names_of(varied_head("negated"), patches=1)[-1] == "joint"
    assert names_of(small_head("euclidean"), "triangle") == ["triangle"]
    assert names_of(varied_head("threshold")) == ["evidence", "sparse", "top_k", "simplex"]


def test_every_paradigm_has_its_search_and_its_facts_agree():
    assert SEARCHES.keys() == PARADIGMS.keys()
    for name, search in SEARCHES.items():
        assert search.name == name
        assert (search.priced is not None) == PARADIGMS[name].priced


def test_the_best_spatial_paradigm_is_the_default():
    assert best_paradigm(small_head("euclidean")) == "projection"
    assert best_paradigm(small_head("softmax")) == "assignment"
    assert best_paradigm(varied_head("threshold")) == "simplex"


def test_a_paradigm_that_a_head_does_not_take_is_none_of_its_own():
    assert "mixed" in paradigms_taken(small_head("euclidean"), 5)
    assert "mixed" not in paradigms_taken(focal_head("euclidean", "max_minus_mean"), 5)
    assert "joint" in paradigms_taken(small_head("euclidean"), 1)


@pytest.mark.parametrize(("name", "of"), [("sparse", "euclidean"), ("mixed", "softmax"), ("joint", "euclidean")])
def test_what_a_head_has_not_is_refused(name, of):
    assert name in PARADIGMS
    with pytest.raises(UsageError):
        SEARCHES[name](small_head(of), 5, SearchOptions(name))


def test_what_takes_more_memory_than_is_allowed_is_refused():
    with pytest.raises(UsageError, match="a thing take about 8 GiB, expected at most 4: allow more"):
        require_memory(8 * 2**30, "a thing", SearchOptions())
    require_memory(4 * 2**30, "a thing", SearchOptions())
