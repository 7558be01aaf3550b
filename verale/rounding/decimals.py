"""Ends moved outward to short decimals: to multiples of a power of ten, or of another step.

An end becomes the float next to the multiple, on its outer side. So what is said with the decimal implies what is said
with the float, and in words the float is the decimal.
"""

from __future__ import annotations

import math
from fractions import Fraction

import torch
from torch import Tensor

from verale.rounding.enclosure import Enclosure, down

LEAST_POWER, GREATEST_POWER = -22, 22
"""The exponents of powers of ten that are floats, or whose inverses are: 5^22 < 2^53."""

_DECADES = range(-31, 32)
_WHOLE = 2**53


def _not_below(power: Fraction) -> float:
    near = float(power)
    return near if near >= power else math.nextafter(near, math.inf)


_BEGINNINGS = torch.tensor([_not_below(Fraction(10) ** n) for n in _DECADES], dtype=torch.float64)
_POWERS = torch.tensor([10.0**n for n in range(GREATEST_POWER + 1)], dtype=torch.float64)


def decades(sizes: Tensor) -> Tensor:
    """The greatest n with 10^n <= size, exactly; for sizes below 10^-31 or from 10^31 on, one beyond these.

    A logarithm may be off by one next to a power, differently on another processor.
    """
    return torch.bucketize(sizes, _BEGINNINGS.to(sizes.device), right=True) + (_DECADES.start - 1)


def to_powers(ends: Enclosure, exponents: Tensor) -> Enclosure:
    """Intervals widened outward to multiples of 10^n; exponents n are cut to LEAST_POWER and GREATEST_POWER."""
    exponents, powers = exponents.clamp(LEAST_POWER, GREATEST_POWER).long(), _POWERS.to(exponents.device)
    return _widened(ends, powers[exponents.clamp(min=0)], powers[(-exponents).clamp(min=0)])


def to_multiples(ends: Enclosure, step: float) -> Enclosure:
    """Intervals widened outward to multiples of a step, of few digits if it is a decimal of few."""
    exact = Fraction(repr(step))
    if max(exact.numerator, exact.denominator) > _WHOLE:
        exact = Fraction(step).limit_denominator(_WHOLE)
    return _widened(ends, *(ends.lower.new_tensor(part) for part in exact.as_integer_ratio()))


def _widened(ends: Enclosure, many: Tensor, parts: Tensor) -> Enclosure:
    """To multiples of many / parts, floats that are whole numbers."""
    return Enclosure(_below(ends.lower, many, parts), 0.0 - _below(-ends.upper, many, parts))


def _below(ends: Tensor, many: Tensor, parts: Tensor) -> Tensor:
    """The floats next to multiples that are not above ends; infinite ends stay.

    An end that is such a float already stays, though it lies beyond its multiple. The quotient that counts multiples is
    rounded, so where the float is not outside, the next multiple is taken.

    Soundness: no result is above its end, whatever was rounded before the last line.
    """
    count = ends * parts / many
    nearest, below = (_quotient(whole * many, parts) for whole in (count.round(), count.floor()))
    below = torch.where(below > ends, _quotient((count.floor() - 1) * many, parts), below)
    return torch.minimum(torch.where(nearest == ends, ends, below), ends)


def _quotient(numerator: Tensor, denominator: Tensor) -> Tensor:
    """The greatest floats that are at most some fractions of whole numbers.

    A quotient is rounded to the nearest float f, and f * denominator is known exactly as the sum of two floats
    (Dekker's product). Beyond 2^53 counts are floats too, and the multiples are of something greater.
    """
    quotient = numerator / denominator
    product = quotient * denominator
    (high, low), (large, small) = _halves(quotient), _halves(denominator)
    error = ((high * large - product) + high * small + low * large) + low * small
    return torch.where((product - numerator) + error > 0, down(quotient), quotient)


def _halves(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """Floats as sums of two floats of 26 bits each."""
    scaled = numbers * (2.0**27 + 1)
    high = scaled - (scaled - numbers)
    return high, numbers - high
