"""Statements about masses, chosen in machine code: growth, then deletion by best prices. Plain float64, no proof."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from verale.search.compiled.masses import GIVEN_UP, GROWN, Floats, Masses, grow_masses
from verale.search.compiled.matching import PricedRivals
from verale.search.compiled.prices import drop_statements
from verale.search.problem import Pair

__all__ = ["Assigned", "choose_masses", "drop_masses", "rounded_up"]

_GUARD = 1e-9
"""A rival is closed in growth when its margin exceeds this."""

_PRICE_SHARE = 8
"""Prices are rounded up to few digits, which costs at most one part in so many of a margin."""


@dataclass(frozen=True)
class Assigned:
    """What remains of an image's statements.

    Attributes:
        pairs: the statements.
        minimal: whether each of them is surely needed.
        prices: (K, P) prices that close all rivals, rounded up.
        margins: (K,) the margins that they prove, but for rounding.
    """

    pairs: list[Pair]
    minimal: bool
    prices: Floats
    margins: Floats


def choose_masses(rivals: PricedRivals, most: float) -> list[Pair] | int | None:
    """Exact statements that entail the class; how many there were when they became more than `most`; None if some rival
    stays open.

    Args:
        rivals: the image and its rivals.
        most: growth with more statements is given up.
    """
    ended, statements = grow_masses(Masses.of(rivals.low, rivals.weights, rivals.bias), _GUARD, float(most))
    if ended == GIVEN_UP:
        return len(statements)
    return [(int(patch), int(k)) for patch, k in statements] if ended == GROWN else None


def drop_masses(rivals: PricedRivals, pairs: Sequence[Pair], costs: Sequence[float], once: bool) -> Assigned:
    """Drop statements until none can be dropped, the costliest first; see `drop_statements`.

    Args:
        rivals: the image and its rivals.
        pairs: the S statements.
        costs: (S,) what they cost.
        once: whether each is tried once.
    """
    given = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    levels, group = np.unique(-np.array(costs, dtype=np.float64), return_inverse=True)
    place = group * len(rivals.low) + given[:, 0]
    order = np.lexsort((rivals.low[given[:, 0], given[:, 1]], place))
    patches, prototypes = (np.ascontiguousarray(column) for column in given[order].T)
    first = np.searchsorted(place[order], np.arange(len(levels) * len(rivals.low) + 1))
    kept, minimal, prices, margins = drop_statements(rivals, patches, prototypes, first, once)
    left = sorted(zip(patches[kept].tolist(), prototypes[kept].tolist(), strict=True))
    rounded = np.array([rounded_up(*each) for each in zip(prices, margins.tolist(), strict=True)])
    return Assigned(left, bool(minimal), rounded, margins)


def rounded_up(prices: Floats, margin: float) -> Floats:
    """Prices (P,) rounded up to a grid that is as coarse as the margin that they prove allows."""
    needed = np.count_nonzero(prices)
    if not (margin > 0 and needed):
        return prices
    grid = 2.0 ** math.floor(math.log2(margin / (_PRICE_SHARE * needed)))
    rounded: Floats = np.ceil(prices / grid) * grid
    return rounded
