"""Hypersphere: the published bounds are never tighter than those of projection, so explanations are seldom smaller."""

from __future__ import annotations

import pytest
from support.small import small_head, small_latents

from verale.bounds import Hypersphere
from verale.search import SearchOptions
from verale.search.explain import explain
from verale.search.searches import SEARCHES


@pytest.mark.parametrize("geometry", ["euclidean", "cosine"])
def test_explanations_are_its_own_and_no_smaller(geometry):
    head = small_head(geometry, 2)
    images = small_latents(head, images=4, patches=5)
    published, ours = (explain(head, images, name) for name in ("hypersphere", "projection"))
    assert {each.paradigm for each in published} == {"hypersphere"}
    assert not any(each.minimal for each in published)
    assert sum(each.size for each in published) >= sum(each.size for each in ours)
    assert isinstance(SEARCHES["hypersphere"](head, 5, SearchOptions("hypersphere")).spatial, Hypersphere)
