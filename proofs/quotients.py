"""Products and quotients of intervals. For x in [a, b]: x y, y in [c, d], lies between the least and the greatest of
the four products a c, a d, b c and b d; x / y, 0 < c <= y <= d, lies in [a / d if a > 0, else a / c, b / c if b > 0,
else b / d], and for c > 0 or d < 0 between the least and the greatest of the four quotients. 0 divided by any
number is 0.

This encloses a cosine <z, A> / (|A| (|z| + E)) whose divisors are enclosed. A mass e_j / sum e_i does not change when
all e_i are multiplied by one number, such as exp(-max z); among masses of one patch it rises with e_j; and it does not
exceed 1.

Proof. x y is affine in each of the two, so least and greatest at corners. 1 / y falls for y > 0, so for positive x
the quotient is least at the greatest y. Sum and quotient are homogeneous.

Z3 proves it for any real numbers, with quotients as solutions of their equations, and for three masses.

Reference: `verale/checker/reading/evaluation.py`, `verale/checker/reading/pooling.py`, `verale/rounding/enclosure.py`.
"""

from __future__ import annotations

from itertools import product

import z3

from .lemma import Case, Lemma, greatest, least, main

_A, _B, _C, _D, _X, _Y = z3.Reals("a b c d x y")
_RANGES = [_A <= _X, _X <= _B, _C <= _Y, _Y <= _D]
_CORNERS = [end * other for end, other in product((_A, _B), (_C, _D))]
_Q, _LOW, _HIGH = z3.Reals("quotient low high")
_QUOTIENT = _Q * _Y == _X
_OVER_C, _OVER_D = z3.RealVector("by_c", 2), z3.RealVector("by_d", 2)
_FOUR = [
    *(q * _C == end for q, end in zip(_OVER_C, (_A, _B), strict=True)),
    *(q * _D == end for q, end in zip(_OVER_D, (_A, _B), strict=True)),
]
_ENDS = [_LOW * z3.If(_A > 0, _D, _C) == _A, _HIGH * z3.If(_B > 0, _C, _D) == _B]
_NAMED = (*_OVER_C, *_OVER_D)

_E, _MASSES, _T, _SHIFTED = z3.RealVector("e", 3), z3.RealVector("mass", 3), z3.Real("t"), z3.Real("shifted")
_POSITIVE = [*(e > 0 for e in _E), _T > 0]
_SHARES = [mass * z3.Sum(_E) == e for mass, e in zip(_MASSES, _E, strict=True)]
_SHIFT = _SHIFTED * z3.Sum([e * _T for e in _E]) == _E[0] * _T
_BETWEEN = z3.And(_LOW <= _Q, _Q <= _HIGH)

LEMMA = Lemma(
    rules=("similarity", "instance", "picture", "refutation", "ln, exp (mpmath)"),
    code=(
        "verale/checker/reading/pooling.py",
        "verale/checker/reading/evaluation.py",
        "verale/checker/series.py",
        "verale/rounding/enclosure.py",
    ),
    cases=(
        Case("a product", _RANGES, z3.And(least(*_CORNERS) <= _X * _Y, _X * _Y <= greatest(*_CORNERS)), "qfnra-nlsat"),
        Case(
            "a quotient by the sign of what is divided", [*_RANGES, _C > 0, _QUOTIENT, *_ENDS], _BETWEEN, "qfnra-nlsat"
        ),
        *(
            Case(
                f"the four quotients, {says}",
                [*_RANGES, sign, _QUOTIENT, *_FOUR],
                z3.And(least(*_NAMED) <= _Q, _Q <= greatest(*_NAMED)),
                "qfnra-nlsat",
            )
            for says, sign in (("positive divisor", _C > 0), ("negative divisor", _D < 0))
        ),
        Case("0 divided", [_X == 0, _Y != 0, _QUOTIENT], _Q == 0, "qfnra-nlsat"),
        Case(
            "masses do not change with a factor", [*_POSITIVE, *_SHARES, _SHIFT], _SHIFTED == _MASSES[0], "qfnra-nlsat"
        ),
        Case(
            "the greater channel has the greater mass",
            [*_POSITIVE, *_SHARES, _E[0] >= _E[1]],
            z3.And(_MASSES[0] >= _MASSES[1], _MASSES[0] <= 1),
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case(
            "a quotient over the greatest divisor, whatever its sign",
            [*_RANGES, _C > 0, _QUOTIENT, _LOW * _D == _A],
            _LOW <= _Q,
            "qfnra-nlsat",
        ),
        Case("a product by ends of the same kind", _RANGES, _A * _C <= _X * _Y, "qfnra-nlsat"),
        Case(
            "the four quotients, of a divisor that changes its sign",
            [*_RANGES, _C < 0, _D > 0, _Y != 0, _QUOTIENT, *_FOUR],
            least(*_NAMED) <= _Q,
            "qfnra-nlsat",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
