"""Assignment: statements about masses, and prices that prove the class where a patch pays once (softmax heads)."""

from __future__ import annotations

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
from verale.search.prove import HOPELESS, UNSETTLED, Explained, SpatialExplanation, not_surely_needed, pairs_of

_Priced = Sequence[Mapping[int, Mapping[int, float]]]
"""For each image, rivals and the prices of prototypes."""


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
    """Statements are added until the ranges of `simplex` entail the class, which is sound here too because `assignment`
    is never looser. Then each is dropped if for every rival the best prices still prove a positive margin. The
    costliest goes first; of those that cost the same, the one whose patch has the least remainder without it.

    Soundness: the search uses plain floats; the result is proved from nothing but the statements and the prices.
    """

    name = "assignment"
    bounds = Assignment

    @property
    def is_alone(self) -> bool:
        return False

    @property
    def bytes_per_patch(self) -> int:
        """See `ParadigmSearch`: with what is kept of each prototype and each class, shared among patches."""
        return super().bytes_per_patch + 64 * self.head.size * self.head.classes // self.patches

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        super().require(head, patches)
        Assignment.require(head)

    def explain(self, problem: Problem, order: str, most: list[float]) -> list[Explained]:
        masses = Masses.of(problem)
        grown = grow_masses(masses, order, [HOPELESS * limit for limit in most])
        explained: dict[int, Explained] = {
            image: growth.failure for image, growth in enumerate(grown) if growth.failure
        }
        images = [image for image in range(len(problem)) if image not in explained]
        if images:
            stated = [grown[image].stated for image in images]
            assigned = assign_masses(masses.take(problem.index(images)), stated, once=not problem.tolerance)
            explained |= zip(images, self._proved(problem.take(images), assigned), strict=True)
        return [explained[image] for image in range(len(problem))]

    def _proved(self, problem: Problem, assigned: list[Assigned]) -> list[Explained]:
        """The explanations with their margins, from rows that know the statements alone.

        Without any one statement the ranges of `simplex` surely leave a rival open, as the best prices do: prices do
        what the statements allow, so nobody needs to ask, unless the logits are bounded. A mass then has a range of its
        own, of which the prices take the lower end alone.
        """
        explanations = [assignment.pairs for assignment in assigned]
        rows = _rows(problem, self.spatial, explanations)
        alone = problem.proved_margins(rows.range)
        prices = [
            {rival: paid for rival, paid in assignment.prices.items() if is_open[rival]}
            for assignment, is_open in zip(assigned, (~(alone > 0)).tolist(), strict=True)
        ]
        margins = _with_prices(problem, rows, alone, prices)
        explained: list[Explained] = []
        for image, each in enumerate(assigned):
            minimal = each.minimal
            if minimal and problem.head.domain.bounded:
                one = problem.take([image])
                minimal = not problem.tolerance and not not_surely_needed(one, self.spatial, each.pairs)
            found = SpatialExplanation(each.pairs, margins[image], minimal, prices[image])
            explained.append(found if bool((margins[image] > 0).all()) else UNSETTLED)
        return explained

    def prove(self, problem: Problem, statements: Sequence[Statement], prices: Sequence[Prices] = ()) -> Tensor:
        """See `ParadigmSearch`: with prices of prototypes for some rivals."""
        stated, pairs = problem.with_ends(statements), pairs_of(statements)
        paid = {each.rival: dict(zip(each.prototypes, each.values, strict=True)) for each in prices}
        rows = _rows(stated, self.spatial, [pairs])
        return _with_prices(stated, rows, stated.proved_margins(rows.range), [paid])[0]
