"""Points at which a target has its least value, for minimality. They need not be right: `within` checks them, so a poor
one can cost a proof of minimality, never its soundness.

`weights` tells the facts S that hold there, each with an end. All (N, y) with a_i N - 2 <y, b_i> = e_i for i in S
have the base N_0 = -2 mu, g = sum sigma_i b_i, where (mu, sigma) = X (1, -e_i / 2); and with (lambda, tau) =
X (a, <b, b_i>) they stay so along the direction of r = b - sum tau_i b_i, N rising by 2 lambda. The target falls with
s in (N_0 + 2 s lambda, g + s r) as far as N >= |y|^2, that is s^2 |r|^2 <= N_0 - |g|^2. X is the adjugate of the matrix
[0, a_S; a_S, <b_i, b_j>] over its determinant, so all of this is rational and exact, but for the root s, rounded down.

Ranges that lie within the exact ranges of a patch: minimality is shown with them (`minimality`).

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

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import isqrt

from ..dyadic import ceil_at, dot, floor_at
from ..read.similarities import COSINES
from .facts import Facts, Target
from .space import Space, divided
from .weights import Weights

_PLACES = 128  # of a root after the point


@dataclass(frozen=True)
class Point:
    """y = vector / unit, and N = square / unit on the grid; the unit is positive."""

    unit: int
    square: int
    vector: list[int]


class Points:
    """Points for the facts about one patch, whose ends are rounded inward."""

    def __init__(self, facts: Facts) -> None:
        self._facts, self._inverse = facts, cache(self._inverse_of)

    def least(self, target: Target, held: Mapping[int, int]) -> Point | None:
        """The point at which a target is least, if these facts hold with these ends; None if there is none."""
        facts, members, lift = self._facts, tuple(held), self._facts.lift
        vector = facts.vector(target.shares)
        if not members:
            a = target.curve  # the least of a |y|^2 - 2 <y, b> is at y = b / a
            return Point(a * a, target.square << lift, [a * entry for entry in vector]) if a > 0 else None
        inverse = self._inverse(members)
        if inverse is None:
            return None
        rows, scale = inverse
        # All in the unit 1 / scale: of g on the grid, 2^-lift, and doubled.
        mu, *sigma = [dot(row, [2 << lift, *(-end for end in held.values())]) for row in rows]
        low, *tau = [dot(row, [target.curve, *(target.products[i] for i in members)]) for row in rows]
        columns = list(zip(*(facts.vectors[i] for i in members), strict=True))
        foot = [dot(column, sigma) for column in columns]  # 2^(lift + 1) scale g
        rest = [scale * b - dot(column, tau) for b, column in zip(vector, columns, strict=True)]  # scale r
        # |r|^2 and N_0 - |g|^2 on the grid, times scale^2 and scale^2 2^(lift + 2).
        across = dot(rest, rest) << lift
        spare = (-mu * scale << lift + 2) - dot(foot, foot)
        if spare < 0:
            return None
        root = _root(Fraction(spare, across << lift + 2)) if across else Fraction(0)
        unit = scale * root.denominator << lift + 1
        return Point(
            unit,
            (-mu * root.denominator << lift + 1) + (low * root.numerator << 2 * lift + 2),
            [g * root.denominator + (r * root.numerator << lift + 1) for g, r in zip(foot, rest, strict=True)],
        )

    def _inverse_of(self, members: tuple[int, ...]) -> tuple[list[list[int]], int] | None:
        """The inverse of these facts' matrix as integers over a positive one; None if it has none."""
        facts = self._facts
        matrix = [[0, *(facts.curves[i] for i in members)]]
        matrix += [[facts.curves[i], *(facts.gram[i][j] for j in members)] for i in members]
        return exact_inverse(matrix, facts.look)


def _root(square: Fraction) -> Fraction:
    """The root of a number that is not negative: exact if it is rational, else rounded down."""
    numerator, denominator = isqrt(square.numerator), isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return Fraction(numerator, denominator)
    places = _PLACES + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(isqrt((square.numerator << 2 * places) // square.denominator), 1 << places)


def exact_inverse(
    matrix: Sequence[Sequence[int]], passed: Callable[[], None] = lambda: None
) -> tuple[list[list[int]], int] | None:
    """The adjugate of a matrix whose first entry is 0 and the next two of its row and column 1, and its determinant,
    both times its sign: bordered by one row after the other, so that all quotients are integers.

    Args:
        passed: called at each row; may raise.
    """
    adjugate, scale = [[matrix[1][1], -matrix[0][1]], [-matrix[1][0], 0]], -(matrix[0][1] ** 2)
    if not scale:
        return None
    for i in range(2, len(matrix)):
        passed()
        border = matrix[i][:i]
        images = [dot(row, border) for row in adjugate]
        grown = scale * matrix[i][i] - dot(border, images)
        if not grown:
            return None
        adjugate = [
            [*((grown * entry + a * b) // scale for entry, b in zip(row, images, strict=True)), -a]
            for row, a in zip(adjugate, images, strict=True)
        ]
        adjugate.append([*(-a for a in images), scale])
        scale = grown
    return ([[-entry for entry in row] for row in adjugate], -scale) if scale < 0 else (adjugate, scale)


def satisfies(facts: Facts, point: Point) -> bool:
    """Whether the values of a point under all facts lie between their ends, and N >= |y|^2."""
    if point.unit <= 0 or point.square * point.unit < dot(point.vector, point.vector) << facts.lift:
        return False
    values = [_value(facts, point, curve, vector) for curve, vector in zip(facts.curves, facts.vectors, strict=True)]
    return all(low * point.unit <= v <= high * point.unit for v, (low, high) in zip(values, facts.ends, strict=True))


def value_at(facts: Facts, target: Target, point: Point) -> Fraction:
    """The value of a combination at a point, on the grid."""
    value = _value(facts, point, target.curve, facts.vector(target.shares))
    return Fraction(value, facts.parts * point.unit) + target.constant


def _value(facts: Facts, point: Point, curve: int, vector: Sequence[int]) -> int:
    """The value of a form on the grid, times the unit."""
    return curve * point.square - (dot(point.vector, vector) << facts.lift + 1)


def points(facts: Facts, targets: Sequence[Target]) -> list[Point | None]:
    """For each target the point at which it is about the least, if it satisfies the facts."""
    weights, chosen = Weights(facts), Points(facts)
    found = (chosen.least(target, weights.held(target)) for target in targets)
    return [point if point is not None and satisfies(facts, point) else None for point in found]


def observed(space: Space, k: int, low: Fraction, high: Fraction) -> tuple[int, int]:
    """Values of a working observable as values of the observable on the grid, rounded inward."""
    ends = ceil_at(low, 0), floor_at(high, 0)
    return divided(*ends, space.norms[k], space.bits, True) if space.head.geometry in COSINES else ends
