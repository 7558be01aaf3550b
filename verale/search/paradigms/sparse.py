"""Sparse: the fewest activations that entail the class, without clauses about the others."""

from __future__ import annotations

from typing import cast

from verale.bounds import LinearMargins
from verale.bounds.rows import require_geometry
from verale.certificate.words import below
from verale.head import Head
from verale.search.activations import ActivationExplanation, Activations
from verale.search.paradigms.of_activations import OfActivationsAlone
from verale.search.problem import Problem, UnexplainedError

__all__ = ["SparseSearch", "explain_sparse", "supporting"]


def explain_sparse(problem: Problem) -> ActivationExplanation:
    """A subset-minimal explanation of one image by activations alone, the smaller of two.

    One begins with the activations that support the class (`supporting`), the other with those of a small cover
    (`Covers`). From both, each statement is dropped if the class still follows without it: the smallest
    activation first, or the one that the cover needs least.

    Raises:
        UnexplainedError: a rival stays open though every activation that could help is stated.
    """
    activations = Activations(problem)
    first = supporting(activations)
    covers = activations.covers
    cover = None if covers is None else covers.plain(activations.clauses)
    return activations.smallest([(activations.state(first), first)], cover)


def supporting(activations: Activations) -> list[int]:
    """Prototypes whose activations entail the class, the greatest activation first.

    It starts from the prototypes with a positive weight for the predicted class. While a rival is open, it states the
    activation that costs the worst rival most.

    Raises:
        UnexplainedError: a rival stays open though every activation that could help is stated.
    """
    problem, observed, range = activations.problem, activations.observed, activations.range
    bounds = cast(LinearMargins, problem.margins)  # softmax heads have no other
    actual = (observed.lower + observed.upper) / 2
    cost_low, cost_high = actual - range.lower, range.upper - actual
    left = problem.prototypes_left
    stated = (problem.head.weight.to(actual)[bounds.predicted[0]] > 0) & left
    while True:
        prototypes = sorted(stated.nonzero()[:, 0].tolist(), key=actual.tolist().__getitem__, reverse=True)
        ends = activations.state(prototypes)
        margins = activations.margins(ends)
        if bool((margins > 0).all()):
            return prototypes
        worst = int(margins.argmin())
        loss = bounds.positive[0, :, worst] * cost_low - bounds.negative[0, :, worst] * cost_high
        loss = loss.masked_fill(stated | ~left, 0.0)
        costliest = int(loss.argmax())
        if not loss[costliest] > 0:
            raise UnexplainedError(
                f"class {worst} stays open (margin >= {below(float(margins[worst]))}) though every activation that"
                " could help is stated"
            )
        stated[costliest] = True


class SparseSearch(OfActivationsAlone):
    """See `explain_sparse`."""

    name = "sparse"

    def explain(self, problem: Problem, most: float) -> ActivationExplanation:
        """See `OneByOne`."""
        return explain_sparse(problem)

    @classmethod
    def require(cls, head: Head, patches: int) -> None:
        """See `ParadigmSearch`."""
        require_geometry(cls.name, head, "a softmax head; for a metric head use 'top_k'")
