"""The geometric paradigms: per patch, the range of every observable given the stated ones, by the one rule (`facts`).

The range of an observable is what the rule gives, intersected with its range over the domain and with what is stated
about itself. Where observables are pooled over patches, few ranges are needed (`greatest`): a ball that holds the
latent bounds the rest (`coarse`).

A target may be any linear combination of the working observables of a patch: that is a form too, and a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from math import isqrt, lcm
from operator import add, neg

from ...certificate import PatchStatement
from ...dyadic import ceil_shift
from ..pooling import pool
from ..space import Ranges, Space
from ..work import OPERATION
from .coarse import Ball, Coarse
from .dual import ascent_steps
from .facts import Facts, Target
from .greatest import greatest
from .intervals import far, intervals, most_stated
from .span import Span
from .weights import Weights, steps_at_middles
from .within import combination_within, ranges_within

__all__ = ["TOGETHER", "QuadraticRule"]

TOGETHER = 64
"""How many patches have their coarse bounds in memory at once."""


class QuadraticRule:
    """Ranges of the patches of a head with prototypes. One serves many certificates.

    Attributes:
        space: the head.
        has_hurried: whether the ranges of some patch perhaps are wider than they have to be, because they were found
            in a hurry.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.has_hurried, self._patient = False, self
        self._smallest = space.head.geometry == "euclidean"

    @cached_property
    def coarse(self) -> Coarse:
        """Coarse bounds, whose numbers are computed once."""
        return Coarse(self.space) if self._patient is self else self._patient.coarse

    def hurried(self) -> QuadraticRule:
        """The same rule in a hurry: with intervals that are narrow, but not next to nothing, its ranges are sometimes a
        little wider, and are found several times sooner."""
        rule = QuadraticRule(self.space)
        rule._patient = self
        return rule

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges:
        """The range of every working observable of a patch, given its statements."""
        if not statements:
            return self.space.domain
        patch, targets = self._patch(statements), range(self.space.head.count)
        most = patch.most(targets)
        if far(self.space, statements):
            reached = most_stated(self.space, statements)
            return Ranges([min(-end, reached) for end in most], None).met(self.space.domain)
        return self._working(patch.least(targets), most).met(self.space.domain)

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The range of every observable of a patch, given at least one statement about it, rounded inward; None if none
        is found or one may be empty."""
        return ranges_within(self.space, statements)

    def combination(
        self, statements: Sequence[PatchStatement], shares: Mapping[int, Fraction]
    ) -> tuple[Fraction, Fraction]:
        """The range of a linear combination of working observables of a patch; see `combining`."""
        return self.combining(statements)(shares)

    def combining(
        self, statements: Sequence[PatchStatement]
    ) -> Callable[[Mapping[int, Fraction]], tuple[Fraction, Fraction]]:
        """What gives the range of any linear combination of working observables of a patch.

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
            ends = (Fraction(int(space.domain.upper[s.prototype]), 1 << space.bits) for s in statements)
            statements = [replace(s, upper=end) for s, end in zip(statements, ends, strict=True)]
        space.work.take(self._patch_steps(len(statements)))
        patch = self._patch(statements)

        def combination(shares: Mapping[int, Fraction]) -> tuple[Fraction, Fraction]:
            space.work.take(self._combined_steps(len(statements), len(shares)))
            unit, whole = _whole(shares)
            low, high = patch.combined(whole)
            return Fraction(low, unit << space.bits), Fraction(high, unit << space.bits)

        return combination

    def combination_within(
        self, statements: Sequence[PatchStatement], shares: Mapping[int, Fraction]
    ) -> Fraction | None:
        """A value of a combination, about the least, at a vector that satisfies the statements, of which there is at
        least one; None if no such vector is found."""
        count = len(statements)
        self.space.work.take(self._patch_steps(count) + self._combined_steps(count, len(shares)))
        unit, whole = _whole(shares)
        value = combination_within(self.space, statements, whole)
        return None if value is None else value / unit

    def _patch_steps(self, statements: int) -> int:
        """The steps of one patch's matrices: products, and an inverse."""
        return self.space.work.products(statements**2 * self.space.head.depth) + OPERATION * statements**3

    def _combined_steps(self, statements: int, shares: int) -> int:
        """The steps of one combination: its vector, and the weights of both ends."""
        return OPERATION * (self.space.head.depth + 4) * shares + 2 * ascent_steps(statements)

    def pooled(self, groups: Sequence[Sequence[PatchStatement]], known: Ranges | None) -> Ranges:
        """The ranges of every working observable, pooled: the smallest distance or the greatest product among at least
        one patch with these statements, and another patch whose ranges are `known`."""
        if not all(groups):
            known = self.space.domain if known is None else pool([known, self.space.domain], self._smallest)
        for group in groups:
            if group and far(self.space, group):
                ranges = self.ranges(group)
                known = ranges if known is None else pool([known, ranges], self._smallest)
        stated = [group for group in groups if group and not far(self.space, group)]
        for start in range(0, len(stated), TOGETHER):
            known = self._among([self._patch(group) for group in stated[start : start + TOGETHER]], known)
        return self.space.domain if known is None else known.met(self.space.domain)

    def _patch(self, statements: Sequence[PatchStatement]) -> _Patch:
        offsets = self.space.offsets
        each = zip((statement.prototype for statement in statements), intervals(self.space, statements), strict=True)
        stated = [(j, low - offsets[j], high - offsets[j]) for j, (low, high) in each]
        patch = _Patch(self.space, stated, self._patient is not self)
        self.has_hurried |= patch.hurries
        return patch

    def _among(self, patches: Sequence[_Patch], known: Ranges | None) -> Ranges:
        """The ranges pooled over these patches and the known one; the domain's are not used."""
        coarse, offsets = self.coarse, self.space.offsets
        most, hopes = coarse.bounds([patch.ball(coarse.places) for patch in patches])
        lower = [] if known is None else known.lower
        upper = [] if known is None or known.upper is None else known.upper
        if self._smallest:
            lower, upper = list(map(neg, upper)), list(map(neg, lower))
        lower, upper = ([end - offset for end, offset in zip(side, offsets, strict=False)] for side in (lower, upper))
        drops = [partial(patch.drops, coarse.lift) for patch in patches]
        lower = greatest(hopes, [patch.least for patch in patches], lower, coarse.lift, drops)
        upper = greatest(most, [patch.most for patch in patches], upper, coarse.lift)
        return self._working(lower, upper)

    def _working(self, lower: Sequence[int], upper: Sequence[int]) -> Ranges:
        """Ranges of the working observables, given those of the closeness."""
        if self._smallest:
            return Ranges(list(map(neg, upper)), list(map(neg, lower)))
        return Ranges(*(list(map(add, side, self.space.offsets)) for side in (lower, upper)))


class _Patch:
    """One patch with statements."""

    def __init__(self, space: Space, stated: Sequence[tuple[int, int, int]], hurried: bool) -> None:
        self._space = space
        self._halved = space.head.geometry != "euclidean"  # the form of a product is -2 of it, that of a distance 1
        self._stated = {j: (low, high) if self._halved else (-high, -low) for j, low, high in stated}
        self._facts = Facts(space, stated)
        self._weights = Weights(self._facts, space.kernel, space.lift, hurried)
        self._known: dict[int, tuple[int, int]] = {}

    @property
    def hurries(self) -> bool:
        """Whether other weights may prove more."""
        return self._weights.at_middles

    @cached_property
    def _span(self) -> Span:
        weights = self._weights
        return Span(self._space, self._facts, weights.inverse, weights.foot, self._ball[0], weights.bits)

    @cached_property
    def _ball(self) -> tuple[int, int]:
        return self._facts.ball(self._weights.foot, self._weights.bits)

    def least(self, targets: Sequence[int]) -> list[int]:
        """Lower ends of the closeness to these prototypes: of the product less the offset, of minus the distance."""
        ends = [low for low, _ in self._ends(targets)]
        for each in self._others(targets, -1):
            ends = [max(end, other) for end, other in zip(ends, each, strict=True)]
        return ends

    def most(self, targets: Sequence[int]) -> list[int]:
        """Upper ends of the same."""
        ends = [high for _, high in self._ends(targets)]
        for each in self._others(targets, 1):
            ends = [min(end, -other) for end, other in zip(ends, each, strict=True)]
        return ends

    def drops(self, lift: int, targets: Sequence[int]) -> Iterator[int]:
        """About how far the lower ends of the closeness are from the middles, in the unit of 2^lift on the grid."""
        doubled = 1 - self._halved
        for swing in self._weights.swings(self._space.singles[k] for k in targets):
            yield swing << doubled >> lift

    def combined(self, shares: Mapping[int, int]) -> tuple[int, int]:
        """The range of a combination of working observables."""
        form, constant = self._facts.combination(shares)
        low, high = self._span.of(form)
        for (least,), (other,) in zip(self._least([form], 1), self._least([form], -1), strict=True):
            low, high = max(low, least), min(high, -other)
        if self._halved:
            low, high = -high >> 1, -(low >> 1)
        return int(low) + constant, int(high) + constant

    def ball(self, places: int) -> Ball:
        """See `Facts.ball`; in the unit of the centre, 2^-places."""
        weights, finer = self._weights, 2 * places - self._space.lift
        far, lean = self._ball
        far, near, stray = (isqrt(int(ceil_shift(square, finer))) for square in (far, weights.near, weights.stray))
        centre = self._facts.centre(weights.foot, weights.bits, places)
        return Ball(centre, far + 1, int(ceil_shift(lean, finer - 1)), near, stray)

    def _ends(self, targets: Sequence[int]) -> Iterator[tuple[int, int]]:
        """The ends of the closeness to these prototypes by what is stated about it and by the span. They are kept."""
        known, stated = self._known, self._stated
        missing = [k for k in targets if k not in known]
        for k, (low, high, square) in zip(missing, self._span.ends(self._space.targets(missing)), strict=True):
            constant = self._constant(square)
            low, high = -(high + constant) >> self._halved, -(low + constant >> self._halved)
            if k in stated:
                low, high = max(low, stated[k][0]), min(high, stated[k][1])
            known[k] = low, high
        return (known[k] for k in targets)

    def _others(self, targets: Sequence[int], sign: int) -> Iterator[list[int]]:
        """Lower bounds of minus `sign` times the closeness to these prototypes, by weights for each of them."""
        if self._weights.wide:
            steps = steps_at_middles if self.hurries else ascent_steps
            self._space.work.take(len(targets) * steps(len(self._stated)))
            forms = self._facts.targets(self._space.targets(targets))
            for ends in self._least(forms, sign):
                each = zip(forms, ends, strict=True)
                yield [end + sign * self._constant(form.square) >> self._halved for form, end in each]

    def _least(self, forms: Sequence[Target], sign: int) -> Iterator[list[int]]:
        """Lower bounds of `sign` times these forms, by weights for each of them."""
        for rows in self._weights.rows(forms, sign):
            yield self._facts.least(forms, sign, rows, self._weights.bits)

    def _constant(self, square: int) -> int:
        """What is added to the form of a distance to give the distance."""
        return 0 if self._halved else square << self._space.lift


def _whole(shares: Mapping[int, Fraction]) -> tuple[int, dict[int, int]]:
    """A common denominator, and the numerators."""
    unit = lcm(*(share.denominator for share in shares.values()))
    return unit, {k: int(share * unit) for k, share in shares.items()}
