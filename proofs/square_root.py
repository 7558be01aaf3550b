"""Roots of integers v >= 0: with r = isqrt(v), the integer with r^2 <= v < (r + 1)^2,
r <= v^(1/2) <= r + (1 if r^2 != v, else 0). If lo <= v <= hi, the lower end of lo's root and the upper end of hi's
root enclose v's root.

Proof. A root rises. r >= 0 and r^2 <= v give r <= v^(1/2), and v < (r + 1)^2 the other end; if r^2 = v, both are r.

Z3 proves it for any integers, with the root given by its square. TRUSTED.md assumes of CPython and flint that isqrt is
the floor of the root.

Reference: `verale/checker/dyadic.py`, sqrt_ends.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_V, _R, _LO, _HI, _R_LO, _R_HI = z3.Ints("v r lo hi r_lo r_hi")
_ROOT, _VALUE = z3.Reals("root value")


def _floor(root: z3.ArithRef, value: z3.ArithRef) -> list[z3.BoolRef]:
    return [root >= 0, root * root <= value, value < (root + 1) * (root + 1)]


def _upper(root: z3.ArithRef, value: z3.ArithRef) -> z3.ArithRef:
    return root + z3.If(root * root != value, z3.IntVal(1), z3.IntVal(0))


def _is_root(value: z3.ArithRef) -> list[z3.BoolRef]:
    return [_ROOT >= 0, _ROOT * _ROOT == value]


_OF_ENDS = [
    *_floor(_R_LO, _LO),
    *_floor(_R_HI, _HI),
    *_is_root(_VALUE),
    z3.ToReal(_LO) <= _VALUE,
    _VALUE <= z3.ToReal(_HI),
]

LEMMA = Lemma(
    rules=("domain", "mixed", "similarity", "instance", "picture"),
    code=(
        "verale/checker/dyadic.py",
        "verale/checker/reading/space.py",
        "verale/checker/reading/space.py",
        "verale/checker/reading/lipschitz.py",
        "verale/checker/chain.py",
        "verale/checker/reading/evaluation.py",
    ),
    cases=(
        Case(
            "the ends of a root",
            [*_floor(_R, _V), *_is_root(z3.ToReal(_V))],
            z3.And(z3.ToReal(_R) <= _ROOT, _ROOT <= z3.ToReal(_upper(_R, _V))),
        ),
        Case("one integer where it is the root", [*_floor(_R, _V), _R * _R == _V], _upper(_R, _V) == _R),
        Case("of an enclosure", _OF_ENDS, z3.And(z3.ToReal(_R_LO) <= _ROOT, _ROOT <= z3.ToReal(_upper(_R_HI, _HI)))),
    ),
    twins=(
        Case("the floor from above", [*_floor(_R, _V), *_is_root(z3.ToReal(_V))], _ROOT <= z3.ToReal(_R)),
        Case(
            "one more is attained",
            [*_floor(_R, _V), *_is_root(z3.ToReal(_V)), _R * _R != _V],
            z3.ToReal(_R + 1) <= _ROOT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
