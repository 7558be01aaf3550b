"""Searches: those that a head has, one for each paradigm."""

from __future__ import annotations

import logging
from contextlib import suppress

from verale.errors import UsageError
from verale.head import Head, Linear
from verale.paradigms import PARADIGMS, READABLE, paradigms_of
from verale.search.options import SearchOptions
from verale.search.paradigms.assignment import AssignmentSearch
from verale.search.paradigms.base import ParadigmSearch, require_products
from verale.search.paradigms.evidence import EvidenceSearch
from verale.search.paradigms.joint import JointSearch
from verale.search.paradigms.mixed import MixedSearch
from verale.search.paradigms.of_activations import SparseSearch, TopKSearch
from verale.search.paradigms.of_patches import HypersphereSearch, SimplexSearch, TriangleSearch
from verale.search.paradigms.projection import ProjectionSearch
from verale.search.priced import PricedMargins
from verale.search.smallest import worth_trying

__all__ = ["SEARCHES", "best_paradigm", "has_prices", "paradigms_taken", "priced_margins", "searches_of"]

_log = logging.getLogger(__name__)

SEARCHES: dict[str, type[ParadigmSearch]] = {
    search.name: search
    for search in (
        ProjectionSearch,
        TriangleSearch,
        HypersphereSearch,
        SimplexSearch,
        AssignmentSearch,
        JointSearch,
        SparseSearch,
        TopKSearch,
        MixedSearch,
        EvidenceSearch,
    )
}
"""Every paradigm's search by its name: whoever adds a paradigm enters it here, and its facts in `verale.paradigms`."""


def best_paradigm(head: Head) -> str:
    """The spatial paradigm that gives the smallest explanations of a head with any number of patches."""
    spatial = [name for name in paradigms_taken(head, patches=2) if PARADIGMS[name].spatial]
    return min(spatial, key=lambda name: PARADIGMS[name].seldom_below is not None)


def paradigms_taken(head: Head, patches: int) -> list[str]:
    """The paradigms that a head with so many patches has: those of its geometry, but for what one of them needs else,
    such as a pooling."""
    taken = []
    for name in paradigms_of(head.geometry.kind, patches):
        with suppress(UsageError):
            SEARCHES[name].require(head, patches)
            taken.append(name)
    return taken


def searches_of(head: Head, patches: int, paradigm: str, options: SearchOptions) -> tuple[ParadigmSearch, ...]:
    """The search under a paradigm, or under all that the head has. Raises UsageError if it does not have that one."""
    if paradigm != READABLE:
        return (SEARCHES[paradigm](head, patches, options),)
    require_products(head, options)  # what is too large for one of them is large for all
    searches: dict[str, ParadigmSearch] = {}
    refused: UsageError | None = None
    for name in worth_trying(head.geometry.kind, patches):
        if PARADIGMS[name].seldom_below not in searches:
            try:
                searches[name] = SEARCHES[name](head, patches, options)
            except UsageError as error:
                refused = error
                _log.info("paradigm %s is not tried: %s", name, error)
    if refused is not None and not searches:
        raise refused
    return tuple(searches.values())


def has_prices(paradigm: str, head: Head) -> bool:
    """Whether the margins of a head have prices under a paradigm."""
    return SEARCHES[paradigm].priced is not None and isinstance(head.readout, Linear)


def priced_margins(paradigm: str, head: Head, predicted: int, patches: int) -> PricedMargins:
    """The priced margins of a class under a paradigm. Raises UsageError where there are none."""
    priced = SEARCHES[paradigm].priced if paradigm in SEARCHES else None
    if priced is None:
        known = ", ".join(name for name, each in PARADIGMS.items() if each.priced)
        raise UsageError(
            f"paradigm is {paradigm!r}, expected one of {known}: wider statements about the patches of an image hold of"
            " no other image"
        )
    margins: PricedMargins = priced(head, predicted, patches)
    return margins
