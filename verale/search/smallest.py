"""Smallest: several searches for one image, of which the explanation with the least to read is kept.

A head has a search for each of its paradigms.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from verale.certificate.statements import AT_A_GLANCE, to_read
from verale.errors import UsageError
from verale.head import Head, Linear
from verale.paradigms import PARADIGMS, READABLE, paradigms_of
from verale.search.options import SearchOptions
from verale.search.paradigms.assignment import AssignmentSearch
from verale.search.paradigms.base import ParadigmSearch, cost_of, require_products
from verale.search.paradigms.evidence import EvidenceSearch
from verale.search.paradigms.joint import JointSearch
from verale.search.paradigms.mixed import MixedSearch
from verale.search.paradigms.of_activations import SparseSearch, TopKSearch
from verale.search.paradigms.of_patches import HypersphereSearch, ProjectionSearch, SimplexSearch, TriangleSearch
from verale.search.priced import PricedMargins
from verale.search.problem import NoExplanation, Problem, Solution

__all__ = [
    "Kept",
    "NotKept",
    "SEARCHES",
    "best_paradigm",
    "has_prices",
    "keep_smallest",
    "paradigms_taken",
    "priced_margins",
    "searches_of",
    "worth_trying",
]

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


def worth_trying(geometry: str, patches: int) -> list[str]:
    """The paradigms of a geometry and images of so many patches, the more readable first.

    Statements about activations come before statements about patches, and a paradigm before those that it is seldom
    larger than.
    """
    return sorted(
        paradigms_of(geometry, patches),
        key=lambda name: (PARADIGMS[name].spatial, PARADIGMS[name].seldom_below is not None),
    )


def keep_smallest(problem: Problem, searches: Sequence[ParadigmSearch]) -> list[Kept]:
    """For each image the cheapest solution, without costs the one with the least to read (`to_read`); on a tie, that of
    the earlier search.

    A search is told how many statements it may use to win. One that gives up has no explanation, and says so. Without
    costs, an image whose explanation is read at a glance is not searched again.
    """
    cost = partial(cost_of, problem.costs) if problem.costs else partial(_to_read, problem)
    solved: list[list[Solution]] = [[] for _ in range(len(problem))]
    images, part = list(range(len(problem))), problem
    for search in searches:
        best = [min(map(cost, given), default=math.inf) for given in solved]
        shorter = problem.costs.statements_below if problem.costs else partial(_shorter, problem, search.name)
        most = list(map(shorter, best))
        asked = [image for image, read in enumerate(best) if problem.costs or read > AT_A_GLANCE]
        if asked != images:
            images, part = asked, problem.take(asked)
        found = search.solve(part, [most[image] for image in asked]) if asked else []
        for given in solved:
            given.append(SHORT_ENOUGH)
        for image, solution in zip(asked, found, strict=True):
            solved[image][-1] = solution
    names = [search.name for search in searches]
    return [_kept(cost, names, given) for given in solved]


def _kept(cost: Callable[[Solution], float], names: list[str], solutions: list[Solution]) -> Kept:
    best = min(range(len(names)), key=lambda index: cost(solutions[index]))
    others = tuple(
        NotKept(name, None, solution.reason)
        if isinstance(solution, NoExplanation)
        else NotKept(name, len(solution.statements))
        for index, (name, solution) in enumerate(zip(names, solutions, strict=True))
        if index != best
    )
    return Kept(names[best], solutions[best], others)


def _to_read(problem: Problem, solution: Solution) -> float:
    return (
        math.inf
        if isinstance(solution, NoExplanation)
        else to_read(solution.statements, problem.head.size, problem.patches)
    )


def _shorter(problem: Problem, paradigm: str, read: float) -> float:
    """The most statements of which there is less to read than this: they have two ends each, a prototype and, where
    they are about patches of several, a patch."""
    each = 3 + (problem.patches > 1 and PARADIGMS[paradigm].spatial)
    return math.ceil(read / each) - 1 if math.isfinite(read) else math.inf


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
