"""Hex floats: an odd m > 0 times 2^e is a finite binary64 number exactly if m < 2^53, e >= -1074 and
e + (the bits of m) <= 1024. The grammar allows 0x0 or 0x1 and at most 13 digits, so a number is an integer below 2^53
times a power of two. A shift by its trailing zeros makes the integer odd and keeps the value.

Proof. Finite binary64 numbers are the s 2^t with integers 0 <= s < 2^53 and -1074 <= t <= 971. If m 2^e is one,
s = m 2^(e - t) with e >= t, as m is odd, so e >= -1074, m <= s, and e + bits(m) = t + bits(s) <= 971 + 53. Conversely
take t = e if e <= 971, else t = 971 and s = m 2^(e - 971), which has bits(m) + e - 971 <= 53 bits. The lowest bit of m
is m & -m in two's complement.

Z3 proves all of it for binary64 itself: with k = e - t one of -1 to 52, linear in m and e; the trailing zeros bit by
bit in 64 bits, of which 53 are used.

What Z3 does not do: that k is not below -1 (the human proof: m is odd), and that 2^k for k > 52 does not fit into
53 bits.

Reference: IEEE 754-2019, 3.3; C99 7.19.6.1; `verale/checker/dyadic.py`, hex_float.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_PRECISION, _LEAST, _GREATEST = 53, -1074, 1024
_M, _E, _HALF, _UNIT, _DIGITS = z3.Ints("m e half unit digits")
_ODD = [_M > 0, _M == 2 * _HALF + 1]


def _bits(m: z3.ArithRef) -> z3.ArithRef:
    """How many bits m has, 0 < m < 2^54; of more, too many."""
    return z3.Sum([z3.If(m >= 1 << k, z3.IntVal(1), z3.IntVal(0)) for k in range(_PRECISION + 1)])


def _is_float(m: z3.ArithRef, e: z3.ArithRef) -> z3.BoolRef:
    """m 2^e = s 2^t for some s < 2^53 and t in range: s = m 2^k, t = e - k, or, if m is even, s = m / 2, t = e + 1."""
    ways = [(m * (1 << k), e - k, z3.BoolVal(True)) for k in range(_PRECISION)] + [(m / 2, e + 1, m % 2 == 0)]
    return z3.Or([z3.And(whole, s < 1 << _PRECISION, t >= _LEAST, t <= _GREATEST - _PRECISION) for s, t, whole in ways])


def _accepted(m: z3.ArithRef, e: z3.ArithRef, least: int = _LEAST, bits: int = _PRECISION) -> z3.BoolRef:
    return z3.And(m < 1 << bits, e >= least, e + _bits(m) <= _GREATEST)


_B = z3.BitVec("mantissa", 64)
_LOW = _B & -_B

LEMMA = Lemma(
    rules=("instance",),
    code=("verale/checker/dyadic.py", "verale/checker/certificate.py", "verale/checker/read/head_file.py"),
    cases=(
        Case("which odd numbers times powers of two are floats", _ODD, _accepted(_M, _E) == _is_float(_M, _E)),
        Case(
            "the grammar holds 53 bits",
            [0 <= _UNIT, _UNIT <= 1, 0 <= _DIGITS, _DIGITS < 16**13],
            _UNIT * 16**13 + _DIGITS < 1 << _PRECISION,
        ),
        Case(
            "the lowest bit divides, and leaves an odd number",
            [_B != 0],
            z3.And(_LOW & (_LOW - 1) == 0, _B & (_LOW - 1) == 0, _B & _LOW != 0),
        ),
    ),
    twins=(
        Case("the least exponent of normal numbers", _ODD, _accepted(_M, _E, least=-1022) == _is_float(_M, _E)),
        Case("54 bits", _ODD, _accepted(_M, _E, bits=54) == _is_float(_M, _E)),
        Case(
            "e alone is at most 971",
            _ODD,
            z3.And(_M < 1 << _PRECISION, _E >= _LEAST, _E <= _GREATEST - _PRECISION) == _is_float(_M, _E),
        ),
        Case("of a number that is even", [_M > 0], _accepted(_M, _E) == _is_float(_M, _E)),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
