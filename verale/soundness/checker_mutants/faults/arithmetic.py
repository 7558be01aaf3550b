"""Faults of exact numbers and kernels."""

from __future__ import annotations

__all__ = ["FAULTS"]

FAULTS: dict[str, list[tuple[str, str, str]]] = {
    "dyadic.py": [
        ("floor_at rounds up", "return (value.numerator << bits) // value.denominator", "return -((-value.numerator << bits) // value.denominator)"),
        ("ceil_at rounds down", "return -((-value.numerator << bits) // value.denominator)", "return (value.numerator << bits) // value.denominator"),
        ("floor_shift rounds up", "else value >> -places", "else -(-value >> -places) "),
        ("ceil_shift rounds down", "else -(-value >> -places)", "else value >> -places "),
        ("the upper end of a root is the lower", "root + (root * root != value)", "root"),
        ("a hex digit counts three bits", "power - 4 * len(digits)", "power - 3 * len(digits)"),
        ("the sign of a hex float is dropped", "return -value if sign else value", "return value"),
        ("the smallest binary64 is refused", "exponent < _LEAST_EXPONENT", "exponent <= _LEAST_EXPONENT"),
        ("2^1024 is a number", "> _GREATEST_EXPONENT", "> _GREATEST_EXPONENT + 1"),
        ("a float enters with half its exponent", "(bits + 1 - denominator.bit_length())", "(bits - denominator.bit_length())"),
    ],
    "kernel/arb_kernel.py": [
        ("the lower end is rounded up", "floor_shift(int(low), int(low_exponent) + bits)", "ceil_shift(int(low), int(low_exponent) + bits)"),
        ("the upper end is rounded down", "ceil_shift(int(high), int(high_exponent) + bits)", "floor_shift(int(high), int(high_exponent) + bits)"),
        ("the upper end is the lower", "ball.upper().man_exp()", "ball.lower().man_exp()"),
        ("exp of what is small is 0", "return 0, 1", "return 0, 0"),
        ("exp takes too much for small", "if mantissa < 0 and ceil_shift(-mantissa, exponent) > bits:", "if mantissa < 0 and ceil_shift(-mantissa, exponent) > bits - 2:"),
        ("small summands are left out", "return low, high + tiny", "return low, high"),
        ("a sum takes too much for small", "least = -floor_shift(bits, -exponent)", "least = -floor_shift(bits - 2, -exponent)"),
        ("the logarithm of the inverse", "(arb(fmpz(numerator)) / arb(fmpz(denominator)))", "(arb(fmpz(denominator)) / arb(fmpz(numerator)))"),
        ("isqrt is one more", "fmpz(value).isqrt())", "fmpz(value).isqrt() + 1)"),
        ("exp(0) is not 1", "return 1 << bits, 1 << bits", "return 1 << bits, 1 << bits + 1"),
    ],
    "kernel/mpmath_kernel.py": [
        ("the exponent of a logarithm goes the wrong way", "n, shift = 2 * n, shift - 1", "n, shift = 2 * n, shift + 1"),
        ("log's argument is not brought near 1 from above", "elif 3 * n > 4 * d:", "elif n > 4 * d:"),
        ("the remainder of atanh is left out", "mpi_add(mpi_mul(t, value, precision), _remainder(precision), precision)", "mpi_mul(t, value, precision)"),
        ("the remainder of exp is left out", "_ends(mpi_add(value, _remainder(precision), precision), bits + power)", "_ends(value, bits + power)"),
        ("the series of atanh ends too early", "terms = precision // (2 * q) + 1", "terms = precision // (4 * q) + 1"),
        ("the series of exp ends too early", "while bound >> (precision + 1) == 0:", "while bound >> (precision // 2) == 0:"),
        ("the denominators of atanh are even", "_integer(2 * i + 1)", "_integer(2 * i + 2)"),
        ("the sign of a lower end is dropped", "-int(low) if low_sign else int(low)", "int(low)"),
        ("the lower end is rounded up", "floor_shift(-int(low)", "ceil_shift(-int(low)"),
        ("the upper end is rounded down", "ceil_shift(-int(high)", "floor_shift(-int(high)"),
        ("exp is scaled the wrong way", "bits + power)", "bits - power)"),
        ("exp of what is small is 0", "return 0, 1", "return 0, 0"),
        ("the upper end of a sum is the lower", "sum(high for _, high in powers)", "sum(low for low, _ in powers)"),
        ("the argument of exp is reduced by the wrong sign", "r = mpi_sub((x, x)", "r = mpi_add((x, x)"),
        ("a lower end is an integer of mpmath's backend", "-int(low) if low_sign else int(low)", "-low if low_sign else low"),
        ("an upper end is an integer of mpmath's backend", "-int(high) if high_sign else int(high)", "-high if high_sign else high"),
        ("an exponent is an integer of mpmath's backend", "int(low_exponent)", "low_exponent"),
        ("exp is not checked to be reduced", "half = from_man_exp(1, -1)", "half = from_man_exp(1, 9)"),
    ],
}  # fmt: skip
"""For each file of the checker: what is wrong, the source text, and what takes its place."""
