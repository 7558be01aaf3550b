"""The linear programme of covers: min e x with G x >= need and 0 <= x <= 1, by the dual simplex method.

There are far fewer rows than columns, every column has two bounds, and neighbouring programmes, whose G differ a
little, have nearly the same bases. That is what the dual simplex method with long steps is for: from any basis,
nonbasic columns are put at the bound that their reduced costs ask for, which makes the prices feasible; and one step
lets many columns pass from one bound to the other. Rows are entered when a solution violates them.

Whenever it is stopped, its prices bound the least cost from below. All of this is an estimate, for the search.

Reference: Koberstein, The dual simplex method, techniques for a fast and stable implementation (2005), chapter 3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from verale.search.costs import NEARLY_FREE

__all__ = ["Basis", "Relaxed", "greedy_cover", "relaxed"]

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ZERO = 1e-9
"""What counts as zero; rows are scaled so that all columns together give 1."""
_TOGETHER = 8, 12
"""So many violated rows are entered at once, or one in so many of all."""
_FIRST = 32
"""So many ratios are sorted first: a step seldom passes more."""
_REFACTORED = 64
"""After so many steps the inverse of the basis is computed anew."""
_STEPS = 20
"""So many steps a row are made at most; then the prices are as good as they are."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Where a programme ended; the next one may begin there.

    Attributes:
        rows: the names of its rows.
        columns: of each row, the basic column; K + r for the surplus of row r among `rows`, with K columns.
    """

    rows: list[int]
    columns: list[int]


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The solution, or how far the search for it came.

    Attributes:
        share: (K,) x.
        bound: no x costs less; the cost of `share`, if it was not stopped.
        prices: (R,) of the rows, >= 0.
        reduced: (K,) the reduced costs.
        basis: where it ended.
        is_solved: whether `share` is a solution.
    """

    share: Floats
    bound: float
    prices: Floats
    reduced: Floats
    basis: Basis
    is_solved: bool


def relaxed(
    row: Callable[[Indices], Floats],
    given: Callable[[Floats], Floats],
    need: Floats,
    each: Floats,
    start: Basis | None = None,
    most: float = math.inf,
) -> Relaxed | None:
    """Solve a programme of R rows and K columns; None if all columns together do not cover.

    Args:
        row: some rows (M, K) of G, >= 0.
        given: G x (R,) of x (K,).
        need: (R,).
        each: (K,) e > 0.
        start: where a similar programme ended.
        most: it is stopped when every solution costs more.
    """
    whole = given(np.ones(len(each)))
    if not ((whole > need) | (need <= 0)).all():
        return None
    scale = np.where(whole > 0, whole, 1.0)
    tableau = _Tableau(each)
    if start is not None and start.rows:
        names = np.array(start.rows)
        tableau.enter(names, row(names) / scale[names, None], need[names] / scale[names])
        tableau.begin(start.columns)
    few = max(_TOGETHER[0], len(need) // _TOGETHER[1])
    while True:
        is_solved = tableau.solve(most)
        share = tableau.share()
        lack = (need - given(share)) / scale
        lack[tableau.rows] = 0.0
        worst = np.argsort(-lack, kind="stable")[:few]
        worst = worst[lack[worst] > _ZERO]
        if not len(worst) or not is_solved or tableau.bound() > most:
            break
        tableau.enter(worst, row(worst) / scale[worst, None], need[worst] / scale[worst])
    prices = np.zeros(len(need))
    prices[tableau.rows] = tableau.prices.clip(min=0) / scale[tableau.rows]
    return Relaxed(share, tableau.bound(), prices, tableau.reduced, tableau.basis(), is_solved)


class _Tableau:
    """M rows G x - s = need with 0 <= s <= sum G - need, and a basis.

    Attributes:
        rows: their names.
        prices: (M,) y.
        reduced: (K,) e - y G.
    """

    def __init__(self, each: Floats) -> None:
        self._each, self._count = each, len(each)
        self.rows: list[int] = []
        self._matrix, self._need, self._room = np.zeros((0, len(each))), np.zeros(0), np.zeros(0)
        self._head = np.zeros(0, dtype=np.int64)
        self._inverse: Floats = np.zeros((0, 0))
        self._is_basic = np.zeros(len(each), dtype=bool)
        self._is_up, self._is_full = self._is_basic.copy(), np.zeros(0, dtype=bool)
        self.prices, self.reduced, self._left = np.zeros(0), each.astype(np.float64), np.zeros(0)

    def enter(self, names: Indices, rows: Floats, need: Floats) -> None:
        """Enter rows; their surplus becomes basic, so that the prices stay feasible."""
        before, added = len(self.rows), len(names)
        self.rows += names.tolist()
        own = self._head < self._count
        inverse = np.zeros((before + added, before + added))
        inverse[:before, :before] = self._inverse
        inverse[before:, :before] = rows[:, self._head[own]] @ self._inverse[own]
        inverse[range(before, before + added), range(before, before + added)] = -1.0
        self._inverse, self._matrix = inverse, np.concatenate([self._matrix, rows])
        self._need, self._room = np.append(self._need, need), np.append(self._room, 1 - need)
        self._head = np.append(self._head, self._count + before + np.arange(added))
        self._is_full, self.prices = np.append(self._is_full, [False] * added), np.append(self.prices, [0.0] * added)
        self._left = np.append(self._left, need - rows @ (self._is_up & ~self._is_basic))

    def begin(self, head: list[int]) -> None:
        """Begin with a basis, if it is one."""
        before = self._head
        self._head = np.array(head)
        self._is_basic[self._head[self._head < self._count]] = True
        if not self._refactor():
            self._head, self._is_basic = before, np.zeros(self._count, dtype=bool)
            self._refactor()

    def basis(self) -> Basis:
        return Basis(self.rows, self._head.tolist())

    def bound(self) -> float:
        """The value of the prices."""
        paid = self.prices @ self._need + self.reduced.clip(max=0).sum()
        return float(paid + (self.prices.clip(max=0) * self._room).sum())

    def share(self) -> Floats:
        """(K,) x."""
        share = (self._is_up & ~self._is_basic).astype(np.float64)
        own = self._head < self._count
        share[self._head[own]] = (self._inverse @ self._left)[own].clip(0, 1)
        return share

    def solve(self, most: float) -> bool:
        """Step until all basic variables are within their bounds; False where it was stopped."""
        for step in range(_STEPS * (len(self.rows) + 1)):
            if step % _REFACTORED == _REFACTORED - 1 and not (self._refactor() and self.bound() <= most):
                return False
            basic, own = self._inverse @ self._left, self._head < self._count
            room = np.where(own, 1.0, self._room[np.where(own, 0, self._head - self._count)]) if len(own) else basic
            beyond = np.maximum(-basic, basic - room)
            if not (beyond > _ZERO).any():
                return True
            row = int(beyond.argmax())
            if not self._step(row, float(beyond[row]), bool(basic[row] < 0)):
                return False
        return False

    def _step(self, row: int, way: float, is_below: bool) -> bool:
        """Let the basic variable of a row leave to the bound that it violates; False if no other can take its place.

        Its reduced cost grows until one of the others has none left. Those that pass zero on the way go to their other
        bound, as long as together they leave some of the way.
        """
        across = self._inverse[row] if is_below else -self._inverse[row]
        own, surplus = across @ self._matrix, -across
        may = np.flatnonzero(~self._is_basic & np.where(self._is_up, own > _ZERO, own < -_ZERO))
        is_free = np.ones(len(self.rows), dtype=bool)
        is_free[self._head[self._head >= self._count] - self._count] = False
        other = np.flatnonzero(is_free & np.where(self._is_full, surplus > _ZERO, surplus < -_ZERO))
        names = np.concatenate([may, self._count + other])
        slopes = np.abs(np.concatenate([own[may], surplus[other]]))
        ratios = np.abs(np.concatenate([self.reduced[may], self.prices[other]])) / slopes
        order, place = _reached(ratios, slopes * np.concatenate([np.ones(len(may)), self._room[other]]), way)
        if place >= len(order):
            return False
        self._flip(names[order[:place]])
        entering, leaving = int(names[order[place]]), int(self._head[row])
        self.reduced += ratios[order[place]] * own
        self.prices += ratios[order[place]] * surplus
        self._exchange(row, entering, leaving, is_below)
        return True

    def _flip(self, names: Indices) -> None:
        """To their other bounds."""
        own, surplus = names[names < self._count], names[names >= self._count] - self._count
        self._left -= self._matrix[:, own] @ np.where(self._is_up[own], -1.0, 1.0)
        self._left[surplus] += np.where(self._is_full[surplus], -1.0, 1.0) * self._room[surplus]
        self._is_up[own] ^= True
        self._is_full[surplus] ^= True

    def _exchange(self, row: int, entering: int, leaving: int, is_below: bool) -> None:
        """One column enters the basis; the other one leaves to a bound."""
        if leaving < self._count:
            self._is_basic[leaving], self._is_up[leaving] = False, not is_below
            self._left -= self._matrix[:, leaving] * (not is_below)
        else:
            self._is_full[leaving - self._count] = not is_below
            self._left[leaving - self._count] += self._room[leaving - self._count] * (not is_below)
        if entering < self._count:
            self._left += self._matrix[:, entering] * self._is_up[entering]
            self._is_basic[entering], self.reduced[entering] = True, 0.0
            column = self._inverse @ self._matrix[:, entering]
        else:
            place = entering - self._count
            self._left[place] -= self._room[place] * self._is_full[place]
            self.prices[place] = 0.0
            column = -self._inverse[:, place]
        pivot = self._inverse[row] / column[row]
        self._inverse = self._inverse - column[:, None] * pivot
        self._inverse[row] = pivot
        self._head[row] = entering

    def _refactor(self) -> bool:
        """Compute everything from the basis; False if that is none."""
        size, own = len(self.rows), self._head < self._count
        basic = np.zeros((size, size))
        basic[:, own] = self._matrix[:, self._head[own]]
        basic[self._head[~own] - self._count, np.flatnonzero(~own)] = -1.0
        try:
            inverse = np.linalg.inv(basic).astype(np.float64, copy=False)
        except np.linalg.LinAlgError:
            return False
        if not np.abs(inverse).max(initial=0.0) < 1 / _ZERO:
            return False
        self._inverse = inverse
        self.prices = self._each[self._head[own]] @ inverse[own]
        self.prices[self._head[~own] - self._count] = 0.0
        self.reduced = self._each - self.prices @ self._matrix
        self.reduced[self._is_basic] = 0.0
        self._is_up, self._is_full = (self.reduced < 0) & ~self._is_basic, self.prices < 0
        self._left = self._need - self._matrix[:, self._is_up].sum(1) + self._room * self._is_full
        return True


def _reached(ratios: Floats, falls: Floats, way: float) -> tuple[Indices, int]:
    """The order of the ratios, as far as it is needed, and the first place to which all falls together make the way."""
    first = np.arange(len(ratios))
    if len(first) > 2 * _FIRST:
        few = np.flatnonzero(ratios <= np.partition(ratios, _FIRST)[_FIRST])
        first = few if falls[few].sum() > way else first
    order = first[np.argsort(ratios[first], kind="stable")]
    return order, int(np.searchsorted(np.cumsum(falls[order]), way))


def greedy_cover(gains: Floats, need: Floats, left: Floats, costs: Floats) -> list[int]:
    """Columns, those first that cover most of what is left for their cost, until nothing is.

    Args:
        gains: (R, K) of the columns.
        need: (R,) of the rows.
        left: (R,) what is left of it; lowered by what the columns gain.
        costs: (K,) of the columns.

    Returns:
        The columns, as they were chosen; all of them where together they do not cover the need.
    """
    chosen: list[int] = []
    worth = np.maximum(costs, NEARLY_FREE)
    while (left > 0).any() and len(chosen) < len(worth):
        lacking = left > 0
        shares = np.minimum(gains[lacking], left[lacking, None]) / need[lacking, None]
        best = int((shares.sum(0) / worth).argmax())
        chosen.append(best)
        left -= gains[:, best]
        worth[best] = np.inf
    return chosen
