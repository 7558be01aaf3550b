"""All observables of one patch at once, by weights that are nearly the best, or the best.

The rule of `facts` takes any weights. The quick ones come from the closed form of `dual`, for all facts that do not
depend on each other, in floats: with X the inverse of the bordered matrix, of a target of curve a and vector b,
    (lambda, tau) = X (a, <b, b_i>),   (mu, sigma) = X (1, -e_i / 2),   w = tau - kappa sigma,   kappa = |r| / rho.
The **middle** weights have the middle of each interval as e_i; the **turned** ones have the end that the sign of the
middle weight chooses. The negative of an observable has -tau and the same |r|. What weights prove is computed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from operator import mul

from ...certificate import PatchStatement
from ...dyadic import floor_shift
from ...kernel import Rows
from ..space import Space
from .dual import BITS, Dual
from .facts import Facts, Target
from .intervals import far, most_stated

__all__ = ["Every"]

_PLACES = 80  # bits of estimates
_WEIGHT_BITS = 48
_MOST = 2.0**200  # of an estimate
_FLAT = 1e-18  # of rho^2: less is rounding
_LEAST = 1e-12  # of kappa, and so of A


@dataclass(frozen=True)
class _Targets:
    """All P observables as targets of a patch's facts (`facts.Target`)."""

    curve: int
    squares: list[int]
    products: Rows
    constants: list[int]

    @classmethod
    def of(cls, space: Space, facts: Facts) -> _Targets:
        """The products with all prototypes, by one product of matrices."""
        columns = list(map(list, zip(*(space.vectors[j] for j in facts.stated), strict=True)))
        products = space.kernel.product(space.matrix, columns)
        if space.head.geometry != "euclidean":
            return cls(0, space.squares, [[0, *(-entry for entry in row)] for row in products], space.offsets)
        base = products[facts.stated[0]]  # the origin is the first stated prototype
        squares = [square - 2 * row[0] + base[0] for square, row in zip(space.squares, products, strict=True)]
        moved = [entry - base[0] for entry in base]
        rows = [[entry - row[0] - own for entry, own in zip(row, moved, strict=True)] for row in products]
        return cls(1, squares, rows, [square << facts.lift for square in squares])

    def target(self, k: int, sign: int) -> Target:
        """Observable k times a sign, 1 or -1. Of its vector only products are known."""
        products = self.products[k] if sign > 0 else [-entry for entry in self.products[k]]
        return Target(sign * self.curve, [], self.squares[k], products, sign * self.constants[k])


class Every:
    """Lower bounds, on the grid, of working observables of a patch times a sign, 1 or -1, given its statements.

    Args:
        space: the head.
        statements: those about the patch, at least one.
        quick: whether `improved` takes the turned weights, not the best.

    Attributes:
        unbounded: whether the statements are distances without upper ends (`intervals.far`): no distance has one then.
    """

    def __init__(self, space: Space, statements: Sequence[PatchStatement], quick: bool) -> None:
        self._space, self._facts, self._is_quick = space, Facts(space, statements), quick
        self._targets = _Targets.of(space, self._facts)
        self.unbounded = far(space, statements)
        self._most = most_stated(space, statements) if self.unbounded else 0
        self._stated: dict[int, tuple[int, int]] = {}
        for statement, (low, high) in zip(statements, self._facts.intervals, strict=True):
            before = self._stated.get(statement.prototype, (low, high))
            self._stated[statement.prototype] = max(before[0], low), min(before[1], high)

    def middle(self, sign: int, observables: Sequence[int]) -> list[int]:
        """By the middle weights."""
        return self._proved(observables, sign, lambda k: self._quick.middle(k, sign))

    def improved(self, sign: int, observables: Sequence[int]) -> list[int]:
        """By the turned weights where it is to be quick, else by the best."""
        if self._is_quick:
            return self._proved(observables, sign, lambda k: self._quick.turned(k, sign))
        bounds = []
        for k in observables:
            target = self._targets.target(k, sign)
            bounds.append(self._kept(k, sign, self._facts.least(target, self._dual.best(target).weights, BITS)))
        return bounds

    def estimates(self, sign: int, observables: Sequence[int]) -> list[int]:
        """About what the middle weights prove. Nobody vouches for these."""
        value, parts, constants = self._quick.value, self._facts.parts, self._targets.constants
        return [self._kept(k, sign, value(k, sign) // parts + sign * constants[k]) for k in observables]

    @cached_property
    def _dual(self) -> Dual:
        return Dual(self._facts)

    @cached_property
    def _quick(self) -> _Quick:
        return _Quick(self._dual, self._targets)

    def _proved(self, observables: Sequence[int], sign: int, weights: Callable[[int], list[float]]) -> list[int]:
        rows = [self._quick.placed(weights(k)) for k in observables]
        images = self._space.kernel.product(self._space.kernel.matrix(rows), self._facts.gram) if rows else []
        bounds = []
        for k, row, image in zip(observables, rows, images, strict=True):
            bound = self._facts.least(self._targets.target(k, sign), row, _WEIGHT_BITS, image)
            bounds.append(self._kept(k, sign, bound))
        return bounds

    def _kept(self, k: int, sign: int, bound: int) -> int:
        """A bound, or what is stated or the domain gives if that is more."""
        domain, stated = self._space.domain, self._stated.get(k)
        if sign > 0:
            bound = min(bound, self._most) if self.unbounded else bound
            return max(bound, domain.lower[k], stated[0] if stated else domain.lower[k])
        if domain.upper is not None:
            bound = max(bound, -domain.upper[k])
        return max(bound, -stated[1]) if stated else bound


class _Quick:
    """Weights in floats, which need not be right. The units are those of `dual`."""

    def __init__(self, dual: Dual, targets: _Targets) -> None:
        self._dual, self._targets, self._members = dual, targets, dual.start.members
        self._unit = dual.unit_of(max(targets.squares), targets.curve)
        one = 1 << dual.bits
        self._inverse = [[entry / one for entry in row] for row in dual.start.inverse]
        self._ends = [(dual.ends[i][0] / one, dual.ends[i][1] / one) for i in self._members]
        self._kept = not dual.distances  # the ball's lower end says nothing
        self._middles = [(low + high) / 2 for low, high in self._ends]
        self._halves = [(high - low) / 2 for low, high in self._ends]
        if self._kept:
            self._middles[0], self._halves[0] = self._ends[0][1], 0.0
        self._foot, self._height = self._foot_of(self._middles)
        self._scales = [(i, _power(-self._unit - dual.sizes[i])) for i in self._members]
        self._factors = [_power(_WEIGHT_BITS + self._unit - dual.sizes[i]) for i in self._members]
        self._curve, self._square = targets.curve * _power(dual.latent - self._unit), _power(-2 * self._unit)
        self._shares: dict[int, tuple[float, list[float], float]] = {}

    def middle(self, k: int, sign: int) -> list[float]:
        """The middle weights of an observable times a sign."""
        _, tau, length = self._share(k)
        kappa = max(_LEAST, length / self._height)
        return [sign * one - kappa * other for one, other in zip(tau, self._foot, strict=True)]

    def turned(self, k: int, sign: int) -> list[float]:
        """The turned weights."""
        _, tau, length = self._share(k)
        foot, height = self._foot_of(self._chosen(self.middle(k, sign)))
        kappa = max(_LEAST, length / height)
        return [sign * one - kappa * other for one, other in zip(tau, foot, strict=True)]

    def value(self, k: int, sign: int) -> int:
        """About what the middle weights prove, on the grid: the least value where all facts have the middles of their
        intervals, less what the weights make of half their widths."""
        multiplier, tau, length = self._share(k)
        least = sign * (sum(map(mul, tau, self._middles)) - 2 * multiplier) - 2 * length * self._height
        value = least - sum(map(mul, map(abs, self.middle(k, sign)), self._halves))
        places = self._unit + self._dual.latent + self._dual.lift - _PLACES
        return floor_shift(int(value * 2.0**_PLACES), places) if abs(value) < _MOST else 0

    def placed(self, weights: Sequence[float]) -> list[int]:
        """These weights of all facts, at 2^-48: 0 for those that depend on others, and 0 where floats overflow."""
        try:
            placed = list(map(int, map(mul, weights, self._factors)))
        except (OverflowError, ValueError):
            return [0] * len(self._dual.ends)
        if len(placed) == len(self._dual.ends):
            return placed
        whole = [0] * len(self._dual.ends)
        for i, weight in zip(self._members, placed, strict=True):
            whole[i] = weight
        return whole

    def _share(self, k: int) -> tuple[float, list[float], float]:
        """lambda, tau and |r| of an observable; they are kept."""
        if k not in self._shares:
            row = self._targets.products[k]
            try:
                column = [self._curve, *(row[i] * scale for i, scale in self._scales)]
                square = self._targets.squares[k] * self._square
            except OverflowError:
                column, square = [0.0] * len(self._foot), 0.0
            multiplier, *tau = self._solved(column)
            rest = square - sum(map(mul, tau, column[1:])) - multiplier * self._curve
            self._shares[k] = multiplier, tau, sqrt(max(0.0, rest))
        return self._shares[k]

    def _chosen(self, weights: Sequence[float]) -> list[float]:
        """The ends that the signs of weights choose."""
        ends = [low if weight > 0 else high for weight, (low, high) in zip(weights, self._ends, strict=True)]
        if self._kept:
            ends[0] = self._ends[0][1]
        return ends

    def _foot_of(self, ends: Sequence[float]) -> tuple[list[float], float]:
        """sigma and rho of ends."""
        mu, *sigma = self._solved([1.0, *(-end / 2 for end in ends)])
        return sigma, sqrt(max(_FLAT, sum(map(mul, sigma, ends)) / 2 - mu))

    def _solved(self, column: Sequence[float]) -> list[float]:
        """X times a column."""
        return [sum(map(mul, row, column)) for row in self._inverse]


def _power(exponent: int) -> float:
    """2^exponent; 0 where no float is."""
    return 2.0**exponent if abs(exponent) < 1000 else 0.0
