"""Weights for wide statements: the best ones, found in floats by ascent. They need not be right (`weights`).

For a target q of vector b and curve a, the rule's bound is the concave function
    sum w_i e_i(w_i) - |b - sum w_i b_i|^2 / (a - sum w_i a_i)
of the weights. In one weight its maximum has a closed form, so the weights are improved in turn. The bound is smooth but
for a term of each weight alone, so this converges; but slowly. So it is used to see which statements matter, and at
which end: the weights for these statements as equalities solve a small linear system. They are taken if they are better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import copysign, frexp, inf, isfinite, ldexp, sqrt

from ...dyadic import floor_shift
from .facts import Facts, Target

__all__ = ["Dual"]

_ROUNDS = 12
_SWEEPS = 6  # in a round
_CLOSE = 1e-13  # of the bound: a round that gains less is the last
_LEAST = 1e-15  # of A
_TINY = 1e-280
_MOST_BITS = 400


@dataclass
class _State:
    """Some weights: A, the products <Q, b_i>, |Q|^2."""

    weights: list[float]
    curve: float
    products: list[float]
    square: float


class Dual:
    """Weights for the facts about one patch, for any target."""

    def __init__(self, facts: Facts, lift: int) -> None:
        # One unit for the vectors and one for y, so that no number is far from 1.
        self._vector = max(row[i] for i, row in enumerate(facts.gram)).bit_length() + 1 >> 1
        self._curves = [float(curve) for curve in facts.curves]
        reach = max(1, facts.ends[0][1])
        if facts.curves[-1]:  # one unit for both
            self._vector = max(self._vector, reach.bit_length() - lift + 1 >> 1)
            self._latent = self._vector
        else:
            self._latent = reach.bit_length() - lift + 1 >> 1
        self._gram = [[_scaled(entry, 2 * self._vector) for entry in row] for row in facts.gram]
        self._ends = [
            tuple(_scaled(end, lift + self._latent + (self._vector if i or facts.curves[-1] else self._latent)) for end in each)
            for i, each in enumerate(facts.ends)
        ]

    def weights(self, target: Target, sign: int, bits: int) -> list[int]:
        """Weights for `sign` times this target, at 2^-bits."""
        unit = max(self._vector, target.square.bit_length() + 1 >> 1)  # of the target's vector
        square = _scaled(target.square, 2 * unit)
        products = [sign * _scaled(entry, unit + self._vector) for entry in target.products]
        curve = sign * _scaled(target.curve, unit - self._latent)
        try:
            found = self._ascend(curve, square, products)
        except ArithmeticError:
            found = [curve - 1.0] + [0.0] * (len(products) - 1)
        first, *rest = found
        return [
            _integer(first, bits + unit - self._latent),
            *(_integer(weight, bits + unit - self._vector) for weight in rest),
        ]

    def _ascend(self, curve: float, square: float, products: list[float]) -> list[float]:
        first = max(sqrt(square / max(self._ends[0][1], _TINY)), 1e-9)
        state = self._at([curve - first] + [0.0] * (len(products) - 1), curve, square, products)
        best, most = state.weights, self._bound(state)
        for _ in range(_ROUNDS):
            before = most
            state = self._at(state.weights, curve, square, products)  # anew: what is updated gathers errors
            for _ in range(_SWEEPS):
                for i in range(len(products)):
                    self._improve(state, i)
            for each in (state, self._solved(state, curve, square, products)):
                if each is not None and (bound := self._bound(each)) > most:
                    best, most = list(each.weights), bound
                    state = each
            if most - before <= _CLOSE * (abs(most) + square):
                break
        if not all(map(isfinite, best)):
            raise OverflowError("weights that are not numbers")
        return best

    def _bound(self, state: _State) -> float:
        if not state.curve > 0:
            return -inf
        sides = sum(w * (low if w > 0 else high) for w, (low, high) in zip(state.weights, self._ends, strict=True) if w)
        return sides - state.square / state.curve

    def _improve(self, state: _State, i: int) -> None:
        """The best weight of one fact, given the others."""
        (low, high), own, old = self._ends[i], self._gram[i][i], state.weights[i]
        if self._curves[i]:
            # With A = s it is -(s |b_i|^2 + |Q - A b_i|^2 / s) + (w_i + A - s) e_i, greatest at s^2 = |..|^2 / (e_i + |b_i|^2)
            rest = max(0.0, state.square - state.curve * (2 * state.products[i] - state.curve * own))
            total = old + state.curve
            near, far = max(0.0, low + own), max(_TINY, high + own)
            if near > 0 and total > (at := sqrt(rest / near)):
                new = total - at
            elif total < (at := sqrt(rest / far)):
                new = total - at
            else:
                new = 0.0
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

    def _move(self, state: _State, i: int, step: float) -> None:
        if step == 0:
            return
        row = self._gram[i]
        state.square = max(0.0, state.square - step * (2 * state.products[i] - step * row[i]))
        state.products = [product - step * entry for product, entry in zip(state.products, row, strict=True)]
        state.curve -= step * self._curves[i]

    def _solved(self, state: _State, curve: float, square: float, products: list[float]) -> _State | None:
        """The best weights if the statements with a weight held with equality at the ends that they have now."""
        active = [i for i, w in enumerate(state.weights) if w]
        if not active or not self._curves[active[0]]:
            return None
        base, *rest = active
        gram, own = self._gram, self._gram[base][base]
        values = [low if w > 0 else high for w, (low, high) in zip(state.weights, self._ends, strict=True)]
        curves = self._curves
        # Relative to b_base: |y - b_base|^2 = far, and the forms of the others give <y - b_base, b_i - b_base>.
        far = values[base] + own
        matrix = [[gram[i][j] - gram[i][base] - gram[base][j] + own for j in rest] for i in rest]
        # Relative to b_base = 0, where the forms of the others are -2 <y, b_i>, or to any other b_base.
        known = [(curves[i] * values[base] - values[i]) / 2 - gram[i][base] + own for i in rest]
        wanted = [products[i] - products[base] - curve * (gram[i][base] - own) for i in rest]
        solved = _solve(matrix, [known, wanted])
        if solved is None:
            return None
        sigma, tau = solved
        # The target relative to b_base has the vector b - curve b_base.
        left = square - 2 * curve * products[base] + curve * curve * own - _dot(tau, wanted)
        least = far - _dot(sigma, known)
        if least <= 0 or left < 0:
            return None
        kappa = max(sqrt(left / least), 1e-14)
        new = [0.0] * len(products)
        for i, t, s in zip(rest, tau, sigma, strict=True):
            new[i] = t - kappa * s
        new[base] = curve - kappa - _dot(new, curves)
        return self._at(new, curve, square, products)

    def _at(self, weights: list[float], curve: float, square: float, products: list[float]) -> _State:
        state = _State(list(weights), curve, list(products), square)
        for i, weight in enumerate(weights):
            self._move(state, i, weight)
        return state


def _scaled(value: int, places: int) -> float:
    """value / 2^places, or as much as a float that can be squared holds."""
    value = int(value)
    drop = max(0, value.bit_length() - 64)
    if value.bit_length() - places > _MOST_BITS:
        return copysign(ldexp(1.0, _MOST_BITS), value)
    return ldexp(float(value >> drop), drop - places)


def _integer(value: float, bits: int) -> int:
    """About value 2^bits."""
    mantissa, exponent = frexp(value)
    return floor_shift(int(ldexp(mantissa, 53)), exponent + bits - 53)


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _solve(matrix: list[list[float]], columns: list[list[float]]) -> list[list[float]] | None:
    """The solutions of symmetric linear systems; None if the matrix is nearly singular."""
    size = len(matrix)
    rows = [[*row, *values] for row, values in zip(matrix, zip(*columns, strict=True), strict=True)]
    for i in range(size):
        pivot = rows[i][i]
        if pivot <= 1e-13 * matrix[i][i] or pivot <= _TINY:
            return None
        for j in range(i + 1, size):
            factor = rows[j][i] / pivot
            if factor:
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    found = [[0.0] * size for _ in columns]
    for c, values in enumerate(found):
        for i in reversed(range(size)):
            total = rows[i][size + c] - sum(rows[i][j] * values[j] for j in range(i + 1, size))
            values[i] = total / rows[i][i]
    return found
