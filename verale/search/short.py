"""Short: an explanation whose statements have few digits, from one with exact numbers.

The ends of statements move outward to decimals of few digits, and the wide statements are proved. So the numbers that
a reader sees are those that entail the class. Mostly the same statements do. But the fewest statements about patches
may leave margins that are smaller than what their widths cost. Then the paradigm is asked for others, whose margins are
greater by that.

A statement that was needed still is: without it the others, being wider, entail no more than they did.
"""

from __future__ import annotations

from torch import Tensor

from verale.certificate import Statement
from verale.search.digits import (
    FEW_DIGITS,
    FEWEST_DIGITS,
    MOST_DIGITS,
    fewest_digits,
    in_digits,
    margins_in_digits,
)
from verale.search.paradigms.base import ParadigmSearch
from verale.search.problem import Problem
from verale.search.smallest import Solved

__all__ = ["in_short_numbers"]


def in_short_numbers(
    image: Problem, search: ParadigmSearch, solution: Solved, digits: int | str, least: float
) -> Solved | None:
    """A solution in at most so many digits; or in the fewest, and in exact numbers where none do.

    Args:
        image: one image, whose observables are exact.
        search: what gave the solution.
        solution: in exact numbers or, of activations, in few digits already.
        digits: a number or `fewest`.
        least: see `verale.search.digits.least_unit`.

    Returns:
        None where so many digits do not prove the class.

    Soundness: the margins are those of the wide statements alone, rounded outward.
    """
    statements, exact, minimal, prices = solution

    def prove(wide: list[Statement]) -> Tensor:
        return search.prove(image, wide, prices)

    most = FEW_DIGITS if digits == FEWEST_DIGITS else int(digits)
    wide = in_digits(statements, most, least)
    margins = prove(wide)
    lost = margins.new_tensor(exact) - margins
    share = float((lost / margins.new_tensor(exact)).nan_to_num(0.0).amax()) * 10.0**most
    if bool((margins > 0).all()):
        if digits == FEWEST_DIGITS:
            wide, margins = fewest_digits(statements, range(1, most), prove, least, share) or (wide, margins)
        return wide, margins_in_digits(margins.tolist()), minimal, prices
    others = search.with_slack(image, statements, lost, most, least)
    if others is not None or digits != FEWEST_DIGITS:
        return others
    found = fewest_digits(statements, range(most + 1, MOST_DIGITS + 1), prove, least, share)
    return solution if found is None else (found[0], margins_in_digits(found[1].tolist()), minimal, prices)
