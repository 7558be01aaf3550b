"""The paradigm `simplex`: softmax masses of one patch are non-negative and sum to one.

Let low_i <= m_i <= high_i be stated for i in J, where a missing end is 0 or 1, and R = 1 - sum_J low_i, the mass that
the lows leave:
- an unstated mass lies in [0, R]; if it is the only unstated one, it is at least 1 - sum_J high_i;
- a stated mass lies in [low_i, min(1, high_i, low_i + R)]; if all are stated, it is at least 1 - sum of the other
  highs.
Every mass also lies in its range over the domain. Where that is [0, 1] for all of them, no end changes: the lower ones
are not below 0, R is not above 1, and the upper end of a stated mass is cut at 1.
*Proof.* Each mass is 1 minus the sum of the others. If R is negative, no latent satisfies the statements,
and any value is sound; it is 0 then.

**Inward** these ends are exact for stated ends that are rounded inward, if masses satisfy those: if R >= 0, every low_i
<= high_i and, where all are stated, the highs sum to at least 1. Where one of the last two fails, ends cross.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from ..certificate import PatchStatement
from ..dyadic import ceil_at, floor_at
from .space import Ranges, Space

__all__ = ["Simplex"]

_Rounding: TypeAlias = Callable[[Fraction, int], int]


class Simplex:
    """Ranges of one patch of a softmax head."""

    def __init__(self, space: Space) -> None:
        self._space = space
        count, one = space.head.count, 1 << space.bits
        self._whole = space.domain == Ranges([0] * count, [one] * count)

    def pooled(self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool) -> None:
        """None: masses are pooled after their similarities."""

    def ranges(self, statements: Sequence[PatchStatement], quick: bool = False) -> Ranges:
        """The range of every mass of a patch, given its statements; none is quicker."""
        lower, upper, _ = self._ends(statements, floor_at, ceil_at)
        ranges = Ranges(lower, upper)
        return ranges if self._whole else ranges.met(self._space.domain)

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The same, rounded inward; None if one may be empty."""
        lower, upper, left = self._ends(statements, ceil_at, floor_at)
        domain = self._space.within
        return None if domain is None or not left else Ranges(lower, upper).met(domain).filled()

    def _ends(
        self, statements: Sequence[PatchStatement], lowest: _Rounding, highest: _Rounding
    ) -> tuple[list[int], list[int], bool]:
        """The ends that stated ones leave, and whether the lower ones leave any; of other contradictions ends cross."""
        bits, count = self._space.bits, self._space.head.count
        one = 1 << bits
        stated = {
            s.prototype: (
                0 if s.lower is None else max(0, lowest(s.lower, bits)),
                one if s.upper is None else highest(s.upper, bits),
            )
            for s in statements
        }
        lows = sum(low for low, _ in stated.values())
        rest = max(0, one - lows)
        highs = sum(high for _, high in stated.values())
        least = max(0, one - highs) if len(stated) == count - 1 else 0
        lower, upper = [least] * count, [rest] * count
        for prototype, (low, high) in stated.items():
            others = one - (highs - high) if len(stated) == count else 0
            lower[prototype] = max(low, others)
            upper[prototype] = min(one, high, low + rest)
        return lower, upper, lows <= one
