"""Assignment: statements about masses, and prices that prove the class where a patch pays once (softmax heads)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.bounds import Assignment, LinearMargins, SimplexRows, assignment_margins
from verale.certificate import Prices, Statement
from verale.head import Head
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.search.needed import proved_margins, surely_needed
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Pair, Problem, given_up
from verale.search.prove import HOPELESS, UNSETTLED, Explained, SpatialExplanation
from verale.search.stated import pairs_of

__all__ = ["AssignmentSearch", "explain_assignment"]


def explain_assignment(
    problem: Problem, paradigm: Assignment, order: str, most: list[float] | None = None
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none; `most` as in `explain_spatial`.

    Statements are added until the ranges of `simplex` entail the class, which is sound here too because `assignment` is
    never looser. Then each is dropped if for every rival the best prices still prove a positive margin. The costliest
    goes first; of those that cost the same, the one whose patch has the least remainder without it.

    Exact statements that cost the same, about masses without bounds of their own, are added by a search that computes
    only what a statement changes.

    Soundness: the search uses plain floats; the result is proved from nothing but the statements and the prices.
    """
    limits = [math.inf] * len(problem) if most is None else [HOPELESS * limit for limit in most]
    return [_explained(problem.take([image]), paradigm, order, limit) for image, limit in enumerate(limits)]


def _explained(problem: Problem, paradigm: Assignment, order: str, most: float) -> Explained:
    """The explanation of the only image."""
    from verale.search.compiled.assigned import choose_masses, drop_masses
    from verale.search.compiled.matching import rivals_of

    rivals, bounded = rivals_of(problem), problem.head.domain.lower is not None or problem.head.domain.upper is not None
    grown: list[Pair] | int | str | None = None
    if order == ORDERS[0] and not (problem.tolerance or problem.costs or problem.avoid or bounded):
        grown = choose_masses(rivals, most)
    if isinstance(grown, int):
        return given_up(grown)
    if grown is None:
        grown = _grown(problem, paradigm, order, most)
    if isinstance(grown, str):
        return grown
    costs = [problem.costs.of_pair(pair) for pair in grown]
    assigned = drop_masses(rivals, grown, costs, once=not problem.tolerance)
    minimal = assigned.minimal and _open_to_ranges(problem, paradigm, assigned.pairs)
    prices = np.insert(assigned.prices, int(problem.margins.predicted[0]), 0.0, 0)
    return _proved(problem, paradigm, assigned.pairs, prices, minimal)


def _grown(problem: Problem, paradigm: Assignment, order: str, most: float) -> list[Pair] | str:
    """Statements that entail the class of the only image, or why there are none."""
    from verale.search.compiled.image import image_arrays
    from verale.search.compiled.statements import GUARDS, add_statements

    arrays = image_arrays(problem, paradigm)
    for guard in GUARDS[-2:]:
        grown = add_statements(problem, arrays, guard, most, order)
        if not grown.stays_open:
            break
    return grown.failure or grown.pairs


def _open_to_ranges(problem: Problem, paradigm: Assignment, pairs: list[Pair]) -> bool:
    """Whether without any one statement the ranges of `simplex` surely leave a rival open, as the best prices do.

    Prices do what the statements allow, so nobody needs to ask, unless the logits are bounded: a mass then has a range
    of its own, of which the prices take the lower end alone.
    """
    if not problem.head.domain.bounded:
        return True
    return not problem.tolerance and surely_needed(problem, paradigm, [pairs])[0]


def _proved(
    problem: Problem, paradigm: Assignment, pairs: list[Pair], prices: NDArray[np.float64], minimal: bool
) -> Explained:
    """The explanation of one image with its margins, from rows that know its statements alone; prices (C, P)."""
    rows = paradigm.from_statements(problem.patches, *_stated(problem, pairs))
    margins: Tensor = proved_margins(problem, rows.range)[0]
    (open_,) = torch.nonzero(~(margins > 0), as_tuple=True)
    stated: dict[int, dict[int, float]] = {}
    for rival in open_.tolist():
        row = prices[rival]
        (priced,) = row.nonzero()
        stated[rival] = dict(zip(priced.tolist(), row[priced].tolist(), strict=True))
    margins = _with_prices(problem, rows, margins, stated)
    if not bool((margins > 0).all()):
        return UNSETTLED
    return SpatialExplanation(pairs, margins, minimal, stated)


def _with_prices(problem: Problem, rows: SimplexRows, margins: Tensor, prices: dict[int, dict[int, float]]) -> Tensor:
    """Margins (C,) of ranges or, where that is greater, of prices."""
    if not prices:
        return margins
    paid = margins.new_zeros(len(prices), problem.head.size)
    for row, of_rival in zip(paid, prices.values(), strict=True):
        row[problem.index(list(of_rival))] = row.new_tensor(list(of_rival.values()))
    linear, rivals = cast(LinearMargins, problem.margins), problem.index(list(prices))  # softmax heads have no other
    by_prices = assignment_margins(rows, linear.keep(rivals[None]), paid)
    margins[rivals] = torch.maximum(margins[rivals], by_prices.flatten())
    return margins


def _stated(problem: Problem, pairs: list[Pair]) -> tuple[Tensor, Tensor, Enclosure]:
    """The patches, prototypes and intervals of statements."""
    patches, prototypes = problem.index([patch for patch, _ in pairs]), problem.index([k for _, k in pairs])
    return patches, prototypes, problem.observed[patches, prototypes]


class AssignmentSearch(OfPatches):
    """See `explain_assignment`."""

    name = "assignment"
    bounds = Assignment

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """See `ParadigmSearch`."""
        super().require(head, patches)
        Assignment.require(head)

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        """See `OfPatches`."""
        return explain_assignment(problem, self.spatial, order, most)

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`: with prices of prototypes for some rivals."""
        stated, pairs = problem.with_ends(statements), pairs_of(statements)
        paid = {each.rival: dict(zip(each.prototypes, each.values, strict=True)) for each in prices}
        rows = self.spatial.from_statements(stated.patches, *_stated(stated, pairs))
        return _with_prices(stated, rows, proved_margins(stated, rows.range)[0], paid)
