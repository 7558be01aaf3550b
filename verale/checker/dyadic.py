"""Exact numbers: floats are dyadic, so they enter as integers over a power of two and stay exact.

A number is a `Fraction`, a tensor is `Exact`: integers at one common exponent. On the fixed-point grid of `bits`
fractional bits a number x becomes floor(x 2^bits) as a lower end and ceil(x 2^bits) as an upper end. No function of
this file rounds a bound to nearest, and floats are only read, exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from operator import mul

_HEX_FLOAT = re.compile(r"-?0x([01])(?:\.([0-9a-f]{1,13}))?p([+-][0-9]{1,4})")


@dataclass(frozen=True)
class Exact:
    """A matrix of dyadic numbers: entry (i, j) has the value rows[i][j] / 2^bits."""

    rows: list[list[int]]
    bits: int


def exact(values: Iterable[float], width: int) -> Exact:
    """Finite floats, row after row of `width`, as integers at the smallest common exponent that holds them all."""
    values = tuple(values)
    unit = max((value.as_integer_ratio()[1] for value in values), default=1)
    try:  # a float times a power of two is exact, unless it overflows
        flat = list(map(int, map(float(unit).__mul__, values)))
    except OverflowError:
        flat = [numerator * (unit // denominator) for numerator, denominator in map(float.as_integer_ratio, values)]
    return Exact([flat[start : start + width] for start in range(0, len(flat), width)], unit.bit_length() - 1)


def hex_float(text: str) -> Fraction | None:
    """The exact value of a C99 hex float; None if `text` is not one or its value is not a finite binary64."""
    match = _HEX_FLOAT.fullmatch(text)
    if match is None:
        return None
    try:
        nearest = float.fromhex(text)
    except OverflowError:
        return None
    value = Fraction(nearest)
    if nearest.hex() == text:  # as Python writes it, exactly
        return value
    unit, digits, power = match[1], match[2] or "", int(match[3])
    mantissa, exponent = int(unit + digits, 16), power - 4 * len(digits)
    is_stored = abs(value.numerator) << max(0, -exponent) == mantissa * value.denominator << max(0, exponent)
    return value if is_stored else None  # else it is rounded


def about(value: Fraction) -> str:
    """A decimal near a number. For messages only: it rounds to nearest."""
    return _decimal(value, 6, ROUND_HALF_EVEN)


def decimal_below(value: Fraction, digits: int) -> str:
    """The greatest decimal with so many digits that is at most a number."""
    return _decimal(value, digits, ROUND_FLOOR)


def _decimal(value: Fraction, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding, Emin=-(10**6), Emax=10**6)
    rounded = context.divide(Decimal(value.numerator), Decimal(value.denominator)).normalize(context)
    return f"{rounded:f}" if not rounded or -5 <= rounded.adjusted() < 15 else f"{rounded:e}"


def dot(left: Iterable[int], right: Iterable[int]) -> int:
    """The inner product of two integer vectors."""
    return sum(map(mul, left, right))


def floor_at(value: Fraction, bits: int) -> int:
    """The greatest integer n with n / 2^bits <= value."""
    return (value.numerator << bits) // value.denominator


def ceil_at(value: Fraction, bits: int) -> int:
    """The least integer n with n / 2^bits >= value."""
    return -((-value.numerator << bits) // value.denominator)


def quotient(numerator: int, denominator: int, up: bool) -> int:
    """A quotient, rounded up or down."""
    return -(-numerator // denominator) if up else numerator // denominator


def floor_shift(value: int, places: int) -> int:
    """floor(value 2^places); `places` may be negative."""
    return value << places if places >= 0 else value >> -places


def ceil_shift(value: int, places: int) -> int:
    """ceil(value 2^places); `places` may be negative."""
    return value << places if places >= 0 else -(-value >> -places)


def sqrt_ends(value: int) -> tuple[int, int]:
    """Integers (lo, hi), lo <= sqrt(value) <= hi, equal if the root is an integer."""
    root = math.isqrt(value)
    return root, root + (root * root != value)
