"""Points that satisfy the facts about a patch, and directions in which targets get less or more. Neither need be right:
`within` checks the points and goes in any direction as far as the facts allow, so poor ones can cost a proof of
minimality, never its soundness.

**Narrow statements.** As in `weights`, g = sum sigma_i b_i has the products that the middles say. A direction that
changes none of them is r = b - sum tau_i b_i, and the best ends are at the two ends of this segment. Where a middle is
no end of a width, sigma and tau are computed exactly: by the adjugate of the Gram matrix and its determinant.

**Wide statements.** The best weights (`dual`) tell the best point Q / A. It breaks statements by as much as they are
rounded, so the segment leads towards it from a point that satisfies all of them with some room: the mean of such points
for all targets. Where A is next to 0, Q / A says nothing; the weights of a target that is a little out of the span do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt

from ...dyadic import dot
from ..space import Space
from ..work import OPERATION
from .dual import Dual, ascent_steps
from .facts import Facts, Target
from .multipliers import approximate_inverse

__all__ = ["Move", "Point", "Points"]

_PRECISION = 128
_WIDE = 32  # as in `weights`
_BITS = 128  # of the best weights
_FLAT = 40  # a target whose square outside the span is less than 2^-40 of all is moved out of it by that much
_CORNERS = (0, 2, 3, 4)
"""Fourths of the way from the middles to the ends that leave |y - g| the most."""


@dataclass(frozen=True)
class Point:
    """y = sum of weights[i] b_i / unit, and N = square on the grid."""

    weights: list[int]
    unit: int
    square: int


@dataclass(frozen=True)
class Move:
    """v = own b + sum of weights[i] b_i, b the target's vector; N rises by `rise`."""

    weights: list[int]
    own: int
    rise: int


@dataclass(frozen=True)
class _Best:
    """Q = own b - sum of weights[i] b_i, and A. N is |Q|^2 / A^2, cut to what is stated of it."""

    weights: list[int]
    own: int
    curve: int
    square: int


class Points:
    """Points and directions for one patch.

    Args:
        facts: what is known; ends rounded inward.
        targets: those to bound.
        space: the head.
    """

    def __init__(self, facts: Facts, targets: Sequence[Target], space: Space) -> None:
        self._facts, self._targets = facts, targets
        self._kernel, self._lift, self._work = space.kernel, space.lift, space.work
        self._curved = bool(facts.curves[-1])
        self._reach = max(0, facts.ends[0][1])
        self._longest = max(row[i] for i, row in enumerate(facts.gram))
        self._loose = self._curved and not self._narrow(0)  # whether N is
        narrow = [] if self._loose else [i for i in range(1, len(facts.ends)) if self._narrow(i)]
        self._wide = self._loose or len(narrow) + 1 < len(facts.ends)
        # The inverse of some of the Gram matrix, times a scale.
        self._kept, self._inverse, self._scale = self._inverted(narrow)

    def starts(self) -> Iterator[Point]:
        """Points, one of which should satisfy the facts."""
        if self._wide and any(map(any, self._bests.values())):
            yield self._mean()
        sides: list[int] = []
        for fourths in _CORNERS:
            ends = sides or [0] * len(self._facts.ends)
            eighths = [
                (4 - fourths) * (low + high) + 2 * fourths * end
                for (low, high), end in zip(self._facts.ends, ends, strict=True)
            ]
            square = eighths[0] >> 3 if self._curved else self._reach
            point = self._point(square, self._products(square, eighths))
            yield point
            if not sides:
                weights = [point.unit - sum(point.weights[1:]), *point.weights[1:]]
                sides = [high if w > 0 else low for w, (low, high) in zip(weights, self._facts.ends, strict=True)]

    def moves(self, point: Point) -> Iterator[list[Move]]:
        """Directions from this point, one for each target, found in one way after the other."""
        zero = [0] * len(self._facts.ends)
        yield self._flat([Move(zero, 1, 0) for _ in self._targets])
        for bests in self._bests.values() if self._wide else ():
            yield self._flat([Move(zero, 0, 0) if best is None else self._toward(best, point) for best in bests])

    def _narrow(self, i: int) -> bool:
        """Whether a stated interval is taken for an equality."""
        (low, high), own = self._facts.ends[i], self._facts.gram[i][i] << self._lift
        size = self._reach + own if self._curved else isqrt(4 * self._reach * own)
        return high - low << _WIDE <= size

    def _inverted(self, chosen: Sequence[int]) -> tuple[list[int], list[list[int]], int]:
        """Those of some facts that are independent, and the inverse of their Gram matrix times a scale: exact if one of
        them has no width."""
        gram = [[int(self._facts.gram[i][j]) for j in chosen] for i in chosen]
        if any(low == high for low, high in (self._facts.ends[i] for i in chosen)):
            size = len(gram)
            self._work.take(OPERATION * size**3, size * self._longest.bit_length() // 2)
            kept, inverse, scale = adjugate(gram)
        else:
            kept, inverse, places = approximate_inverse(gram, [0] * len(gram), 1, max(_PRECISION, self._lift))
            scale = 1 << places
        return [chosen[i] for i in kept], inverse, scale

    def _products(self, square: int, eighths: Sequence[int]) -> list[int]:
        """16 <y, b_i> on the grid, given 8 times the values of the forms, and N."""
        return [8 * curve * square - value for curve, value in zip(self._facts.curves, eighths, strict=True)]

    def _point(self, square: int, products: Sequence[int]) -> Point:
        """The shortest y with these products with the b_i, those of narrow statements exactly or nearly so."""
        facts = self._facts
        weights, scale = [0] * len(facts.ends), 1
        if self._wide:
            every, inverse, scale = self._inverted(range(1, len(facts.ends)))
            for i, row in zip(every, inverse, strict=True):
                weights[i] = dot(row, [products[j] for j in every])
        left = [products[i] * scale - dot(facts.gram[i], weights) for i in self._kept]
        weights = [weight * self._scale for weight in weights]
        for i, row in zip(self._kept, self._inverse, strict=True):
            weights[i] += dot(row, left)
        return Point(weights, scale * self._scale << self._lift + 4, square)

    def _mean(self) -> Point:
        """The mean of the best points of all targets."""
        facts, lift = self._facts, self._lift
        found = [
            (t, best) for bests in self._bests.values() for t, best in zip(self._targets, bests, strict=True) if best
        ]
        squares, products = 0, [0] * len(facts.ends)
        for target, best in found:
            squares += best.square
            for i, product in enumerate(target.products):
                reached = best.own * product - dot(facts.gram[i], best.weights)
                products[i] += (reached << lift + 4) // best.curve
        square = squares // len(found)
        products = [product // len(found) for product in products]
        middles = [low + high << 2 for low, high in facts.ends]
        if not self._loose:
            square = middles[0] >> 3 if self._curved else self._reach
            for i in self._kept:
                products[i] = self._products(square, middles)[i]
        return self._point(square, products)

    @cached_property
    def _bests(self) -> dict[int, list[_Best | None]]:
        """The best points for each target, by its sign."""
        self._work.take(2 * len(self._targets) * ascent_steps(len(self._facts.ends)))
        dual = Dual(self._facts, self._lift, self._kept)
        return {sign: [self._best(dual, target, sign) for target in self._targets] for sign in (1, -1)}

    def _best(self, dual: Dual, target: Target, sign: int) -> _Best | None:
        """The best point for a target."""
        size = max(target.square, self._longest) >> _FLAT
        square, curve = target.square, 0
        for moved in (0, size + 1):
            square = target.square + moved
            row = dual.weights(Target(target.curve, square, target.products), sign, _BITS)
            curve = (sign * target.curve << _BITS) - dot(row, self._facts.curves)
            if curve > 0 and curve * curve * self._reach >> self._lift + 2 * _BITS > size:
                break
        if curve <= 0:
            return None
        low, high = self._facts.ends[0]
        if row[0]:
            rest = low if row[0] > 0 else high
        else:
            images = [dot(own, row) for own in self._facts.gram]
            whole = (square << 2 * _BITS) - (sign * dot(row, target.products) << _BITS + 1) + dot(row, images)
            rest = min(max(low, (whole << self._lift) // (curve * curve)), high)
        return _Best(row, sign << _BITS, curve, rest)

    def _toward(self, best: _Best, point: Point) -> Move:
        """From a point to another one, times their units."""
        weights = [
            -other * point.unit - best.curve * weight for other, weight in zip(best.weights, point.weights, strict=True)
        ]
        rise = (best.square - point.square) * best.curve * point.unit if self._loose else 0
        return Move(weights, best.own * point.unit, rise)

    def _flat(self, moves: Sequence[Move]) -> list[Move]:
        """The same moves, less what changes the products that narrow statements are about."""
        if not self._kept:
            return list(moves)
        kernel, gram = self._kernel, self._facts.gram
        columns = [[row[i] for i in self._kept] for row in gram]
        rows = kernel.rows(kernel.product(kernel.matrix([move.weights for move in moves]), kernel.matrix(columns)))
        changes = [
            [image + move.own * target.products[i] for i, image in zip(self._kept, row, strict=True)]
            for target, move, row in zip(self._targets, moves, rows, strict=True)
        ]
        shares = kernel.rows(kernel.product(kernel.matrix(changes), kernel.matrix(self._inverse)))
        found = []
        for move, share in zip(moves, shares, strict=True):
            weights = [weight * self._scale for weight in move.weights]
            for i, each in zip(self._kept, share, strict=True):
                weights[i] -= each
            found.append(Move(weights, move.own * self._scale, move.rise * self._scale))
        return found


def adjugate(gram: Sequence[Sequence[int]]) -> tuple[list[int], list[list[int]], int]:
    """The rows of a Gram matrix that do not depend on those before, the adjugate of what these rows and columns have in
    common, and its determinant: bordered by one row after the other."""
    kept: list[int] = []
    adjugated: list[list[int]] = []
    scale = 1
    for i, row in enumerate(gram):
        border = [row[j] for j in kept]
        images = [dot(own, border) for own in adjugated]
        grown = scale * row[i] - dot(border, images)
        if grown <= 0:
            continue
        adjugated = [
            [*((grown * entry + a * b) // scale for entry, b in zip(own, images, strict=True)), -a]
            for own, a in zip(adjugated, images, strict=True)
        ]
        adjugated.append([*(-a for a in images), scale])
        kept, scale = [*kept, i], grown
    return kept, adjugated, scale
