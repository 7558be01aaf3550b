"""Points at which a target has its least value, for minimality. They need not be right: `within` checks them, so a poor
one can cost a proof of minimality, never its soundness.

`dual` tells which facts hold there, S, each with one of its ends. All (N, y) with a_i N - 2 <y, b_i> = e_i for i in S
have the base N_0 = -2 mu, g = sum sigma_i b_i, where (mu, sigma) = X (1, -e_i / 2); and with (lambda, tau) =
X (a, <b, b_i>) they stay so along the direction of r = b - sum tau_i b_i, N rising by 2 lambda. The target falls with
s in (N_0 + 2 s lambda, g + s r) as far as N >= |y|^2, that is s^2 |r|^2 <= N_0 - |g|^2. X is the adjugate of the matrix
[0, a_S; a_S, <b_i, b_j>] over its determinant, so all of this is rational and exact, but for the root s, rounded down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from ...dyadic import dot
from ..work import inverse_steps
from .facts import Facts, Target

__all__ = ["Point", "Points", "exact_inverse"]

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
        self._facts = facts
        self._inverses: dict[tuple[int, ...], tuple[list[list[int]], int] | None] = {}

    def least(self, target: Target, held: Mapping[int, int]) -> Point | None:
        """The point at which a target is least, if these facts hold with these ends; None if there is none."""
        facts, members, lift = self._facts, tuple(held), self._facts.lift
        if not members:
            a = target.curve  # the least of a |y|^2 - 2 <y, b> is at y = b / a
            return Point(a * a, target.square << lift, [a * entry for entry in target.vector]) if a > 0 else None
        inverse = self._inverse(members)
        if inverse is None:
            return None
        rows, scale = inverse
        # All in the unit 1 / scale: of g on the grid, 2^-lift, and doubled.
        mu, *sigma = [dot(row, [2 << lift, *(-end for end in held.values())]) for row in rows]
        low, *tau = [dot(row, [target.curve, *(target.products[i] for i in members)]) for row in rows]
        columns = list(zip(*(facts.vectors[i] for i in members), strict=True))
        foot = [dot(column, sigma) for column in columns]  # 2^(lift + 1) scale g
        rest = [scale * b - dot(column, tau) for b, column in zip(target.vector, columns, strict=True)]  # scale r
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

    def _inverse(self, members: tuple[int, ...]) -> tuple[list[list[int]], int] | None:
        """The inverse of these facts' matrix as integers over a positive one; None if it has none. It is kept."""
        if members not in self._inverses:
            facts = self._facts
            facts.work.take(inverse_steps(len(members)))
            matrix = [[0, *(facts.curves[i] for i in members)]]
            matrix += [[facts.curves[i], *(facts.gram[i][j] for j in members)] for i in members]
            self._inverses[members] = exact_inverse(matrix)
        return self._inverses[members]


def _root(square: Fraction) -> Fraction:
    """The root of a number that is not negative: exact if it is rational, else rounded down."""
    numerator, denominator = isqrt(square.numerator), isqrt(square.denominator)
    if numerator**2 == square.numerator and denominator**2 == square.denominator:
        return Fraction(numerator, denominator)
    places = _PLACES + max(0, square.denominator.bit_length() - square.numerator.bit_length())
    return Fraction(isqrt((square.numerator << 2 * places) // square.denominator), 1 << places)


def exact_inverse(matrix: Sequence[Sequence[int]]) -> tuple[list[list[int]], int] | None:
    """The adjugate of a matrix whose first entry is 0 and the next two of its row and column 1, and its determinant,
    both times its sign: bordered by one row after the other, so that all quotients are integers."""
    adjugate, scale = [[matrix[1][1], -matrix[0][1]], [-matrix[1][0], 0]], -(matrix[0][1] ** 2)
    if not scale:
        return None
    for i in range(2, len(matrix)):
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
