"""Assignment: statements about masses, and prices that prove the class where a patch pays once (softmax heads)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import cast

import torch
from torch import Tensor

from verale.bounds import Assignment, LinearMargins, SimplexRows, assignment_margins
from verale.certificate import Prices, Statement
from verale.head import Head
from verale.search.assigned import Assigned, assign_masses
from verale.search.masses import Masses, grow_masses
from verale.search.paradigms.of_patches import OfPatches
from verale.search.problem import Pair, Problem
from verale.search.prove import HOPELESS, UNSETTLED, Explained, SpatialExplanation, not_surely_needed
from verale.search.stated import pairs_of

__all__ = ["AssignmentSearch", "explain_assignment"]

_Priced = Sequence[Mapping[int, Mapping[int, float]]]
"""For each image, rivals and the prices of prototypes."""


def explain_assignment(
    problem: Problem, paradigm: Assignment, order: str, most: list[float] | None = None
) -> list[Explained]:
    """For each image an explanation, or the reason why there is none; `most` as in `explain_spatial`.

    Statements are added until the ranges of `simplex` entail the class, which is sound here too because `assignment` is
    never looser. Then each is dropped if for every rival the best prices still prove a positive margin. The costliest
    goes first; of those that cost the same, the one whose patch has the least remainder without it.

    Soundness: the search uses plain floats; the result is proved from nothing but the statements and the prices.
    """
    limits = [math.inf] * len(problem) if most is None else [HOPELESS * limit for limit in most]
    masses = Masses.of(problem)
    grown = grow_masses(masses, order, limits)
    explained: dict[int, Explained] = {image: growth.failure for image, growth in enumerate(grown) if growth.failure}
    images = [image for image in range(len(problem)) if image not in explained]
    if images:
        stated = [grown[image].stated for image in images]
        assigned = assign_masses(masses.take(problem.index(images)), stated, once=not problem.tolerance)
        explained |= zip(images, _proved(problem.take(images), paradigm, assigned), strict=True)
    return [explained[image] for image in range(len(problem))]


def _proved(problem: Problem, paradigm: Assignment, assigned: list[Assigned]) -> list[Explained]:
    """The explanations with their margins, from rows that know the statements alone."""
    explanations = [assignment.pairs for assignment in assigned]
    minimal = _open_to_ranges(problem, paradigm, explanations)
    rows = _rows(problem, paradigm, explanations)
    alone = problem.proved_margins(rows.range)
    open_ = (~(alone > 0)).tolist()
    prices = [
        {rival: paid for rival, paid in assignment.prices.items() if of_image[rival]}
        for assignment, of_image in zip(assigned, open_, strict=True)
    ]
    margins = _with_prices(problem, rows, alone, prices)
    return [
        SpatialExplanation(assignment.pairs, margins[image], assignment.minimal and minimal[image], prices[image])
        if bool((margins[image] > 0).all())
        else UNSETTLED
        for image, assignment in enumerate(assigned)
    ]


def _open_to_ranges(problem: Problem, paradigm: Assignment, explanations: list[list[Pair]]) -> list[bool]:
    """Whether without any one statement the ranges of `simplex` surely leave a rival open, as the best prices do.

    Prices do what the statements allow, so nobody needs to ask, unless the logits are bounded: a mass then has a range
    of its own, of which the prices take the lower end alone.
    """
    if not problem.head.domain.bounded:
        return [True] * len(explanations)
    if problem.tolerance:
        return [False] * len(explanations)
    return [not not_surely_needed(problem.take([image]), paradigm, pairs) for image, pairs in enumerate(explanations)]


def _rows(problem: Problem, paradigm: Assignment, explanations: list[list[Pair]]) -> SimplexRows:
    """The patches of all images, with their statements entered."""
    pairs = [(image * problem.patches + patch, k) for image, stated in enumerate(explanations) for patch, k in stated]
    patches, prototypes = problem.index([patch for patch, _ in pairs]), problem.index([k for _, k in pairs])
    observed = problem.observed[patches, prototypes]
    return paradigm.from_statements(len(problem) * problem.patches, patches, prototypes, observed)


def _with_prices(problem: Problem, rows: SimplexRows, margins: Tensor, prices: _Priced) -> Tensor:
    """Margins (N, C) of ranges or, where that is greater, of prices."""
    priced = [(image, rival, paid) for image, of_image in enumerate(prices) for rival, paid in of_image.items()]
    if not priced:
        return margins
    images, rivals = problem.index([image for image, _, _ in priced]), problem.index([rival for _, rival, _ in priced])
    linear = cast(LinearMargins, problem.margins)  # softmax heads have no other
    by_prices = assignment_margins(rows, linear, images, rivals, [paid for _, _, paid in priced])
    margins = margins.clone()
    margins[images, rivals] = torch.maximum(margins[images, rivals], by_prices)
    return margins


class AssignmentSearch(OfPatches):
    """See `explain_assignment`."""

    name = "assignment"
    bounds = Assignment

    @property
    def is_alone(self) -> bool:
        """See `ParadigmSearch`."""
        return False

    @property
    def bytes_per_patch(self) -> int:
        """See `ParadigmSearch`: with what is kept of each prototype and each class, shared among patches."""
        return super().bytes_per_patch + 64 * self.head.size * self.head.classes // self.patches

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
        rows = _rows(stated, self.spatial, [pairs])
        return _with_prices(stated, rows, stated.proved_margins(rows.range), [paid])[0]
