"""Short: an explanation whose statements have few digits, from one with exact numbers.

The ends of statements move outward to decimals of few digits, and the wide statements are proved. So the numbers that
a reader sees are those that entail the class. Mostly the same statements do. But the fewest statements about patches
may leave margins that are smaller than what their widths cost. Then the search in machine code, which knows exact
statements alone, is asked for margins that are greater by that.

A statement that was needed still is: without it the others, being wider, entail no more than they did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torch import Tensor

from verale.bounds import Projection
from verale.certificate import PatchStatement, Statement
from verale.search.digits import FEW_DIGITS, FEWEST_DIGITS, MOST_DIGITS, in_digits, margins_in_digits
from verale.search.needed import not_surely_needed, without_doubtful
from verale.search.problem import Pair, Problem
from verale.search.proofs import prove_statements, with_ends
from verale.search.smallest import Solved
from verale.search.spatial import is_searched_alone, prove_pairs

__all__ = ["fewest_digits", "in_short_numbers", "statements_about"]

_TRIES = 3
_MORE = 1.1
"""The margins that are asked for are so many times what was lost."""
_GROWS = 1.5
"""And at least so many times those before."""
_LARGEST = 1.1
"""An explanation of few digits has at most so many times as many statements; or else it has more digits."""
_FEW = 16
"""So many statements that the class perhaps follows without are tried once more."""

Prove = Callable[[list[Statement]], Tensor]
"""The margins (C,) that statements prove."""


def in_short_numbers(
    image: Problem, paradigm: str, spatial: Any, order: str, solution: Solved, digits: int | str, least: float
) -> Solved | None:
    """A solution in at most so many digits; or in the fewest, and in exact numbers where none do.

    Args:
        image: one image, whose observables are exact.
        paradigm, spatial, order: what gave the solution.
        solution: in exact numbers or, of activations, in few digits already.
        digits: a number or `fewest`.
        least: see `verale.search.digits.least_unit`.

    Returns:
        None where so many digits do not prove the class.

    Soundness: the margins are those of the wide statements alone, rounded outward.
    """
    statements, exact, minimal, prices = solution

    def prove(wide: list[Statement]) -> Tensor:
        return prove_statements(image, paradigm, spatial, wide, prices)

    most = FEW_DIGITS if digits == FEWEST_DIGITS else int(digits)
    wide = in_digits(statements, most, least)
    margins = prove(wide)
    if bool((margins > 0).all()):
        if digits == FEWEST_DIGITS:
            wide, margins = fewest_digits(statements, range(1, most), prove, least) or (wide, margins)
        return wide, margins_in_digits(margins.tolist()), minimal, prices
    if isinstance(spatial, Projection) and not image.costs and is_searched_alone(image.head, spatial, order):
        lost = margins.new_tensor(exact) - margins
        for pairs, more, needed in _with_slack(image, spatial, len(statements), lost, most, least):
            return (
                in_digits(statements_about(image, pairs), most, least),
                margins_in_digits(more.tolist()),
                needed,
                prices,
            )
    if digits != FEWEST_DIGITS:
        return None
    found = fewest_digits(statements, range(most + 1, MOST_DIGITS + 1), prove, least)
    return solution if found is None else (found[0], margins_in_digits(found[1].tolist()), minimal, prices)


def fewest_digits(
    statements: Sequence[Statement], digits: range, prove: Prove, least: float
) -> tuple[list[Statement], Tensor] | None:
    """The statements in the fewest digits of a range with which they prove the class, and the margins; None if they
    never do.

    Fewer digits are wider statements, so bisection finds the fewest. It begins with the most.
    """
    found = None
    low, high, tried = digits.start, digits.stop - 1, digits.stop - 1
    while low <= high:
        wide = in_digits(statements, tried, least)
        margins = prove(wide)
        if bool((margins > 0).all()):
            found, high = (wide, margins), tried - 1
        else:
            low = tried + 1
        tried = (low + high) // 2
    return found


def statements_about(problem: Problem, pairs: Sequence[Pair], image: int = 0) -> list[Statement]:
    """Statements about pairs of one image, with its observables."""
    rows = problem.index([image * problem.patches + patch for patch, _ in pairs])
    observed = problem.observed[rows, problem.index([prototype for _, prototype in pairs])]
    ends = zip(pairs, observed.lower.tolist(), observed.upper.tolist(), strict=True)
    return [PatchStatement(*pair, lower, upper) for pair, lower, upper in ends]


def _with_slack(
    image: Problem, paradigm: Projection, size: int, lost: Tensor, digits: int, least: float
) -> Iterator[tuple[list[Pair], Tensor, bool]]:
    """Other statements about the only image that prove its class in so many digits: at most once, the statements, the
    margins (C,) that they prove, and whether each is surely needed.

    Args:
        size: of the explanation whose statements do not.
        lost: (C,) what their widths cost.
    """
    from verale.search.compiled.image import image_arrays
    from verale.search.compiled.statements import choose_statements

    arrays, guard = image_arrays(image, paradigm), 0.0
    for _ in range(_TRIES):
        # In two digits: so that no last bit, which depends on the processor, decides what is found.
        guard = max(_GROWS * guard, float(f"{_MORE * float(lost.nan_to_num(0.0).amax()):.1e}"))
        chosen = choose_statements(image, arrays, guard, math.inf)
        if chosen is None or chosen.failure or len(chosen.pairs) > _LARGEST * size:
            return
        proved = prove_pairs(image, paradigm, arrays, chosen.pairs)
        if proved is None:
            return
        explanation, doubtful = proved
        wide = in_digits(statements_about(image, explanation.pairs), digits, least)
        margins = prove_statements(image, paradigm.name, paradigm, wide)
        if bool((margins > 0).all()):
            yield _without_needless(image, paradigm, explanation.pairs, doubtful, wide, margins)
            return
        lost = explanation.margins - margins


def _without_needless(
    image: Problem,
    paradigm: Projection,
    pairs: list[Pair],
    doubtful: list[Pair],
    wide: list[Statement],
    margins: Tensor,
) -> tuple[list[Pair], Tensor, bool]:
    """The same without what the class follows without, if few statements are in doubt."""
    if len(doubtful) > _FEW:
        return pairs, margins, False
    stated = with_ends(image, wide)
    left = without_doubtful(stated, paradigm, pairs, doubtful)
    (unsure,) = not_surely_needed(stated, paradigm, [left], [[pair for pair in doubtful if pair in set(left)]])
    if left == pairs:
        return pairs, margins, not unsure
    kept = [each for each, pair in zip(wide, pairs, strict=True) if pair in set(left)]
    again = prove_statements(image, paradigm.name, paradigm, kept)
    return (left, again, not unsure) if bool((again > 0).all()) else (pairs, margins, False)
