"""Floors and ceilings on the grid. For integers a and d > 0, the quotient n of Python's a // d, n d + r = a with
0 <= r < d, is the greatest integer with n <= a / d, and -((-a) // d) the least with n >= a / d. With a = x 2^bits this
is `floor_at` and `ceil_at`; with d = 2^k a shift to the right and `floor_shift`, `ceil_shift`; both are exact if the
value is an integer, as after a shift to the left.

So an interval whose lower end is floored and whose upper end is ceiled still encloses the same values. Sums of ends are
ends of the sum, and so are their multiples by an integer >= 0; a factor < 0 exchanges them. With b the greatest of all
b_i, dyadic numbers m_i 2^-b_i are the integers m_i 2^(b - b_i) over 2^b, exactly.

Proof. n <= a / d < n + 1 is 0 <= r < d. A greater integer is at least n + 1, so more than a / d. The ceiling is the
negated floor of the negated number. The rest is monotone.

Z3 proves it for any integers a and d, with quotient and remainder as the division defines them, and for shifts
by one to four bits with the division itself. TRUSTED.md assumes of CPython that it divides in this way, and that << and
>> are products and floors.

Reference: `verale/checker/dyadic.py`.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_A, _D, _N, _R, _K, _UP, _REST = z3.Ints("a d n r k up rest")
_DIVIDED = [_D > 0, _N * _D + _R == _A, 0 <= _R, _R < _D]
_NEGATED = [_D > 0, _UP * _D + _REST == -_A, 0 <= _REST, _REST < _D]
_X, _LO, _HI, _FACTOR = z3.Reals("x lo hi factor")
_DOWN, _ABOVE = z3.Ints("down above")
_ROUNDED = [_LO <= _X, _X <= _HI, z3.ToReal(_DOWN) <= _LO, _HI <= z3.ToReal(_ABOVE)]


def _shift(bits: int) -> Case:
    unit, floor, ceiling = 1 << bits, _A / (1 << bits), -((-_A) / (1 << bits))
    claim = z3.And(
        floor * unit <= _A,
        _A < (floor + 1) * unit,
        ceiling * unit >= _A,
        _A > (ceiling - 1) * unit,
        (floor == ceiling) == (_A % unit == 0),
    )
    return Case(f"a shift by {bits} bits", [], claim)


_DYADIC, _BITS = z3.Ints("m_1 m_2"), (1, 3)

LEMMA = Lemma(
    rules=(
        "domain",
        "quadratic",
        "simplex",
        "assignment",
        "top_k, sparse",
        "similarity",
        "instance",
        "network",
        "picture",
        "ln, exp (mpmath)",
        "ln, exp (arb)",
    ),
    code=(
        "verale/checker/dyadic.py",
        "verale/checker/reading/space.py",
        "verale/checker/reading/masses.py",
        "verale/checker/reading/masses.py",
        "verale/checker/reading/paradigms.py",
        "verale/checker/reading/pooling.py",
        "verale/checker/chain.py",
        "verale/checker/reading/evaluation.py",
        "verale/checker/series.py",
        "verale/checker/arb.py",
        "verale/checker/reading/facts.py",
    ),
    cases=(
        Case(
            "the floor is the greatest", _DIVIDED, z3.And(_N * _D <= _A, z3.Implies(_K * _D <= _A, _K <= _N)), "qfnia"
        ),
        Case(
            "the ceiling is the least",
            _NEGATED,
            z3.And(-_UP * _D >= _A, z3.Implies(_K * _D >= _A, _K >= -_UP)),
            "qfnia",
        ),
        Case("both are exact where the remainder is 0", [*_DIVIDED, *_NEGATED, _R == 0], _N == -_UP, "qfnia"),
        *(_shift(bits) for bits in (1, 2, 3, 4)),
        Case("ends rounded outward are ends", _ROUNDED, z3.And(z3.ToReal(_DOWN) <= _X, _X <= z3.ToReal(_ABOVE))),
        Case(
            "ends times a factor >= 0",
            [*_ROUNDED[:2], _FACTOR >= 0],
            z3.And(_FACTOR * _LO <= _FACTOR * _X, _FACTOR * _X <= _FACTOR * _HI),
            "qfnra-nlsat",
        ),
        Case(
            "ends times a factor < 0",
            [*_ROUNDED[:2], _FACTOR < 0],
            z3.And(_FACTOR * _HI <= _FACTOR * _X, _FACTOR * _X <= _FACTOR * _LO),
            "qfnra-nlsat",
        ),
        Case(
            "dyadic numbers at the greatest exponent",
            [],
            z3.And(
                [
                    z3.ToReal(m * 2 ** (3 - bits)) / 8 == z3.ToReal(m) / 2**bits
                    for m, bits in zip(_DYADIC, _BITS, strict=True)
                ]
            ),
        ),
    ),
    twins=(
        Case(
            "division that cuts towards 0 gives the floor",
            [_D == 4, _N * _D + _R == _A, z3.If(_A >= 0, z3.And(0 <= _R, _R < _D), z3.And(-_D < _R, _R <= 0))],
            _N * _D <= _A,
        ),
        Case(
            "one more than the floor is the ceiling",
            [_D == 4, *_DIVIDED[1:]],
            z3.And((_N + 1) * _D >= _A, _N * _D < _A),
        ),
        Case(
            "an upper end that is floored",
            [_X <= _HI, z3.ToReal(_ABOVE) <= _HI, _HI < z3.ToReal(_ABOVE) + 1],
            _X <= z3.ToReal(_ABOVE),
        ),
        Case("ends times any factor", _ROUNDED[:2], _FACTOR * _LO <= _FACTOR * _X, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
