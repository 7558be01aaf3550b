"""Digits: statements with wider intervals, whose ends are short decimal numbers.

A tolerance says how far intervals are widened before the search, digits how they are told after it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from verale.bounds import domain_range
from verale.certificate import (
    Statement,
    SumStatement,
)
from verale.certificate.words import written
from verale.errors import UsageError
from verale.head import Head
from verale.rounding import Enclosure
from verale.rounding.decimals import LEAST_POWER, decades, to_multiples, to_powers

FEWEST_DIGITS, EXACT_DIGITS = "fewest", "exact"

MOST_DIGITS = 8
"""Numbers of more digits are hardly shorter than those that float64 gives."""

FEW_DIGITS = 4
"""So many should do, even where that takes a few statements more."""

_LEAST_UNIT = 2.0**-31
"""The last digit of an observable counts at least so much of what the observable can be. The checker takes intervals
below 2^-32 of that for equalities."""

Prove = Callable[[list[Statement]], Tensor]
"""The margins (C,) that statements prove."""


def check_digits(given: Any) -> None:
    """Raise UsageError unless this is a number of digits, `fewest` or `exact`."""
    is_number = isinstance(given, Integral) and not isinstance(given, bool)
    if not (is_number and 1 <= given <= MOST_DIGITS) and given not in (FEWEST_DIGITS, EXACT_DIGITS):
        raise UsageError(f"digits is {given!r}, expected 1 to {MOST_DIGITS}, {FEWEST_DIGITS!r} or {EXACT_DIGITS!r}")


def least_unit(head: Head) -> float:
    """The least that the last digit of an observable may count: a power of ten."""
    range_ = domain_range(head)
    ends = torch.cat([range_.lower, range_.upper])
    greatest = max(1.0, float(ends[ends.isfinite()].abs().amax())) if bool(ends.isfinite().any()) else 1.0
    return float(f"1e{math.ceil(math.log10(_LEAST_UNIT * greatest))}")


def in_digits(statements: Sequence[Statement], digits: int, least: float) -> list[Statement]:
    """Statements whose ends are moved outward to decimals.

    Both ends of an interval get the same last digit: that of the greater one's first `digits` digits, but none that
    counts less than `least`. In words an end is the decimal itself (`verale.rounding.decimals`).
    """
    sides = [[getattr(each, "lower", -math.inf), getattr(each, "upper", math.inf)] for each in statements]
    ends = torch.tensor(sides, dtype=torch.float64).view(-1, 2)
    size = ends.abs().masked_fill(ends.isinf(), 0.0).amax(1)
    # A sum is of activations times weights, which may be of any size.
    least_place = round(math.log10(least))
    leasts = torch.tensor([LEAST_POWER if isinstance(each, SumStatement) else least_place for each in statements])
    places = torch.maximum(decades(size) - (digits - 1), leasts)
    wide = to_powers(Enclosure.unchecked(ends[:, 0], ends[:, 1]), places)
    told = []
    for each, lower, upper in zip(statements, wide.lower.tolist(), wide.upper.tolist(), strict=True):
        given = {"lower": lower, "upper": upper}
        told.append(replace(each, **{side: end for side, end in given.items() if side in each.__dataclass_fields__}))
    return told


def ends_in_digits(ends: Enclosure, digits: int, least: float) -> Enclosure:
    """Finite intervals of observables, their ends moved outward as by `in_digits`."""
    places = decades(torch.maximum(ends.lower.abs(), ends.upper.abs())) - (digits - 1)
    return to_powers(ends, places.clamp(min=round(math.log10(least))))


def fewest_digits(
    statements: Sequence[Statement], digits: range, prove: Prove, least: float, share: float | None = None
) -> tuple[list[Statement], Tensor] | None:
    """The statements in the fewest digits of a range with which they prove the class, and the margins; None if they
    never do.

    Fewer digits are wider statements, so bisection finds the fewest. It begins with the most or, where something is
    known of what widths cost, with what should be the fewest, and goes on digit by digit.

    Args:
        share: of a margin, what n digits cost by estimate, times 10^n: each digit less costs ten times as much.
    """
    found = None
    low, high = digits.start, digits.stop - 1
    share = share if share is not None and math.isfinite(share) else None
    tried = high if share is None else next((n for n in digits if share < 10.0**n), high)
    while low <= high:
        wide = in_digits(statements, tried, least)
        margins = prove(wide)
        if bool((margins > 0).all()):
            found, high = (wide, margins), tried - 1
        else:
            low = tried + 1
        tried = (low + high) // 2 if share is None else high if found else low
    return found


def margins_in_digits(margins: Tensor) -> Tensor:
    """Margins, rounded down to `FEW_DIGITS` digits: still proved, and free of last bits, which depend on the processor.
    One that is infinite, or not positive, or of which nothing would be left, stays."""
    short = to_powers(Enclosure.unchecked(margins, margins), decades(margins) - (FEW_DIGITS - 1)).lower
    return torch.where(short > 0, short, margins)


AUTO = "auto"
"""Of each image the widest tolerance, of a few, under which it has an explanation."""

LEAST_TOLERANCE = 2.0**-29
"""About 2e-9. The checker takes intervals narrower than 2^-32 of what their observable can be for equalities, so
intervals are either this wide or as narrow as they can be."""

_LEAST_POWER = -8
"""10^-8 is the least power of ten that is at least LEAST_TOLERANCE."""

_PERCENTAGE = re.compile(r"(\d+(?:\.\d*)?|\.\d+)%", re.ASCII)
_LEAST_SHARE = 1e-8


@dataclass(frozen=True)
class Tolerance:
    """How far each interval is widened outward: by default not at all. At most one of the three is positive.

    An end is the float next to a decimal on the outer side: in words it is the decimal itself.

    Attributes:
        step: each end moves to a multiple of this, in the units of the stated observable.
        share: each end moves to a multiple of a power of ten, the greatest that is at most this share of the
            observable, but not less than 10^-8. So it moves by at most this share, and has few digits.
        digits: each end moves to so many significant digits of the observable, none that counts less than 10^-8.
    """

    step: float = 0.0
    share: float = 0.0
    digits: int = 0

    @classmethod
    def parse(cls, given: float | str) -> Tolerance:
        """The tolerance that an option names: a number is a step, a percentage a share.

        Raises:
            UsageError: another text, or a number out of range.
        """
        if isinstance(given, str):
            percentage = _PERCENTAGE.fullmatch(given)
            if percentage is None:
                raise UsageError(f"tolerance is {given!r}, expected a number, a percentage such as '1%', or {AUTO!r}")
            share = float(percentage[1]) / 100
            if not _LEAST_SHARE <= share <= 1:
                raise UsageError(f"tolerance is {given}, expected from {100 * _LEAST_SHARE:g}% to 100%, or 0")
            return cls(share=share)
        if not 0 <= given < math.inf:
            raise UsageError(f"tolerance is {given}, expected a finite number, at least 0")
        if 0 < given < LEAST_TOLERANCE:
            raise UsageError(
                f"tolerance is {given}, expected at least {LEAST_TOLERANCE:.3g}, or 0 for the tightest intervals"
            )
        return cls(step=given)

    def __bool__(self) -> bool:
        return self != EXACT

    def __str__(self) -> str:
        """As the option takes it."""
        if self.digits:
            return f"{self.digits} digit{'s' if self.digits > 1 else ''}"
        return f"{100 * self.share:.8f}".rstrip("0").rstrip(".") + "%" if self.share else written(self.step)

    def narrower(self) -> Iterator[Tolerance]:
        """Tolerances of the same kind, each about half of the one before: their numbers begin with 5, 2 or 1."""
        size, least = (self.share, _LEAST_SHARE) if self.share else (self.step, LEAST_TOLERANCE)
        power = math.floor(math.log10(size)) if size else 0
        for exponent in range(power, -10, -1):
            for digit in (5, 2, 1):
                number = float(f"{digit}e{exponent}")
                if least <= number < size:
                    yield Tolerance(share=number) if self.share else Tolerance(step=number)

    def widened(self, observed: Enclosure) -> Enclosure:
        """The intervals, widened outward."""
        if not self:
            return observed
        if self.step:
            return to_multiples(observed, self.step)
        if self.digits:
            return ends_in_digits(observed, self.digits, 10.0**_LEAST_POWER)
        size = torch.maximum(observed.lower.abs(), observed.upper.abs())
        return to_powers(observed, decades(self.share * size).clamp(min=_LEAST_POWER))


EXACT = Tolerance()
"""Intervals as narrow as float64 gives them."""

SOME = Tolerance(digits=8)
"""Stands for any other: intervals are what statements give."""

_SHARES = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 1e-4, 1e-5, 1e-6)
"""What `auto` tries, before no tolerance. Shares mean the same for observables of any size."""


def tolerances(given: float | str) -> tuple[Tolerance, ...]:
    """What an option asks to try, the widest first: one tolerance or, for `auto`, several, of which the last is none.

    Raises:
        UsageError: see `Tolerance.parse`.
    """
    if given == AUTO:
        return *(Tolerance(share=share) for share in _SHARES), EXACT
    return (Tolerance.parse(given),)
