"""Irrational numbers enclosed by two rationals, 2^-600 of them apart."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from support.arithmetic import Interval, Vector, product

_BITS = 600


def root(value: Fraction) -> Interval:
    """An enclosure of the square root of a positive rational, 2^-600 of it wide."""
    bits = _BITS + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    low = isqrt((value.numerator << 2 * bits) // value.denominator)
    return Fraction(low, 1 << bits), Fraction(low + 1, 1 << bits)


def cosine_ends(z: Vector, p: Vector, epsilon: float) -> Interval:
    """An enclosure of <z, p> / (|p| (|z| + epsilon)) of rational vectors; z is not zero."""
    lengths = zip(root(product(z, z)), root(product(p, p)), strict=True)
    values = [product(z, p) / (of_p * (of_z + Fraction(epsilon))) for of_z, of_p in lengths]
    return min(values), max(values)
