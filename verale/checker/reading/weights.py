"""The best weights for the rule, and which facts hold with equality there. They need not be right: any weights are
sound, so poor ones can cost a proof, never its soundness.

For a target of vector b and curve a the rule's bound is a concave function of the weights,
    sum w_i e_i - |Q|^2 / A,   Q = b - sum w_i b_i,   A = a - sum w_i a_i,   e_i = low_i where w_i > 0, else high_i.

**Equality.** Let S be some of the facts, each with one of its ends. Where only these have weights, and of any sign, the
greatest bound has a closed form: with X the inverse of the matrix [0, a_S; a_S, <b_i, b_j>],
    (lambda, tau) = X (a, <b, b_i>),   (mu, sigma) = X (1, -e_i / 2),   w = tau - kappa sigma,   kappa = |r| / rho,
where |r|^2 = |b|^2 - <tau, <b, b_i>> - lambda a is what b has outside the span, and rho^2 = <sigma, e> / 2 - mu is the
squared distance of y from its foot there, g = sum sigma_i b_i. If rho^2 < 0 there is no greatest one: the bound grows
without end along -sigma.

**Ascent.** It begins with all facts at the middles of their intervals. The weights move straight towards the best ones
for S. Where one of them reaches 0 first, its fact leaves S. Where none does, and y = Q / A satisfies all facts, no
weights are better; else the fact that y breaks the most enters S. If it depends on S, it takes the place of one whose
weight falls to 0 while A and Q stay. Each move makes the bound greater, so no S comes back and the ascent ends. This is
an active set method (Goldfarb and Idnani, 1983), for a bound with a cone in the place of a quadratic form.

Numbers are integers at 2^-512, in units in which nothing is much larger than 1.

All observables of one patch at once, by weights that are nearly the best, or the best.

The rule of `facts` takes any weights. The quick ones come from the closed form of `dual`, for all facts that do not
depend on each other, in floats: with X the inverse of the bordered matrix, of a target of curve a and vector b,
    (lambda, tau) = X (a, <b, b_i>),   (mu, sigma) = X (1, -e_i / 2),   w = tau - kappa sigma,   kappa = |r| / rho.
The **middle** weights have the middle of each interval as e_i; the **turned** ones have the end that the sign of the
middle weight chooses. The negative of an observable has -tau and the same |r|. What weights prove is computed exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt, sqrt
from operator import mul
from typing import ClassVar

from ..arithmetic import Rows
from ..certificate import PatchStatement
from ..dyadic import dot, floor_shift
from .facts import Facts, Target, far, most_stated
from .space import Space

__all__ = ["Best", "Dual", "Every"]

BITS = 256  # of weights that are found
_BITS = 512
_ONE = 1 << _BITS
_DEPENDENT = 1 << _BITS - 140  # squared distance to the span of others: less is none
_BROKEN = 1 << _BITS - 70
_FLAT = 1 << _BITS - 160  # of |r|^2 and rho^2: less is rounding
_LEAST = 1 << _BITS - 80  # of kappa, and so of A: the bound is off by so much where the best weights have A = 0
_ENDLESS = 1 << 2 * _BITS  # a weight, or a multiple of a direction, that no facts need which latents satisfy
_BEYOND = 16 << _BITS  # more than a form can be
_ROUNDS = 12  # moves for each fact, and as many again
_SETS = 64  # how many inverses are kept


@dataclass(frozen=True)
class _Set:
    """Facts that do not depend on each other, and the inverse X of their matrix, the border first."""

    members: tuple[int, ...]
    inverse: list[list[int]]


@dataclass(frozen=True)
class _Vertex:
    """The best weights if some facts hold with equality.

    Attributes:
        weights: of these facts; or the direction in which the bound grows without end.
        kappa: A; 0 if it does.
        square: |y|^2.
        products: <y, b_i> for all facts.
    """

    weights: list[int]
    kappa: int
    square: int
    products: list[int]


@dataclass(frozen=True)
class Best:
    """What was found for one target.

    Attributes:
        weights: of all facts, at 2^-bits.
        held: for the facts that hold with equality the end, on the grid.
    """

    weights: list[int]
    bits: int
    held: dict[int, int]


class Dual:
    """Weights for the facts about one patch, for any target.

    Attributes:
        bits: of the numbers below, integers at 2^-bits.
        distances: whether the facts are distances.
        latent: the exponent of the unit of y.
        sizes: those of the units of the facts' vectors.
        ends: of the facts.
        start: as many facts as do not depend on each other.

    Args:
        facts: what is known.
    """

    bits: ClassVar[int] = _BITS

    def __init__(self, facts: Facts) -> None:
        self._facts, self.lift, self.look = facts, facts.lift, facts.look
        # One unit for y, and one for each vector: with distances the same for all.
        latent = max(1, facts.ends[0][1]).bit_length() - self.lift + 1 >> 1
        sizes = [row[i].bit_length() + 1 >> 1 for i, row in enumerate(facts.gram)]
        self.distances = bool(facts.curves[-1])
        self.latent = max(latent, *sizes) if self.distances else latent
        self.sizes = [self.latent if curve else size for curve, size in zip(facts.curves, sizes, strict=True)]
        self.curves = [curve << _BITS for curve in facts.curves]
        self.gram = [
            [floor_shift(entry, _BITS - one - other) for entry, other in zip(row, self.sizes, strict=True)]
            for row, one in zip(facts.gram, self.sizes, strict=True)
        ]
        places = [_BITS - self.lift - self.latent - size for size in self.sizes]
        self.ends = [
            (max(-_BEYOND, floor_shift(low, place)), min(_BEYOND, floor_shift(high, place)))
            for (low, high), place in zip(facts.ends, places, strict=True)
        ]
        self._sets: dict[frozenset[int], _Set] = {}
        self.start = self.only(0)
        for i in range(1, len(facts.ends)):
            self.start, _ = self.joined(self.start, i)

    def best(self, target: Target) -> Best:
        """The best weights for a target."""
        unit = self.unit_of(target.square, target.curve)
        products = [
            floor_shift(product, _BITS - unit - size) for product, size in zip(target.products, self.sizes, strict=True)
        ]
        curve = floor_shift(target.curve, _BITS + self.latent - unit)
        ascent = _Ascent(self, curve, floor_shift(target.square, _BITS - 2 * unit), products)
        ascent.ascend()
        places = [BITS - _BITS + unit - size for size in self.sizes]
        weights = [floor_shift(weight, place) for weight, place in zip(ascent.weights, places, strict=True)]
        return Best(weights, BITS, {i: self._facts.ends[i][not low] for i, low in ascent.held.items()})

    def unit_of(self, square: int, curve: int) -> int:
        """The exponent of a unit in which a target with this square and this curve is not much larger than 1."""
        unit = square.bit_length() + 1 >> 1
        return max(unit, self.latent + curve.bit_length()) if curve else unit

    def only(self, i: int) -> _Set:
        """One fact, whose curve is 1."""
        return _Set((i,), [[-self.gram[i][i], _ONE], [_ONE, 0]])

    def joined(self, chosen: _Set, i: int) -> tuple[_Set, list[int]]:
        """With one fact more; if it depends on the others, these alone, and what sum of them it is."""
        self.look()
        members = frozenset((*chosen.members, i))
        if members in self._sets:
            return self._sets[members], []
        if not chosen.members:
            return self.only(i), []
        column = [self.curves[i], *(self.gram[i][j] for j in chosen.members)]
        share = [dot(row, column) >> _BITS for row in chosen.inverse]
        pivot = self.gram[i][i] - (dot(column, share) >> _BITS)
        if pivot <= _DEPENDENT:
            return chosen, share[1:]
        scaled = [(entry << _BITS) // pivot for entry in share]
        inverse = [
            [*(entry + (part * other >> _BITS) for entry, other in zip(row, scaled, strict=True)), -new]
            for row, part, new in zip(chosen.inverse, share, scaled, strict=True)
        ]
        inverse.append([*(-entry for entry in scaled), (_ONE << _BITS) // pivot])
        return self._stored(_Set((*chosen.members, i), inverse)), []

    def without(self, chosen: _Set, i: int) -> _Set:
        """With one fact less."""
        members = frozenset(chosen.members) - {i}
        if members in self._sets:
            return self._sets[members]
        if len(members) < 2:
            return self.only(*members) if members else _Set((), [])
        place = chosen.members.index(i) + 1
        pivot = chosen.inverse[place]
        rows = [row[:place] + row[place + 1 :] for j, row in enumerate(chosen.inverse) if j != place]
        own, rest = pivot[place], pivot[:place] + pivot[place + 1 :]
        scaled = [(entry << _BITS) // own for entry in rest]
        inverse = [
            [entry - (part * other >> _BITS) for entry, other in zip(row, scaled, strict=True)]
            for row, part in zip(rows, rest, strict=True)
        ]
        return self._stored(_Set(tuple(j for j in chosen.members if j != i), inverse))

    def _stored(self, found: _Set) -> _Set:
        if len(self._sets) >= _SETS:
            self._sets.clear()
        self._sets[frozenset(found.members)] = found
        return found


class _Ascent:
    """The weights on their way to the best ones for one target."""

    def __init__(self, dual: Dual, curve: int, square: int, products: Sequence[int]) -> None:
        self._dual, self._curve, self._square, self._products = dual, curve, square, products
        count = len(products)
        self._chosen, self.weights = dual.start, [0] * count
        middles = [low + high >> 1 for low, high in dual.ends]
        if not dual.distances:
            middles[0] = dual.ends[0][1]
        vertex = self._vertex(middles)
        if vertex.kappa == 0:
            self._chosen = dual.only(0)
            vertex = self._vertex(middles)
        for i, weight in zip(self._chosen.members, vertex.weights, strict=True):
            self.weights[i] = weight
        self._ends = [low if weight > 0 else high for weight, (low, high) in zip(self.weights, dual.ends, strict=True)]

    @property
    def held(self) -> dict[int, bool]:
        """The facts that hold with equality, and whether it is the lower end that they have."""
        return {i: self._ends[i] == self._dual.ends[i][0] for i in self._chosen.members}

    def ascend(self) -> None:
        """Make the weights the best."""
        for _ in range(_ROUNDS * (len(self.weights) + 1)):
            self._dual.look()
            if max(map(abs, self.weights)) > _ENDLESS:
                return  # next to nothing satisfies the facts
            vertex = self._vertex(self._ends)
            members = self._chosen.members
            if vertex.kappa:
                steps = {i: new - self.weights[i] for i, new in zip(members, vertex.weights, strict=True)}
                met = self._move(steps, True)
            else:
                met = self._move(dict(zip(members, vertex.weights, strict=True)), False)
                if met is None:
                    return  # nothing satisfies the facts
            if met is not None:
                self._chosen = self._dual.without(self._chosen, met)
            elif not self._enter(vertex):
                return

    def _move(self, steps: Mapping[int, int], whole: bool) -> int | None:
        """Move the weights by so much, or without `whole` by any multiple of it, until one reaches 0 where its end
        ceases to count: return which. Without `whole` they stay if none does."""
        met, most = None, _ONE if whole else _ENDLESS
        for i, step in steps.items():
            (low, high), kept = self._dual.ends[i], i == 0 and not self._dual.distances
            if step and low < high and not kept and (step > 0) != (self._ends[i] == low):  # towards 0
                reach = max(0, (-self.weights[i] << _BITS) // step)
                if reach < most:
                    met, most = i, reach
        if met is None and not whole:
            return None
        for i, step in steps.items():
            self.weights[i] += step * most >> _BITS
        if met is not None:
            self.weights[met] = 0
        return met

    def _enter(self, vertex: _Vertex) -> bool:
        """Let the fact enter that y breaks the most; whether there is one."""
        dual, least, found = self._dual, _BROKEN, None
        for i, ((low, high), curve, product) in enumerate(zip(dual.ends, dual.curves, vertex.products, strict=True)):
            value = (vertex.square if curve else 0) - 2 * product
            gap = max(low - value, value - high)
            if gap > least and i not in self._chosen.members:
                least, found = gap, (i, value < low)
        if found is None:
            return False
        i, below = found
        self._ends[i] = dual.ends[i][not below]
        step = _ONE if below else -_ONE
        for _ in self.weights:
            chosen, parts = dual.joined(self._chosen, i)
            if not parts:
                self._chosen = chosen
                return True
            steps = {j: -step * part >> _BITS for j, part in zip(chosen.members, parts, strict=True)}
            met = self._move({i: step, **steps}, False)
            if met is None:
                break
            self._chosen = dual.without(chosen, met)
        return False

    def _vertex(self, ends: Sequence[int]) -> _Vertex:
        """The best weights for the chosen facts."""
        dual, curve, members = self._dual, self._curve, self._chosen.members
        if not members:
            share = (_ONE << _BITS) // curve
            square = (self._square * share >> _BITS) * share >> _BITS
            return _Vertex([], curve, square, [product * share >> _BITS for product in self._products])
        given, stated = [self._products[i] for i in members], [ends[i] for i in members]
        column, known = [curve, *given], [_ONE, *(-end >> 1 for end in stated)]
        multiplier, *tau = [dot(row, column) >> _BITS for row in self._chosen.inverse]
        mu, *foot = [dot(row, known) >> _BITS for row in self._chosen.inverse]
        left = self._square - (dot(tau, given) + multiplier * curve >> _BITS)
        far = (dot(foot, stated) >> _BITS + 1) - mu
        if far < -_FLAT:
            return _Vertex([-entry for entry in foot], 0, 0, [])
        kappa = max(_LEAST, isqrt((max(left, 0) << 2 * _BITS) // max(far, _FLAT)))
        weights = [one - (kappa * other >> _BITS) for one, other in zip(tau, foot, strict=True)]
        whole, square = [0] * len(ends), -2 * mu
        if kappa == _LEAST:  # y is the foot
            for i, weight in zip(members, foot, strict=True):
                whole[i] = weight
            return _Vertex(weights, kappa, square, [dot(row, whole) >> _BITS for row in dual.gram])
        for i, weight in zip(members, weights, strict=True):
            whole[i] = weight
        square += (multiplier << _BITS + 1) // kappa
        products = [
            ((product << _BITS) - dot(row, whole)) // kappa
            for product, row in zip(self._products, dual.gram, strict=True)
        ]
        return _Vertex(weights, kappa, square, products)


_PLACES = 80  # bits of estimates
_WEIGHT_BITS = 48
_MOST = 2.0**200  # of an estimate
_QUICK_FLAT = 1e-18  # of rho^2: less is rounding
_QUICK_LEAST = 1e-12  # of kappa, and so of A


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
        products = space.arithmetic.product(space.matrix, columns)
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
        images = self._space.arithmetic.product(self._space.arithmetic.matrix(rows), self._facts.gram) if rows else []
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
        kappa = max(_QUICK_LEAST, length / self._height)
        return [sign * one - kappa * other for one, other in zip(tau, self._foot, strict=True)]

    def turned(self, k: int, sign: int) -> list[float]:
        """The turned weights."""
        _, tau, length = self._share(k)
        foot, height = self._foot_of(self._chosen(self.middle(k, sign)))
        kappa = max(_QUICK_LEAST, length / height)
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
        return sigma, sqrt(max(_QUICK_FLAT, sum(map(mul, sigma, ends)) / 2 - mu))

    def _solved(self, column: Sequence[float]) -> list[float]:
        """X times a column."""
        return [sum(map(mul, row, column)) for row in self._inverse]


def _power(exponent: int) -> float:
    """2^exponent; 0 where no float is."""
    return 2.0**exponent if abs(exponent) < 1000 else 0.0
