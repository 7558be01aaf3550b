"""Overlapping: which activations to state where what is stated of one bounds others too.

An end is as tight as the tightest statement says, so what statements gain together is less than the sum of what each
gains. A round counts that sum, with some share of what statements gain at the ends of others: this is a covering
problem like those of `verale.search.fewest`. By the prices of its relaxation those statements are taken that are worth
what they cost after those taken before them. The next round looks at what is left.

All of it is an estimate, for the search.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from verale.bounds import LinearMargins
from verale.rounding import Enclosure
from verale.search.programme import Basis, Relaxed, greedy_cover, relaxed

__all__ = ["Overlapping"]

_Floats = NDArray[np.float64]
_Indices = NDArray[np.int64]

_LOWER, _UPPER = 20, 6
"""So many statements are considered for each lower and each upper end."""
_CLEAR = 1e-7
"""What a margin has to exceed 0 by, so that rounding does not decide."""
_ROUNDS = 64
"""There are seldom more than ten."""
_ZERO = 1e-7


class Overlapping:
    """The statements about the activations of one image.

    Args:
        margins: of the image.
        table: (P, P) row k has the ranges that follow from the statement about a_k.
        each: (P,) what statements cost.
        left: (P,) bool, which may be made.
    """

    def __init__(self, margins: LinearMargins, table: Enclosure, each: Tensor, left: Tensor) -> None:
        rivals = margins.bias[0].isfinite()
        self._weights: _Floats = torch.cat([margins.positive[0], -margins.negative[0]])[:, rivals].numpy()
        self._fixed: _Floats = (margins.bias - margins.error)[0][rivals].numpy() - _CLEAR
        self._table: _Floats = torch.cat([table.lower, -table.upper], 1).numpy()  # (P, 2 P)
        self._each, self._left = each.numpy(), left.numpy()
        said, sources = [], []
        for side, most in ((table.lower, _LOWER), (-table.upper, _UPPER)):
            best = side.topk(min(most, len(side)), dim=0)
            said.append(best.values.T)
            sources.append(best.indices.T)
        counts = [each.shape[1] for each in said for _ in range(len(table.lower))]
        self._ends = np.repeat(np.arange(len(counts)), counts)
        self._said: _Floats = torch.cat([each.flatten() for each in said]).numpy()
        self._sources: _Indices = torch.cat([each.flatten() for each in sources]).numpy()
        self._is_own = self._sources == self._ends % len(self._each)
        self._basis: Basis | None = None

    def needed(self, box: Enclosure, share: float) -> float:
        """About what statements cost that bound the activations of a box (P,) enough; infinity where all do not."""
        ends = self._of(box)
        lacks = self._lacks(ends)
        if not (lacks > 0).any():
            return 0.0
        solution = self._relaxed(self._gains(ends, share), lacks)
        return math.inf if solution is None else solution.bound

    def chosen(self, box: Enclosure, share: float) -> tuple[list[int], list[int]]:
        """Statements that bound activations enough, the most useful first; and, in case these do not, all others.

        Args:
            box: (P,) what else bounds the activations.
            share: how much of what statements gain at the ends of others is counted.
        """
        ends, chosen = self._of(box), list[int]()
        for _ in range(_ROUNDS):
            lacks = self._lacks(ends)
            if not (lacks > 0).any():
                break
            gains = self._gains(ends, share)
            solution = self._relaxed(gains, lacks)
            if solution is None:
                break
            prices = self._weights @ solution.prices  # (2 P,)
            worth = np.flatnonzero((solution.reduced < -_ZERO) & self._left)
            taken = []
            for k in worth[np.argsort(solution.reduced[worth], kind="stable")].tolist():
                tighter = (self._table[k] - ends).clip(min=0)
                if tighter @ prices >= self._each[k]:
                    ends = np.maximum(ends, self._table[k])
                    taken.append(k)
            if not taken:
                columns = np.flatnonzero(solution.share > _ZERO)
                taken = columns[greedy_cover(gains[:, columns], lacks, lacks.copy(), self._each[columns])].tolist()
                ends = np.maximum(ends, self._table[taken].max(0))
            chosen += taken
        gained = self._gains(ends, share).sum(0)
        gained[chosen] = -1.0
        rest = [k for k in np.argsort(-gained, kind="stable").tolist() if gained[k] >= 0 and self._left[k]]
        return chosen, rest

    def pruned(self, box: Enclosure, order: Sequence[int]) -> list[int]:
        """The statements without those that are not needed, the last ones dropped first.

        Args:
            box: (P,) what else bounds the activations.
            order: the statements.
        """
        own, said = self._of(box), self._table[list(order)].T.copy()  # (2 P, n)
        ends = np.maximum(own, said.max(1, initial=-math.inf))
        lacks, kept = self._lacks(ends), []
        for index in range(len(order) - 1, -1, -1):
            (tight,) = np.nonzero((said[:, index] >= ends) & (said[:, index] > own))
            before = said[tight, index]
            said[tight, index] = -math.inf
            left = np.maximum(own[tight], said[tight].max(1, initial=-math.inf))
            moved = lacks + (ends[tight] - left) @ self._weights[tight]
            if (moved < 0).all():
                lacks, ends[tight] = moved, left
                said[:, index] = -math.inf
            else:
                said[tight, index] = before
                kept.append(order[index])
        return kept[::-1]

    def _of(self, box: Enclosure) -> _Floats:
        return np.concatenate([box.lower.numpy(), -box.upper.numpy()])

    def _lacks(self, ends: _Floats) -> _Floats:
        """(R,) what rivals lack."""
        lacks: _Floats = -(self._fixed + ends @ self._weights)
        return lacks

    def _gains(self, ends: _Floats, share: float) -> _Floats:
        """(R, P) what each statement gains alone."""
        tighter, counted = self._said - ends[self._ends], np.where(self._is_own, 1.0, share)
        # Of what may not be stated, a value may be infinite.
        used = (tighter > 0) & (counted > 0) & self._left[self._sources]
        size = len(self._each)
        gained = tighter[used] * counted[used]
        alone = csr_array((gained, (self._sources[used], self._ends[used])), shape=(size, 2 * size))
        gains: _Floats = (alone @ self._weights).T
        return gains

    def _relaxed(self, gains: _Floats, lacks: _Floats) -> Relaxed | None:
        solution = relaxed(lambda rows: gains[rows], lambda share: gains @ share, lacks, self._each, self._basis)
        self._basis = self._basis if solution is None else solution.basis
        return solution
