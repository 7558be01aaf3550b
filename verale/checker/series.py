"""The reference arithmetic: Python's integers, and log and exp from mpmath's interval + * /.

mpmath's own `iv.log` and `iv.exp` do not enclose: `iv.exp(6.569357051766728e-21)` is [1.0, 1.0], and
`iv.ln(1.0000000000000004)` misses the value. So only the operations of `libmp.libmpi`, which round each end
outward, are used, and the series' remainders are proved here.

mpmath computes in Python's integers, or in those of another package where one is installed, gmpy2's `mpz`. These never
leave this file: Decimal and JSON do not take them, and messages and records are made of what this returns.

**log.** For positive integers write n / d = x 2^k with 2/3 <= x <= 4/3 and t = (x - 1) / (x + 1), so |t| <= 1/5. Then
ln(n / d) = 2 atanh(t) + k ln 2, and atanh(t) = sum_{i<N} t^(2i+1) / (2i+1) + R with
|R| <= sum_{i>=N} |t|^(2i+1) / (2i+1) <= |t|^(2N+1) / ((2N+1) (1 - t^2)) <= |t|^(2N+1) for N >= 1, since 3 (1 - 1/9) >
1. With |t| <= 2^-q and (2N + 1) q >= w this is at most 2^-w. ln 2 = 2 atanh(1/3), where |t| <= 1/3 <= 2^-1.

**exp.** Let r = x 2^-n with |r| <= 1/2. Then exp(x) = exp(r)^(2^n), n squares, and
exp(r) = sum_{i<N} r^i / i! + R with |R| <= exp(1/2) |r|^N / N! <= 2 2^-N / N! <= 2^-w.

**normal.** For x > 0 it is 1/2 + exp(-x^2 / 2) (2 pi)^(-1/2) sum_k t_k with t_0 = x and t_(k+1) = t_k x^2 / (2 k + 3),
as both sides are 1/2 at 0 and have the same derivative. Where x^2 / (2 N + 3) <= 1/2, what follows t_N is at most t_N
in all. Below 0 it is 1 less that. And pi = 16 atan(1/5) - 4 atan(1/239), where atan(1/n) = sum_i (-1)^i n^-(2i+1) /
(2i+1) is off by less than the first term left out.
"""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Any, TypeAlias

from mpmath.libmp import MPZ, from_int, from_man_exp, mpi_add, mpi_div, mpi_mul

from .arithmetic import GUARD_BITS, Arithmetic
from .dyadic import ceil_shift, floor_shift

_OWNER = MPZ.__module__.partition(".")[0]  # the package whose integers mpmath computes in; `builtins` for Python's
_Interval: TypeAlias = Any  # mpmath's pair of floating-point tuples


class Mpmath(Arithmetic):
    """Arithmetic on mpmath."""

    name = "mpmath"
    packages = ("mpmath",) if _OWNER == "builtins" else ("mpmath", _OWNER)

    def log(self, numerator: int, denominator: int, bits: int) -> tuple[int, int]:
        self.clock.look()
        shift = numerator.bit_length() - denominator.bit_length()
        n, d = numerator << max(0, -shift), denominator << max(0, shift)  # 1/2 < n / d < 2
        if 3 * n < 2 * d:
            n, shift = 2 * n, shift - 1
        elif 3 * n > 4 * d:
            d, shift = 2 * d, shift + 1
        precision = bits + GUARD_BITS + abs(shift).bit_length()
        value = _twice_atanh(n - d, n + d, precision)
        return _ends(mpi_add(value, mpi_mul(_integer(shift), _log_two(precision), precision), precision), bits)

    def _exp(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        halvings = max(0, mantissa.bit_length() + exponent + 1)
        precision = bits + GUARD_BITS + 2 * halvings + max(0, 2 * ceil_shift(mantissa, exponent))
        r = from_man_exp(mantissa, exponent - halvings)
        terms, bound = 1, 2  # 2^terms terms! = bound
        while bound >> (precision + 1) == 0:
            terms += 1
            bound *= 2 * terms
        value = one = _integer(1)
        for i in range(terms - 1, 0, -1):
            value = mpi_add(one, mpi_mul(mpi_div((r, r), _integer(i), precision), value, precision), precision)
        value = mpi_add(value, _remainder(precision), precision)
        for _ in range(halvings):
            value = mpi_mul(value, value, precision)
        return _ends(value, bits)

    def _normal(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        square = mantissa * mantissa, 2 * exponent
        size = ceil_shift(*square) + 1
        precision = bits + GUARD_BITS
        x = from_man_exp(abs(mantissa), exponent)
        squared = (from_man_exp(*square),) * 2
        term = total = (x, x)
        odd = 1
        while 2 * size > odd + 2 or _ends(term, precision)[1] > 1:
            odd += 2
            term = mpi_div(mpi_mul(term, squared, precision), _integer(odd), precision)
            total = mpi_add(total, term, precision)
        total = mpi_add(total, (from_int(0), term[1]), precision)
        low, high = self.exp(-square[0], square[1] - 1, precision + 2 * size)
        share = from_man_exp(low, -precision - 2 * size), from_man_exp(high, -precision - 2 * size)
        value = mpi_mul(mpi_div(share, _root_of_two_pi(precision), precision), total, precision)
        least, most = _ends(value, bits + 1)
        half = 1 << bits
        least, most = (half - most, half - least) if mantissa < 0 else (half + least, half + most)
        return least >> 1, -(-most >> 1)


@cache
def _root_of_two_pi(precision: int) -> _Interval:
    (low, high), (least, most) = _atan(5, precision), _atan(239, precision)
    return (
        from_man_exp(isqrt(32 * low - 8 * most), -precision),
        from_man_exp(isqrt(32 * high - 8 * least) + 1, -precision),
    )


def _atan(divisor: int, precision: int) -> tuple[int, int]:
    """The ends of atan(1 / divisor) at 2^-(2 precision)."""
    total, power, odd = 0, (1 << 2 * precision) // divisor, 1
    while power:
        total += power // odd if odd % 4 == 1 else -(power // odd)
        power //= divisor * divisor
        odd += 2
    return total - odd, total + odd  # each quotient is off by less than 2, and so is what is left out


@cache
def _log_two(precision: int) -> _Interval:
    return _twice_atanh(1, 3, precision)


def _twice_atanh(numerator: int, denominator: int, precision: int) -> _Interval:
    """2 atanh(t), t = numerator / denominator, |t| <= 1/3; remainder 2^-precision each way."""
    # |numerator| < 2^a and denominator >= 2^(b-1) for their lengths a, b: |t| < 2^-(b-1-a). And 1/3 < 2^-1.
    q = max(1, denominator.bit_length() - 1 - numerator.bit_length())
    terms = precision // (2 * q) + 1
    t = mpi_div(_integer(numerator), _integer(denominator), precision)
    square = mpi_mul(t, t, precision)
    value = _integer(0)
    for i in range(terms - 1, -1, -1):
        value = mpi_add(
            mpi_mul(value, square, precision), mpi_div(_integer(1), _integer(2 * i + 1), precision), precision
        )
    value = mpi_add(mpi_mul(t, value, precision), _remainder(precision), precision)
    return mpi_add(value, value, precision)


def _remainder(precision: int) -> _Interval:
    return from_man_exp(-1, -precision), from_man_exp(1, -precision)


def _integer(value: int) -> _Interval:
    return from_int(value), from_int(value)


def _ends(interval: _Interval, bits: int) -> tuple[int, int]:
    """The interval's ends at 2^-bits, rounded outward, as Python's integers."""
    (low_sign, low, low_exponent, _), (high_sign, high, high_exponent, _) = interval
    return (
        floor_shift(-int(low) if low_sign else int(low), int(low_exponent) + bits),
        ceil_shift(-int(high) if high_sign else int(high), int(high_exponent) + bits),
    )
