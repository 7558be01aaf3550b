"""The greatest closeness of some patches to every prototype, from exact bounds of few patches.

**Rule.** The greatest of some numbers is at least any lower bound of any of them, and at most the greatest of upper
bounds of all of them. So an exact upper bound is needed only where a coarse one is greater than the greatest exact one.
An exact lower bound is needed nowhere; it is asked for where it may be the greatest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf

from ...dyadic import floor_shift

__all__ = ["greatest"]

_ROUNDS = 3
"""How often the patch with the greatest coarse bound is asked, before all with one greater than what is reached."""


def greatest(
    coarse: Sequence[Sequence[int]],
    exact: Sequence[Callable[[Sequence[int]], Sequence[int]]],
    known: Sequence[int],
    lift: int,
    drops: Sequence[Callable[[Sequence[int]], Iterable[int]]] = (),
) -> list[int]:
    """For every prototype the greatest of a bound, on the grid, among at least one patch and a known one.

    Args:
        coarse: for every patch, in units of 2^lift on the grid, no less than its exact bounds. For lower bounds they
            may be anything: the result then holds, but may be less than the greatest.
        exact: for every patch its bounds for some prototypes, on the grid.
        known: those for another patch; empty if there is no such patch.
        drops: for every patch by about how much its exact bounds are less than the coarse ones. For lower bounds only.
    """
    left: list[list[float]] = [list(row) for row in coarse]
    ends = list(known) or [0] * len(left[0])
    reached: list[float] = [int(floor_shift(end, -lift)) for end in known] or [-inf] * len(ends)

    def ask(patch: int, targets: Sequence[int]) -> None:
        for k, end in zip(targets, exact[patch](targets), strict=True):
            left[patch][k] = -inf
            if reached[k] == -inf or end > ends[k]:
                ends[k], reached[k] = end, int(floor_shift(end, -lift))

    for _ in range(1 if drops else _ROUNDS):
        wanted: list[list[int]] = [[] for _ in left]
        for k, column in enumerate(zip(*left, strict=True)):
            most = max(column)
            if most > reached[k]:
                wanted[column.index(most)].append(k)
        for patch, targets in enumerate(wanted):
            if targets:
                ask(patch, targets)
    for patch, row in enumerate(left):
        targets = [k for k, (bound, end) in enumerate(zip(row, reached, strict=True)) if bound > end]
        if drops and targets:
            targets = [k for k, drop in zip(targets, drops[patch](targets), strict=True) if row[k] - drop > reached[k]]
        if targets:
            ask(patch, targets)
    return ends
