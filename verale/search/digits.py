"""Digits: statements with wider intervals, whose ends are short decimal numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
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

_CONTEXT = Context(prec=2000, Emin=-(10**6), Emax=10**6)


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
    return float(Decimal(10) ** math.ceil(math.log10(_LEAST_UNIT * greatest)))


def in_digits(statements: Sequence[Statement], digits: int, least: float) -> list[Statement]:
    """Statements whose ends are moved outward to decimals.

    Both ends of an interval get the same last digit: that of the greater one's first `digits` digits, but none that
    counts less than `least`. An end is the float next to the decimal on the outer side, so that the statement with the
    decimal implies this one, which is what is proved.
    """
    return [_in_digits(statement, digits, Decimal(least).adjusted()) for statement in statements]


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
    One that is infinite stays."""
    return [
        _outward(margin, Decimal(margin).adjusted() - digits + 1, up=False) if _is_number(margin) else margin
        for margin in margins
    ]


def _is_number(margin: float) -> bool:
    return math.isfinite(margin) and margin > 0


def _in_digits(statement: Statement, digits: int, least: int) -> Statement:
    match statement:
        case OrderStatement(exempt, upper):
            return OrderStatement(exempt, _outward(upper, _place((upper,), digits, least), up=True))
        case FloorStatement(exempt, lower):
            return FloorStatement(exempt, _outward(lower, _place((lower,), digits, least), up=False))
        case SumStatement(rivals, upper):
            return SumStatement(rivals, _outward(upper, _place((upper,), digits, -324), up=True))
        case PatchStatement() | ActivationStatement():
            place = _place((statement.lower, statement.upper), digits, least)
            ends = _outward(statement.lower, place, up=False), _outward(statement.upper, place, up=True)
            if isinstance(statement, PatchStatement):
                return PatchStatement(statement.patch, statement.prototype, *ends)
            return ActivationStatement(statement.prototype, *ends)


def _place(ends: tuple[float, ...], digits: int, least: int) -> int:
    """The power of ten that the last digit counts."""
    size = max((abs(end) for end in ends if math.isfinite(end)), default=0.0)
    return max(Decimal(size).adjusted() - digits + 1, least) if size else least


def _outward(end: float, place: int, *, up: bool) -> float:
    """The float next to the decimal next to an end, both on its outer side; an end that is infinite stays."""
    if math.isinf(end):
        return end
    unit = Decimal((0, (1,), place))
    # An end that is told in so few digits already stays, though it lies beyond its decimal.
    for rounding in (ROUND_HALF_EVEN, ROUND_CEILING if up else ROUND_FLOOR):
        outside = _beside(Decimal(end).quantize(unit, rounding, _CONTEXT), up=up)
        if outside == end:
            break
    return outside


def _beside(decimal: Decimal, *, up: bool) -> float:
    """The float next to a decimal on one side of it."""
    near = float(decimal)
    if up:
        return near if near >= decimal else math.nextafter(near, math.inf)
    return near if near <= decimal else math.nextafter(near, -math.inf)
