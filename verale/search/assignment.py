"""Assignment: a simplex explanation, and prices that let more of it be dropped (softmax heads)."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import torch

from verale.bounds import Assignment, LinearMargins, SimplexRows, assignment_margins, take
from verale.head import Head
from verale.rounding import UNIT
from verale.search.matching import Floats, Matching, Places
from verale.search.problem import Pair, Problem
from verale.search.shrink import proved_margins
from verale.search.spatial import UNSETTLED, Spatial, explain_spatial, from_scratch

__all__ = ["explain_assignment"]

_LOST = 8
"""Prices are rounded up to few digits; of a margin at most one part in so many goes that way."""


def explain_assignment(problem: Problem, paradigm: Assignment, order: str) -> list[Spatial | str]:
    """For each image an explanation, or the reason why there is none.

    What `simplex` explains is sound here too, since `assignment` is never looser. From there each statement is dropped
    if it can be, those about small masses first: they leave least to their patch.

    Soundness: the trials use plain floats; what is kept is proved from nothing but the statements and the prices.
    """
    found = explain_spatial(problem, paradigm, order)
    trials = {
        image: _Trials(problem.take([image]), sorted(simple.pairs))
        for image, simple in enumerate(found)
        if not isinstance(simple, str)
    }
    for trial in trials.values():
        trial.drop_all()
    pairs = [trials[image].pairs if image in trials else [] for image in range(len(problem))]
    rows = from_scratch(problem, paradigm, pairs)
    for image, trial in trials.items():
        found[image] = _proved(problem.take([image]), take(rows, problem.rows_of([image])), trial)
    return found


def _proved(problem: Problem, rows: SimplexRows, trials: _Trials) -> Spatial | str:
    """The explanation of one image with its margins, from rows that know its statements alone."""
    margins = proved_margins(problem, rows)
    (open_,) = torch.nonzero(~(margins[0] > 0), as_tuple=True)
    written: dict[int, dict[int, float]] = {}
    if len(open_):
        prices = torch.zeros(len(open_), problem.head.size, dtype=torch.float64)
        for place, rival in enumerate(open_.tolist()):
            prices[place] = torch.from_numpy(trials.prices(rival))
            written[rival] = {k: float(prices[place, k]) for k in prices[place].nonzero()[:, 0].tolist()}
        linear = cast(LinearMargins, problem.margins)  # of masses nothing else is read out
        proved = assignment_margins(rows, linear.keep(open_[None]), prices.to(margins))
        margins[0, open_] = torch.maximum(margins[0, open_], proved)
    if not bool((margins > 0).all()):
        return UNSETTLED
    return Spatial(trials.pairs, margins[0], trials.minimal, written)


class _Trials:
    """The statements left of one image, what they leave open, and for every rival prices that close it.

    Of each rival only the prototypes with w_k > 0 are kept, the greatest first: (K, Q) places, filled up with w_k = 0.

    Attributes:
        pairs: the statements left.
        minimal: whether every deletion that failed missed the class by more than rounding can explain. Bounds are
            monotone, so what fails once fails for every subset too.
    """

    def __init__(self, problem: Problem, pairs: list[Pair]) -> None:
        self.pairs, self.minimal = pairs, True
        self._low = problem.observed.lower.cpu().numpy()
        self._high = problem.observed.upper.cpu().numpy()
        self._stated = np.zeros(self._low.shape, dtype=bool)
        self._stated[tuple(np.array(pairs, dtype=np.int64).reshape(-1, 2).T)] = True
        self._left, self._tops, self._floors = np.zeros(len(self._low)), self._low * 0, self._low * 0
        for patch in range(len(self._low)):
            self._left[patch], self._tops[patch], self._floors[patch] = self._patch(patch)
        self._top, self._floor = self._tops.max(0), self._floors.max(0)
        self._undo: list[tuple[Any, Any, Any]] = []

        predicted = int(problem.margins.predicted[0])
        weight, bias = _linear(problem.head)
        self._rivals = [c for c in range(len(weight)) if c != predicted]
        difference = weight[self._rivals] - weight[predicted]
        self._bias, self._pay = bias[predicted] - bias[self._rivals], difference.clip(max=0)
        self._needed = (difference > 0).sum(1)
        self._places = np.argsort(-difference, axis=1, kind="stable")[:, : self._needed.max()]
        self._gain = np.take_along_axis(difference, self._places, 1).clip(min=0)
        # A remainder is off by P roundings, a sum over prototypes and patches by as many as it has terms.
        terms = 4 * sum(self._low.shape) + 64
        self._noise = terms * UNIT * (np.abs(difference).sum(1) + np.abs(self._bias))

        # Simplex: each prototype can have the largest remainder there is for it, and pays as much.
        most = np.where(self._stated, 0.0, self._left[:, None]).max(0)
        self._prices = self._gain * (most - self._top).clip(min=0)[self._places]
        self._excess = np.zeros((len(self._rivals), len(self._low)))
        self._matchings: dict[int, Matching] = {}

    def drop_all(self) -> None:
        """Try every statement once."""
        self.pairs = sorted(pair for pair in sorted(self.pairs, key=lambda p: self._low[p]) if not self._drop(*pair))

    def prices(self, rival: int) -> Floats:
        """The best prices (P,) of a rival, rounded up to a grid that is as coarse as its margin allows."""
        place = self._rivals.index(rival)
        margin = float(self._known()[place]) - self._solve(place)
        prices: Floats = np.zeros(self._low.shape[1])
        prices[self._of(place)[0]] = self._prices[place, : self._needed[place]]
        if not margin > 0:
            return prices
        grid = 2.0 ** math.floor(math.log2(margin / (_LOST * self._needed[place])))
        rounded: Floats = np.ceil(prices / grid) * grid
        return rounded

    def _patch(self, patch: int) -> tuple[float, Floats, Floats]:
        """What is left of a patch, and the ends that `simplex` gives its masses: 0 for the upper of an unstated one."""
        stated, low, high = self._stated[patch], self._low[patch], self._high[patch]
        left = max(0.0, 1.0 - float(low[stated].sum()))
        floor = np.where(stated, low, 0.0)
        if stated.sum() >= len(stated) - 1:  # the last mass is what the others leave
            others = float(high[stated].sum()) - np.where(stated, high, 0.0)
            floor = np.where(stated & ~stated.all(), floor, np.maximum(floor, 1.0 - others))
        return left, np.where(stated, np.minimum(high, low + left), 0.0), floor

    def _drop(self, patch: int, prototype: int) -> bool:
        """Drop a statement, if all rivals stay closed."""
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

    def _adjust_prices(self, patch: int, moved: Places) -> None:
        """Cheap prices after a change: prototypes whose top has sunk pay for the other patches, the patch its own."""
        for k in moved:
            where = np.nonzero((self._places == k) & (self._gain > 0))
            gap = np.where(self._stated[:, k], 0.0, self._left - self._top[k]).clip(min=0)
            gap[patch] = 0.0
            paid = self._prices[where]
            beyond = self._gain[where][:, None] * gap - paid[:, None] - self._excess[where[0]]
            self._set(self._prices, where, paid + beyond.max(1).clip(min=0))
        gap = np.where(self._stated[patch], 0.0, self._left[patch] - self._top).clip(min=0)
        excess = (self._gain * gap[self._places] - self._prices).max(1, initial=0.0)
        self._set(self._excess, (slice(None), patch), excess)

    def _closed(self) -> bool:
        """Whether every rival is, by the best prices; the cheap ones and old matchings decide most."""
        known = self._known()
        margins = known - self._prices.sum(1) - self._excess.sum(1)
        doubtful = np.flatnonzero(margins <= self._noise).tolist()
        at_most = {rival: known[rival] - self._matched(rival) for rival in doubtful if rival in self._matchings}
        if any(most < -self._noise[rival] for rival, most in at_most.items()):
            return False
        for rival in sorted(doubtful, key=lambda rival: at_most.get(rival, np.inf)):  # the likeliest to fail first
            if known[rival] - self._solve(rival) <= self._noise[rival]:
                self.minimal &= bool(known[rival] - self._matched(rival) < -self._noise[rival])
                return False
        return True

    def _matched(self, rival: int) -> float:
        """What a rival's matching gives it, which no prices can cost less than."""
        return self._matchings[rival].weight(self._weights(rival))

    def _known(self) -> Floats:
        """(K,) the margins if remainders went nowhere."""
        known: Floats = self._bias - self._pay @ self._floor - (self._gain * self._top[self._places]).sum(1)
        return known

    def _weights(self, rival: int) -> Floats:
        """(L, q) w_k (R_l - o_k)^+ for the prototypes with w_k > 0, 0 where k is stated."""
        chosen, gain = self._of(rival)
        gap: Floats = np.where(self._stated[:, chosen], 0.0, self._left[:, None] - self._top[chosen]).clip(min=0)
        return gain * gap

    def _of(self, rival: int) -> tuple[Places, Floats]:
        """The prototypes with w_k > 0, and w_k."""
        needed = self._needed[rival]
        return self._places[rival, :needed], self._gain[rival, :needed]

    def _solve(self, rival: int) -> float:
        """Set the best prices of a rival; returns what they and the patches' excess sum to."""
        weights, (chosen, gain) = self._weights(rival), self._of(rival)
        v, matching = _ranked(gain, self._left, self._top[chosen])
        u = (weights - v).max(1, initial=0.0)
        matching.improve(weights, u, v)
        self._matchings[rival] = matching
        self._set(self._prices, (rival, slice(len(v))), v)
        self._set(self._excess, rival, (weights - v).max(1, initial=0.0))
        return float(self._prices[rival].sum() + self._excess[rival].sum())


def _ranked(gain: Floats, left: Floats, top: Floats) -> tuple[Floats, Matching]:
    """Prices and a matching that are best if w_k (R_l - o_k) is never negative and nothing is stated: by rank.

    Products of sorted factors are heaviest in order, and prices with v_i - v_i+1 = (w_i - w_i+1) R_i+1 prove it.

    Args:
        gain: (q,) w_k, the greatest first.
        left: (L,) R_l.
        top: (q,) o_k.
    """
    rows, columns = np.argsort(-left, kind="stable"), np.arange(len(gain))
    descending = np.zeros(len(gain) + len(left) + 1)
    descending[: len(rows)] = left[rows]
    for _ in range(2):  # those that gain nothing at their rank stand back
        columns = columns[descending[: len(columns)] > top[columns]]
    worth = gain[columns]
    steps = (worth - np.append(worth[1:], 0.0)) * descending[1 : len(columns) + 1]
    prices = np.zeros(len(gain))
    prices[columns] = (steps[::-1].cumsum()[::-1] - worth * top[columns]).clip(min=0)
    of_row, of_column = np.full(len(left), -1), np.full(len(gain), -1)
    paired = min(len(rows), len(columns))
    of_row[rows[:paired]], of_column[columns[:paired]] = columns[:paired], rows[:paired]
    return prices, Matching(of_row, of_column)


def _linear(head: Head) -> tuple[Floats, Floats]:
    weight: Floats = head.weight.cpu().double().numpy()
    return weight, np.zeros(len(weight)) if head.bias is None else head.bias.cpu().double().numpy()
