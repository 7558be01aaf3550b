"""Smallest: several searches for one image, of which the explanation with the least to read is kept.

A head has a search for each of its paradigms.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from verale.certificate.statements import AT_A_GLANCE, to_read
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.paradigms import PARADIGMS, READABLE, paradigms_of
from verale.search.inflate import PricedMargins
from verale.search.options import SearchOptions
from verale.search.paradigms.assignment import AssignmentSearch
from verale.search.paradigms.base import ParadigmSearch, cost_of, require_products
from verale.search.paradigms.evidence import EvidenceSearch
from verale.search.paradigms.joint import JointSearch
from verale.search.paradigms.mixed import MixedSearch
from verale.search.paradigms.of_activations import OfActivations, SparseSearch, TopKSearch
from verale.search.paradigms.of_patches import HypersphereSearch, ProjectionSearch, SimplexSearch, TriangleSearch
from verale.search.problem import NoExplanation, Problem, Solution

_log = logging.getLogger(__name__)

SHORT_ENOUGH = NoExplanation("not tried: what was found before is read at a glance")


@dataclass(frozen=True)
class NotKept:
    """What a paradigm gave that was not kept.

    Attributes:
        paradigm: its name.
        size: how many statements; None without an explanation.
        reason: why there is none; empty where there is one.
    """

    paradigm: str
    size: int | None
    reason: str = ""


@dataclass(frozen=True)
class Kept:
    """The solution of one image, the paradigm that gave it, and what the others gave."""

    paradigm: str
    solution: Solution
    others: tuple[NotKept, ...]


def keep_smallest(problem: Problem, searches: Sequence[ParadigmSearch]) -> list[Kept]:
    """For each image the cheapest solution, without costs the one with the least to read (`to_read`); on a tie, that of
    the earlier search.

    A search is told how many statements it may use to win. One that gives up has no explanation, and says so. Without
    costs, an image whose explanation is read at a glance is not searched again.
    """

    def cost(solution: Solution) -> float:
        if problem.costs or isinstance(solution, NoExplanation):
            return cost_of(problem.costs, solution)
        return to_read(solution.statements, problem.head.size, problem.patches)

    solved: list[list[Solution]] = [[] for _ in range(len(problem))]
    images, part = list(range(len(problem))), problem
    for search in searches:
        best = [min(map(cost, given), default=math.inf) for given in solved]
        # The most statements of which there is less to read: they have two ends each, a prototype and, where they are
        # about patches of several, a patch.
        each = 3 + (problem.patches > 1 and PARADIGMS[search.name].spatial)
        most = [
            problem.costs.statements_below(read)
            if problem.costs
            else math.ceil(read / each) - 1
            if math.isfinite(read)
            else math.inf
            for read in best
        ]
        asked = [image for image, read in enumerate(best) if problem.costs or read > AT_A_GLANCE]
        if asked != images:
            images, part = asked, problem.take(asked)
        found = search.solve(part, [most[image] for image in asked]) if asked else []
        for given in solved:
            given.append(SHORT_ENOUGH)
        for image, solution in zip(asked, found, strict=True):
            solved[image][-1] = solution
    kept = []
    for given in solved:
        first = min(range(len(given)), key=lambda index: cost(given[index]))
        told = [
            NotKept(search.name, None, each.reason)
            if isinstance(each, NoExplanation)
            else NotKept(search.name, len(each.statements))
            for search, each in zip(searches, given, strict=True)
        ]
        kept.append(Kept(searches[first].name, given[first], (*told[:first], *told[first + 1 :])))
    return kept


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
    # the more readable first: about activations before about patches, and before those that they are seldom larger than
    for name in sorted(
        paradigms_of(head.geometry.kind, patches),
        key=lambda name: (PARADIGMS[name].spatial, PARADIGMS[name].seldom_below is not None),
    ):
        if PARADIGMS[name].seldom_below not in searches:
            try:
                searches[name] = SEARCHES[name](head, patches, options)
            except UsageError as error:
                refused = error
                _log.info("paradigm %s is not tried: %s", name, error)
    if refused is not None and not searches:
        raise refused
    of_activations = [search for search in searches.values() if isinstance(search, OfActivations)]
    for search in of_activations:
        search.links = of_activations[0].links
        search.links()  # now, not when the first image is explained
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
