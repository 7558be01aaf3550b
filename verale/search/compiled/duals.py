"""Duals of directions in machine code: formed and summed in one pass, without keeping them.

Unlike the rest of this package, this enters proofs: `verale.bounds.at_once` bounds the error of such sums, in whatever
order their terms are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from verale.bounds.at_once import DualSums
from verale.search.compiled.image import Floats, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.rows import add_rows

__all__ = ["compiled_moves", "compiled_sums", "sum_duals"]


def compiled_sums(gram: Tensor, base: Tensor | None, anchors: Tensor, coefficients: Tensor, centre: Tensor) -> DualSums:
    """See `verale.bounds.at_once.dual_sums`; tensors on the CPU."""
    origin = torch.full((len(anchors),), -1) if base is None else base
    arrays: list[Any] = [each.contiguous().numpy() for each in (gram, origin, anchors, coefficients, centre)]
    return DualSums(*map(torch.from_numpy, sum_duals(*arrays)))


def compiled_moves(alpha: Tensor, beta: Tensor, half: Tensor, bends: Tensor) -> tuple[Tensor, Tensor]:
    """See `verale.bounds.intervals.moves`; tensors on the CPU."""
    low, high = torch.empty_like(bends), torch.empty_like(bends)
    arrays: list[Any] = [each.contiguous().numpy() for each in (alpha, beta, half, bends, low, high)]
    _sum_moves(*arrays)
    return low, high


@entry
def _sum_moves(alpha: Floats, beta: Floats, half: Floats, bends: Floats, low: Floats, high: Floats) -> None:
    """See `compiled_moves`."""
    rows, size, stated = alpha.shape
    for row in range(rows):
        for k in range(size):
            bend, less, more = bends[row, k], 0.0, 0.0
            for j in range(stated):
                slope, turn = alpha[row, k, j], bend * beta[row, j]
                less += abs(slope - turn) * half[row, j]
                more += abs(slope + turn) * half[row, j]
            low[row, k], high[row, k] = less, more


def sum_duals(
    gram: Floats, base: Integers, anchors: Integers, coefficients: Floats, centre: Floats
) -> tuple[Floats, Floats, Floats]:
    """(R, P) sum_i w_i <e_i, b_k>, (R, P) sum_i <e_i, b_k>^2, and (R, M, M) <e_i, b_anchor(j)>.

    Args:
        gram: (P, P).
        base: (R,) prototypes, or -1 for the origin.
        anchors: (R, M) prototypes.
        coefficients: (R, M, M) lower triangular.
        centre: (R, M) w_i.
    """
    (rows, room), size = anchors.shape, len(gram)
    along, squares, products = np.zeros((rows, size)), np.zeros((rows, size)), np.zeros((rows, room, room))
    _sum_duals(gram, base, anchors, coefficients, centre, along, squares, products, np.empty(size))
    return along, squares, products


@entry
def _sum_duals(
    gram: Floats, base: Integers, anchors: Integers, coefficients: Floats, centre: Floats, along: Floats,
    squares: Floats, products: Floats, dual: Floats,
) -> None:  # fmt: skip
    """See `sum_duals`."""
    rows, room = anchors.shape
    size = len(gram)
    for row in range(rows):
        own, origin = anchors[row], base[row]
        for i in range(room):
            weights = coefficients[row, i]
            if weights[i] == 0.0:
                continue
            dual[:] = 0.0
            add_rows(gram, own[: i + 1], weights, dual)
            if origin >= 0:
                total, corner = 0.0, 0.0
                for j in range(i + 1):
                    total += weights[j]
                    corner += weights[j] * (gram[own[j], origin] - gram[origin, origin])
                shared = gram[origin]
                for k in range(size):
                    dual[k] -= total * shared[k] + corner
            middle = centre[row, i]
            for k in range(size):
                along[row, k] += middle * dual[k]
                squares[row, k] += dual[k] * dual[k]
            for j in range(room):
                products[row, i, j] = dual[own[j]]
