"""Whether what a copy of the checker says of ranges holds, of latents that are rational numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import isqrt
from typing import Any

from support import arithmetic
from support.arithmetic import Interval
from support.rationals import cosine_ends


def combined(rule: Any, statements: Sequence[Any], shares: Mapping[int, int]) -> Interval:
    """The range of a combination."""
    return rule.combination(statements, shares), -rule.combination(
        statements, {k: -share for k, share in shares.items()}
    )


def true_ends(geometry: str, z: Sequence[float], row: Sequence[float]) -> Interval:
    """An enclosure of an observable of one patch."""
    if geometry == "cosine":
        return cosine_ends(list(z), list(row), 0.0)
    value = (arithmetic.squared_distance if geometry == "euclidean" else arithmetic.product)(list(z), list(row))
    return value, value


def holds(space: Any, ranges: Any, observables: list[Interval]) -> bool:
    """Whether the working observables lie in their ranges."""
    lower = [Fraction(int(low), 1 << space.bits) for low in ranges.lower]
    upper = None if ranges.upper is None else [Fraction(int(high), 1 << space.bits) for high in ranges.upper]
    for j, (least, greatest) in enumerate(observables):
        if space.head.geometry in ("cosine", "rooted_cosine"):
            square = sum(entry * entry for entry in space.vectors[j])
            near, far = (Fraction(isqrt(square << 400) + up, 1 << 200) for up in (0, 1))
            least, greatest = min(least * near, least * far), max(greatest * near, greatest * far)
        if lower[j] > greatest or (upper is not None and upper[j] < least):
            return False
    return True
