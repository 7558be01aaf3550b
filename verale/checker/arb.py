"""The fast arithmetic: python-flint's ball arithmetic (arb).

It relies on the following: an fmpz is exact. An arb is a ball that contains the true value after every
operation, at any precision; an arb built from an fmpz is exact; `lower()`
and `upper()` are exact floating-point numbers rounded outward from the ball, and `man_exp()` gives such a number as
mantissa 2^exponent. `float(arb)` rounds to nearest and is never used. The product of two fmpz_mat is exact.
"""

from __future__ import annotations

from flint import arb, ctx, fmpz, fmpz_mat

from .arithmetic import GUARD_BITS, Arithmetic, Rows
from .dyadic import ceil_shift, floor_shift


class Arb(Arithmetic):
    """Arithmetic on python-flint."""

    name = "arb"
    packages = ("python-flint",)

    def log(self, numerator: int, denominator: int, bits: int) -> tuple[int, int]:
        self.clock.look()
        with ctx.workprec(bits + GUARD_BITS):
            return _ends((arb(fmpz(numerator)) / arb(fmpz(denominator))).log(), bits)

    def _exp(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        with ctx.workprec(bits + GUARD_BITS + max(0, 2 * ceil_shift(mantissa, exponent))):
            return _ends(arb((fmpz(mantissa), fmpz(exponent))).exp(), bits)

    def _normal(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        with ctx.workprec(bits + GUARD_BITS):
            ball = arb((fmpz(mantissa), fmpz(exponent)))
            return _ends((1 + (ball / arb(2).sqrt()).erf()) / 2, bits)

    def number(self, value: int) -> fmpz:
        return fmpz(value)

    def _block(self, rows: Rows) -> fmpz_mat:
        return fmpz_mat(rows)

    def _times(self, left: fmpz_mat, right: fmpz_mat) -> Rows:
        return [list(map(int, row)) for row in (left * right).tolist()]


def _ends(ball: arb, bits: int) -> tuple[int, int]:
    """The ball's ends at 2^-bits, rounded outward."""
    low, low_exponent = ball.lower().man_exp()
    high, high_exponent = ball.upper().man_exp()
    return (
        floor_shift(int(low), int(low_exponent) + bits),
        ceil_shift(int(high), int(high_exponent) + bits),
    )
