"""Digits: statements with wider intervals, whose ends are short decimal numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import torch
from torch import Tensor

from verale.bounds import domain_range
from verale.certificate import (
    ActivationStatement,
    FloorStatement,
    OrderStatement,
    PatchStatement,
    Statement,
    SumStatement,
)
from verale.errors import UsageError
from verale.head import Head
from verale.rounding import Enclosure
from verale.rounding.decimals import LEAST_POWER, decades, to_powers

__all__ = [
    "EXACT_DIGITS",
    "FEWEST_DIGITS",
    "FEW_DIGITS",
    "MOST_DIGITS",
    "check_digits",
    "fewest_digits",
    "in_digits",
    "least_unit",
    "margins_in_digits",
]

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
    return [_with_ends(*each) for each in zip(statements, wide.lower.tolist(), wide.upper.tolist(), strict=True)]


def ends_in_digits(ends: Enclosure, digits: int, least: float) -> Enclosure:
    """The same of intervals of observables, finite ones."""
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


def margins_in_digits(margins: Sequence[float], digits: int = FEW_DIGITS) -> list[float]:
    """Margins, rounded down to so many digits: still proved, and free of the last bits, which depend on the processor.
    One that is infinite, or not positive, or of which nothing would be left, stays."""
    exact = torch.tensor(margins, dtype=torch.float64)
    short = to_powers(Enclosure.unchecked(exact, exact), decades(exact) - (digits - 1)).lower
    kept: list[float] = torch.where(short > 0, short, exact).tolist()
    return kept


def _with_ends(statement: Statement, lower: float, upper: float) -> Statement:
    match statement:
        case OrderStatement(exempt):
            return OrderStatement(exempt, upper)
        case FloorStatement(exempt):
            return FloorStatement(exempt, lower)
        case SumStatement(rivals):
            return SumStatement(rivals, upper)
        case PatchStatement(patch, prototype):
            return PatchStatement(patch, prototype, lower, upper)
        case ActivationStatement(prototype):
            return ActivationStatement(prototype, lower, upper)
