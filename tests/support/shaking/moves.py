"""How results are moved: by the seed and by their own bits; and another order in which terms are added."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from . import seed

__all__ = ["WAYS", "choose", "move", "moved", "order", "take"]

WAYS = 3
"""So many other orders are tried."""

_PRIME = 2**31 - 1
_MANY = 2**16

_LAYOUT = {np.dtype(np.float64): (np.int64, 52, 26), np.dtype(np.float32): (np.int32, 23, 12)}
"""Of each dtype the whole numbers of its size, the bits of its fraction, and how many of them are 0 in a number that is
taken for exact: exp(0), a logarithm of 1, or tanh where it is 1."""


def order(count: int, way: int) -> np.ndarray[Any, Any]:
    """Another order of so many terms, one of WAYS; never the order that they have, if there are two."""
    return _order(count, way, seed())


@lru_cache(maxsize=512)
def _order(count: int, way: int, of: int) -> np.ndarray[Any, Any]:
    backwards = np.arange(count)[::-1].copy()
    if count > _MANY:
        return backwards
    mixed = np.random.default_rng((of, count, way)).permutation(count)
    return backwards if (mixed == np.arange(count)).all() else mixed


def choose(result: np.ndarray[Any, Any], others: list[np.ndarray[Any, Any]]) -> None:
    """Write over a result what it is in other orders of its terms: of each entry the least or the greatest, such that
    it differs where it can.

    What is not finite in one of the orders stays: it overflows, or comes from a matrix that is singular.
    """
    if result.dtype not in _LAYOUT or not result.size:
        return
    least, most = result, result
    for other in others:
        least, most = np.minimum(least, other), np.maximum(most, other)
    up = ((steps(_size(result), seed(), 2) > 0) | (least == result)) & (most != result)
    result[...] = np.where(np.isfinite(least) & np.isfinite(most), np.where(up, most, least), result)


def take(result: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    """Write another solution over one, where both are finite: what a singular matrix gives is nobody's.

    Whole ones: errors of a solution belong together, and entries of several solutions may solve nothing.
    """
    result[...] = np.where(np.isfinite(result) & np.isfinite(other), other, result)


def moved(value: float) -> float:
    """A number, moved by at most one unit in its last place."""
    values = np.array([value], dtype=np.float64)
    move(values)
    return float(values[0])


def move(values: np.ndarray[Any, Any], most: int = 1) -> None:
    """Move numbers in place, by at most so many units in the last place.

    0, subnormal numbers, what is not finite and what is exact stay. The sign does not matter: odd functions stay odd.
    """
    if values.dtype not in _LAYOUT or not values.size:
        return
    whole, fraction, short = _LAYOUT[values.dtype]
    bits, size = values.view(whole), _size(values)
    exponent = size >> fraction
    largest = (1 << (8 * values.itemsize - 1 - fraction)) - 1
    stays = (exponent == 0) | (exponent >= largest - 1) | (size & ((1 << short) - 1) == 0)
    bits += np.where(stays, 0, steps(size, seed(), most)).astype(whole)


def _size(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The bits of a number without its sign, as a whole number."""
    whole: Any = _LAYOUT[values.dtype][0]
    return (values.view(whole) & np.iinfo(whole).max).astype(np.int64)


def steps(size: Any, of: int, most: int) -> Any:
    """Steps from -most to most, as they follow from whole numbers from 0 on."""
    return (size % _PRIME * (48271 + 2 * of) + 7919 * of) % _PRIME % (2 * most + 1) - most
