"""Smallest: several searches for one image, of which the explanation with the least to read is kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from verale.certificate.statements import READABLE, to_read
from verale.paradigms import PARADIGMS, paradigms_of
from verale.search.paradigms.base import ParadigmSearch, Solution, cost_of
from verale.search.problem import NoExplanation, Problem

__all__ = ["NotKept", "Kept", "keep_smallest", "worth_trying"]

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
        asked = [image for image, read in enumerate(best) if problem.costs or read > READABLE]
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
        NotKept(name, None, solution.reason) if isinstance(solution, NoExplanation) else NotKept(name, len(solution[0]))
        for index, (name, solution) in enumerate(zip(names, solutions, strict=True))
        if index != best
    )
    return Kept(names[best], solutions[best], others)


def _to_read(problem: Problem, solution: Solution) -> float:
    return math.inf if isinstance(solution, NoExplanation) else to_read(solution[0], problem.head.size, problem.patches)


def _shorter(problem: Problem, paradigm: str, read: float) -> float:
    """The most statements of which there is less to read than this: they have two ends each, a prototype and, where
    they are about patches of several, a patch."""
    each = 3 + (problem.patches > 1 and PARADIGMS[paradigm].spatial)
    return math.ceil(read / each) - 1 if math.isfinite(read) else math.inf
