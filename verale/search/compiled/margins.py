"""Margins in machine code: how they follow when activations change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verale.search.compiled.parts import part

__all__ = ["Changes", "add_changes", "no_changes"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Changes(NamedTuple):
    """How the activations of some prototypes change.

    Attributes:
        prototype: (P + 3,) which they are; those behind them do not count.
        above, below: (P + 3,) how their upper and their lower ends move.
    """

    prototype: Integers
    above: Floats
    below: Floats


def no_changes(size: int) -> Changes:
    """Room for those of all prototypes, and to fill up the last four."""
    return Changes(np.zeros(size + 3, np.int64), np.zeros(size + 3), np.zeros(size + 3))


@part
def add_changes(weights: Floats, changes: Changes, count: int, margins: Floats) -> None:
    """Add what the first of the changes do to the margins (K,), given weights (P, K); four at a time."""
    for at in range(count, count + 3):
        changes.prototype[at], changes.above[at], changes.below[at] = 0, 0.0, 0.0
    above, below = changes.above, changes.below
    for at in range(0, count, 4):
        first, second = weights[changes.prototype[at]], weights[changes.prototype[at + 1]]
        third, fourth = weights[changes.prototype[at + 2]], weights[changes.prototype[at + 3]]
        above_1, above_2, above_3, above_4 = above[at], above[at + 1], above[at + 2], above[at + 3]
        below_1, below_2, below_3, below_4 = below[at], below[at + 1], below[at + 2], below[at + 3]
        for c in range(len(margins)):
            one, two, three, four = first[c], second[c], third[c], fourth[c]
            margins[c] += (one * (below_1 if one > 0.0 else above_1) + two * (below_2 if two > 0.0 else above_2)) + (
                three * (below_3 if three > 0.0 else above_3) + four * (below_4 if four > 0.0 else above_4)
            )
