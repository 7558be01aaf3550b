"""Numbers that vouch for themselves: rationals where a value is rational, else balls of `PRECISION` bits.

A vector is a list of floats, which stand for themselves, or of balls. Call what returns balls within
`flint.ctx.workprec(PRECISION)`.
"""

from __future__ import annotations

from fractions import Fraction
from math import inf, nextafter
from typing import Any, TypeAlias

import flint

PRECISION = 300
"""Bits of a ball."""

Ball: TypeAlias = Any
"""A `flint.arb`."""

Number: TypeAlias = Any
"""A Fraction or a ball."""

Vector: TypeAlias = list[Any]
"""Floats or balls, not both."""

Matrix: TypeAlias = list[list[float]]

Interval: TypeAlias = tuple[Fraction, Fraction]


# Vectors.


def squared_distance(z: Vector, p: Vector) -> Number:
    """|z - p|^2: a Fraction of two vectors of rational numbers, else a ball."""
    differences = [a - b for a, b in _pairs(z, p)]
    return _sum([x * x for x in differences])


def product(z: Vector, p: Vector) -> Number:
    """<z, p>: a Fraction of two vectors of rational numbers, else a ball."""
    return _sum([a * b for a, b in _pairs(z, p)])


def norm(z: Vector) -> Ball:
    """|z| of a vector of balls."""
    return product(z, z).sqrt()


def _sum(values: list[Number]) -> Number:
    return sum(values[1:], values[0])


def _pairs(z: Vector, p: Vector) -> list[tuple[Number, Number]]:
    """The coordinates in pairs: balls if either vector has one, else Fractions."""
    number = ball if any(isinstance(x, flint.arb) for x in (z[0], p[0])) else Fraction
    return [(number(a), number(b)) for a, b in zip(z, p, strict=True)]


# Balls.


def ball(value: Any) -> Ball:
    """A Fraction, float or integer as a ball; a ball as it is."""
    if isinstance(value, flint.arb):
        return value
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return flint.arb(value)


def balls(image: list[Vector]) -> list[Vector]:
    """Latents with every coordinate a ball."""
    return [list(map(ball, z)) for z in image]


def greatest(values: list[Ball]) -> Ball:
    """The maximum of balls."""
    highest = values[0]
    for value in values[1:]:
        highest = highest.max(value)
    return highest


def largest(values: list[Ball], count: int) -> list[Ball]:
    """The `count` greatest of balls, in order; all of them where there are fewer.

    Each round takes the maximum out by comparing pairs, so the results enclose the true order statistics even where
    balls overlap.
    """
    left, taken = list(values), list[Ball]()
    while left and len(taken) < count:
        highest, *others = left
        left = []
        for value in others:
            left.append(highest.min(value))
            highest = highest.max(value)
        taken.append(highest)
    return taken


def mean(values: list[Number]) -> Number:
    """The mean of Fractions or of balls."""
    return _sum(values) / len(values)


def ends(value: Number) -> Interval:
    """The two ends of a ball; of a Fraction itself, twice."""
    if isinstance(value, Fraction):
        return value, value
    low, high = (end.man_exp() for end in (value.lower(), value.upper()))
    return _dyadic(*low), _dyadic(*high)


def _dyadic(mantissa: Any, exponent: Any) -> Fraction:
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def certainly_within(value: Number, low: float, high: float, at_most_one: bool = True) -> bool:
    """Whether a number certainly lies in [low, high].

    Args:
        at_most_one: the number, where it is a ball, is known to be at most 1 in size, as cosines and masses are. A ball
            cannot show that 1 <= 1.
    """
    if isinstance(value, Fraction):
        return (low == -inf or Fraction(low) <= value) and (high == inf or value <= Fraction(high))
    above_low = (at_most_one and low <= -1) or bool(flint.arb(low) <= value)
    return above_low and ((at_most_one and high >= 1) or bool(value <= flint.arb(high)))


def possibly_within(value: Number, low: float, high: float) -> bool:
    """Whether a number may lie in [low, high]: no ball shows that it does not."""
    value = ball(value)
    return not (bool(value < flint.arb(low)) or bool(value > flint.arb(high)))


# Floats.


def below(value: Fraction) -> float:
    """The greatest binary64 at or below a number."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else nextafter(nearest, -inf)


def above(value: Fraction) -> float:
    """The smallest binary64 at or above a number."""
    return -below(-value)
