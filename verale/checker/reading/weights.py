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

**Numbers** are decimals of many digits, for facts that are nearly alike and margins that are nearly nothing. The units
are such that nothing is much larger than 1. What the bound loses is about the square of what the weights miss, but for
where A is nearly 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from operator import mul
from typing import ClassVar

from .ball import Frame
from .facts import Facts, Target

_CONTEXT = Context(prec=120, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])
_ZERO, _ONE, _TWO = map(Decimal, range(3))
_DEPENDENT = _TWO**-140
"""A squared distance to the span of others; less is none."""
_BROKEN = _TWO**-70
"""By how much y breaks a fact at least."""
_FLAT = _TWO**-160
"""Of |r|^2 and rho^2; less is rounding."""
_LEAST = _TWO**-80
"""Of kappa, and so of A: the bound is off by so much where the best weights have A = 0."""
_ROUNDS = 12
"""Moves for each fact, and as many again."""
_ENDLESS = Decimal(10) ** 100  # a weight, or a multiple of a direction, that no facts need which latents satisfy
_NONE = -1  # no fact
_BEYOND = Decimal(16)  # more than a form can be
_FRAME_PLACES = 26
_INDEPENDENT = Decimal("1e-10")  # a squared distance to the span of others, where a basis is to be orthonormal


@dataclass(frozen=True)
class _Set:
    """Facts that do not depend on each other, and the inverse X of their matrix, the border first."""

    members: tuple[int, ...]
    inverse: list[list[Decimal]]

    def times(self, column: Sequence[Decimal]) -> list[Decimal]:
        """X times a column."""
        return [sum(map(mul, row, column)) for row in self.inverse]

    def foot(self, ends: Sequence[Decimal]) -> tuple[Decimal, list[Decimal], Decimal]:
        """mu, sigma and rho^2 where these facts hold with these ends."""
        mu, *sigma = self.times([_ONE, *[-end / 2 for end in ends]])
        return mu, sigma, sum(map(mul, sigma, ends)) / 2 - mu


class Weights:
    """Weights for the facts about one patch, for any target.

    Attributes:
        places: bits after the point of weights that are found.
    """

    places: ClassVar = 256

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        # One unit for y, and one for each vector: with distances the same for all.
        latent = max(1, facts.ends[0][1]).bit_length() - facts.lift + 1 >> 1
        sizes = [row[i].bit_length() + 1 >> 1 for i, row in enumerate(facts.gram)]
        self._latent = max(latent, *sizes) if facts.distances else latent
        self._sizes = [self._latent if curve else size for curve, size in zip(facts.curves, sizes, strict=True)]
        with localcontext(_CONTEXT):
            self._units = [_TWO**-size for size in self._sizes]
            self.gram = []
            for row, own in zip(facts.gram, self._units, strict=True):
                facts.look()
                self.gram.append([own * unit * entry for unit, entry in zip(self._units, row, strict=True)])
            whole = _TWO ** (-facts.lift - self._latent)
            self.ends = [
                [max(-_BEYOND, min(_BEYOND, whole * unit * end)) for end in ends]
                for unit, ends in zip(self._units, facts.ends, strict=True)
            ]
            self.middles = [(low + high) / 2 for low, high in self.ends]
            if not facts.distances:
                self.middles[0] = self.ends[0][1]  # the ball's lower end says nothing
            self.start = self.only(0)
            for i in range(1, len(self.ends)):
                self.start, _ = self.joined(self.start, i)
            self.foot = self.start.foot([self.middles[i] for i in self.start.members])
            if not self.foot[2] >= -_FLAT:
                self.start = self.only(0)
                self.foot = self.start.foot(self.middles[:1])

    def best(self, target: Target) -> list[int]:
        """The best weights for a target, of all facts at 2^-`places`. All are 0 where there are none."""
        with localcontext(_CONTEXT):
            unit, ascent = self._ascent(target)
            one = _TWO ** (self.places + unit)
            try:
                return [int(weight * own * one) for weight, own in zip(ascent.weights, self._units, strict=True)]
            except (ArithmeticError, ValueError):  # of what is no number
                return [0] * len(self.ends)

    def frame(self) -> Frame:
        """The foot of the middles of all intervals, and an orthonormal basis of the span of the facts that hold
        there."""
        top, basis = max(self._sizes), list[list[Decimal]]()
        foot = dict(zip(self.start.members, self.foot[1], strict=True))
        with localcontext(_CONTEXT):
            one = _TWO ** (_FRAME_PLACES + top)
            for i in self.start.members:
                row = self.gram[i]
                own = [Decimal(j == i) for j in range(len(row))]
                shares = [sum(map(mul, row, vector)) for vector in basis]
                for share, vector in zip(shares, basis, strict=True):
                    own = [entry - share * other for entry, other in zip(own, vector, strict=True)]
                square = row[i] - sum(map(mul, shares, shares))
                if square > _INDEPENDENT:
                    basis.append([entry / square.sqrt() for entry in own])
            return Frame(
                [int(one * unit * foot.get(i, 0)) for i, unit in enumerate(self._units)],
                _FRAME_PLACES + top - self._latent,
                [[int(one * unit * entry) for unit, entry in zip(self._units, row, strict=True)] for row in basis],
                _FRAME_PLACES + top,
            )

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
        one = _TWO**-unit
        products = [one * own * product for own, product in zip(self._units, target.products, strict=True)]
        curve = one * _TWO**self._latent * target.curve
        ascent = _Ascent(self, one * one * target.square, curve, products)
        ascent.ascend()
        return unit, ascent

    def only(self, i: int) -> _Set:
        """One fact, whose curve is 1."""
        return _Set((i,), [[-self.gram[i][i], _ONE], [_ONE, _ZERO]])

    def joined(self, chosen: _Set, i: int) -> tuple[_Set, list[Decimal]]:
        """With one fact more; if it depends on the others, these alone, and what sum of them it is."""
        self.facts.look()
        if not chosen.members:
            return self.only(i), []
        column = [Decimal(self.facts.curves[i]), *(self.gram[i][j] for j in chosen.members)]
        share = chosen.times(column)
        pivot = self.gram[i][i] - sum(map(mul, column, share))
        if not pivot > _DEPENDENT:
            return chosen, share[1:]
        rows = [[*row, _ZERO] for row in (*chosen.inverse, [_ZERO] * len(share))]
        return _Set((*chosen.members, i), _moved(rows, [*share, -_ONE], 1 / pivot)), []


def _without(chosen: _Set, i: int) -> _Set:
    """With one fact less."""
    members = tuple(j for j in chosen.members if j != i)
    if not members:
        return _Set((), [])
    place = chosen.members.index(i) + 1
    rows = [row[:place] + row[place + 1 :] for row in chosen.inverse]
    return _Set(members, _moved(rows, rows.pop(place), -1 / chosen.inverse[place][place]))


def _moved(rows: list[list[Decimal]], vector: list[Decimal], factor: Decimal) -> list[list[Decimal]]:
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

    def __init__(self, found: Weights, square: Decimal, curve: Decimal, products: list[Decimal]) -> None:
        self._found, self._curve, self._square, self._products = found, curve, square, products
        self._foot = found.foot[1]
        self._choose(found.start)
        vertex = self._vertex(*found.foot) or [curve - 1]
        self.weights = [_ZERO] * len(products)
        for i, weight in zip(self.chosen.members, vertex, strict=True):
            self.weights[i] = weight

    def ascend(self) -> None:
        """Make the weights the best."""
        self.low = [weight > 0 for weight in self.weights]
        for _ in range(_ROUNDS * (len(self.weights) + 1)):
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
                met = self._move(members, [new - self.weights[i] for i, new in zip(members, vertex, strict=True)], _ONE)
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

    def _vertex(self, mu: Decimal, foot: list[Decimal], far: Decimal) -> list[Decimal] | None:
        """The best weights for S, given mu, sigma and rho^2; None if there are none, along the foot."""
        self._foot = foot
        if far < -_FLAT:
            return None
        kappa = max(_LEAST, (max(self._outside, _ZERO) / max(far, _FLAT)).sqrt())
        self._reach = _ZERO if kappa == _LEAST else 1 / kappa  # 0: y is the foot
        self._height = 2 * (self._reach * self._multiplier - mu)
        return [one - kappa * other for one, other in zip(self._tau, foot, strict=True)]

    def _move(self, members: Sequence[int], steps: Sequence[Decimal], most: Decimal) -> int | None:
        """Move these weights by so many times these steps, or until one reaches 0 where its end ceases to count: return
        which. If there is no end to it they stay: `_NONE`."""
        met, reach = None, most
        for i, step in zip(members, steps, strict=True):
            low, high = self._found.ends[i]
            if step and (step > 0) != self.low[i] and low < high and (i or self._found.facts.distances):  # towards 0
                share = max(_ZERO, -self.weights[i] / step)
                if share < reach:
                    met, reach = i, share
        if met is None and most == _ENDLESS:
            return _NONE
        for i, step in zip(members, steps, strict=True):
            self.weights[i] += step * reach
        if met is not None:
            self.weights[met] = _ZERO
        return met

    def _enter(self) -> bool:
        """Let the fact enter that y breaks the most; whether there is one."""
        found, members, least, broken = self._found, self.chosen.members, _BROKEN, None
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
        sign = _ONE if below else -_ONE
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
