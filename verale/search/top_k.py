"""Top-k: state the fewest highest activations that entail the class, then drop what is not needed."""

from __future__ import annotations

import torch
from torch import Tensor

from verale.bounds import TopK
from verale.search.problem import NOISE, Problem, UnexplainedError

__all__ = ["ORDER", "explain_top_k"]

ORDER = -1
"""Stands for the order clause among the prototypes of a top-k explanation."""


def explain_top_k(problem: Problem) -> tuple[list[int], list[int], float, Tensor, bool]:
    """A subset-minimal top-k explanation of one image.

    The k highest activations are stated, and the order clause says that no other activation exceeds the k-th. Bisection
    gives the least k that entails the class. Then each statement is dropped if the class still follows without it, the
    order clause first, then the lowest activation.

    Returns:
        The statements kept (prototypes, ORDER for the order clause), the prototypes that the clause exempts, its upper
        end, the proved margins (C,), and whether every statement is needed: without it, the bounds miss the class by
        more than rounding can explain.

    Raises:
        UnexplainedError: all activations together do not prove the class.

    Soundness: bounds are monotone in E and margins in k, so bisection finds the least k; every deletion is proved.
    """
    observed = problem.stated_activations()[0]
    paradigm = TopK.of(problem.head, problem.patches, observed.lower.device)
    size = problem.head.size
    rank = observed.upper.argsort(descending=True, stable=True)
    position = torch.empty_like(rank)
    position[rank] = torch.arange(size, device=rank.device)

    def margins_of(stated: Tensor, exempt: Tensor, order: Tensor) -> Tensor:
        return problem.margins.lower(paradigm.box(stated, exempt, order, observed)[None])[0, 0]

    def margins_at(k: int) -> Tensor:
        stated = (position < k)[None]
        return margins_of(stated, stated, observed.upper[rank[max(k, 1) - 1 :]].amax()[None])

    if not bool((margins_at(size) > 0).all()):
        raise UnexplainedError("the class stays open though every activation is stated")
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if bool((margins_at(middle) > 0).all()):
            high = middle
        else:
            low = middle + 1
    top = rank[:high].tolist()
    exempt = (position < high)[None]
    clause = observed.upper[rank[max(high, 1) - 1 :]].amax()

    minimal, noise = True, NOISE * problem.margins.error[0].amax()
    kept = [*top, ORDER]
    stated, order = exempt.clone(), clause[None]
    for dropped in reversed(kept.copy()):
        trial, bound = stated.clone(), order.clone()
        if dropped == ORDER:
            bound[0] = torch.inf
        else:
            trial[0, dropped] = False
        least = margins_of(trial, exempt, bound).amin()
        if least > 0:
            stated, order = trial, bound
            kept.remove(dropped)
        else:
            minimal &= bool(least < -noise)
    return kept, sorted(top), float(clause), margins_of(stated, exempt, order), minimal
