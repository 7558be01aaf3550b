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

__all__ = ["CEILING", "FLOOR", "Item", "Loosened"]

Item = int | str
"""A prototype whose activation is stated, or a clause: `CEILING` or `FLOOR`."""

CEILING, FLOOR = "ceiling", "floor"

_DRIFT = 2
"""Estimated margins are off by at most so many of their rounding errors."""

_Change = tuple[Any, Any, Any]
"""An index, and the lower and the upper ends of the activations there."""


class Loosened:
    """The ends of P activations, from which `drop` takes what is stated.

    Args:
        margins: of one image.
        range: (P,) of the activations over the domain.
        single, clauses: (P,) the ends that statements about single activations give, and those that the clauses give;
            infinite where nothing is stated.
        exact: whether each trial is proved. Otherwise those of a linear readout are estimated.

    Attributes:
        minimal: whether everything that could not be dropped is needed: without it, the bounds miss the class by more
            than rounding can explain.
    """

    def __init__(
        self, margins: Margins, range: Enclosure, single: Enclosure, clauses: Enclosure, exact: bool = False
    ) -> None:
        self._bounds, self.minimal = margins, True
        self._single = single.lower.numpy().copy(), single.upper.numpy().copy()
        self._clauses = clauses.lower.numpy().copy(), clauses.upper.numpy().copy()
        self._range = range.lower.numpy(), range.upper.numpy()
        self._box = self._of(slice(None), *self._single, *self._clauses)
        self._margins, self._error = self._proved(*self._box), float(margins.error[0].amax())
        self._weights: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None
        if isinstance(margins, LinearMargins) and not exact and all(np.isfinite(end).all() for end in self._range):
            self._weights = margins.positive[0].numpy(), margins.negative[0].numpy()

    @property
    def single(self) -> Enclosure:
        """(P,) what is left of the statements about single activations."""
        return Enclosure(*map(torch.from_numpy, self._single))

    @property
    def clauses(self) -> Enclosure:
        """(P,) what is left of the clauses."""
        return Enclosure(*map(torch.from_numpy, self._clauses))

    def least(self, item: Item, lower: bool = True, upper: bool = True) -> float:
        """The least margin without a statement, or without its lower or its upper end."""
        return float(self._moved(self._without(item, lower, upper)).min())

    def drop(self, item: Item, above: float = 0.0, lower: bool = True, upper: bool = True) -> bool:
        """Drop a statement, or its lower or its upper end, if all margins stay above a number; whether it was."""
        if not self._is_stated(item):
            return False
        change = self._without(item, lower, upper)
        moved = self._moved(change)
        drift = 0.0 if self._weights is None else _DRIFT * self._error
        if not float(moved.min()) > above + drift:
            self.minimal &= bool(moved.min() < above - NOISE * self._error - drift)
            return False
        index, low, high = change
        self._box[0][index], self._box[1][index], self._margins = low, high, moved
        given, where = (self._clauses, slice(None)) if isinstance(item, str) else (self._single, item)
        if lower and item != CEILING:
            given[0][where] = -np.inf
        if upper and item != FLOOR:
            given[1][where] = np.inf
        return True

    def _is_stated(self, item: Item) -> bool:
        if item == CEILING:
            return bool((self._clauses[1] < np.inf).any())
        if item == FLOOR:
            return bool((self._clauses[0] > -np.inf).any())
        return bool(self._single[0][item] > -np.inf or self._single[1][item] < np.inf)

    def _without(self, item: Item, lower: bool, upper: bool) -> _Change:
        free, nothing = np.inf, slice(None)
        if isinstance(item, str):
            low, high = (-free if item == FLOOR else self._clauses[0]), (free if item == CEILING else self._clauses[1])
            return (nothing, *self._of(nothing, *self._single, low, high))
        single = -free if lower else self._single[0][item], free if upper else self._single[1][item]
        return (item, *self._of(item, *single, self._clauses[0][item], self._clauses[1][item]))

    def _of(self, index: Any, low: Any, high: Any, floor: Any, ceiling: Any) -> tuple[Any, Any]:
        """What statements and clauses leave of the ranges."""
        return (
            np.maximum(np.maximum(low, floor), self._range[0][index]),
            np.minimum(np.minimum(high, ceiling), self._range[1][index]),
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
