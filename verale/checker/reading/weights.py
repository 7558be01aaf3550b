"""The best weights for the rule of `facts`, and which facts hold with equality there. They need not be right: any
weights are sound, so poor ones can cost a proof, never its soundness.

For a target of vector b and curve a the rule's bound is a concave function of the weights,
    sum w_i e_i - |Q|^2 / A,   Q = b - sum w_i b_i,   A = a - sum w_i a_i,   e_i = low_i where w_i > 0, else high_i.

**Equality.** Let S be some of the facts, each with one of its ends. Where only these have weights, and of any sign, the
greatest bound has a closed form: with X the inverse of the matrix [0, a_S; a_S, <b_i, b_j>],
    (lambda, tau) = X (a, <b, b_i>),   (mu, sigma) = X (1, -e_i / 2),   w = tau - kappa sigma,   kappa = |r| / rho,
where |r|^2 = |b|^2 - <tau, <b, b_i>> - lambda a is what b has outside the span, and rho^2 = <sigma, e> / 2 - mu is the
squared distance of y from its foot there, g = sum sigma_i b_i. If rho^2 < 0 there is no greatest one: the bound grows
without end along -sigma.

**Ascent.** It begins with all facts at the middles of their intervals. The weights move straight towards the best ones
for S. Where one of them reaches 0 first, its fact leaves S. Where none does, and y = Q / A = g + r / kappa satisfies
all facts, no weights are better; else the fact that y breaks the most enters S. If it depends on S, it takes the place
of one whose weight falls to 0 while A and Q stay. Each move makes the bound greater, so no S comes back and the ascent
ends. This is an active set method (Goldfarb and Idnani, 1983), for a bound with a cone in the place of a quadratic
form.

**Numbers** are floats, in which it is quick, or decimals of many digits, for facts that are nearly alike and margins
that are nearly nothing. The units are such that nothing is much larger than 1. What the bound loses is about the square
of what the weights miss, but for where A is nearly 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import ldexp, sqrt
from operator import mul
from typing import Any, TypeAlias

from ..dyadic import floor_shift
from .facts import Facts, Frame, Target

_Number: TypeAlias = Any  # a float or a Decimal
_CONTEXT = Context(prec=120, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_ENDLESS = 10**100  # a weight, or a multiple of a direction, that no facts need which latents satisfy
_NONE = -1  # no fact
_BEYOND = 16  # more than a form can be
_FRAME_PLACES = 26
_INDEPENDENT = 1e-10  # a squared distance to the span of others, where a basis is to be orthonormal


@dataclass(frozen=True)
class Precision:
    """Of which numbers, and what is nothing among them.

    Attributes:
        bits: after the point, of integers that become numbers.
        places: bits after the point of weights that are found.
        dependent: a squared distance to the span of others; less is none.
        broken: by how much y breaks a fact at least.
        flat: of |r|^2 and rho^2; less is rounding.
        least: of kappa, and so of A: the bound is off by so much where the best weights have A = 0.
        rounds: moves for each fact, and as many again.
    """

    number: Callable[[Any], _Number]
    root: Callable[[_Number], _Number]
    bits: int
    places: int
    dependent: _Number
    broken: _Number
    flat: _Number
    least: _Number
    rounds: int

    def power(self, exponent: int) -> _Number:
        """2^exponent; 0 where no float is."""
        return self.number(2) ** exponent if self.number is Decimal or abs(exponent) < 1000 else self.number(0)


FLOATS = Precision(float, sqrt, 100, 48, 1e-12, 1e-9, 1e-18, 1e-12, 1)
_TWO = Decimal(2)
DECIMALS = Precision(Decimal, Decimal.sqrt, 400, 256, _TWO**-140, _TWO**-70, _TWO**-160, _TWO**-80, 12)


@dataclass(frozen=True)
class _Set:
    """Facts that do not depend on each other, and the inverse X of their matrix, the border first."""

    members: tuple[int, ...]
    inverse: list[list[_Number]]

    def times(self, column: Sequence[_Number]) -> list[_Number]:
        """X times a column."""
        return [sum(map(mul, row, column)) for row in self.inverse]

    def foot(self, ends: Sequence[_Number]) -> tuple[_Number, list[_Number], _Number]:
        """mu, sigma and rho^2 where these facts hold with these ends."""
        mu, *sigma = self.times([1, *[-end / 2 for end in ends]])
        return mu, sigma, sum(map(mul, sigma, ends)) / 2 - mu


class Weights:
    """Weights for the facts about one patch, for any target.

    Args:
        facts: what is known.
        quick: whether in floats.
    """

    def __init__(self, facts: Facts, quick: bool = False) -> None:
        self.facts, self.precision = facts, FLOATS if quick else DECIMALS
        precision, bits = self.precision, self.precision.bits
        # One unit for y, and one for each vector: with distances the same for all.
        latent = max(1, facts.ends[0][1]).bit_length() - facts.lift + 1 >> 1
        sizes = [row[i].bit_length() + 1 >> 1 for i, row in enumerate(facts.gram)]
        self._latent = max(latent, *sizes) if facts.distances else latent
        self._sizes = [self._latent if curve else size for curve, size in zip(facts.curves, sizes, strict=True)]
        self._inward: dict[int, list[_Number]] = {}  # what is multiplied by them is in a unit
        self._outward: dict[int, list[_Number]] = {}
        with localcontext(_CONTEXT):
            one, beyond = precision.power(-bits), _BEYOND << bits
            self.gram = []
            for row, own in zip(facts.gram, self._sizes, strict=True):
                facts.look()
                pairs = zip(row, self._sizes, strict=True)
                self.gram.append([one * floor_shift(entry, bits - own - size) for entry, size in pairs])
            places = [bits - facts.lift - self._latent - size for size in self._sizes]
            self.ends = [
                [one * max(-beyond, min(beyond, floor_shift(end, place))) for end in ends]
                for ends, place in zip(facts.ends, places, strict=True)
            ]
            self.middles = [(low + high) / 2 for low, high in self.ends]
            if not facts.distances:
                self.middles[0] = self.ends[0][1]  # the ball's lower end says nothing
            self.start = self.only(0)
            for i in range(1, len(self.ends)):
                self.start, _ = self.joined(self.start, i)
            self.foot = self.start.foot([self.middles[i] for i in self.start.members])
            if not self.foot[2] >= -precision.flat:
                self.start = self.only(0)
                self.foot = self.start.foot(self.middles[:1])

    def best(self, target: Target) -> list[int]:
        """The best weights for a target, of all facts at 2^-`places`. All are 0 where floats fail."""
        precision = self.precision
        with localcontext(_CONTEXT):
            try:
                unit, ascent = self._ascent(target)
                if unit not in self._outward:
                    powers = [precision.places + unit - size for size in self._sizes]
                    self._outward[unit] = list(map(precision.power, powers))
                return list(map(int, map(mul, ascent.weights, self._outward[unit])))
            except (ArithmeticError, ValueError):
                return [0] * len(self.ends)

    def frame(self) -> Frame:
        """The foot of the middles of all intervals, and an orthonormal basis of the span of the facts that hold there;
        none where floats fail."""
        top, unit = max(self._sizes), _FRAME_PLACES
        places = [unit + top - size for size in self._sizes]
        basis: list[list[_Number]] = []
        for i in self.start.members:
            row, own = self.gram[i], [0.0] * len(self.gram)
            own[i] = 1.0
            shares = [sum(map(mul, row, vector)) for vector in basis]
            for share, vector in zip(shares, basis, strict=True):
                own = [entry - share * other for entry, other in zip(own, vector, strict=True)]
            square = row[i] - sum(map(mul, shares, shares))
            if square > _INDEPENDENT:
                basis.append([entry / sqrt(square) for entry in own])
        foot = dict(zip(self.start.members, self.foot[1], strict=True))
        try:
            vectors = [list(map(int, map(ldexp, vector, places))) for vector in basis]
            return Frame(
                [int(ldexp(foot.get(i, 0.0), place)) for i, place in enumerate(places)],
                unit + top - self._latent,
                vectors,
                unit + top,
            )
        except (ArithmeticError, ValueError):
            return Frame([0] * len(places), 0, [], 0)

    def held(self, target: Target) -> dict[int, int]:
        """For the facts that hold with equality where a target is the least the end, on the grid."""
        with localcontext(_CONTEXT):
            _, ascent = self._ascent(target)
        return {i: self.facts.ends[i][not ascent.low[i]] for i in ascent.chosen.members}

    def _ascent(self, target: Target) -> tuple[int, _Ascent]:
        """The exponent of a unit in which a target is not much larger than 1, and the best weights in it."""
        self.facts.look()
        unit = target.square.bit_length() + 1 >> 1
        if target.curve:
            unit = max(unit, self._latent + target.curve.bit_length())
        if unit not in self._inward:
            powers = [-2 * unit, self._latent - unit, *(-unit - size for size in self._sizes)]
            self._inward[unit] = list(map(self.precision.power, powers))
        ascent = _Ascent(self, *map(mul, (target.square, target.curve, *target.products), self._inward[unit]))
        ascent.ascend()
        return unit, ascent

    def only(self, i: int) -> _Set:
        """One fact, whose curve is 1."""
        number = self.precision.number
        return _Set((i,), [[-self.gram[i][i], number(1)], [number(1), number(0)]])

    def joined(self, chosen: _Set, i: int) -> tuple[_Set, list[_Number]]:
        """With one fact more; if it depends on the others, these alone, and what sum of them it is."""
        self.facts.look()
        if not chosen.members:
            return self.only(i), []
        column = [self.facts.curves[i], *(self.gram[i][j] for j in chosen.members)]
        share = chosen.times(column)
        pivot = self.gram[i][i] - sum(map(mul, column, share))
        if not pivot > self.precision.dependent:
            return chosen, share[1:]
        rows = [[*row, 0] for row in (*chosen.inverse, [0] * len(share))]
        return _Set((*chosen.members, i), _moved(rows, [*share, -1], 1 / pivot)), []


def _without(chosen: _Set, i: int) -> _Set:
    """With one fact less."""
    members = tuple(j for j in chosen.members if j != i)
    if not members:
        return _Set((), [])
    place = chosen.members.index(i) + 1
    rows = [row[:place] + row[place + 1 :] for row in chosen.inverse]
    return _Set(members, _moved(rows, rows.pop(place), -1 / chosen.inverse[place][place]))


def _moved(rows: list[list[_Number]], vector: list[_Number], factor: _Number) -> list[list[_Number]]:
    """A matrix plus a factor times the square of a vector."""
    scaled = [factor * entry for entry in vector]
    return [[a + share * b for a, b in zip(row, scaled, strict=True)] for row, share in zip(rows, vector, strict=True)]


class _Ascent:
    """The weights on their way to the best ones for one target.

    Attributes:
        chosen: S.
        weights: of all facts.
        low: for each fact whether it is the lower end that it has.
    """

    def __init__(self, found: Weights, square: _Number, curve: _Number, *products: _Number) -> None:
        self._found, self._precision = found, found.precision
        self._curve, self._square, self._products = curve, square, products
        self._foot = found.foot[1]
        self._choose(found.start)
        vertex = self._vertex(*found.foot) or [curve - 1]
        self.weights = [0 * curve] * len(products)
        for i, weight in zip(self.chosen.members, vertex, strict=True):
            self.weights[i] = weight

    def ascend(self) -> None:
        """Make the weights the best."""
        self.low = [weight > 0 for weight in self.weights]
        for _ in range(self._precision.rounds * (len(self.weights) + 1)):
            self._found.facts.look()
            met, members = None, self.chosen.members
            ends = [self._found.ends[i][not self.low[i]] for i in members]
            vertex = self._vertex(*self.chosen.foot(ends)) if members else []
            if vertex is None:
                met = self._move(members, [-entry for entry in self._foot], _ENDLESS)
            elif [weight > 0 for weight in vertex] == [self.low[i] for i in members]:
                for i, weight in zip(members, vertex, strict=True):
                    self.weights[i] = weight
            else:
                met = self._move(members, [new - self.weights[i] for i, new in zip(members, vertex, strict=True)], 1)
            if met == _NONE or max(map(abs, self.weights)) > _ENDLESS:
                return  # next to nothing satisfies the facts
            if met is not None:
                self._choose(_without(self.chosen, met))
            elif not self._enter():
                return

    def _choose(self, chosen: _Set) -> None:
        """Let these be S: lambda, tau and |r|^2."""
        self.chosen = chosen
        if not chosen.members:  # y is b / a
            self._tau, self._foot, self._reach = [], [], 1 / self._curve
            self._height = self._square * self._reach * self._reach
        else:
            column = [self._curve, *[self._products[i] for i in chosen.members]]
            self._multiplier, *self._tau = chosen.times(column)
            self._outside = self._square - sum(map(mul, self._tau, column[1:])) - self._multiplier * self._curve

    def _vertex(self, mu: _Number, foot: list[_Number], far: _Number) -> list[_Number] | None:
        """The best weights for S, given mu, sigma and rho^2; None if there are none, along the foot."""
        precision, self._foot = self._precision, foot
        if far < -precision.flat:
            return None
        kappa = max(precision.least, precision.root(max(self._outside, 0) / max(far, precision.flat)))
        self._reach = 0 if kappa == precision.least else 1 / kappa  # 0: y is the foot
        self._height = 2 * (self._reach * self._multiplier - mu)
        return [one - kappa * other for one, other in zip(self._tau, foot, strict=True)]

    def _move(self, members: Sequence[int], steps: Sequence[_Number], most: int) -> int | None:
        """Move these weights by so many times these steps, or until one reaches 0 where its end ceases to count: return
        which. If there is no end to it they stay: `_NONE`."""
        met, reach = None, most
        for i, step in zip(members, steps, strict=True):
            low, high = self._found.ends[i]
            if step and (step > 0) != self.low[i] and low < high and (i or self._found.facts.distances):  # towards 0
                share = max(0, -self.weights[i] / step)
                if share < reach:
                    met, reach = i, share
        if met is None and most == _ENDLESS:
            return _NONE
        for i, step in zip(members, steps, strict=True):
            self.weights[i] += step * reach
        if met is not None:
            self.weights[met] *= 0
        return met

    def _enter(self) -> bool:
        """Let the fact enter that y breaks the most; whether there is one."""
        found, members, least, broken = self._found, self.chosen.members, self._precision.broken, None
        for i in range(len(self.weights) if len(members) < len(self.weights) else 0):
            if i in members:
                continue
            row, (low, high) = [found.gram[i][j] for j in members], found.ends[i]
            outside = self._products[i] - sum(map(mul, row, self._tau))
            product = sum(map(mul, row, self._foot)) + self._reach * outside
            value = (self._height if found.facts.curves[i] else 0) - 2 * product
            gap = max(low - value, value - high)
            if gap > least:
                least, broken = gap, (i, value < low)
        if broken is None:
            return False
        i, below = broken
        self.low[i] = below
        sign = 1 if below else -1
        for _ in self.weights:
            chosen, parts = found.joined(self.chosen, i)
            if not parts:
                self._choose(chosen)
                return True
            met = self._move((i, *chosen.members), [sign, *(-sign * part for part in parts)], _ENDLESS)
            if met is None or met == _NONE:
                break
            self._choose(_without(chosen, met))
        return False
