"""The geometric paradigms: per patch, the range of every observable given the stated ones, by the one rule (`facts`).

The range of an observable is what the rule gives, intersected with what is stated of it and with its range over the
domain. A target may be any linear combination of the working observables of a patch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from heapq import nlargest

from ..certificate import PatchStatement
from ..read.similarities import COSINES
from .ball import enclosures
from .facts import Facts, far, most_stated
from .points import observed, points, value_at
from .space import Ranges, Space
from .weights import Weights

_LIKELY = 3
"""The patches that are tried for the one end of an observable that a single patch proves."""
_FAR = 1 << 10  # times what a distance can be: so far away the space is looked at without statements


class QuadraticRule:
    """Ranges of the patches of a head with prototypes. It keeps what it has found out about patches.

    Attributes:
        space: the head.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._patches: dict[tuple[PatchStatement, ...], _Patch] = {}

    def ranges(self, statements: Sequence[PatchStatement], quick: bool = False) -> Ranges:
        """The range of every working observable of a patch, given its statements.

        Args:
            statements: those about the patch.
            quick: whether weights are found in floats, in a hundredth of the time.
        """
        if not statements:
            return self.space.domain
        patch, observables = self._patch(statements), range(self.space.head.count)
        lower, upper = patch.bounds(1, observables, quick), None
        if not patch.unbounded:
            upper = [-low for low in patch.bounds(-1, observables, quick)]
        return Ranges(lower, upper).met(self.space.domain)

    def _patch(self, statements: Sequence[PatchStatement]) -> _Patch:
        key = tuple(statements)
        if key not in self._patches:
            self._patches[key] = _Patch(self.space, key)
        return self._patches[key]

    def pooled(
        self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool = False
    ) -> Ranges | None:
        """The range of the working observable of every prototype at that patch where its similarity is the greatest;
        None where activations are not such a similarity, or a range may be infinite.

        Of one end it is enough that one patch has it: those are tried that prove the most by their `ball`, some where
        it is to be quick. The other end is the least that all patches prove: only bounds that are it are improved on
        what the balls prove.

        Args:
            groups: the statements about each patch.
            patches: L.
            quick: as for `ranges`.
        """
        head, domain = self.space.head, self.space.domain
        if head.pooling not in ("max", "masked_max") or head.similarity.unimodal or domain.upper is None:
            return None
        falls = head.similarity.falls
        sign, negated = 1 if falls else -1, [-high for high in domain.upper]
        outer, sure = (list(domain.lower), negated) if falls else (negated, list(domain.lower))
        every = {number: self._patch(group) for number, group in groups.items()}
        bounds: list[dict[int, int]] = [{} for _ in outer]
        guesses: list[list[tuple[int, int]]] = [[] for _ in outer]
        for number, patch in every.items():
            lower, upper = patch.enclosed
            for k in [k for k, columns in enumerate(head.mask) if head.column(number) in columns]:
                bounds[k][number], guess = (lower[k], -upper[k]) if falls else (-upper[k], lower[k])
                if not (falls and patch.unbounded):
                    guesses[k].append((guess, number))
        left = head.left(patches, groups)
        pending = {k: bounds[k] for k, columns in enumerate(head.mask) if not any(left[column] for column in columns)}
        for k, least in self._least(every, sign, pending, quick).items():
            outer[k] = least
        likely: dict[int, list[int]] = {}
        for k, found in enumerate(guesses):
            for _, number in nlargest(_LIKELY if quick else len(found), found):
                likely.setdefault(number, []).append(k)
        for number, observables in likely.items():
            for k, bound in zip(observables, every[number].bounds(-sign, observables, quick), strict=True):
                sure[k] = max(sure[k], bound)
        return Ranges(outer, [-end for end in sure]) if falls else Ranges(sure, [-end for end in outer])

    def _least(
        self, every: Mapping[int, _Patch], sign: int, bounds: Mapping[int, dict[int, int]], quick: bool
    ) -> dict[int, int]:
        """The least that the patches prove of observables times a sign, given what each proves by its ball: `bounds`.
        Only where a patch decides are these improved."""
        least: dict[int, int] = {}
        improved: set[tuple[int, int]] = set()
        while left := [k for k in bounds if k not in least]:
            deciding: dict[int, list[int]] = {}
            for k in left:
                patch = min(bounds[k], key=bounds[k].__getitem__)
                if (k, patch) in improved:
                    least[k] = bounds[k][patch]
                else:
                    deciding.setdefault(patch, []).append(k)
            for patch, observables in deciding.items():
                for k, bound in zip(observables, every[patch].bounds(sign, observables, quick), strict=True):
                    bounds[k][patch] = max(bounds[k][patch], bound)
                    improved.add((k, patch))
        return least

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The range of every observable of a patch, given at least one statement about it, rounded inward; None if none
        is found or one may be empty."""
        space, every = self.space, range(self.space.head.count)
        facts = Facts(space, statements, inward=True)
        targets = [facts.target({k: sign}) for k in every for sign in (1, -1)]
        found = points(facts, targets)
        some = next((point for point in found if point is not None), None)
        if some is None or space.within is None:
            return None
        values = [value_at(facts, target, point or some) for target, point in zip(targets, found, strict=True)]
        each = zip(every, values[::2], values[1::2], strict=True)
        ends = [observed(space, k, low, -negated) for k, low, negated in each]
        # Far away all lower ends of distances hold: then no range has an upper end.
        upper = None if far(space, statements) else [high for _, high in ends]
        return Ranges([low for low, _ in ends], upper).met(space.within).filled()

    def combination(self, statements: Sequence[PatchStatement], shares: Mapping[int, int]) -> Fraction:
        """A lower bound of a linear combination of working observables of a patch.

        Args:
            statements: what is known. The domain's ends stand in the place of those that are missing; where nothing is
                known, those of prototype 0.
            shares: by prototype what its working observable is multiplied by.
        """
        patch = self._patch(list(map(self._filled, statements or [PatchStatement(0, 0, None, None)])))
        return Fraction(patch.combination(shares), 1 << self.space.bits)

    def combination_within(self, statements: Sequence[PatchStatement], shares: Mapping[int, int]) -> Fraction | None:
        """A value of a combination, about the least, at a vector that satisfies the statements; None if no such vector
        is found."""
        if not statements:  # one takes their place that all that matters satisfies
            least = self._filled(PatchStatement(0, 0, None, None))
            far = replace(least, lower=None, upper=(least.upper or Fraction(0)) * _FAR)
            statements = [far if self.space.head.geometry == "euclidean" else replace(least, upper=None)]
        facts = Facts(self.space, statements, inward=True)
        targets = [facts.target({k: sign * share for k, share in shares.items()}) for sign in (1, -1)]
        some = next((point for point in points(facts, targets) if point is not None), None)
        return None if some is None else value_at(facts, targets[0], some) / (1 << self.space.bits)

    def _filled(self, statement: PatchStatement) -> PatchStatement:
        """A statement with the domain's ends in the place of those that are missing."""
        j, domain, one = statement.prototype, self.space.domain, 1 << self.space.bits
        if domain.upper is None:
            raise ValueError("over an unbounded domain nothing bounds a combination")
        low, high = (-one, one) if self.space.head.geometry in COSINES else (domain.lower[j], domain.upper[j])
        ends = zip((statement.lower, statement.upper), (low, high), strict=True)
        lower, upper = (Fraction(end, one) if stated is None else stated for stated, end in ends)
        return replace(statement, lower=lower, upper=upper)


class _Patch:
    """Lower bounds, on the grid, of working observables of a patch times a sign, 1 or -1, given its statements.

    Args:
        space: the head.
        statements: those about the patch, at least one.

    Attributes:
        unbounded: whether the statements are distances without upper ends (`facts.far`): no distance has one then.
    """

    def __init__(self, space: Space, statements: Sequence[PatchStatement]) -> None:
        self._space, self._facts, self.unbounded = space, Facts(space, statements), far(space, statements)
        self._most = most_stated(space, statements) if self.unbounded else 0
        self._weights: dict[bool, Weights] = {}
        self._stated = {s.prototype: ends for s, ends in zip(statements, self._facts.intervals, strict=True)}

    def _weigh(self, quick: bool) -> Weights:
        if quick not in self._weights:
            self._weights[quick] = Weights(self._facts, quick)
        return self._weights[quick]

    def bounds(self, sign: int, observables: Sequence[int], quick: bool) -> list[int]:
        """Those of some observables by the best weights, which are found in floats where it is to be quick."""
        if not observables:
            return []
        facts, arithmetic, weights = self._facts, self._space.arithmetic, self._weigh(quick)
        targets = [facts.target({k: sign}) for k in observables]
        rows = [weights.best(target) for target in targets]
        images, places = arithmetic.product(arithmetic.matrix(rows), facts.gram), weights.precision.places
        found = zip(observables, targets, rows, images, strict=True)
        return [self._kept(k, sign, facts.least(target, row, places, image)) for k, target, row, image in found]

    def combination(self, shares: Mapping[int, int]) -> int:
        """A lower bound of a combination with these shares, by the best weights."""
        target, weights = self._facts.target(shares), self._weigh(False)
        return self._facts.least(target, weights.best(target), weights.precision.places)

    @cached_property
    def enclosed(self) -> tuple[list[int], list[int]]:
        """The lower and the upper ends of all observables that the patch's ball gives."""
        ranges = enumerate(enclosures(self._facts, self._weigh(True).frame()))
        pairs = [(self._kept(k, 1, low), -self._kept(k, -1, -high)) for k, (low, high) in ranges]
        return [low for low, _ in pairs], [high for _, high in pairs]

    def _kept(self, k: int, sign: int, bound: int) -> int:
        """A bound, or what is stated or the domain gives if that is more."""
        domain, stated = self._space.domain, self._stated.get(k)
        if sign > 0:
            bound = min(bound, self._most) if self.unbounded else bound
            return max(bound, domain.lower[k], stated[0] if stated else domain.lower[k])
        if domain.upper is not None:
            bound = max(bound, -domain.upper[k])
        return max(bound, -stated[1]) if stated else bound
