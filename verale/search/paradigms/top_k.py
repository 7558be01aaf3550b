"""Top-k: the fewest activations that, with a ceiling and a floor for the others, entail the class."""

from __future__ import annotations

from bisect import bisect_left

import torch

from verale.paradigms import HIGHEST
from verale.search.activations import ActivationExplanation, Activations
from verale.search.avoid import NONE_FOUND
from verale.search.paradigms.of_activations import OfActivationsAlone
from verale.search.problem import Problem, UnexplainedError
from verale.search.stated import Stated

__all__ = ["TopKSearch", "explain_top_k", "highest"]


def explain_top_k(problem: Problem, fewest: bool = True) -> ActivationExplanation:
    """A subset-minimal top-k explanation of one image, the smaller of two.

    One states the highest activations (`highest`). The other, where the readout is linear, chooses ceiling, floor and
    stated activations freely, so that they are few (`Covers`). From both, each statement is dropped if the
    class still follows without it: the clauses first, then the lowest activation, or the one that the cover needs
    least.

    Args:
        problem: of one image.
        fewest: whether to try the second one too.

    Raises:
        UnexplainedError: all activations that may be stated do not prove the class together.
    """
    activations = Activations(problem)
    covers = activations.covers if fewest else None
    cover = None if covers is None else covers.best(activations.clauses)
    try:
        first, stated = highest(activations)
    except UnexplainedError as error:
        # A ceiling above every avoided activation is too high; one below some of them, or a floor, may serve.
        if cover is None or not activations.least(activations.cover(cover)) > 0:
            raise (UnexplainedError(NONE_FOUND) if problem.avoid else error) from None
        return activations.smallest([], cover)
    return activations.smallest([(stated, first)], cover)


def highest(activations: Activations) -> tuple[list[int], Stated]:
    """The least k such that the class follows from the k highest activations, and that no other exceeds the k-th.

    Avoided prototypes are not among the k; where one of them is higher than the k-th, it is what no other exceeds.

    Returns:
        The prototypes, the highest first, and what is stated: their activations, and a ceiling that exempts them.

    Raises:
        UnexplainedError: all activations that may be stated do not prove the class together.

    Soundness: margins are monotone in k, so bisection finds the least k.
    """
    upper = activations.observed.upper
    left = activations.problem.prototypes_left
    rank = upper.argsort(descending=True, stable=True)
    rank, avoided = rank[left[rank]], upper[~left]

    def at(k: int) -> tuple[list[int], Stated]:
        first, below = rank[:k].tolist(), torch.ones_like(left)
        below[first] = False
        ceiling = float(torch.cat([upper[rank[max(k, 1) - 1 :]], avoided]).amax())
        return first, activations.state(first).under(ceiling, below)

    def entails(k: int) -> bool:
        return activations.least(at(k)[1]) > 0

    size = len(rank)
    if not entails(size):
        raise UnexplainedError("the class stays open though every activation is stated")
    return at(bisect_left(range(size), True, key=entails))


class TopKSearch(OfActivationsAlone):
    """See `explain_top_k`."""

    name = "top_k"

    @property
    def may_be_hopeless(self) -> bool:
        """See `OneByOne`: of the highest activations all are stated, however many."""
        return self.options.order != HIGHEST

    def explain(self, problem: Problem, most: float) -> ActivationExplanation:
        """See `OneByOne`."""
        return explain_top_k(problem, self.options.order != HIGHEST)
