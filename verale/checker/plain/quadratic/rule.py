"""The geometric paradigms: per patch, the range of every observable given the stated ones, by the one rule (`facts`).

The range of an observable is what the rule gives, intersected with what is stated of it and with its range over the
domain. A target may be any linear combination of the working observables of a patch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

from ...certificate import PatchStatement
from ..space import Ranges, Space
from .dual import Dual
from .facts import Facts
from .intervals import far, intervals, most_stated
from .within import combination_within, ranges_within

__all__ = ["QuadraticRule"]


class QuadraticRule:
    """Ranges of the patches of a head with prototypes. One serves many certificates.

    Attributes:
        space: the head.
    """

    def __init__(self, space: Space) -> None:
        self.space = space

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges:
        """The range of every working observable of a patch, given its statements."""
        if not statements:
            return self.space.domain
        least, count, unbounded = self._least(statements), self.space.head.count, far(self.space, statements)
        lower = [least({k: 1}) for k in range(count)]
        upper = None if unbounded else [-least({k: -1}) for k in range(count)]
        if unbounded:
            most = most_stated(self.space, statements)
            lower = [min(low, most) for low in lower]
        for statement, (low, high) in zip(statements, intervals(self.space, statements), strict=True):
            k = statement.prototype
            lower[k] = max(lower[k], low)
            if upper is not None:
                upper[k] = min(upper[k], high)
        return Ranges(lower, upper).met(self.space.domain)

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The range of every observable of a patch, given at least one statement about it, rounded inward; None if none
        is found or one may be empty."""
        return ranges_within(self.space, statements)

    def combining(self, statements: Sequence[PatchStatement]) -> Callable[[Mapping[int, Fraction]], Fraction]:
        """What gives a lower bound of any linear combination of working observables of a patch.

        Args:
            statements: what is known, at least one. If no upper end of a distance is stated, the domain's stand in
                their place.

        Returns:
            A function of shares: by prototype what its working observable is multiplied by.
        """
        space = self.space
        if far(space, statements):
            if space.domain.upper is None:
                raise ValueError("distances without upper ends over an unbounded domain bound no combination")
            ends = (Fraction(space.domain.upper[s.prototype], 1 << space.bits) for s in statements)
            statements = [replace(s, upper=end) for s, end in zip(statements, ends, strict=True)]
        least = self._least(statements)

        def combination(shares: Mapping[int, Fraction]) -> Fraction:
            unit, whole = _whole(shares)
            return Fraction(least(whole), unit << space.bits)

        return combination

    def combination_within(
        self, statements: Sequence[PatchStatement], shares: Mapping[int, Fraction]
    ) -> Fraction | None:
        """A value of a combination, about the least, at a vector that satisfies the statements, of which there is at
        least one; None if no such vector is found."""
        unit, whole = _whole(shares)
        value = combination_within(self.space, statements, whole)
        return None if value is None else value / unit

    def _least(self, statements: Sequence[PatchStatement]) -> Callable[[Mapping[int, int]], int]:
        """What gives the lower end of a combination with these shares, given statements."""
        facts = Facts(self.space, statements)
        dual = Dual(facts)

        def least(shares: Mapping[int, int]) -> int:
            target = facts.target(shares)
            best = dual.best(target)
            return facts.least(target, best.weights, best.bits)

        return least


def _whole(shares: Mapping[int, Fraction]) -> tuple[int, dict[int, int]]:
    """A common denominator, and the numerators."""
    unit = lcm(*(share.denominator for share in shares.values()))
    return unit, {k: int(share * unit) for k, share in shares.items()}
