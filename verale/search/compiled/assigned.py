"""Statements about masses, chosen in machine code: growth, then deletion by best prices. Plain float64, no proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from verale.search.compiled.masses import GIVEN_UP, GROWN, Masses, grow_masses
from verale.search.compiled.matching import PricedRivals
from verale.search.compiled.prices import drop_statements
from verale.search.prices import Floats, Indices
from verale.search.problem import Pair

__all__ = ["Assigned", "choose_masses", "drop_masses", "rivals_of"]

_GUARD = 1e-9
"""A rival is closed in growth when its margin exceeds this."""


@dataclass(frozen=True)
class Assigned:
    """What remains of an image's statements.

    Attributes:
        pairs: the statements.
        minimal: whether each of them is surely needed.
        prices: (K, P) prices that close all rivals.
        margins: (K,) the margins that they prove, but for rounding.
    """

    pairs: list[Pair]
    minimal: bool
    prices: Floats
    margins: Floats


def choose_masses(mass: Floats, weights: Floats, bias: Floats, most: float) -> list[Pair] | int | None:
    """Statements that entail the class against K rivals; how many there were when they became more than `most`; None if
    some rival stays open.

    Args:
        mass: (L, P) the masses.
        weights: (K, P) W_predicted - W_rival.
        bias: (K,) b_predicted - b_rival.
        most: growth with more statements is given up.
    """
    ended, statements = grow_masses(Masses.of(mass, weights, bias), _GUARD, float(most))
    if ended == GIVEN_UP:
        return len(statements)
    return [(int(patch), int(k)) for patch, k in statements] if ended == GROWN else None


def drop_masses(mass: Floats, weights: Floats, bias: Floats, noise: Floats, pairs: list[Pair]) -> Assigned | None:
    """Drop statements until none can be dropped; None where a patch has all masses but one stated, or all: then the
    others say what they are.

    Args:
        mass, weights, bias: see `choose_masses`.
        noise: (K,) more than rounding can move a margin.
        pairs: what is stated.
    """
    given = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((mass[given[:, 0], given[:, 1]], given[:, 0]))
    patches, prototypes = (np.ascontiguousarray(column) for column in given[order].T)
    first = np.searchsorted(patches, np.arange(len(mass) + 1))
    if np.diff(first).max() >= mass.shape[1] - 1:
        return None
    kept, minimal, prices, margins = drop_statements(rivals_of(mass, weights, bias, noise), patches, prototypes, first)
    left = sorted(zip(patches[kept].tolist(), prototypes[kept].tolist(), strict=True))
    return Assigned(left, bool(minimal), prices, margins)


def rivals_of(mass: Floats, weights: Floats, bias: Floats, noise: Floats) -> PricedRivals:
    """The image as `verale.search.compiled.matching` takes it; see `drop_masses`."""
    needed: Indices = (weights < 0).sum(1)
    paying = np.ascontiguousarray(np.argsort(weights, axis=1, kind="stable")[:, : needed.max()])
    gain = -np.take_along_axis(weights, paying, 1).clip(max=0)
    position = np.full(weights.shape, -1)
    np.put_along_axis(position, paying, np.where(gain > 0, np.arange(paying.shape[1]), -1), 1)
    return PricedRivals(mass, weights, bias, needed, paying, gain, position, noise)
