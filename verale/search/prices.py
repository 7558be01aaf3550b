"""Statements about masses dropped one by one, while the best prices close every rival (softmax heads)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verale.bounds import domain_range
from verale.head import Head
from verale.rounding import UNIT
from verale.search.problem import Pair, Problem

__all__ = ["Floats", "Indices", "PricedTrials", "Rivals", "best_prices", "rounded_up"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_PRICE_SHARE = 8
"""Prices are rounded up to few digits, which costs at most one part in so many of a margin."""


_SLACK = 1e-13
"""How far rounding may move a zero, relative to the largest weight."""


def best_prices(weights: Floats) -> tuple[Floats, tuple[Indices, Indices]]:
    """The least prices (m,) which prove that no matching of n rows to m columns is heavier than one, and this matching.

    A row that is matched can give no other column more than its own one leaves it; a row that is not, nothing more than
    the price. Raised until that holds, prices are no greater than any others that prove it, and so sum to least.

    Args:
        weights: (n, m), >= 0.

    Returns:
        The prices; the matching, as an index of `weights`.
    """
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(weights, maximize=True)
    own, others, slack = weights[rows, columns], weights[rows], _SLACK * weights.max(initial=0.0)
    prices: Floats = np.delete(weights, rows, 0).max(0, initial=0.0)
    for _ in range(weights.shape[1]):
        raised = np.maximum(prices, (others - (own - prices[columns])[:, None]).max(0, initial=0.0))
        if not (raised > prices + slack).any():
            break
        prices = raised
    return prices, (rows, columns)


def rounded_up(prices: Floats, margin: float) -> Floats:
    """Prices (P,) rounded up to a grid that is as coarse as the margin that they prove allows."""
    needed = np.count_nonzero(prices)
    if not (margin > 0 and needed):
        return prices
    grid = 2.0 ** math.floor(math.log2(margin / (_PRICE_SHARE * needed)))
    rounded: Floats = np.ceil(prices / grid) * grid
    return rounded


@dataclass(frozen=True)
class Rivals:
    """One image and the rivals of its class, as arrays of plain floats.

    Attributes:
        mass: (L, P) the masses, the midpoints of what is stated.
        rivals: (K,) classes.
        weights: (K, P) W_predicted - W_rival.
        bias: (K,) b_predicted - b_rival.
        noise: (K,) more than rounding can move a margin. A remainder has P rounding errors; a sum over prototypes and
            patches has one for each of its terms.
    """

    mass: Floats
    rivals: list[int]
    weights: Floats
    bias: Floats
    noise: Floats

    @classmethod
    def of(cls, problem: Problem) -> Rivals:
        predicted = int(problem.margins.predicted[0])
        weight, bias = _linear(problem.head)
        rivals = [c for c in range(len(weight)) if c != predicted]
        weights, lead = weight[predicted] - weight[rivals], bias[predicted] - bias[rivals]
        mass: Floats = ((problem.observed.lower + problem.observed.upper) / 2).cpu().numpy()
        noise = (4 * sum(mass.shape) + 64) * UNIT * (np.abs(weights).sum(1) + np.abs(lead))
        return cls(mass, rivals, weights, lead, noise)


class PricedTrials:
    """The remaining statements of one image, what they leave open, and for every rival prices that close it.

    For each of K rivals only the prototypes with w_k > 0 count, the greatest first. The arrays are (K, Q): their
    indices and weights, padded with w_k = 0.

    Attributes:
        pairs: the remaining statements.
        minimal: whether every statement is needed: the last time that each was tried, the class was missed by more than
            rounding can explain.
    """

    def __init__(self, problem: Problem, pairs: list[Pair]) -> None:
        self.pairs, self.minimal = pairs, True
        self._monotone, self._costs = not problem.tolerance, problem.costs
        self._low = problem.observed.lower.cpu().numpy()
        self._high = problem.observed.upper.cpu().numpy()
        self._least: Floats = domain_range(problem.head).lower.numpy()
        self._stated = np.zeros(self._low.shape, dtype=bool)
        self._stated[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
        self._left, self._tops, self._floors = np.zeros(len(self._low)), self._low * 0, self._low * 0
        for patch in range(len(self._low)):
            self._left[patch], self._tops[patch], self._floors[patch] = self._patch(patch)
        self._top, self._floor = self._tops.max(0), self._floors.max(0)
        self._undo: list[tuple[Any, Any, Any]] = []

        image = Rivals.of(problem)
        difference = -image.weights
        self._rivals, self._bias, self._noise = image.rivals, image.bias, image.noise
        self._pay = difference.clip(max=0)
        self._needed = (difference > 0).sum(1)
        self._paying = np.argsort(-difference, axis=1, kind="stable")[:, : self._needed.max()]
        self._gain = np.take_along_axis(difference, self._paying, 1).clip(min=0)

        # As under simplex, each prototype may take the largest remainder that is open to it, and pays for that.
        most = np.where(self._stated, 0.0, self._left[:, None]).max(0)
        self._prices = self._gain * (most - self._top).clip(min=0)[self._paying]
        self._excess = np.zeros((len(self._rivals), len(self._low)))
        self._matchings: dict[int, tuple[Indices, Indices]] = {}

    def drop_all(self) -> None:
        """Drop statements until none can be dropped.

        Statements by equality give monotone bounds: a deletion that fails once fails for every subset too, and one pass
        is enough. Wide ones do not. A stated mass counts with its upper end, and leaves to its patch only what its
        lower end leaves; a second statement about the patch may cost more than it saves.
        """
        before: list[Pair] = []
        while before != self.pairs:
            before, self.minimal = self.pairs, True
            self.pairs = sorted(self._one_pass())
            if self._monotone:
                break

    def _one_pass(self) -> list[Pair]:
        """Try each statement once; those that stay.

        The costliest goes first; of those that cost the same, the one whose patch has the least remainder without it.
        """
        undecided: dict[float, dict[int, list[int]]] = {}
        for patch, k in sorted(self.pairs, key=lambda pair: -self._low[pair]):
            undecided.setdefault(self._costs.of_pair((patch, k)), {}).setdefault(patch, []).append(k)
        kept = []
        for _, alike in sorted(undecided.items(), reverse=True):
            while alike:
                patch = min(alike, key=lambda patch: self._left[patch] + self._low[patch, alike[patch][-1]])
                k = alike[patch].pop()
                if not alike[patch]:
                    del alike[patch]
                if not self._drop(patch, k):
                    kept.append((patch, k))
        return kept

    def prices(self, rival: int) -> Floats:
        """The best prices (P,) of a rival, rounded up."""
        row = self._rivals.index(rival)
        margin = float(self._known()[row]) - self._solve(row)
        prices: Floats = np.zeros(self._low.shape[1])
        prices[self._of(row)[0]] = self._prices[row, : self._needed[row]]
        return rounded_up(prices, margin)

    def _patch(self, patch: int) -> tuple[float, Floats, Floats]:
        """A patch's remainder, and the ends of its masses: the lower ones of `simplex`, the upper ones by the
        statements alone, 0 where none is stated."""
        stated, low, high = self._stated[patch], self._low[patch], self._high[patch]
        left = max(0.0, 1.0 - float(low[stated].sum()))
        floor = np.where(stated, low, 0.0)
        if stated.sum() >= len(stated) - 1:  # the other masses determine the last one
            others = float(high[stated].sum()) - np.where(stated, high, 0.0)
            floor = np.where(stated & ~stated.all(), floor, np.maximum(floor, 1.0 - others))
        return left, np.where(stated, np.minimum(high, low + left), 0.0), np.maximum(floor, self._least)

    def _drop(self, patch: int, prototype: int) -> bool:
        """Drop a statement if every rival stays closed; whether it was dropped."""
        self._undo.clear()
        tops, floors = self._tops[patch].copy(), self._floors[patch].copy()
        self._set(self._stated, (patch, prototype), False)
        for kept, value in zip((self._left, self._tops, self._floors), self._patch(patch), strict=True):
            self._set(kept, patch, value)
        (moved,) = np.nonzero((self._tops[patch] != tops) | (self._floors[patch] != floors))
        self._set(self._top, moved, self._tops[:, moved].max(0))
        self._set(self._floor, moved, self._floors[:, moved].max(0))
        self._adjust_prices(patch, moved)
        if self._closed():
            return True
        for array, index, value in reversed(self._undo):
            array[index] = value
        return False

    def _set(self, array: Any, index: Any, value: Any) -> None:
        self._undo.append((array, index, array[index].copy()))
        array[index] = value

    def _adjust_prices(self, patch: int, moved: Indices) -> None:
        """Prices after a change, quickly, not the best: prototypes whose top sank pay for the other patches."""
        for k in moved:
            where = np.nonzero((self._paying == k) & (self._gain > 0))
            gap = np.where(self._stated[:, k], 0.0, self._left - self._top[k]).clip(min=0)
            gap[patch] = 0.0
            paid = self._prices[where]
            beyond = self._gain[where][:, None] * gap - paid[:, None] - self._excess[where[0]]
            self._set(self._prices, where, paid + beyond.max(1).clip(min=0))
        gap = np.where(self._stated[patch], 0.0, self._left[patch] - self._top).clip(min=0)
        excess = (self._gain * gap[self._paying] - self._prices).max(1, initial=0.0)
        self._set(self._excess, (slice(None), patch), excess)

    def _closed(self) -> bool:
        """Whether the best prices close every rival. Quick prices and earlier matchings decide most cases."""
        known = self._known()
        margins = known - self._prices.sum(1) - self._excess.sum(1)
        doubtful = np.flatnonzero(margins <= self._noise).tolist()
        at_most = {rival: known[rival] - self._matched(rival) for rival in doubtful if rival in self._matchings}
        if any(most < -self._noise[rival] for rival, most in at_most.items()):
            return False
        for rival in sorted(doubtful, key=lambda rival: at_most.get(rival, np.inf)):  # the most likely to fail first
            if known[rival] - self._solve(rival) <= self._noise[rival]:
                self.minimal &= bool(known[rival] - self._matched(rival) < -self._noise[rival])
                return False
        return True

    def _matched(self, rival: int) -> float:
        """What a rival's matching gives it; no prices sum to less."""
        return float(self._weights(rival)[self._matchings[rival]].sum())

    def _known(self) -> Floats:
        """(K,) the margins if no prototype got a remainder."""
        known: Floats = self._bias - self._pay @ self._floor - (self._gain * self._top[self._paying]).sum(1)
        return known

    def _weights(self, rival: int) -> Floats:
        """(L, q) w_k (R_l - o_k)^+ for the prototypes with w_k > 0, 0 where k is stated."""
        chosen, gain = self._of(rival)
        gap: Floats = np.where(self._stated[:, chosen], 0.0, self._left[:, None] - self._top[chosen]).clip(min=0)
        return gain * gap

    def _of(self, rival: int) -> tuple[Indices, Floats]:
        """The prototypes with w_k > 0, and w_k."""
        needed = self._needed[rival]
        return self._paying[rival, :needed], self._gain[rival, :needed]

    def _solve(self, rival: int) -> float:
        """Set the best prices of a rival; returns the sum of the prices and of the patches' excess.

        Of q prototypes, only the q + 1 patches count that can give one of them most. Proof: in the problem of these
        patches alone, the best prices leave no excess at a patch without a partner. Each prototype has one among its
        q + 1 patches, since at most q have a partner. So its price is at least what that patch can give, and that is no
        less than what any patch outside can give: none of these has an excess either. The prices are feasible for all
        patches, they sum to what the matching gives, and so both are best for all patches.
        """
        weights, (chosen, _) = self._weights(rival), self._of(rival)
        rows = self._rows(chosen)
        v, (matched, columns) = best_prices(weights[rows])
        self._matchings[rival] = rows[matched], columns
        self._set(self._prices, (rival, slice(len(v))), v)
        self._set(self._excess, rival, (weights - v).max(1, initial=0.0))
        return float(self._prices[rival].sum() + self._excess[rival].sum())

    def _rows(self, chosen: Indices) -> Indices:
        """The patches with the greatest remainders, until each of q prototypes has q + 1 at which it is not stated."""
        order: Indices = np.argsort(-self._left, kind="stable")
        enough = (~self._stated[order][:, chosen]).cumsum(0) > len(chosen)
        short = int((~enough.all(1)).sum())
        return order[: short + 1]


def _linear(head: Head) -> tuple[Floats, Floats]:
    """The readout's weight (C, P) and bias (C,)."""
    weight: Floats = head.weight.cpu().double().numpy()
    return weight, np.zeros(len(weight)) if head.bias is None else head.bias.cpu().double().numpy()
