"""Numbers in their order.

numba's own sorts are not used. What they are made of has a name that does not say whether it sorts numbers or their
places; a process that loads the machine code of two others, one of each, may call one for the other.
"""

from __future__ import annotations

import numpy as np

from verale.search.compiled.image import Floats, Integers
from verale.search.compiled.jit import part

__all__ = ["from_greatest", "greatest"]


@part
def from_greatest(values: Floats) -> Integers:
    """The places of numbers (N,), the greatest first; of equal ones the first is first."""
    count = len(values)
    order, merged, width = np.arange(count), np.empty(count, np.int64), 1
    while width < count:
        for begin in range(0, count, 2 * width):
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            left, right = begin, middle
            for at in range(begin, end):
                if right == end or (left < middle and values[order[left]] >= values[order[right]]):
                    merged[at] = order[left]
                    left += 1
                else:
                    merged[at] = order[right]
                    right += 1
        order, merged, width = merged, order, 2 * width
    return order


@part
def greatest(values: Floats, count: int) -> Floats:
    """The greatest of numbers (N,), as many as `count` says or as there are; the least of them first."""
    kept = min(count, len(values))
    found = np.full(kept, -np.inf)
    for value in values:
        if kept and value > found[0]:
            at = 0
            while at + 1 < kept and found[at + 1] < value:
                found[at] = found[at + 1]
                at += 1
            found[at] = value
    return found
