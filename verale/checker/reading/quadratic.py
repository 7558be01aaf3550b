"""The geometric paradigms: per patch, the range of every observable given the stated ones, by the one rule (`facts`).

The range of an observable is what the rule gives, intersected with what is stated of it and with its range over the
domain. A target may be any linear combination of the working observables of a patch.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from heapq import nlargest
from math import lcm

from ..certificate import PatchStatement
from .facts import Facts, far
from .points import combination_within, ranges_within
from .space import Ranges, Space
from .weights import Dual, Every

__all__ = ["QuadraticRule"]

_LIKELY = 3
"""The patches that are tried for the one end of an observable that a single patch proves."""


class QuadraticRule:
    """Ranges of the patches of a head with prototypes. One serves many certificates.

    Attributes:
        space: the head.
    """

    def __init__(self, space: Space) -> None:
        self.space = space

    def ranges(self, statements: Sequence[PatchStatement], quick: bool = False) -> Ranges:
        """The range of every working observable of a patch, given its statements.

        Args:
            statements: what is known.
            quick: whether by weights that are nearly the best, in a hundredth of the time.
        """
        if not statements:
            return self.space.domain
        every, observables = Every(self.space, statements, quick), range(self.space.head.count)
        lower, upper = every.improved(1, observables), None
        if not every.unbounded:
            upper = [-low for low in every.improved(-1, observables)]
        return Ranges(lower, upper).met(self.space.domain)

    def pooled(self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool) -> Ranges | None:
        """The range of the working observable of every prototype at that patch where its similarity is the greatest;
        None where activations are not such a similarity, or a range may be infinite.

        Of one end it is enough that one patch has it: floats choose some, where it is to be quick. The other end is the
        least that all patches prove: only bounds that are it are improved.

        Args:
            groups: the statements about each patch.
            patches: L.
            quick: as in `ranges`.
        """
        head, domain = self.space.head, self.space.domain
        if head.pooling not in ("max", "masked_max") or head.similarity.unimodal or domain.upper is None:
            return None
        every = {patch: Every(self.space, group, quick) for patch, group in groups.items()}
        falls = head.similarity.falls
        sign = 1 if falls else -1
        least = domain.lower if falls else [-high for high in domain.upper]
        outer = self._least_of_all(every, sign, self._covered(groups, patches), least)
        sure = [-high for high in domain.upper] if falls else list(domain.lower)
        for patch, observables in self._likeliest(every, -sign, _LIKELY if quick else len(every)).items():
            for k, bound in zip(observables, every[patch].improved(-sign, observables), strict=True):
                sure[k] = max(sure[k], bound)
        return Ranges(outer, [-end for end in sure]) if falls else Ranges(sure, [-end for end in outer])

    def _seen(self, patch: int) -> Sequence[int]:
        """The prototypes that look at a patch."""
        head = self.space.head
        if not head.mask:
            return range(head.count)
        return [k for k, columns in enumerate(head.mask) if head.column(patch) in columns]

    def _covered(self, groups: Collection[int], patches: int) -> list[bool]:
        """For each prototype whether there are statements about all patches that it looks at."""
        head, last = self.space.head, self.space.head.columns - 1
        left = [sum(head.column(patch) == column for patch in groups) for column in range(last + 1)]
        full = [count == (1 if column < last else patches - last) for column, count in enumerate(left)]
        return [all(full[column] for column in seen) for seen in head.mask or [(0,)] * head.count]

    def _least_of_all(
        self, every: Mapping[int, Every], sign: int, covered: Sequence[bool], domain: Sequence[int]
    ) -> list[int]:
        """The least that the patches prove of each observable times a sign; the domain's end where one has no more."""
        bounds: list[dict[int, int]] = [{} for _ in domain]
        for patch, each in every.items():
            observables = [k for k in self._seen(patch) if covered[k]]
            for k, bound in zip(observables, each.middle(sign, observables), strict=True):
                bounds[k][patch] = bound
        improved: set[tuple[int, int]] = set()
        active = [k for k, known in enumerate(covered) if known]
        while active:
            todo: dict[int, list[int]] = {}
            for k in active:
                patch = min(bounds[k], key=bounds[k].__getitem__)
                if (patch, k) not in improved:
                    improved.add((patch, k))
                    todo.setdefault(patch, []).append(k)
            for patch, observables in todo.items():
                for k, bound in zip(observables, every[patch].improved(sign, observables), strict=True):
                    bounds[k][patch] = max(bounds[k][patch], bound)
            active = [k for observables in todo.values() for k in observables]
        return [min(known.values(), default=end) for known, end in zip(bounds, domain, strict=True)]

    def _likeliest(self, every: Mapping[int, Every], sign: int, most: int) -> dict[int, list[int]]:
        """For each patch the observables of which it is one of a few that prove the most, times a sign, as floats see
        it."""
        values: list[list[tuple[int, int]]] = [[] for _ in range(self.space.head.count)]
        for patch, each in every.items():
            if not (each.unbounded and sign < 0):
                observables = self._seen(patch)
                for k, value in zip(observables, each.estimates(sign, observables), strict=True):
                    values[k].append((value, patch))
        chosen: dict[int, list[int]] = {}
        for k, found in enumerate(values):
            for _, patch in nlargest(most, found):
                chosen.setdefault(patch, []).append(k)
        return chosen

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
