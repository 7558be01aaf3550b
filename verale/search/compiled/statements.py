"""Statements for one image, chosen in machine code; nothing is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verale.certificate.words import below
from verale.paradigms import ORDERS
from verale.search.compiled.grow import GIVEN_UP, GROWN, Grown, grow_statements, sweep_statements
from verale.search.compiled.image import HYPERSPHERE, ImageArrays
from verale.search.compiled.shrink import shrink_statements
from verale.search.problem import Pair, Problem, given_up

__all__ = ["GUARDS", "ChosenStatements", "add_statements", "choose_statements"]

GUARDS = (1e-6, 1e-5, 1e-4, 1e-9, 0.0)
"""The search is not rounded: a margin counts as positive above a guard. If the proof fails, greater ones are used;
where a class stays open, the smaller ones."""


@dataclass(frozen=True)
class ChosenStatements:
    """What the search chose for one image.

    Attributes:
        pairs: the statements.
        failure: why there are none; empty if there are.
        stays_open: whether the class stays open though every statement that could help is made.
    """

    pairs: list[Pair]
    failure: str = ""
    stays_open: bool = False


def choose_statements(
    problem: Problem,
    image: ImageArrays,
    guard: float,
    most: float,
    first: Sequence[Pair] = (),
    order: str = ORDERS[0],
) -> ChosenStatements:
    """Statements that entail the class of the only image and none of which can be left out, as far as float64 tells.

    Args:
        problem: the image.
        image: the same as arrays.
        guard: margins up to this count as not positive.
        most: a search with more statements than this is given up.
        first: statements to leave out before others, where they can be.
        order: the order in which statements are added.
    """
    added = add_statements(problem, image, guard, most, order)
    return added if added.failure else ChosenStatements(_shrunk(problem, image, added.pairs, guard, set(first)))


def add_statements(
    problem: Problem, image: ImageArrays, guard: float, most: float = math.inf, order: str = ORDERS[0]
) -> ChosenStatements:
    """The same before any statement is left out, in the order in which they are added; also where the class stays
    open."""
    grown = _grown(problem, image, guard, most, order)
    pairs: list[Pair] = list(map(tuple, grown.statements.tolist()))
    if grown.end == GIVEN_UP:
        return ChosenStatements(pairs, given_up(len(pairs)))
    if grown.end != GROWN:
        return ChosenStatements(pairs, _why_open(problem, grown, order), True)
    return ChosenStatements(pairs)


def _grown(problem: Problem, image: ImageArrays, guard: float, most: float, order: str) -> Grown:
    size = problem.head.size
    if order == ORDERS[0]:
        return grow_statements(image, guard, float(most))
    patches, left = problem.avoid.patches_left(problem.patches), problem.avoid.prototypes_left(size)
    nearest = problem.dissimilarities()[0][patches][:, left].argsort(dim=1, stable=True).numpy()
    listed = np.stack([np.tile(patches, len(left)), np.array(left, np.int64)[nearest.T].ravel()], 1)
    return sweep_statements(image, listed.astype(np.int64), len(patches), guard, float(most))


def _shrunk(problem: Problem, image: ImageArrays, pairs: list[Pair], guard: float, first: set[Pair]) -> list[Pair]:
    """What is left of some statements.

    On spheres bounds are not monotone in what is stated: dropping is repeated until nothing can be dropped. There the
    last statement goes first, since each was chosen for the bounds that the earlier ones gave.
    """
    while True:
        statements = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        rank = np.arange(len(pairs), dtype=np.float64)
        if image.bounds != HYPERSPHERE:
            rank = image.costs[statements[:, 0], statements[:, 1]]
            rank[[pair in first for pair in pairs]] = math.inf
        kept, _ = shrink_statements(image, statements, rank, not problem.tolerance, guard)
        pairs = [pair for pair, keep in zip(pairs, kept.tolist(), strict=True) if keep]
        if image.bounds != HYPERSPHERE or kept.all():
            return pairs


def _why_open(problem: Problem, grown: Grown, order: str) -> str:
    if order != ORDERS[0]:
        return "the class stays open though every pair is stated"
    margins = problem.margins
    rivals = margins.rivals[0][margins.rivals[0] != margins.predicted[0]].tolist()
    return (
        f"class {rivals[grown.worst]} stays open (margin >= {below(float(grown.margin))}) though every statement that"
        " could help is made"
    )
