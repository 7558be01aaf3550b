"""Off the peak: for m in [lo, hi] and a peak c in [c_lo, c_hi], the distance x = |m - c| has

    max(0, lo - c_hi, c_lo - hi) <= x <= max(hi - c_lo, c_hi - lo),

both attained if c is known exactly; and -(m - c)^2 = -x^2 falls with x >= 0.

Proof. x is the greater of m - c, which lies in [lo - c_hi, hi - c_lo], and c - m, which lies in [c_lo - hi,
c_hi - lo]. If c is known, m = hi or m = lo attains the upper end, and the point of [lo, hi] nearest to c the lower
one. 0 <= x <= y gives x^2 <= y^2.

Z3 proves all of it for any numbers.

Reference: docs/design.md, 3.3 (unimodal similarities).
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_M, _LO, _HI, _C, _C_LO, _C_HI, _X, _Y = z3.Reals("m lo hi c c_lo c_hi x y")
_GIVEN = [_LO <= _M, _M <= _HI, _C_LO <= _C, _C <= _C_HI]


def _distance(m: z3.ArithRef) -> z3.ArithRef:
    return greatest(m - _C, _C - m)


_NEAR = greatest(z3.RealVal(0), _LO - _C_HI, _C_LO - _HI)
_FAR = greatest(_HI - _C_LO, _C_HI - _LO)
_NEAREST = greatest(_LO, least(_HI, _C))


def _squared(m: z3.ArithRef) -> z3.ArithRef:
    return -(m - _C) * (m - _C)


LEMMA = Lemma(
    rules=("similarity",),
    code=("verale/checker/chain.py", "verale/bounds/similarity.py"),
    cases=(
        Case("the range", _GIVEN, z3.And(_NEAR <= _distance(_M), _distance(_M) <= _FAR)),
        Case(
            "attained where the peak is known",
            [*_GIVEN, _C_LO == _C, _C_HI == _C],
            z3.And(
                _LO <= _NEAREST,
                _NEAREST <= _HI,
                _distance(_NEAREST) == _NEAR,
                z3.Or(_distance(_LO) == _FAR, _distance(_HI) == _FAR),
            ),
        ),
        Case("the similarity is that of the distance", [_X == _distance(_M)], _squared(_M) == -_X * _X, "qfnra-nlsat"),
        Case("it falls with the distance", [0 <= _X, _X <= _Y], -_Y * _Y <= -_X * _X, "qfnra-nlsat"),
    ),
    twins=(
        Case(
            "the peak lies between, yet ends go to ends",
            _GIVEN,
            _squared(_M) <= greatest(_squared(_LO), _squared(_HI)),
            "qfnra-nlsat",
        ),
        Case(
            "from the ends of the peak that are too near", _GIVEN, _distance(_M) <= greatest(_HI - _C_HI, _C_LO - _LO)
        ),
        Case(
            "the least distance from the wrong end of the peak",
            _GIVEN,
            greatest(_LO - _C_LO, _C_HI - _HI) <= _distance(_M),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
