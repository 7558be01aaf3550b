"""The tangent of a concave end: for p, q >= 0 and any h > 0,

    2 p q <= h p^2 + q^2 / h,      with equality where h p = q.

Proof. h p^2 - 2 p q + q^2 / h = (h p - q)^2 / h.

With p^2 = |z - c|^2, which is linear in what is stated of z, and q = |r_k|, an end of an observable is at most a
linear function of what is stated, and equal to it where q / p = h: its tangent. On intervals, such a function is at
most its value at their middles plus the sum of |slope| times half a width.

Reference: verale/bounds/intervals.py.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_P, _Q, _H = z3.Reals("p q h")
_SLOPE, _AT, _MIDDLE, _HALF = z3.Reals("slope at middle half")
_ASSUMED = [_P >= 0, _Q >= 0, _H > 0]
_WITHIN = [_HALF >= 0, _AT <= _MIDDLE + _HALF, _AT >= _MIDDLE - _HALF]
_SIZE = z3.If(_SLOPE >= 0, _SLOPE, -_SLOPE)

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/intervals.py",),
    cases=(
        Case("a product of two lengths, whatever h", _ASSUMED, 2 * _P * _Q * _H <= _H * _H * _P * _P + _Q * _Q),
        Case(
            "equality where h is their quotient",
            [*_ASSUMED, _H * _P == _Q],
            2 * _P * _Q * _H == _H * _H * _P * _P + _Q * _Q,
        ),
        Case("a linear function on an interval", _WITHIN, _SLOPE * (_AT - _MIDDLE) <= _SIZE * _HALF),
    ),
    twins=(
        Case("h at one term alone", _ASSUMED, 2 * _P * _Q <= _H * _P * _P + _Q * _Q),
        Case("the slope without its size", _WITHIN, _SLOPE * (_AT - _MIDDLE) <= _SLOPE * _HALF),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
