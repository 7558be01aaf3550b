"""Assignment: statements about masses, and prices that prove the class where a patch pays once (softmax heads)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import torch
from torch import Tensor

from verale.bounds import Assignment, LinearMargins, SimplexRows, assignment_margins
from verale.certificate import Prices, Statement
from verale.head import Head
from verale.paradigms import ORDERS
from verale.rounding import Enclosure
from verale.search.needed import proved_margins, surely_needed
from verale.search.paradigms.of_patches import OfPatches
from verale.search.prices import Floats, PricedTrials, Rivals, rounded_up
from verale.search.problem import Pair, Problem, given_up
from verale.search.prove import HOPELESS, UNSETTLED, Explained, Proved, SpatialExplanation, propose_and_prove
from verale.search.stated import pairs_of

if TYPE_CHECKING:
    from verale.search.compiled.assigned import Assigned

__all__ = ["AssignmentSearch", "explain_assignment"]


def explain_assignment(
    problem: Problem, paradigm: Assignment, order: str, most: list[float] | None = None
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none; `most` as in `explain_spatial`.

    Statements are added until the ranges of `simplex` entail the class, which is sound here too because `assignment` is
    never looser. Then each is dropped if for every rival the best prices still prove a positive margin. The costliest
    goes first; of those that cost the same, the one whose patch has the least remainder without it.

    Statements are added in machine code (`verale.search.compiled`), and dropped there where they are exact, cost the
    same, and masses have no bounds but theirs.

    Soundness: the search uses plain floats; the result is proved from nothing but the statements and the prices.
    """
    explained: dict[int, Explained] = {}
    bounded = problem.head.domain.lower is not None or problem.head.domain.upper is not None
    if not (problem.tolerance or problem.costs or bounded):
        explained = propose_and_prove(_MachineCode(problem, paradigm, order), most)
    for image in range(len(problem)):
        if image not in explained:
            one = problem.take([image])
            grown = _grown(one, paradigm, order, math.inf if most is None else HOPELESS * most[image])
            explained[image] = grown if isinstance(grown, str) else _dropped(one, paradigm, grown)
    return [explained[image] for image in range(len(problem))]


class _MachineCode:
    """See `verale.search.prove.Engine`. Growth has a guard of its own; deletion knows which statements are needed."""

    guards: tuple[float, ...] = (0.0,)

    def __init__(self, problem: Problem, paradigm: Assignment, order: str) -> None:
        self.problem, self.paradigm, self._order = problem, paradigm, order
        self._assigned: dict[int, tuple[Rivals, Assigned]] = {}

    def choose(
        self, images: list[int], guard: float, most: list[float], early: list[list[Pair]]
    ) -> list[list[Pair] | str | None]:
        """See `Engine`."""
        return [self._chosen(image, limit) for image, limit in zip(images, most, strict=True)]

    def prove(self, chosen: dict[int, list[Pair]]) -> dict[int, Proved | None]:
        """See `Engine`: what was chosen last, with its prices."""
        return {image: self._proved(image) for image in chosen}

    def _chosen(self, image: int, limit: float) -> list[Pair] | str | None:
        from verale.search.compiled.assigned import choose_masses, drop_masses

        one = self.problem.take([image])
        rivals = Rivals.of(one)
        if self._order == ORDERS[0] and not one.avoid:
            grown = choose_masses(rivals.mass, rivals.weights, rivals.bias, limit)
        else:
            found = _grown(one, self.paradigm, self._order, limit)
            grown = None if isinstance(found, str) else found
        if isinstance(grown, int):
            return given_up(grown)
        assigned = None if grown is None else drop_masses(rivals.mass, rivals.weights, rivals.bias, rivals.noise, grown)
        if assigned is None:
            return None
        self._assigned[image] = rivals, assigned
        return assigned.pairs

    def _proved(self, image: int) -> Proved | None:
        rivals, assigned = self._assigned[image]

        def prices(rival: int) -> Floats:
            row = rivals.rivals.index(rival)
            return rounded_up(assigned.prices[row], float(assigned.margins[row]))

        proved = _proved(self.problem.take([image]), self.paradigm, assigned.pairs, prices, assigned.minimal)
        return None if isinstance(proved, str) else (proved, [])


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


def _dropped(problem: Problem, paradigm: Assignment, pairs: list[Pair]) -> Explained:
    """The explanation of one image from statements that entail its class."""
    trials = PricedTrials(problem, sorted(pairs))
    trials.drop_all()
    minimal = trials.minimal and _open_to_ranges(problem, paradigm, trials.pairs)
    return _proved(problem, paradigm, trials.pairs, trials.prices, minimal)


def _open_to_ranges(problem: Problem, paradigm: Assignment, pairs: list[Pair]) -> bool:
    """Whether without any one statement the ranges of `simplex` surely leave a rival open, as the best prices do.

    Prices do what the statements allow, so nobody needs to ask, unless the logits are bounded: a mass then has a range
    of its own, of which the prices take the lower end alone.
    """
    if not problem.head.domain.bounded:
        return True
    return not problem.tolerance and surely_needed(problem, paradigm, [pairs])[0]


def _proved(
    problem: Problem, paradigm: Assignment, pairs: list[Pair], prices: Callable[[int], Floats], minimal: bool
) -> Explained:
    """The explanation of one image with its margins, from rows that know its statements alone.

    Args:
        prices: (P,) of a rival.
    """
    rows = paradigm.from_statements(problem.patches, *_stated(problem, pairs))
    margins: Tensor = proved_margins(problem, rows.range)[0]
    (open_,) = torch.nonzero(~(margins > 0), as_tuple=True)
    stated: dict[int, dict[int, float]] = {}
    for rival in open_.tolist():
        row = prices(rival)
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
    bounds_margins_whole = True

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
