"""Weights for wide statements: the best ones, found in floats. They need not be right (`weights`).

For a target of vector b and curve a, the rule's bound is the concave function
    sum w_i e_i(w_i) - |b - sum w_i b_i|^2 / (a - sum w_i a_i)
of the weights. If it is known which statements matter, and at which end, the best weights solve a small linear system
(`_vertex`). They are the best of all if their y = Q / A satisfies all statements. So a statement that y breaks
the most is added, or takes the place of another one, as long as the bound gets better. Where that ends too early, the
weights are improved one by one, in turn: of a single weight the best value has a closed form.

In one dimension, where statements outnumber what they can fix, the weights may stay short of the best.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import frexp, inf, isfinite, ldexp, sqrt

from ...dyadic import floor_shift
from .facts import Facts, Target

__all__ = ["Dual"]

_ROUNDS, _SWEEPS = 8, 4
_CLOSE = 1e-14  # relative: what is less is rounding
_BROKEN = 1e-11
_DEPENDENT = 1e-12  # of a vector's square outside the span of others
_LEAST = 1e-14  # of kappa, and of A
_FLAT = 1e-24  # of |b|^2: less outside the span is rounding
_ROUND = 1e-8  # of |b|^2, so added that the bound has no edge where A = 0
_TINY = 1e-280
_MOST_BITS = 400  # of a float whose square is one


class Dual:
    """Weights for the facts about one patch, for any target."""

    def __init__(self, facts: Facts, lift: int) -> None:
        # A unit for the vectors and one for y, so that no number is far from 1.
        self._vector = max(row[i] for i, row in enumerate(facts.gram)).bit_length() + 1 >> 1
        self._latent = max(1, facts.ends[0][1]).bit_length() - lift + 1 >> 1
        if facts.curves[-1]:
            self._vector = self._latent = max(self._vector, self._latent)
        self._curves = [float(curve) for curve in facts.curves]
        self._gram = [[_scaled(entry, 2 * self._vector) for entry in row] for row in facts.gram]
        units = [2 * self._latent, *[self._latent + self._vector] * (len(facts.ends) - 1)]
        self._ends = [
            (_scaled(low, lift + unit), _scaled(high, lift + unit))
            for (low, high), unit in zip(facts.ends, units, strict=True)
        ]

    def weights(self, target: Target, sign: int, bits: int) -> list[int]:
        """Weights for `sign` times this target, at 2^-bits."""
        unit = max(self._vector, target.square.bit_length() + 1 >> 1)  # of the target's vector
        products = [sign * _scaled(entry, unit + self._vector) for entry in target.products]
        curve = sign * _scaled(target.curve, unit - self._latent)
        ascent = _Ascent(self._curves, self._gram, self._ends, curve, _scaled(target.square, 2 * unit), products)
        try:
            found = ascent.weights()
        except ArithmeticError:
            found = [curve - 1.0] + [0.0] * (len(products) - 1)
        first, *rest = found
        return [
            _integer(first, bits + unit - self._latent),
            *(_integer(weight, bits + unit - self._vector) for weight in rest),
        ]


@dataclass
class _State:
    """Some weights: A, the products <Q, b_i>, |Q|^2."""

    weights: list[float]
    curve: float
    products: list[float]
    square: float
    values: list[float] | None = None
    """Of the forms at y, if Q and A are too small to tell."""


@dataclass(frozen=True)
class _Ascent:
    """The bound of one target, as a function of the weights."""

    curves: list[float]
    gram: list[list[float]]
    ends: list[tuple[float, float]]
    curve: float
    square: float
    products: list[float]

    def weights(self) -> list[float]:
        """The best weights."""
        state, most, done = self._exchange(self._evenly(len(self.ends)))
        if not done:
            for sides in self._starts():
                found = self._vertex(sides)
                state, most = (found, bound) if found and (bound := self._bound(found)) > most else (state, most)
            other, bound, done = self._exchange(self._sides(state))
            state, most = (other, bound) if bound > most else (state, most)
        for _ in range(0 if done else _ROUNDS):
            before = most
            other = self._at(state.weights)
            other.square += _ROUND * self.square
            for _ in range(_SWEEPS):
                for i in range(len(self.products)):
                    self._improve(other, i)
            other = self._at(other.weights)
            for found, bound, last in ((other, self._bound(other), False), self._exchange(self._sides(other))):
                done = done or last
                state, most = (found, bound) if bound > most else (state, most)
            if done or most - before <= _CLOSE * (abs(most) + self.square):
                break
        if not all(map(isfinite, state.weights)):
            raise OverflowError("weights that are not numbers")
        return state.weights

    def _evenly(self, count: int) -> dict[int, float]:
        """The first statements, at the ends that count if these hold with equality at their middles."""
        middles = {i: (low + high) / 2 for i, (low, high) in enumerate(self.ends[:count])}
        if not self.curves[-1]:
            middles[0] = self.ends[0][1]
        state = self._vertex(middles)
        return {} if state is None else self._sides(state)

    def _starts(self) -> Iterator[dict[int, float]]:
        """Sets of statements to begin with, one of which may be near the best: each alone, and the first ones."""
        for i, ends in enumerate(self.ends):
            for end in ends:
                yield {i: end} if self.curves[-1] else {0: self.ends[0][1], i: end}
        for count in range(1, len(self.ends)):
            yield self._evenly(count)

    def _exchange(self, sides: Mapping[int, float]) -> tuple[_State, float, bool]:
        """Weights at least as good as those for these statements at these ends, their bound, and whether none are
        better."""
        state = self._vertex(sides)
        if state is None:
            return self._at([self.curve - 1.0] + [0.0] * (len(self.products) - 1)), -inf, False
        most = self._bound(state)
        for _ in range(6 * len(self.products)):
            wrong = [i for i, end in sides.items() if (w := state.weights[i]) and end != self.ends[i][w < 0]]
            broken = None if wrong else self._broken(state)
            if not wrong and broken is None:
                return state, most, True
            better = False
            for other in self._others(sides, wrong, broken):
                found = self._vertex(other)
                bound = self._bound(found)
                if found is not None and bound > most + _CLOSE * abs(most):
                    state, most, sides, better = found, bound, other, True
                    break
            if not better:
                break
        return state, most, False

    def _others(
        self, sides: Mapping[int, float], wrong: Sequence[int], broken: tuple[int, float] | None
    ) -> Iterator[dict[int, float]]:
        """Which statements may hold with equality instead: without one whose weight has the wrong sign, or with the one
        that is broken, also in the place of another."""
        more = (
            dict(sides)
            if broken is None
            else {broken[0]: broken[1], **{k: v for k, v in sides.items() if k != broken[0]}}
        )
        if broken is not None:
            yield more
        for j in wrong or sides:
            if (j or self.curves[-1]) and len(more) > 1 and (broken is None or j != broken[0]):
                yield {k: side for k, side in more.items() if k != j}

    def _sides(self, state: _State) -> dict[int, float]:
        """The statements that have a weight, the greatest first, and the ends that count."""
        order = sorted((i for i, w in enumerate(state.weights) if w), key=lambda i: -abs(state.weights[i]))
        return {i: self.ends[i][state.weights[i] < 0] for i in order}

    def _broken(self, state: _State) -> tuple[int, float] | None:
        """The statement that y breaks the most, and at which end."""
        least, found = _BROKEN, None
        share = state.square / (state.curve * state.curve)
        for i, (low, high) in enumerate(self.ends):
            value = self.curves[i] * share - 2 * state.products[i] / state.curve
            if state.values is not None:
                value = state.values[i]
            size = abs(value) + self.gram[i][i] + 1e-3
            for gap, end in ((low - value, low), (value - high, high)):
                if gap > least * size:
                    least, found = gap / size, (i, end)
        return found

    def _bound(self, state: _State | None) -> float:
        if state is None or not state.curve > 0:
            return -inf
        sides = sum([w * (low if w > 0 else high) for w, (low, high) in zip(state.weights, self.ends, strict=True)])
        return sides - state.square / state.curve

    def _vertex(self, sides: Mapping[int, float]) -> _State | None:
        """The best weights if these statements hold with equality, at these ends; one that depends on those before
        it is left out."""
        gram, curves = self.gram, self.curves
        base = 0 if 0 in sides else next(iter(sides), 0)
        if not sides or not curves[base] or (not curves[-1] and 0 not in sides):
            return None
        own = gram[base][base]
        # Relative to b_base = 0, where the forms of the others are -2 <y, b_i>, or to any other b_base.
        factors: list[tuple[int, list[float], float, float, float]] = []
        far, left = sides[base] + own, self.square - 2 * self.curve * self.products[base] + self.curve**2 * own
        for i, end in sides.items():
            if i == base:
                continue
            row = [gram[i][j] - gram[i][base] - gram[j][base] + own for j, *_ in factors]
            size = gram[i][i] - 2 * gram[i][base] + own
            known = (curves[i] * sides[base] - end) / 2 - gram[i][base] + own
            wanted = self.products[i] - self.products[base] - self.curve * (gram[i][base] - own)
            # Cholesky, one row more: what is left of the products along the new direction.
            along: list[float] = []
            for entry, (_, other, pivot, _, _) in zip(row, factors, strict=True):
                along.append((entry - _dot(along, other)) / pivot)
            rest = size - _dot(along, along)
            if rest <= _DEPENDENT * size or rest <= _TINY:
                continue
            pivot = sqrt(rest)
            known = (known - _dot(along, [each[3] for each in factors])) / pivot
            wanted = (wanted - _dot(along, [each[4] for each in factors])) / pivot
            factors.append((i, along, pivot, known, wanted))
            far, left = far - known * known, left - wanted * wanted
        flat = left <= _FLAT * self.square
        if far <= 0:
            return None
        kappa = _LEAST if flat else sqrt(left / far)
        weights, foot = [0.0] * len(self.products), [0.0] * len(self.products)
        for n in reversed(range(len(factors))):
            i, _, pivot, known, wanted = factors[n]
            later = [(each[1][n], each[0]) for each in factors[n + 1 :]]
            weights[i] = (wanted - kappa * known - sum([along * weights[j] for along, j in later])) / pivot
            if flat:
                foot[i] = (known - sum([along * foot[j] for along, j in later])) / pivot
        weights[base] = self.curve - kappa - _dot(weights, curves)
        state = self._at(weights)
        if flat:  # y is the foot, and as far from the span as the base says
            foot[base] = 1.0 - sum(foot) if curves[-1] else 0.0
            reached = [_dot(row, foot) for row in gram]
            square = sides[base] + 2 * reached[base]
            state.values = [curve * square - 2 * entry for curve, entry in zip(curves, reached, strict=True)]
        return state

    def _improve(self, state: _State, i: int) -> None:
        """The best weight of one fact, given the others."""
        (low, high), own, old = self.ends[i], self.gram[i][i], state.weights[i]
        if self.curves[i]:
            # With A = s the bound is (w_i + A - s) e_i - (s |b_i|^2 + |Q - A b_i|^2 / s) and what does not depend on s.
            rest = max(0.0, state.square - state.curve * (2 * state.products[i] - state.curve * own))
            total = old + state.curve
            near, far = max(0.0, low + own), max(_TINY, high + own)
            new = 0.0
            if near > 0:
                new = max(new, total - sqrt(rest / near))
            if new == 0.0:
                new = min(new, total - sqrt(rest / far))
            new = min(new, total - _LEAST * (1 + abs(total)))
        elif own > _TINY:
            slope = state.products[i] / own
            new = max(0.0, old + slope + low * state.curve / (2 * own))
            if new == 0.0:
                new = min(0.0, old + slope + high * state.curve / (2 * own))
        else:
            return
        self._move(state, i, new - old)
        state.weights[i] = new

    def _at(self, weights: Sequence[float]) -> _State:
        state = _State(list(weights), self.curve, list(self.products), self.square)
        for i, weight in enumerate(weights):
            self._move(state, i, weight)
        return state

    def _move(self, state: _State, i: int, step: float) -> None:
        if step == 0:
            return
        row = self.gram[i]
        state.square = max(0.0, state.square - step * (2 * state.products[i] - step * row[i]))
        state.products = [product - step * entry for product, entry in zip(state.products, row, strict=True)]
        state.curve -= step * self.curves[i]


def _scaled(value: int, places: int) -> float:
    """value / 2^places, or as much as a float that can be squared holds."""
    value = int(value)
    if value.bit_length() - places > _MOST_BITS:
        return ldexp(1.0 if value > 0 else -1.0, _MOST_BITS)
    drop = max(0, value.bit_length() - 64)
    return ldexp(float(value >> drop), drop - places)


def _integer(value: float, bits: int) -> int:
    """About value 2^bits."""
    mantissa, exponent = frexp(value)
    return floor_shift(int(ldexp(mantissa, 53)), exponent + bits - 53)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum([a * b for a, b in zip(left, right, strict=True)])
