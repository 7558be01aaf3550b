"""ln(n / d) by a series with its remainder: with n / d = x 2^k and t = (x - 1) / (x + 1),

    ln(n / d) = 2 atanh(t) + k ln 2,    atanh(t) = sum_{i < N} t^(2i+1) / (2i+1) + R,    |R| <= |t|^(2N+1)

for |t| <= 1/3 and N >= 1. Integers of as many bits, of a bits, have a quotient between 1/2 and 2; doubling the one or
the other if needed gives 2/3 <= x <= 4/3, and then |t| <= 1/5. Where |t| <= 2^-q and N = floor(w / 2q) + 1,
|R| <= 2^-w.

Proof. (1 + t) / (1 - t) = x, whose logarithm is 2 atanh(t). Let p = |t|^(2N+1), s = t^2 and
B_N = p / ((2N + 1) (1 - s)). The first term left out and B_(N+1) are together at most B_N:
p / (2N+1) + p s / ((2N+3) (1 - s)) <= p / (2N+1) (1 + s / (1 - s)). So, from the last term back, any number of terms
from N on sum to at most B_N, and so does the limit. And B_N <= p, as (2N + 1) (1 - s) >= 3 (1 - 1/9) > 1. 2 N q > w, so
p <= 2^-((2N+1) q) <= 2^-w. |numerator| < 2^a and denominator >= 2^(b-1) give |t| < 2^(a-b+1).

Z3 proves the reduction; that t turns back into x; the bound of t; the step from B_(N+1) to B_N for every real N >= 1
and with it a remainder of any length, and of three terms outright; that B_N <= p; the number of terms; and Horner's
form for three terms.

What Z3 does not do: ln x = 2 atanh(t), the series of atanh, and the limit (calculus). Powers with a free exponent are
named p, and only p = |t|^(2N+1) is used of them.

Reference: `verale/checker/series.py`.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_N, _D, _X, _T, _BITS = z3.Reals("n d x t bits")
_LENGTHS = [_BITS > 0, _BITS <= _N, _N < 2 * _BITS, _BITS <= _D, _D < 2 * _BITS]
_REDUCED = z3.If(3 * _N < 2 * _D, 2 * _N, _N), z3.If(z3.And(3 * _N >= 2 * _D, 3 * _N > 4 * _D), 2 * _D, _D)
_IS_X = [2 <= 3 * _X, 3 * _X <= 4, _T * (_X + 1) == _X - 1]

_COUNT, _P, _S = z3.Reals("count p s")
_TERM, _BOUND, _NEXT = z3.Reals("term bound next_bound")
_SMALL = [_COUNT >= 1, _P >= 0, 0 <= _S, 9 * _S <= 1]
_BOUNDS = [
    _TERM * (2 * _COUNT + 1) == _P,
    _BOUND * (2 * _COUNT + 1) * (1 - _S) == _P,
    _NEXT * (2 * _COUNT + 3) * (1 - _S) == _P * _S,
]
_REST = [_T >= 0, 9 * _T * _T <= 1]
_THREE = _T**3 / 3 + _T**5 / 5 + _T**7 / 7

_W, _Q, _DIVIDED, _LEFT, _TERMS = z3.Ints("w q divided left terms")
_SHARE = [_Q >= 1, _W >= 0, _W == 2 * _Q * _DIVIDED + _LEFT, 0 <= _LEFT, _LEFT < 2 * _Q]
_NUMERATOR, _DENOMINATOR, _MOST, _LEAST = z3.Reals("numerator denominator most least")
_SIZES = [-_MOST < _NUMERATOR, _NUMERATOR < _MOST, 0 < _LEAST, _LEAST <= _DENOMINATOR, _T * _DENOMINATOR == _NUMERATOR]

LEMMA = Lemma(
    rules=("ln, exp (mpmath)",),
    code=("verale/checker/series.py",),
    cases=(
        Case(
            "the argument is reduced",
            _LENGTHS,
            z3.And(2 * _REDUCED[1] <= 3 * _REDUCED[0], 3 * _REDUCED[0] <= 4 * _REDUCED[1]),
        ),
        Case("t turns back into x", _IS_X, 1 + _T == _X * (1 - _T), "qfnra-nlsat"),
        Case("t is at most 1/5", _IS_X, z3.And(-1 <= 5 * _T, 5 * _T <= 1), "qfnra-nlsat"),
        Case(
            "t is less than the lengths say", _SIZES, z3.And(-_MOST < _T * _LEAST, _T * _LEAST < _MOST), "qfnra-nlsat"
        ),
        Case(
            "the remainder, one term more, any N",
            [*_SMALL, *_BOUNDS],
            z3.And(_TERM + _NEXT <= _BOUND, _NEXT >= 0),
            "qfnra-nlsat",
        ),
        Case("the remainder is at most the power", [*_SMALL, *_BOUNDS], _BOUND <= _P, "qfnra-nlsat"),
        Case("the remainder, N = 1, three terms of it", _REST, _THREE <= _T**3, "qfnra-nlsat"),
        Case("the number of terms", [*_SHARE, _TERMS == _DIVIDED + 1], (2 * _TERMS + 1) * _Q >= _W, "qfnia"),
        Case(
            "Horner's form",
            [_S == _T * _T],
            _T * ((_S / 5 + z3.Q(1, 3)) * _S + 1) == _T + _T**3 / 3 + _T**5 / 5,
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case(
            "the argument is reduced further",
            _LENGTHS,
            z3.And(3 * _REDUCED[1] <= 4 * _REDUCED[0], 3 * _REDUCED[0] <= 4 * _REDUCED[1]),
        ),
        Case("the remainder for N = 0", [_COUNT == 0, *_SMALL[1:], *_BOUNDS], _BOUND <= _P, "qfnra-nlsat"),
        Case("the remainder is at most its first term", [_T > 0, _REST[1]], _THREE <= _T**3 / 3, "qfnra-nlsat"),
        Case("one term fewer", [*_SHARE, _TERMS == _DIVIDED], (2 * _TERMS + 1) * _Q >= _W, "qfnia"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
