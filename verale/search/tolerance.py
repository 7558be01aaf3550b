"""Tolerance: how far the intervals of statements are widened, so that their numbers are short."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from verale.certificate.words import written
from verale.errors import UsageError
from verale.rounding import Enclosure
from verale.rounding.decimals import decades, to_multiples, to_powers

__all__ = ["AUTO", "EXACT", "LEAST_TOLERANCE", "SOME", "Tolerance", "tolerances"]

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
        size = torch.maximum(observed.lower.abs(), observed.upper.abs())
        places = decades(size) - (self.digits - 1) if self.digits else decades(self.share * size)
        return to_powers(observed, places.clamp(min=_LEAST_POWER))


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
