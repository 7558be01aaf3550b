"""Similarities that go one way throughout, so that ends go to ends: of m in [lo, hi],

- exp(-(m + E)^(1/2)), exp(-s m) and -s m fall with a squared distance m >= 0, for s > 0 and E >= 0;
- m, max(0, m), exp(-s (1 - m)) for s > 0, and "m where m >= t, else 0" for t > 0 and a mass m rise with m;
- exp(-(m + E)^(1/2)) and exp(-s m) of m >= 0, and exp(-s (1 - m)) of m <= 1, do not exceed 1;
- of the steps of chains, (x + a) / (x + b) for a > b > 0 and 1 / (x + a) for a > 0 fall, and x^2 rises, of x >= 0.

On a grid of 2^-b an integer n has n 2^-b >= t exactly if n is at least the ceiling of t 2^b.

Proof. A root rises, exp rises, a product with -s < 0 falls. max(0, m) is the greater of a constant and m. Where m
crosses t > 0 the value jumps from 0 up to t; elsewhere it is 0 or m. exp x <= exp 0 = 1 for x <= 0. The last is
the definition of a ceiling.

Z3 proves each between any two m <= m', hence S(lo) and S(hi) enclose S(m), exchanged where S falls. A root is given by
its square. exp is a free function; only that it rises between the numbers that occur, and that exp 0 = 1, is given.
`log_ratio` and `off_peak` have the other two similarities.

Reference: docs/design.md, 3.3; docs/heads.md, 0.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

_M, _N, _S, _E, _T = z3.Reals("m n scale epsilon threshold")
_ROOT_M, _ROOT_N = z3.Reals("root_m root_n")
_EXP = z3.Function("exp", z3.RealSort(), z3.RealSort())
_ZERO, _ONE = z3.RealVal(0), z3.RealVal(1)
_ROOTS = [_ROOT_M >= 0, _ROOT_M * _ROOT_M == _M + _E, _ROOT_N >= 0, _ROOT_N * _ROOT_N == _N + _E]
_ORDER, _DISTANCES = _M <= _N, [0 <= _M, _M <= _N]
_X, _Y = z3.Reals("argument_m argument_n")
_GRID, _CEILING, _SCALED = z3.Int("grid"), z3.Int("ceiling"), z3.Real("t_2b")
_IS_CEILING = [_SCALED <= z3.ToReal(_CEILING), z3.ToReal(_CEILING) < _SCALED + 1]


def _threshold(m: z3.ArithRef) -> z3.ArithRef:
    return z3.If(m >= _T, m, _ZERO)


def _rises(x: z3.ArithRef, y: z3.ArithRef) -> z3.BoolRef:
    return z3.Implies(x <= y, _EXP(x) <= _EXP(y))


_LO, _HI = z3.Reals("lo hi")
_BETWEEN = [_LO <= _M, _M <= _HI]
_FALLING = z3.Function("S", z3.RealSort(), z3.RealSort())
_NEGATED = -_S * _N <= -_S * _M
_OVER, _UNDER = z3.Reals("over under")
_RATIO = (_N + _OVER) / (_N + _UNDER) <= (_M + _OVER) / (_M + _UNDER)
_OF_COSINE = -_S * (1 - _M) <= -_S * (1 - _N)

LEMMA = Lemma(
    rules=("similarity",),
    code=("verale/checker/read/similarities.py", "verale/bounds/similarity.py"),
    cases=(
        Case("the root of a distance rises", [*_DISTANCES, _E >= 0, *_ROOTS], _ROOT_M <= _ROOT_N, "qfnra-nlsat"),
        Case("negated, and what exponential takes of a distance, falls", [_ORDER, _S > 0], _NEGATED, "qfnra-nlsat"),
        Case("what exponential takes of a cosine rises", [_ORDER, _S > 0], _OF_COSINE, "qfnra-nlsat"),
        Case(
            "no argument of exp is positive",
            [_M >= 0, _N <= 1, _S > 0],
            z3.And(-_S * _M <= 0, -_S * (1 - _N) <= 0),
            "qfnra-nlsat",
        ),
        Case(
            "exp takes ends to ends, none above 1",
            [_X <= _Y, _Y <= 0, _rises(_X, _Y), _rises(_Y, _ZERO), _EXP(0) == 1],
            z3.And(_EXP(_X) <= _EXP(_Y), _EXP(_Y) <= 1),
        ),
        Case("rectified rises", [_ORDER], greatest(_ZERO, _M) <= greatest(_ZERO, _N)),
        Case("threshold rises with a mass", [*_DISTANCES, _T > 0], _threshold(_M) <= _threshold(_N)),
        Case("a threshold met on the grid", _IS_CEILING, (_GRID >= _CEILING) == (z3.ToReal(_GRID) >= _SCALED)),
        Case("quotients in logarithms fall", [*_DISTANCES, 0 < _UNDER, _UNDER < _OVER], _RATIO, "qfnra-nlsat"),
        Case("reciprocals fall", [*_DISTANCES, _E > 0], 1 / (_N + _E) <= 1 / (_M + _E), "qfnra-nlsat"),
        Case("squares rise from 0 on", _DISTANCES, _M * _M <= _N * _N, "qfnra-nlsat"),
        Case(
            "where S falls, its ends are exchanged",
            [
                *_BETWEEN,
                z3.Implies(_LO <= _M, _FALLING(_LO) >= _FALLING(_M)),
                z3.Implies(_M <= _HI, _FALLING(_M) >= _FALLING(_HI)),
            ],
            z3.And(_FALLING(_HI) <= _FALLING(_M), _FALLING(_M) <= _FALLING(_LO)),
        ),
    ),
    twins=(
        Case(
            "quotients fall, whichever number is greater", [*_DISTANCES, _UNDER > 0, _OVER > 0], _RATIO, "qfnra-nlsat"
        ),
        Case("reciprocals fall below 0", [_ORDER, _E > 0], 1 / (_N + _E) <= 1 / (_M + _E), "qfnra-nlsat"),
        Case("negated with a scale that may be negative", [_ORDER], _NEGATED, "qfnra-nlsat"),
        Case("threshold with t below 0 rises", [_ORDER, _T < 0], _threshold(_M) <= _threshold(_N)),
        Case(
            "a threshold met on the grid, by the floor",
            [z3.ToReal(_CEILING) <= _SCALED, _SCALED < z3.ToReal(_CEILING) + 1],
            (_GRID >= _CEILING) == (z3.ToReal(_GRID) >= _SCALED),
        ),
        Case("exponential of what may exceed a cosine stays below 1", [_S > 0], -_S * (1 - _N) <= 0, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
