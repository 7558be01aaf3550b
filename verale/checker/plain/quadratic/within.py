"""Ranges that lie within the exact ranges of a patch: minimality is shown with them (`minimality`).

y, forms and facts are those of `facts`, but the ends of the facts are rounded inward. A **point** is a vector y and a
number N >= |y|^2. Its value under a form a |y|^2 - 2 <y, b> is a N - 2 <y, b>.

**Rule.** If the values of a point under all facts lie between their ends, then the exact range of any target, given the
statements, has the point's value under the target's form in it. *Proof.* Of distances, give y the length N^(1/2) in the
one coordinate more that its space has, which is 0 in every prototype: no product with a b_i or a target changes. Of
products and cosines, y lies in the ball since |y|^2 <= N <= R^2 is a fact, and N counts in no other form. Both ways
this is a vector of the space (certificates/v1.md, "Reference ranges") that satisfies all statements.

**Segment.** Let (N, y) be such a point, e a number, v = c b + sum u_i b_i. If (N + s e, y + s v) is one for s = 0 and
for some s = t, then for all s between. *Proof.* Values change linearly with s, and N + s e - |y + s v|^2 is concave.

So a target's range is reached from one point by going as far as the facts allow, in any direction: which point and
which directions, code tells that need not be right (`points`). With y = sum w_i b_i all products come from the Gram
matrix and the target's `products`, in integers. How far one can go is a fraction, or a root that is rounded down, so
all of it is exact but for that root and the end's own rounding, inward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from operator import mul
from typing import TypeAlias

from ...certificate import PatchStatement
from ...dyadic import dot
from ...head import COSINES
from ..space import Ranges, Space
from .facts import Facts, Target
from .intervals import far, intervals
from .points import Move, Point, Points

__all__ = ["combination_within", "ranges_within"]

_Fraction: TypeAlias = tuple[int, int]
_ROOT = 64  # bits of a root after the point


def ranges_within(space: Space, statements: Sequence[PatchStatement]) -> Ranges | None:
    """The range of every observable of a patch, given at least one statement about it, rounded inward; None if none is
    found or one may be empty."""
    facts = _facts(space, statements)
    targets = facts.targets(space.chunks)
    each = _reached(space, facts, targets)
    if each is None or space.within is None:
        return None
    lower: list[int] = []
    upper: list[int] = []
    for k, (target, ends) in enumerate(zip(targets, each, strict=True)):
        values = [_observed(space, k, target, *pair) for pair in ends]
        lower.append(min(low for low, _ in values))
        upper.append(max(high for _, high in values))
    # Far away all lower ends of distances hold: then no range has an upper end.
    return Ranges(lower, None if far(space, statements) else upper).met(space.within).filled()


def combination_within(
    space: Space, statements: Sequence[PatchStatement], shares: Mapping[int, int]
) -> Fraction | None:
    """A value of a combination of working observables, about the least, at a vector that satisfies the statements, of
    which there is at least one; None if no such vector is found."""
    facts = _facts(space, statements)
    target, constant = facts.combination(shares)
    each = _reached(space, facts, [target])
    if each is None:
        return None
    if facts.curves[-1]:
        value = min(Fraction(int(low), int(unit)) for (low, unit), _ in each[0])
    else:
        value = -max(Fraction(int(high), int(unit)) for _, (high, unit) in each[0]) / 2
    return (value + constant) / (1 << space.bits)


def _facts(space: Space, statements: Sequence[PatchStatement]) -> Facts:
    """The facts, ends rounded inward."""
    stated = zip((s.prototype for s in statements), intervals(space, statements, inward=True), strict=True)
    facts = Facts(space, [(j, low - space.offsets[j], high - space.offsets[j]) for j, (low, high) in stated])
    if not facts.curves[-1]:
        facts.ends[0] = 0, space.least_reach
    return facts


def _reached(
    space: Space, facts: Facts, targets: Sequence[Target]
) -> list[tuple[tuple[_Fraction, _Fraction], ...]] | None:
    """For each target, by every way to move, two values of its form at points that satisfy the facts, the lesser one
    first; None if no point is found."""
    points = Points(facts, targets, space)
    tried = (_Start.of(facts, space, point) for point in points.starts())
    start = next((each for each in tried if each is not None), None)
    if start is None:
        return None
    return list(zip(*(start.reached(targets, moves) for moves in points.moves(start.point)), strict=True))


def _observed(space: Space, k: int, target: Target, low: _Fraction, high: _Fraction) -> tuple[int, int]:
    """The range of an observable on the grid, rounded inward, given that of its form."""
    if space.head.geometry == "euclidean":
        constant = target.square << space.lift
        return constant - (-low[0] // low[1]), constant + high[0] // high[1]
    # The form of a product is -2 of it.
    lower = space.offsets[k] - high[0] // (2 * high[1])
    upper = space.offsets[k] + -low[0] // (2 * low[1])
    if space.head.geometry in COSINES:
        least, greatest = space.norms[k]
        lower = -((-lower << space.bits) // (least if lower > 0 else greatest))
        upper = (upper << space.bits) // (greatest if upper > 0 else least)
    return lower, upper


class _Start:
    """A point that satisfies the facts about a patch.

    Attributes:
        point: this point.
    """

    def __init__(self, facts: Facts, space: Space, point: Point, values: Sequence[int], spare: int) -> None:
        self.point = point
        self._kernel, self._lift = space.kernel, space.lift
        self._gram = space.kernel.matrix(facts.gram)
        integer = space.kernel.integer
        self._curves = facts.curves
        # How far each value is from its ends, times the unit, and the least of all.
        ends = list(zip(values, facts.ends, strict=True))
        self._down = [integer(value - low * point.unit) for value, (low, _) in ends]
        self._up = [integer(high * point.unit - value) for value, (_, high) in ends]
        self._least = min(*self._down, *self._up)
        self._spare = integer(spare)  # N - |y|^2, times the square of the unit

    @classmethod
    def of(cls, facts: Facts, space: Space, point: Point) -> _Start | None:
        """The point, if it satisfies the facts."""
        unit, lift = point.unit, space.lift
        products = [dot(row, point.weights) for row in facts.gram]
        values = [
            curve * point.square * unit - (product << lift + 1)
            for curve, product in zip(facts.curves, products, strict=True)
        ]
        spare = point.square * unit * unit - (dot(point.weights, products) << lift)
        if unit <= 0 or spare < 0:
            return None
        if not all(low * unit <= v <= high * unit for v, (low, high) in zip(values, facts.ends, strict=True)):
            return None
        return cls(facts, space, point, values, spare)

    def reached(self, targets: Sequence[Target], moves: Sequence[Move]) -> list[tuple[_Fraction, _Fraction]]:
        """For each target two values of its form, the lesser one first: those of the points where the facts end a move
        backward and forward."""
        kernel = self._kernel
        rows = kernel.matrix([move.weights for move in moves])
        reached = kernel.rows(kernel.product(rows, self._gram))
        each = zip(targets, moves, kernel.rows(rows), reached, strict=True)
        return [self._ends(target, move.own, move.rise, row, images) for target, move, row, images in each]

    def _ends(
        self, target: Target, own: int, rise: int, row: Sequence[int], images: Sequence[int]
    ) -> tuple[_Fraction, _Fraction]:
        """Of the segment with v = own b + sum row_i b_i and e = rise; the images are <sum row_i b_i, b_j>."""
        point, lift = self.point, self._lift
        along = [image + own * product for image, product in zip(images, target.products, strict=True)]  # <v, b_i>
        across = sum(map(mul, row, target.products)) + own * target.square  # <v, b>
        bend = own * across + sum(map(mul, row, along)) << lift  # |v|^2
        slope = rise * point.unit - (sum(map(mul, point.weights, along)) << lift + 1)
        back, forth = self._round(bend, slope)
        changes = [curve * rise - (product << lift + 1) for curve, product in zip(self._curves, along, strict=True)]
        if back is None or forth is None or max(map(abs, changes)) * max(back[0], forth[0]) > self._least * back[1]:
            for change, down, up in zip(changes, self._down, self._up, strict=True):
                if change > 0:
                    back, forth = _nearer(back, (down, change)), _nearer(forth, (up, change))
                elif change < 0:
                    back, forth = _nearer(back, (up, -change)), _nearer(forth, (down, -change))
        value = target.curve * point.square * point.unit - (sum(map(mul, point.weights, target.products)) << lift + 1)
        change = target.curve * rise - (across << lift + 1)
        first, last = (
            (value * below + change * far, point.unit * below)
            for far, below in ((-back[0], back[1]) if back else (0, 1), forth or (0, 1))
        )
        return (first, last) if change > 0 else (last, first)

    def _round(self, bend: int, slope: int) -> tuple[_Fraction | None, _Fraction | None]:
        """The greatest s with spare - s slope - s^2 bend >= 0 and with spare + s slope - s^2 bend >= 0, rounded down;
        None where there is no greatest one."""
        if bend == 0:
            return (self._spare, slope) if slope > 0 else None, (self._spare, -slope) if slope < 0 else None
        root = self._kernel.isqrt(slope * slope + 4 * bend * self._spare << 2 * _ROOT)
        below = bend << _ROOT + 1
        return (root - (slope << _ROOT), below), (root + (slope << _ROOT), below)


def _nearer(one: _Fraction | None, other: _Fraction) -> _Fraction:
    """The lesser of two fractions; denominators are positive."""
    return other if one is None or other[0] * one[1] < one[0] * other[1] else one
