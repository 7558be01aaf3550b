"""Numbers that vouch for themselves: rationals where a value is rational, else balls of `PRECISION` bits.

Call what returns balls within `flint.ctx.workprec(PRECISION)`.
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


def squared_distance(z: Vector, p: Vector) -> Fraction:
    """|z - p|^2 of vectors of rational numbers."""
    return sum(((Fraction(a) - Fraction(b)) ** 2 for a, b in zip(z, p, strict=True)), Fraction(0))


def product(z: Vector, p: Vector) -> Fraction:
    """<z, p> of vectors of rational numbers."""
    return sum((Fraction(a) * Fraction(b) for a, b in zip(z, p, strict=True)), Fraction(0))


def ball(value: Any) -> Ball:
    """A Fraction, float or integer as a ball; a ball as it is."""
    if isinstance(value, Fraction):
        return flint.arb(flint.fmpq(value.numerator, value.denominator))
    return value if isinstance(value, flint.arb) else flint.arb(value)


def balls(image: list[Vector]) -> list[Vector]:
    """Latents with every coordinate a ball."""
    return [list(map(ball, z)) for z in image]


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


def certainly_outside(value: Number, low: float, high: float) -> bool:
    """Whether a number certainly lies outside [low, high]."""
    if isinstance(value, Fraction):
        return not certainly_within(value, low, high)
    return bool(value < flint.arb(low)) or bool(value > flint.arb(high))


def below(value: Fraction) -> float:
    """The greatest binary64 at or below a number."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else nextafter(nearest, -inf)


def above(value: Fraction) -> float:
    """The smallest binary64 at or above a number."""
    return -below(-value)
