"""Statements for one image, chosen in machine code; nothing is proved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from verale.search.compiled.grow import GIVEN_UP, GROWN, grow_statements
from verale.search.compiled.image import ImageArrays
from verale.search.compiled.shrink import shrink_statements
from verale.search.grow import given_up
from verale.search.problem import Pair, Problem

__all__ = ["GUARDS", "ChosenStatements", "added_statements", "choose_statements"]

GUARDS = (1e-6, 1e-5, 1e-4)
"""The search is not rounded: a margin counts as positive above a guard. If the proof fails, the next one is used."""


@dataclass(frozen=True)
class ChosenStatements:
    """What the search chose for one image.

    Attributes:
        pairs: the statements.
        failure: why the search was given up; empty if it was not.
    """

    pairs: list[Pair]
    failure: str = ""


def choose_statements(
    problem: Problem, image: ImageArrays, guard: float, most: float, first: Sequence[Pair] = ()
) -> ChosenStatements | None:
    """Statements that entail the class of the only image and none of which can be left out, as far as float64 tells.

    Args:
        problem: the image.
        image: the same as arrays.
        guard: margins up to this count as not positive.
        most: a search with more statements than this is given up.
        first: statements to leave out before others, where they can be.

    Returns:
        None if the class stays open though every statement that could help is made.
    """
    end, statements = _grown(problem, image, guard, most)
    if end == GIVEN_UP:
        return ChosenStatements([], given_up(len(statements)))
    if end != GROWN:
        return None
    pairs = [(patch, prototype) for patch, prototype in statements.tolist()]
    early = np.array([pair in set(first) for pair in pairs], dtype=np.bool_)
    kept, _ = shrink_statements(image, statements, early, not problem.tolerance, guard)
    return ChosenStatements([pair for pair, keep in zip(pairs, kept.tolist(), strict=True) if keep])


def added_statements(problem: Problem, image: ImageArrays, guard: float) -> list[Pair]:
    """The statements in the order in which they are added, until the class follows, or none helps; see
    `choose_statements`."""
    return [(patch, prototype) for patch, prototype in _grown(problem, image, guard, math.inf)[1].tolist()]


def _grown(problem: Problem, image: ImageArrays, guard: float, most: float) -> tuple[int, Any]:
    return grow_statements(image, min(problem.head.size, problem.head.depth) + 1, guard, float(most))
