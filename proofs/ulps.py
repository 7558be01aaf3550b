"""A function that is off by at most 8 units in the last place: let y be its value, c the computed one, u = 2^-53. An
ulp of y is at most 2 u |y|, so |c - y| <= 16 u |y|. The exception is y below the smallest normal number N; 8 ulps of
such a y are far less than N. Then c - t and c + t enclose y, with t = 16 u (1 + 4 u) |c| + N as computed, one step up,
and the difference and the sum one step further out.

If y is off by a factor, ln(1 + y) is off by no more: for 0 < f <= 1, ln(1 + f y) >= f ln(1 + y), hence
ln(1 + y / f) <= ln(1 + y) / f. So after four factors of 1 + d, |d| <= u, in y, 8 ulps, and two roundings when it is
multiplied by 1 - e or 1 + e, e = 40 u, the computed value times these encloses ln(1 + y), except under underflow.

Proof. |y| <= |c| / (1 - 16 u), so |c - y| <= 16 u |c| / (1 - 16 u), which is at most
16 u (1 + 4 u) (1 - u) |c| + (u / 4) |c|; 1 - u is for the rounding of the product in t. A step down from the
float nearest to c - t lies below c - t by at least half a unit, and that is at least u |c - t| / 2 >= (u / 4) |c| where
t <= |c| / 2; elsewhere N in t is enough. For the logarithm: f -> ln(1 + f y) is concave, as its derivative
y / (1 + f y) falls, and 0 at f = 0, so it lies above its chord.

Z3 proves the inequalities for every u <= 2^-12, with the factors at their worst; the half unit of a step, and that it
is u / 2 at least of a number in [1, 2), which powers of two scale; and that y / (1 + f y) falls.

What Z3 does not do: that a function whose derivative falls lies above its chord (calculus), and that torch's functions
are within 8 units. The latter is an assumption; the documentation says 2, and `tests/unit/rounding` measures it. No
certificate rests on it, because the checker proves again.

Reference: docs/design.md, 4; `verale/rounding/enclosure.py`, `verale/bounds/similarity.py`.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_Y, _C, _U, _F, _G, _UNIT, _REAL, _NEAR = z3.Reals("y c u f g unit real nearest")
_BY_F, _BY_G = z3.Reals("by_f by_g")
_TINY = [_U > 0, _U <= z3.Q(1, 4096)]
_OFF = [-16 * _U * _Y <= _C - _Y, _C - _Y <= 16 * _U * _Y]


def _apart(slack: z3.ArithRef) -> z3.BoolRef:
    """For y > 0; for y < 0 both change their sign."""
    return z3.And(_C - _Y <= slack * _C, _Y - _C <= slack * _C)


def _logarithm(e: z3.ArithRef) -> z3.BoolRef:
    """For a value 1: the least computed, enlarged, and the greatest, over (1 - u)^4, reduced."""
    least, most = (1 - _U) ** 4 * (1 - 16 * _U), 1 + 16 * _U
    return z3.And(least * (1 + e) * (1 - _U) ** 2 >= 1, most * (1 - e) * (1 + _U) ** 2 <= (1 - _U) ** 4)


LEMMA = Lemma(
    rules=("search",),
    code=("verale/rounding/enclosure.py", "verale/rounding/enclosure.py", "verale/bounds/similarity.py"),
    cases=(
        Case(
            "relative to what is computed",
            [*_TINY, _Y >= 0, *_OFF],
            _apart(16 * _U * (1 + 4 * _U) * (1 - _U) + _U / 4),
            "qfnra-nlsat",
        ),
        Case(
            "a step below the nearest passes the real number by half a unit",
            [_UNIT > 0, _NEAR - _UNIT / 2 <= _REAL, _REAL <= _NEAR + _UNIT / 2],
            _NEAR - _UNIT <= _REAL - _UNIT / 2,
        ),
        Case(
            "half a unit is at least u / 2 of a number in [1, 2)",
            [1 <= _REAL, _REAL < 2, _UNIT == 2 * _U, _U > 0],
            _UNIT / 2 >= _U * _REAL / 2,
            "qfnra-nlsat",
        ),
        Case(
            "y / (1 + f y) falls with f",
            [_Y > 0, 0 <= _F, _F < _G, _BY_F * (1 + _F * _Y) == _Y, _BY_G * (1 + _G * _Y) == _Y],
            _BY_G < _BY_F,
            "qfnra-nlsat",
        ),
        Case("the logarithm's factors make less than 40 u", _TINY, _logarithm(40 * _U), "qfnra-nlsat"),
    ),
    twins=(
        Case("relative to what is computed, by 16 u alone", [*_TINY, _Y >= 0, *_OFF], _apart(16 * _U), "qfnra-nlsat"),
        Case("the logarithm's factors make less than 20 u", _TINY, _logarithm(20 * _U), "qfnra-nlsat"),
        Case(
            "the nearest passes the real number",
            [_UNIT > 0, _NEAR - _UNIT / 2 <= _REAL, _REAL <= _NEAR + _UNIT / 2],
            _NEAR <= _REAL,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
