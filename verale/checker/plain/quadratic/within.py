"""Ranges that lie within the exact ranges of a patch: minimality is shown with them (`minimality`).

y, forms and facts are those of `facts`, but the ends of the facts are rounded inward. A **point** is a vector y and a
number N >= |y|^2. Its value under a form a |y|^2 - 2 <y, b> is a N - 2 <y, b>.

**Rule.** If the values of a point under all facts lie between their ends, then the exact range of any target, given the
statements, has the point's value under the target's form in it. *Proof.* Of distances, give y the length N^(1/2) in the
one coordinate more that its space has, which is 0 in every prototype: no product with a b_i or a target changes. Of
products and cosines, y lies in the ball since |y|^2 <= N <= R^2 is a fact, and N counts in no other form. Both ways
this is a vector of the space (certificates/v1.md, "Reference ranges") that satisfies all statements.

Points come from code that need not be right (`points`). They are rational, so all of this is exact, but for the end's
own rounding, inward.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ...certificate import PatchStatement
from ...dyadic import ceil_at, dot, floor_at
from ...head import COSINES
from ..space import Ranges, Space
from .dual import Dual
from .facts import Facts, Target
from .intervals import far
from .points import Point, Points

__all__ = ["combination_within", "ranges_within", "satisfies", "value_at"]


def ranges_within(space: Space, statements: Sequence[PatchStatement]) -> Ranges | None:
    """The range of every observable of a patch, given at least one statement about it, rounded inward; None if none is
    found or one may be empty."""
    facts = Facts(space, statements, inward=True)
    targets = [facts.target({k: sign}) for k in range(space.head.count) for sign in (1, -1)]
    found = _points(facts, targets)
    some = next((point for point in found if point is not None), None)
    if some is None or space.within is None:
        return None
    values = [value_at(facts, target, point or some) for target, point in zip(targets, found, strict=True)]
    each = zip(range(space.head.count), values[::2], values[1::2], strict=True)
    ends = [_observed(space, k, low, -negated) for k, low, negated in each]
    # Far away all lower ends of distances hold: then no range has an upper end.
    upper = None if far(space, statements) else [high for _, high in ends]
    return Ranges([low for low, _ in ends], upper).met(space.within).filled()


def combination_within(
    space: Space, statements: Sequence[PatchStatement], shares: Mapping[int, int]
) -> Fraction | None:
    """A value of a combination of working observables, about the least, at a vector that satisfies the statements, of
    which there is at least one; None if no such vector is found."""
    facts = Facts(space, statements, inward=True)
    targets = [facts.target({k: sign * share for k, share in shares.items()}) for sign in (1, -1)]
    some = next((point for point in _points(facts, targets) if point is not None), None)
    return None if some is None else value_at(facts, targets[0], some) / (1 << space.bits)


def satisfies(facts: Facts, point: Point) -> bool:
    """Whether the values of a point under all facts lie between their ends, and N >= |y|^2."""
    if point.unit <= 0 or point.square * point.unit < dot(point.vector, point.vector) << facts.lift:
        return False
    values = [_value(facts, point, curve, vector) for curve, vector in zip(facts.curves, facts.vectors, strict=True)]
    return all(low * point.unit <= v <= high * point.unit for v, (low, high) in zip(values, facts.ends, strict=True))


def value_at(facts: Facts, target: Target, point: Point) -> Fraction:
    """The value of a combination at a point, on the grid."""
    return Fraction(_value(facts, point, target.curve, target.vector), facts.parts * point.unit) + target.constant


def _value(facts: Facts, point: Point, curve: int, vector: Sequence[int]) -> int:
    """The value of a form on the grid, times the unit."""
    return curve * point.square - (dot(point.vector, vector) << facts.lift + 1)


def _points(facts: Facts, targets: Sequence[Target]) -> list[Point | None]:
    """For each target the point at which it is about the least, if it satisfies the facts."""
    dual, points = Dual(facts), Points(facts)
    found = (points.least(target, dual.best(target).held) for target in targets)
    return [point if point is not None and satisfies(facts, point) else None for point in found]


def _observed(space: Space, k: int, low: Fraction, high: Fraction) -> tuple[int, int]:
    """Values of a working observable as values of the observable on the grid, rounded inward."""
    lower, upper = ceil_at(low, 0), floor_at(high, 0)
    if space.head.geometry in COSINES:
        least, greatest = space.norms[k]
        lower = -((-lower << space.bits) // (least if lower > 0 else greatest))
        upper = (upper << space.bits) // (greatest if upper > 0 else least)
    return lower, upper
