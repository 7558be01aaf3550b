"""S(d) = ln((s d + 1) / (s d + E)), s > 0, 0 < E < 1, d >= 0: it falls strictly, is convex and positive, and at a mean
n / p it is ln((n s + p) / (n s + p E)).

Proof. With x = s d the quotient is 1 + (1 - E) / (x + E), more than 1 and strictly falling in x; ln rises. S' =
s (1 / (x + 1) - 1 / (x + E)) = s (E - 1) / ((x + 1) (x + E)) < 0, and S'' = s^2 (1 / (x + E)^2 - 1 / (x + 1)^2) > 0,
since 0 < x + E < x + 1. A function with S'' >= 0 is convex. The last: multiply both terms of the quotient by p.

Z3 proves that the quotient falls, exceeds 1, and has the limit 1 (it is less than 1 + delta from x = (1 - E) / delta
on); the signs of S' and S'', as polynomials, with 1 / (x + 1) and 1 / (x + E) as solutions of their equations; the
identity for the mean. ln itself is a free function; only that it rises and that ln 1 = 0 is given.

What Z3 does not do: that S' and S'' are the derivatives, and that S'' >= 0 implies convexity; both are calculus.

Reference: docs/heads.md, 1 (ProtoPNet's activation); docs/design.md, 3.3.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_X, _Y, _E, _S, _DELTA = z3.Reals("x y epsilon scale delta")
_BY_ONE, _BY_E = z3.Reals("one_by_x1 one_by_xE")
_N, _P, _MEAN = z3.Reals("n p mean")
_LN = z3.Function("ln", z3.RealSort(), z3.RealSort())
_FRACTION = [_X >= 0, _E > 0, _E < 1]
_NAMED = [_BY_ONE * (_X + 1) == 1, _BY_E * (_X + _E) == 1]
_Q, _R = z3.Reals("quotient_x quotient_y")
_QUOTIENTS = [_Q * (_X + _E) == _X + 1, _R * (_Y + _E) == _Y + 1]
_FALLS = (_Y + 1) * (_X + _E) < (_X + 1) * (_Y + _E)

LEMMA = Lemma(
    rules=("similarity", "pooling"),
    code=("verale/checker/read/similarities.py", "verale/checker/reading/pooling.py", "verale/bounds/similarity.py"),
    cases=(
        Case("the quotient falls", [*_FRACTION, _X < _Y], _FALLS, "qfnra-nlsat"),
        Case(
            "as a quotient it falls and exceeds 1",
            [*_FRACTION, _X < _Y, *_QUOTIENTS],
            z3.And(_R < _Q, _R > 1),
            "qfnra-nlsat",
        ),
        Case(
            "S falls and is positive, where ln rises",
            [
                1 < _R,
                _R < _Q,
                z3.Implies(_R < _Q, _LN(_R) < _LN(_Q)),
                z3.Implies(_R > 1, _LN(_R) > _LN(1)),
                _LN(1) == 0,
            ],
            z3.And(_LN(_R) < _LN(_Q), _LN(_R) > 0),
        ),
        Case(
            "its limit is 1",
            [*_FRACTION, _DELTA > 0, _X * _DELTA >= 1 - _E, _QUOTIENTS[0]],
            _Q < 1 + _DELTA,
            "qfnra-nlsat",
        ),
        Case("S' is negative", [*_FRACTION, _S > 0, *_NAMED], _S * (_BY_ONE - _BY_E) < 0, "qfnra-nlsat"),
        Case(
            "S'', too, has a sign",
            [*_FRACTION, _S > 0, *_NAMED],
            _S * _S * (_BY_E * _BY_E - _BY_ONE * _BY_ONE) > 0,
            "qfnra-nlsat",
        ),
        Case("S' as one fraction", [*_FRACTION, *_NAMED], _BY_ONE - _BY_E == (_E - 1) * _BY_ONE * _BY_E, "qfnra-nlsat"),
        Case(
            "a mean divided in the logarithm",
            [_E > 0, _N >= 0, _P > 0, _S > 0, _MEAN * _P == _N],
            (_S * _MEAN + 1) * (_N * _S + _P * _E) == (_S * _MEAN + _E) * (_N * _S + _P),
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case("it falls for E more than 1", [_X >= 0, _X < _Y, _E > 1], _FALLS, "qfnra-nlsat"),
        Case("it falls between any two numbers", [_X < _Y, _E > 0, _E < 1, *_QUOTIENTS], _R < _Q, "qfnra-nlsat"),
        Case(
            "a mean divided in the logarithm, E left as it is",
            [_E > 0, _E < 1, _N > 0, _P > 1, _S > 0, _MEAN * _P == _N],
            (_S * _MEAN + 1) * (_N * _S + _E) == (_S * _MEAN + _E) * (_N * _S + _P),
            "qfnra-nlsat",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
