"""Sparse: state the activations that support the class and those that rivals require, then drop what is not needed."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.bounds import TopK
from verale.rounding import Enclosure
from verale.search.problem import NOISE, Problem, UnexplainedError

__all__ = ["explain_sparse"]


def explain_sparse(problem: Problem) -> tuple[list[int], Tensor, bool]:
    """A subset-minimal explanation of one image by activations alone.

    It starts from the prototypes with a positive weight for the predicted class. While a rival is open, it states the
    activation that costs the worst rival most. Then it drops each statement, the smallest activation first, if the
    class still follows without it.

    Returns:
        The prototypes stated, the proved margins (C,), and whether every one is needed: without it, the bounds miss the
        class by more than rounding can explain.

    Raises:
        UnexplainedError: a rival stays open though every activation that could help is stated.

    Soundness: bounds are monotone in E; every deletion is proved.
    """
    observed = problem.stated_activations()[0]
    paradigm = TopK.of(problem.head, problem.patches, observed.lower.device)
    all_exempt = torch.ones(1, problem.head.size, dtype=torch.bool, device=observed.lower.device)
    no_order = observed.lower.new_full((1,), torch.inf)
    bounds = problem.margins

    def box_of(stated: Tensor) -> Enclosure:
        return paradigm.box(stated[None], all_exempt, no_order, observed)

    def margins_of(stated: Tensor) -> Tensor:
        return bounds.lower(box_of(stated)[None])[0, 0]

    actual = (observed.lower + observed.upper) / 2
    cost_low, cost_high = actual - paradigm.range.lower, paradigm.range.upper - actual
    stated = problem.head.weight.to(actual)[bounds.predicted[0]] > 0
    margins = margins_of(stated)
    while not bool((margins > 0).all()):
        worst = int(margins.argmin())
        favour, against = bounds.wishes(box_of(stated), actual[None], problem.index([worst]))
        loss = favour[0] * cost_low + against[0] * cost_high
        costliest = int(loss.masked_fill(stated, 0.0).argmax())
        if stated[costliest] or not loss[costliest] > 0:
            raise UnexplainedError(
                f"class {worst} stays open (margin >= {float(margins[worst]):.3g}) though every activation that could "
                "help is stated"
            )
        stated[costliest] = True
        margins = margins_of(stated)

    minimal, noise = True, NOISE * bounds.error[0].amax()
    for prototype in sorted(stated.nonzero()[:, 0].tolist(), key=actual.tolist().__getitem__):
        trial = stated.clone()
        trial[prototype] = False
        least = margins_of(trial).amin()
        if least > 0:
            stated = trial
        else:
            minimal &= bool(least < -noise)
    return stated.nonzero()[:, 0].tolist(), margins_of(stated), minimal
