"""How small an explanation under `top_k` can be at all: a lower bound, as the document that the checker proves.

Branch and bound over the ends of the ceiling and of the floor. For each cell of these (`checker/least.py`, by
the same formulas in floats) the stated activations are the solution of a covering problem, one row a rival; its linear
relaxation bounds their number, and the dual's weights prove the bound.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import Any

import numpy as np
import scipy.optimize
import torch
from numpy.typing import NDArray
from torch import Tensor

from verale.bounds.pooling import activation_range
from verale.errors import UsageError
from verale.head import Head, Linear, digest, evaluate
from verale.search.devices import one_thread

_Vector = NDArray[np.float64]

_MOST_CELLS = 4000
"""Cells that are split at most."""
_APART = 1e-9
"""Activations nearer to each other than this, relative to the largest, are not told apart."""
_CLEAR = 1e-6
"""How far a linear program's value has to exceed a whole number to count for more."""
_SCALE = 2.0**45
"""The largest weight of a leaf, which is an integer."""


@dataclass(eq=False)
class _Node:
    """A cell of explanations: the ends u of their ceiling lie in `ceiling`, those of their floor in `floor`.

    Attributes:
        bound: a lower bound of their sizes.
        weights: by rival, what proves it.
        split: the clause and the number at which the cell was split.
        children: the two parts.
    """

    ceiling: tuple[float, float]
    floor: tuple[float, float]
    bound: int = 0
    weights: dict[int, int] = field(default_factory=dict)
    split: tuple[str, float] | None = None
    children: tuple[_Node, ...] = ()


@one_thread()
def least_document(head: Head, image: Tensor, seconds: float = math.inf) -> tuple[int, bytes]:
    """The best lower bound k that is found, and the document that proves it.

    Args:
        head: a head with a linear readout.
        image: (L, D) float64.
        seconds: when no further cell is split; the bound holds, and may be lower.

    Raises:
        UsageError: another readout.
    """
    if not isinstance(head.readout, Linear):
        raise UsageError(f"the readout is {head.readout.kind}, expected linear: no bound is known for others")
    search = _Search(head, image)
    root = _Node((-math.inf, math.inf), (-math.inf, math.inf))
    least = search.run(root, monotonic() + seconds)
    cells: list[dict[str, Any]] = []  # the tree in preorder; a node that has the bound already is a leaf
    stack = [root]
    while stack:
        node = stack.pop()
        if node.bound >= least or node.split is None:
            cells.append({"weights": [list(each) for each in sorted(node.weights.items())]})
        else:
            cells.append({"split": node.split[0], "at": node.split[1].hex()})
            stack += reversed(node.children)
    claim = {
        "_type": "urn:verale:least:v1",
        "head": head.digest,
        "latents": digest(image),
        "predicted": search.predicted,
        "least": least,
        "cells": cells,
    }
    return least, f"{json.dumps(claim, indent=1)}\n".encode()


class _Search:
    """The search for one image: its activations, their range over the domain, and what a unit of each is worth.

    Attributes:
        predicted: the class.
        rivals: the R other classes.
        activations, lower, upper: (P,).
        pull: (R, P) how much the predicted class gains on a rival.
        bias: (R,) its lead without activations.
        cuts: of ceilings and of floors, numbers at which cells are split, increasing: one between any two activations,
            and the end of the domain beyond which a clause says nothing.
    """

    def __init__(self, head: Head, image: Tensor) -> None:
        evaluated = evaluate(head, image[None])
        k = self.predicted = int(evaluated.predicted)
        self.rivals = [c for c in range(head.classes) if c != k]
        weight = head.weight.to(torch.float64)
        bias = weight.new_zeros(head.classes) if head.bias is None else head.bias.to(torch.float64)
        self.pull, self.bias = ((each[k] - each[self.rivals]).numpy() for each in (weight, bias))
        ranges = activation_range(head, len(image))
        self.lower, self.upper = (end.expand(head.size).numpy().copy() for end in (ranges.lower, ranges.upper))
        self.activations = evaluated.activations[0].numpy()
        levels = np.sort(self.activations)
        apart = _APART * (1 + np.abs(levels).max())
        gaps = np.flatnonzero(np.diff(levels) > 4 * apart)
        self.cuts = {
            "ceiling": np.append(levels[gaps + 1] - apart, self.upper.max()),
            "floor": np.append(self.lower.min(), levels[gaps] + apart),
        }

    def run(self, root: _Node, until: float) -> int:
        """Split cells, the one with the lowest bound first, until that cannot be raised or time is over; return it."""
        self._bind(root)
        number = count()
        queue = [(root.bound, next(number), root)]
        for _ in range(_MOST_CELLS):
            if monotonic() > until:
                break
            bound, _, node = heappop(queue)
            node.split = self._cut(node)
            if node.split is None:
                return bound
            clause, at = node.split
            for low, high in ((-math.inf, at), (at, math.inf)):
                old = node.ceiling if clause == "ceiling" else node.floor
                new = max(old[0], low), min(old[1], high)
                child = _Node(*((new, node.floor) if clause == "ceiling" else (node.ceiling, new)))
                self._bind(child)
                node.children += (child,)
                heappush(queue, (child.bound, next(number), child))
        return queue[0][0]

    def _cut(self, node: _Node) -> tuple[str, float] | None:
        """Where to split a cell: first between none and some, then in the middle of the longer list."""
        cell = {"ceiling": node.ceiling, "floor": node.floor}
        cuts = {name: each[(each > cell[name][0]) & (each < cell[name][1])] for name, each in self.cuts.items()}
        if node.ceiling[1] == math.inf and len(cuts["ceiling"]):
            return "ceiling", float(cuts["ceiling"][-1])
        if node.floor[0] == -math.inf and len(cuts["floor"]):
            return "floor", float(cuts["floor"][0])
        name = max(cuts, key=lambda each: len(cuts[each]))
        return (name, float(cuts[name][len(cuts[name]) // 2])) if len(cuts[name]) else None

    def _bind(self, node: _Node) -> None:
        """A cell's bound, and the weights that prove it."""
        (u1, u2), (v1, v2), a = node.ceiling, node.floor, self.activations
        upper = np.where(a <= u2, np.minimum(self.upper, np.maximum(u1, a)), self.upper)
        lower = np.where(a >= v1, np.maximum(self.lower, np.minimum(v2, a)), self.lower)
        worst = np.where(self.pull > 0, self.pull * lower, self.pull * upper)
        needs = -self.bias - worst.sum(1)
        short = np.flatnonzero(needs > 0)
        cost = (u2 < math.inf) + (v1 > -math.inf)
        node.bound = cost
        if not len(short):
            return
        gains = np.clip(self.pull[short] * a - worst[short], 0, needs[short, None]) / needs[short, None]
        solved: Any = scipy.optimize.linprog(
            np.ones(len(a)), A_ub=-gains, b_ub=-np.ones(len(short)), bounds=(0, 1), method="highs"
        )
        if solved.status != 0:  # stating everything is not enough here, or the program is not solved: the bound is weak
            return
        prices = np.clip(-solved.ineqlin.marginals, 0, None) / needs[short]
        if prices.max() > 0:
            whole = np.floor(prices * (_SCALE / prices.max())).astype(np.int64)
            node.weights = {self.rivals[row]: int(y) for row, y in zip(short, whole, strict=True) if y}
            node.bound = cost + max(0, math.ceil(solved.fun - _CLEAR))
