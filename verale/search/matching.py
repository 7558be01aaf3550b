"""What remainders can give a rival: a bound for all rivals at once, the heaviest matching of one, and prices.

A rival's excess over the predicted class is what an assignment of remainders to its prototypes can give it
(`verale.bounds.simplex`): patch l gives prototype k at most x_lk = w_k (R_l - o_k)^+, or nothing where k is stated
at l. The heaviest matching of patches and prototypes is what it gives at most; the best prices sum to as much.

All rivals are bounded together. Since (R - o)^+ <= R (1 - o / M)^+ for R <= M, the greatest remainder, x_lk is at most
the product of R_l and v_k = w_k (1 - o_k / M)^+. The heaviest matching of a product pairs the greatest with the
greatest. Only rivals that this leaves open need a matching of their own, on the host, by scipy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from verale.search.masses import Masses

__all__ = ["Floats", "Matching", "Payers", "heaviest_matching", "least_prices"]

_SLACK = 1e-13
"""Prices have risen enough when rounding may move them further, relative to the most that a patch can give."""

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Payers:
    """For each rival of N images the prototypes k with w_k = W_c,k - W_predicted,k > 0, the greatest first.

    Attributes:
        weight: (N, C, Q) w_k, 0 where there are fewer.
        prototype: (N, C, Q) k.
    """

    weight: Tensor
    prototype: Tensor

    @classmethod
    def of(cls, masses: Masses, stated: int) -> Payers:
        """Those that count where an image of L patches has at most so many statements: L of them get something, and no
        more than the stated ones get nothing although they come first."""
        weight = -masses.negative.transpose(1, 2)
        count = max(1, min(int((weight > 0).sum(2).max()), masses.low.shape[1] + stated))
        weight, prototype = weight.topk(count, dim=2)
        return cls(weight.clamp(min=0), prototype)

    def bounded(self, left: Tensor, top: Tensor, margins: Tensor, above: Tensor) -> Tensor:
        """Lower bounds (N, C) of the margins that the best prices prove.

        Args:
            left: (N, L) remainders.
            top: (N, P) the greatest stated ends of activations.
            margins: (N, C) those if no prototype got a remainder.
            above: (N, C) what margins have to exceed. Where w_k R_l, without o_k, shows this, it is the bound.
        """
        greatest = left.sort(1, descending=True).values
        count = min(self.weight.shape[2], greatest.shape[1])
        bound = margins - (self.weight[..., :count] @ greatest[:, :count, None])[..., 0]
        images, rivals = (bound <= above).nonzero(as_tuple=True)
        value = self.values(images, rivals, left, top).topk(count, dim=1).values
        bound[images, rivals] = margins[images, rivals] - (value * greatest[images, :count]).sum(1)
        return bound

    def values(self, images: Tensor, rivals: Tensor, left: Tensor, top: Tensor) -> Tensor:
        """(B, Q) the v_k of some rivals."""
        most = left.amax(1).clamp(min=1e-300)[images, None]
        tops = top[images[:, None], self.prototype[images, rivals]]
        return self.weight[images, rivals] * (1 - tops / most).clamp(min=0)

    def prices(self, images: Tensor, rivals: Tensor, left: Tensor, top: Tensor) -> Tensor:
        """(B, Q) the least prices with which the bound's product proves it, for some rivals.

        With both sorted, price_i - price_(i+1) = (v_i - v_(i+1)) R_(i+1), and R is 0 after the last patch.
        """
        value, order = self.values(images, rivals, left, top).sort(1, descending=True)
        count = min(value.shape[1], left.shape[1])
        fall = value[:, :count] - torch.nn.functional.pad(value, (0, 1))[:, 1 : count + 1]
        greatest = torch.nn.functional.pad(left.sort(1, descending=True).values, (0, 1))[images, 1 : count + 1]
        price = (fall * greatest).flip(1).cumsum(1).flip(1)
        return torch.zeros_like(value).scatter(1, order[:, :count], price)


@dataclass(frozen=True, eq=False)
class Matching:
    """A heaviest matching of patches and some prototypes.

    Attributes:
        gives: (L, Q) what patches can give these prototypes.
        prototypes: (Q,) which these are.
        patches, columns: (M,) the pairs that are matched.
    """

    gives: Floats
    prototypes: Indices
    patches: Indices
    columns: Indices

    @property
    def gained(self) -> Floats:
        """(M,) what each pair gives."""
        gained: Floats = self.gives[self.patches, self.columns]
        return gained


def heaviest_matching(weight: Floats, left: Floats, top: Floats, stated: NDArray[np.bool_]) -> Matching:
    """The heaviest matching for one rival.

    Args:
        weight: (P,) w_k; those up to 0 get nothing.
        left: (L,) remainders.
        top: (P,) o_k.
        stated: (L, P) what is stated.
    """
    (prototypes,) = ((weight > 0) & (top < left.max())).nonzero()
    gives = weight[prototypes] * np.maximum(left[:, None] - top[prototypes], 0.0)
    gives[stated[:, prototypes]] = 0.0
    return Matching(gives, prototypes, *linear_sum_assignment(gives, maximize=True))


def least_prices(matching: Matching) -> Floats:
    """(Q,) the least prices that sum, with what patches can give beyond them, to what a heaviest matching gives.

    A patch keeps what its pair gives less the price; a price is at least what any patch would give beyond what it
    keeps. From prices of 0 these rise, each along a path of pairs: first those whose pairs give least.
    """
    gives, prices = np.ascontiguousarray(matching.gives.T), np.zeros(matching.gives.shape[1])
    gained = matching.gained
    keeps = np.zeros(gives.shape[1])
    keeps[matching.patches] = gained
    order = gained.argsort(kind="stable")
    pairs = list(zip(matching.columns[order].tolist(), matching.patches[order].tolist(), strict=True))
    slack = _SLACK * float(gives.max(initial=0.0))
    for _ in prices:
        for column, patch in pairs:
            rise = float((gives[column] - keeps).max()) - prices[column]
            if rise > 0:
                prices[column] += rise
                keeps[patch] = max(keeps[patch] - rise, 0.0)
        if float(((gives - keeps).max(1, initial=0.0) - prices).max(initial=0.0)) <= slack:
            break
    return prices
