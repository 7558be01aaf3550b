"""Layers of a network, enclosed. Each entry x lies between two ends, or within r of a centre c.

- Let x_i lie within r_i of c_i, w_i within e of W_i, and |w_i| <= M_i, |c_i| <= most. Then sum w_i x_i is within
  sum M_i r_i + n e most of sum W_i c_i. Proof. w x - W c = w (x - c) + (w - W) c, term by term.
- If B <= b < B + 1 and F <= S + B < F + 1, in units of the grid or smaller ones, and v - b is within d of S, then v
  lies in [F - d, F + d + 2].
- With the centre floor((lo + hi) / 2), hi - centre is no less than centre - lo.
- Functions that fall with none of their arguments take ends to ends: maxima, sums, means, 1 / (1 + e) and e / (1 + e),
  in which e = exp(-|x|) is not negative. tanh x = (1 - e) / (1 + e) with e = exp(-2 x) is 2 sigmoid(2 x) - 1. A mass
  e / (e + s), of which s is the sum of the others, rises with e and falls with s.

- Computed in binary32 from x as computed, a term w x t has |t - 1| <= g. It is within M (r + g (most_x)) + e most of
  W c, where |x| <= most_x = |c| + r: so g (|c| + r) may be added to r. That |t - 1| <= gamma_m after m roundings is
  proved in `deployment`.

Proofs. In the docstrings of `verale/checker/network/enclosure.py` and `functions.py`.

Z3 proves one term, the sum of two, the floors, the centre, and that the quotients rise or fall. What it does not do:
sums of any length, exponentials.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

_X, _C, _R, _W, _V, _E, _M, _MOST = z3.Reals("x c r weight stored e size most")


def _near(one: z3.ArithRef, other: z3.ArithRef, apart: z3.ArithRef) -> z3.BoolRef:
    return greatest(one - other, other - one) <= apart


_TERM = [
    _R >= 0,
    _E >= 0,
    _near(_X, _C, _R),
    _near(_W, _V, _E),
    _near(_W, z3.RealVal(0), _M),
    _near(_C, z3.RealVal(0), _MOST),
]
_OFF = _R * _M + _E * _MOST
_MOVED, _SHARE = z3.Reals("moved share")
_ROUNDED = [*_TERM, _SHARE >= 0, _near(_MOVED, z3.RealVal(1), _SHARE), _MOST == greatest(_C, -_C)]
_S, _T, _A, _B, _D, _G = z3.Reals("s t a b d g")
_BIAS, _CUT, _SUM, _VALUE = z3.Reals("bias cut sum value")
_FLOOR = z3.Int("floor")
_FLOORS = [_CUT <= _BIAS, _BIAS < _CUT + 1, _FLOOR <= _SUM + _CUT, _SUM + _CUT < _FLOOR + 1, _D >= 0]
_LOW, _HIGH, _CENTRE = z3.Ints("low high centre")
_HALF = [_LOW <= _HIGH, 2 * _CENTRE <= _LOW + _HIGH, _LOW + _HIGH < 2 * _CENTRE + 2]
_POWER, _GREATER = z3.Reals("power greater")
_POWERS = [_POWER >= 0, _POWER <= _GREATER]

LEMMA = Lemma(
    rules=("network", "picture", "origin"),
    code=(
        "verale/checker/network/binary32.py",
        "verale/checker/network/enclosure.py",
        "verale/checker/network/functions.py",
        "verale/checker/reading/evaluation.py",
    ),
    cases=(
        Case("one term, above", _TERM, _W * _X - _V * _C <= _OFF, "qfnra-nlsat"),
        Case("one term, below", _TERM, _V * _C - _W * _X <= _OFF, "qfnra-nlsat"),
        Case(
            "one term as computed",
            _ROUNDED,
            greatest(_W * _X * _MOVED - _V * _C, _V * _C - _W * _X * _MOVED) <= _OFF + _M * _SHARE * (_MOST + _R),
            "qfnra-nlsat",
        ),
        Case("two sums", [_near(_S, _T, _A), _near(_B, _D, _G)], _near(_S + _B, _T + _D, _A + _G)),
        Case(
            "floors of the bias and of the sum",
            [*_FLOORS, _near(_VALUE - _BIAS, _SUM, _D)],
            z3.And(_FLOOR - _D <= _VALUE, _VALUE <= _FLOOR + _D + 2),
        ),
        Case("the centre is no farther from the lower end", _HALF, _CENTRE - _LOW <= _HIGH - _CENTRE),
        Case("e / (1 + e) rises", _POWERS, _POWER * (1 + _GREATER) <= _GREATER * (1 + _POWER), "qfnra-nlsat"),
        Case(
            "a mass rises with its own power and falls with the others",
            [*_POWERS, _S > 0, _S <= _T],
            _POWER * (_GREATER + _S) <= _GREATER * (_POWER + _T),
            "qfnra-nlsat",
        ),
        Case("1 / (1 + e) falls", _POWERS, 1 + _POWER <= 1 + _GREATER),
        Case("(1 - e) / (1 + e) is 2 / (1 + e) - 1", _POWERS, (1 - _POWER) / (1 + _POWER) == 2 / (1 + _POWER) - 1),
    ),
    twins=(
        Case(
            "a share of the centre alone",
            [*_ROUNDED, _E == 0],
            _W * _X * _MOVED - _V * _C <= _R * _M + _M * _SHARE * _MOST,
            "qfnra-nlsat",
        ),
        Case(
            "a mass of the greater sum",
            [*_POWERS, _S > 0, _S <= _T],
            _POWER * (_GREATER + _T) <= _GREATER * (_POWER + _S),
        ),
        Case(
            "stored sizes in the place of weights' own",
            _TERM,
            _W * _X - _V * _C <= _R * greatest(_V, -_V),
            "qfnra-nlsat",
        ),
        Case("without what is cut off", [*_TERM, _E > 0], _W * _X - _V * _C <= _R * _M, "qfnra-nlsat"),
        Case(
            "floors that add one unit together",
            [*_FLOORS, _near(_VALUE - _BIAS, _SUM, _D)],
            _VALUE <= _FLOOR + _D + 1,
        ),
        Case("the radius from the lower end", _HALF, _HIGH - _CENTRE <= _CENTRE - _LOW),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
