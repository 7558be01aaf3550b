"""Readouts in machine code: margins of trees and maxima, from all activations anew; `margins` has linear ones."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from verale.head import Head, SoftTree
from verale.search.compiled.margins import Changes, Floats, Integers, add_changes
from verale.search.compiled.parts import part

__all__ = ["ReadOut", "change_margins", "read_out_of", "read_out_margins", "wishes"]

_FLOOR = 1e-9
"""The least worth of an activation, relative to the greatest: a node that is not reached now may be later."""


class ReadOut(NamedTuple):
    """A tree or a maximum, of P activations and K rivals; a tree where there are leaves.

    Attributes:
        children: (2, P) where the absent and the present child of each node stand in `values`.
        leaves: (K, P + 1) W_predicted - W_rival, of a tree.
        own: (G,) the prototypes of the predicted class, of a maximum.
        first, theirs: (K + 1,) and (S,) those of rival c are from first[c] to first[c + 1].
        bias: (P,) added to activations.
        values, reach: (2 P + 1,) of the nodes and, behind them, of the leaves; room.
        high, low: (P,) the ends of the activations with what is tried; room.
    """

    children: Integers
    leaves: Floats
    own: Integers
    first: Integers
    theirs: Integers
    bias: Floats
    values: Floats
    reach: Floats
    high: Floats
    low: Floats


def read_out_of(head: Head, predicted: int, rivals: list[int]) -> ReadOut:
    """The readout of a head that is not linear, against some rivals."""
    size, weight = head.size, head.weight.double().numpy()
    children, leaves = np.zeros((2, size), np.int64), np.zeros((0, size + 1))
    own = theirs = np.zeros(0, np.int64)
    first, bias = np.zeros(len(rivals) + 1, np.int64), np.zeros(size)
    if isinstance(head.readout, SoftTree):
        below = np.array([head.readout.absent, head.readout.present])
        children, leaves = np.where(below < 0, size - 1 - below, below), weight[predicted] - weight[rivals]
    else:
        members = [np.flatnonzero(weight[rival]) for rival in rivals]
        own, theirs = np.flatnonzero(weight[predicted]), np.concatenate([*members, theirs])
        first[1:] = np.cumsum([len(each) for each in members])
        bias = bias if head.bias is None else head.bias.double().numpy()
    room = [np.zeros(2 * size + 1), np.zeros(2 * size + 1), np.zeros(size), np.zeros(size)]
    arrays: list[NDArray[np.float64]] = [leaves, bias, *room]
    leaves, bias, *room = map(np.ascontiguousarray, arrays)
    return ReadOut(np.ascontiguousarray(children), leaves, own, first, theirs, bias, *room)


@part
def change_margins(
    readout: ReadOut | None, weights: Floats, changes: Changes, count: int, high: Floats, low: Floats, margins: Floats
) -> None:
    """What the first of the changes do to the margins (K,) of activations between these ends (P,)."""
    if readout is not None:
        for k in range(len(high)):
            readout.high[k], readout.low[k] = high[k], low[k]
        for at in range(count):
            k = changes.prototype[at]
            readout.high[k] += changes.above[at]
            readout.low[k] += changes.below[at]
        read_out_margins(readout, readout.high, readout.low, margins)
    if readout is None:
        add_changes(weights, changes, count, margins)


@part
def read_out_margins(readout: ReadOut, high: Floats, low: Floats, margins: Floats) -> None:
    """The least that the margins (K,) can be."""
    if len(readout.leaves) > 0:
        for c in range(len(margins)):
            _evaluate(readout, c, high, low)
            margins[c] = readout.values[0]
        return
    best = _best(readout, low)
    for c in range(len(margins)):
        most = -math.inf
        for at in range(readout.first[c], readout.first[c + 1]):
            k = readout.theirs[at]
            most = max(most, high[k] + readout.bias[k])
        margins[c] = best - most


@part
def _best(readout: ReadOut, low: Floats) -> float:
    """What the predicted class has at least."""
    best = -math.inf
    for k in readout.own:
        best = max(best, low[k] + readout.bias[k])
    return best


@part
def _evaluate(readout: ReadOut, rival: int, high: Floats, low: Floats) -> None:
    """The least values of all nodes; children come later than their parents."""
    values, size = readout.values, len(high)
    for leaf in range(size + 1):
        values[size + leaf] = readout.leaves[rival, leaf]
    for node in range(size - 1, -1, -1):
        absent, more = values[readout.children[0, node]], values[readout.children[1, node]]
        more -= absent
        known = low[node] if more > 0.0 else high[node]
        values[node] = absent + min(max(known, 0.0), 1.0) * more


@part
def wishes(
    readout: ReadOut | None, weights: Floats, rival: int, actual: Floats, high: Floats, low: Floats, wish: Floats
) -> None:
    """Write how much a rival's margin grows with the lower end of each activation or, where it is negative, falls with
    the upper end."""
    if readout is None:
        for k in range(len(wish)):
            wish[k] = weights[k, rival]
    if readout is not None:
        if len(readout.leaves) > 0:
            _wishes_of_tree(readout, rival, high, low, wish)
        else:
            _wishes_of_maximum(readout, rival, actual, high, low, wish)


@part
def _wishes_of_tree(readout: ReadOut, rival: int, high: Floats, low: Floats, wish: Floats) -> None:
    """The derivatives of the margin where it is least."""
    _evaluate(readout, rival, high, low)
    readout.reach[0], most = 1.0, 0.0
    for node in range(len(wish)):
        absent, present = readout.children[0, node], readout.children[1, node]
        slope, reach = readout.values[present] - readout.values[absent], readout.reach[node]
        known = min(max(low[node] if slope > 0.0 else high[node], 0.0), 1.0)
        readout.reach[absent], readout.reach[present] = (1 - known) * reach, known * reach
        wish[node] = slope * reach
        most = max(most, abs(wish[node]))
    floor = _FLOOR * max(most, 1e-300)
    for node in range(len(wish)):
        slope = readout.values[readout.children[1, node]] - readout.values[readout.children[0, node]]
        worth = max(abs(wish[node]), floor)
        wish[node] = worth if slope > 0.0 else -worth


@part
def _wishes_of_maximum(readout: ReadOut, rival: int, actual: Floats, high: Floats, low: Floats, wish: Floats) -> None:
    """The best prototype of the class, and those of the rival that may exceed what it has at least."""
    wish[:] = 0.0
    best = readout.own[0]
    for k in readout.own:
        if actual[k] + readout.bias[k] > actual[best] + readout.bias[best]:
            best = k
    least = _best(readout, low)
    for at in range(readout.first[rival], readout.first[rival + 1]):
        k = readout.theirs[at]
        if high[k] + readout.bias[k] >= least:
            wish[k] = -1.0
    wish[best] = 1.0
