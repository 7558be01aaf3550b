"""Loops over arrays.

They stand in for numpy's assignments and reductions, of which numba compiles each anew for each kind of array: a single
assignment of an array takes along what formats the message about shapes that do not fit, some forty functions.
"""

from __future__ import annotations

import math

from verale.search.compiled.image import Floats
from verale.search.compiled.parts import part

__all__ = ["greatest", "largest", "least", "overwrite", "sum_of"]


@part
def overwrite(target: Floats, source: Floats) -> None:
    """Write numbers over others."""
    for k in range(len(target)):
        target[k] = source[k]


@part
def largest(values: Floats) -> float:
    """The greatest of numbers; NaN where one is NaN, so that no bound is made of it."""
    most = -math.inf
    for value in values:
        if value > most or math.isnan(value):
            most = value
    return most


@part
def least(values: Floats) -> float:
    """The least of numbers; NaN where one is NaN."""
    few = math.inf
    for value in values:
        if value < few or math.isnan(value):
            few = value
    return few


@part
def sum_of(values: Floats) -> float:
    """The sum of numbers, added in their order."""
    added = 0.0
    for value in values:
        added += value
    return added


@part
def greatest(values: Floats, found: Floats) -> int:
    """Write the greatest of numbers, as many as fit or as there are, the least of them first; how many that is."""
    kept = min(len(found), len(values))
    found[:kept] = -math.inf
    for value in values:
        if kept and value > found[0]:
            at = 0
            while at + 1 < kept and found[at + 1] < value:
                found[at] = found[at + 1]
                at += 1
            found[at] = value
    return kept
