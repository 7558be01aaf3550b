"""What is asked of the paradigms with published bounds, which are never tighter than those of projection."""

from __future__ import annotations

from support.small import small_head, small_latents

from verale.search import SearchOptions
from verale.search.explain import explain
from verale.search.smallest import SEARCHES


def require_its_own_and_no_smaller(name: str, bounds: type, geometry: str) -> None:
    """Explanations under a paradigm are found by its bounds, claim no minimality, and are no smaller in all."""
    head = small_head(geometry, 2)
    images = small_latents(head, images=4, patches=5)
    published, ours = (explain(head, images, paradigm) for paradigm in (name, "projection"))
    assert {each.paradigm for each in published} == {name}
    assert not any(each.minimal for each in published)
    assert sum(each.size for each in published) >= sum(each.size for each in ours)
    assert isinstance(SEARCHES[name](head, 5, SearchOptions(name)).spatial, bounds)
