"""Loosened: the ends of activations while what is stated of them is dropped, one statement or side after the other.

Of a linear readout every margin is a sum over the ends, so dropping one moves it by a product. A trial takes as many
products as there are rivals, not as many as the readout has weights. Sums that move so often are estimates: whoever
drops statements by them proves in the end what is left.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from verale.bounds import LinearMargins, Margins
from verale.rounding import Enclosure
from verale.search.problem import NOISE
from verale.search.stated import Stated

__all__ = ["CEILING", "FLOOR", "Item", "Loosened"]

Item = int | str
"""A prototype whose activation is stated, or a clause: `CEILING` or `FLOOR`."""

CEILING, FLOOR = "ceiling", "floor"

_CLAUSES = -1
"""Where `Stated` has the ends of both clauses."""

_DRIFT = 2
"""Estimated margins are off by at most so many of their rounding errors."""

_Change = tuple[Any, Any, Any]
"""An index, and the lower and the upper ends of the activations there."""


class Loosened:
    """The ends of P activations, from which `drop` takes what is stated.

    Args:
        margins: of one image.
        range: (P,) of the activations over the domain.
        stated: what is stated of them.
        exact: whether each trial is proved. Otherwise those of a linear readout are estimated.

    Attributes:
        minimal: whether everything that could not be dropped is needed: without it, the bounds miss the class by more
            than rounding can explain.
    """

    def __init__(self, margins: Margins, range: Enclosure, stated: Stated, exact: bool = False) -> None:
        self._bounds, self.minimal, self._given = margins, True, stated
        self._ends = stated.lower.numpy().copy(), stated.upper.numpy().copy()
        self._range = range.lower.numpy(), range.upper.numpy()
        low, high = self._ends
        self._clauses = self._clauses_of(low[-1], high[-1])
        self._box = self._of(slice(None), low[:-1], high[:-1], self._clauses)
        self._margins, self._error = self._proved(*self._box), float(margins.error[0].amax())
        self._weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        if isinstance(margins, LinearMargins) and not exact and all(np.isfinite(end).all() for end in self._range):
            self._weights = margins.positive[0].numpy(), margins.negative[0].numpy()

    @property
    def stated(self) -> Stated:
        """What is left."""
        return self._given.with_ends(*map(torch.from_numpy, self._ends))

    def least(self, item: Item, lower: bool = True, upper: bool = True) -> float:
        """The least margin without a statement, or without its lower or its upper end."""
        return float(self._moved(self._without(*_sides(item, lower, upper))).min())

    def drop(self, item: Item, above: float = 0.0, lower: bool = True, upper: bool = True) -> bool:
        """Drop a statement, or its lower or its upper end, if all margins stay above a number; whether it was."""
        if not self._is_stated(*_sides(item, True, True)):
            return False
        where, lower, upper = _sides(item, lower, upper)
        change = self._without(where, lower, upper)
        moved = self._moved(change)
        drift = 0.0 if self._weights is None else _DRIFT * self._error
        if not float(moved.min()) > above + drift:
            self.minimal &= bool(moved.min() < above - NOISE * self._error - drift)
            return False
        index, self._box[0][index], self._box[1][index] = change
        self._margins = moved
        if lower:
            self._ends[0][where] = -np.inf
        if upper:
            self._ends[1][where] = np.inf
        if where == _CLAUSES:
            self._clauses = self._clauses_of(self._ends[0][where], self._ends[1][where])
        return True

    def _is_stated(self, where: int, lower: bool, upper: bool) -> bool:
        low, high = self._ends
        return bool((lower and low[where] > -np.inf) or (upper and high[where] < np.inf))

    def _without(self, where: int, lower: bool, upper: bool) -> _Change:
        low, high = self._ends
        left = -np.inf if lower else low[where], np.inf if upper else high[where]
        if where == _CLAUSES:
            return (slice(None), *self._of(slice(None), low[:-1], high[:-1], self._clauses_of(*left)))
        return (where, *self._of(where, *left, self._clauses))

    def _clauses_of(self, floor: float, ceiling: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(P,) what the floor and the ceiling alone say of each activation."""
        above, below = self._given.above.numpy(), self._given.below.numpy()
        return np.where(above, floor, -np.inf), np.where(below, ceiling, np.inf)

    def _of(self, index: Any, low: Any, high: Any, clauses: tuple[Any, Any]) -> tuple[Any, Any]:
        """What statements and clauses leave of the ranges."""
        return (
            np.maximum(np.maximum(low, clauses[0][index]), self._range[0][index]),
            np.minimum(np.minimum(high, clauses[1][index]), self._range[1][index]),
        )

    def _moved(self, change: _Change) -> NDArray[np.float64]:
        """(C,) the margins after a change."""
        index, low, high = change
        if self._weights is not None:
            favour, against = (weights[index] for weights in self._weights)
            moved: NDArray[np.float64] = self._margins + np.dot(low - self._box[0][index], favour)
            moved += np.dot(high - self._box[1][index], against)
            return moved
        box = self._box[0].copy(), self._box[1].copy()
        box[0][index], box[1][index] = low, high
        return self._proved(*box)

    def _proved(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
        box = Enclosure(torch.from_numpy(low), torch.from_numpy(high))
        proved: NDArray[np.float64] = self._bounds.lower(box[None, None])[0, 0].numpy()
        return proved


def _sides(item: Item, lower: bool, upper: bool) -> tuple[int, bool, bool]:
    """Where in `Stated` an item's ends are, and which of them are asked for: a clause has one."""
    if isinstance(item, int):
        return item, lower, upper
    return _CLAUSES, lower and item == FLOOR, upper and item == CEILING
