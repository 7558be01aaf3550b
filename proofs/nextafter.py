"""One step of `nextafter` encloses: if fl(x op y) is rounded to nearest, the float below it is at most x op y, and the
one above at least x op y. And fl(x op y) = (x op y) (1 + d) with |d| <= u = 2^-p for p significant bits, except under
underflow: then it is off by at most half the smallest number, or, if flushed to zero, by less than the smallest normal
number.

Proof. The float nearest to a real number is one of its two neighbours, or the number itself. So one step down passes
the number, or reaches it from above. An infinite result stands for a number beyond the greatest float, and one step
leads back to that float.
Neighbours are 2 u 2^e apart in [2^e, 2^(e+1)], and half of that is at most u |x op y|. The numbers rounded down and
rounded to nearest differ by at most one float; IEEE 754 defines the former as the greatest float not above the real
number.

Z3 proves the steps in IEEE 754's own arithmetic, bit by bit, for every operand except NaN: + (and with it -) in
binary64, * and the square root in binary32, / and the fused multiply-add in half precision; and that nextafter, which
counts bits up or down, steps to the neighbour. The factor 1 + d is proved for + and * in a format of 3 bits of exponent
and 3 of significand, against another format that holds exact sums and products.

What Z3 does not do: the other operations in binary64, which take seconds (*) to more than a minute (/), and 1 + d
there. Nothing in the human proof depends on the size of the format. For the search it is assumed that torch's
operations are those of IEEE 754. No certificate rests on this, because the checker proves it again.

Reference: IEEE 754-2019, 4.3 and 5.3.1; docs/design.md, 4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import z3

from .lemma import Case, Lemma, main

_HALF, _SINGLE, _DOUBLE = z3.Float16(), z3.Float32(), z3.Float64()
_TINY, _WIDE = z3.FPSort(3, 3), z3.FPSort(5, 9)
_NEAREST, _DOWN, _UP = z3.RNE(), z3.RTN(), z3.RTP()


def _below(x: z3.FPRef) -> z3.FPRef:
    """nextafter(x, -infinity), of no NaN: the bits count up from 0 on either side of it."""
    bits = z3.fpToIEEEBV(x)
    least = z3.fpToIEEEBV(z3.fpMinusZero(x.sort())) + 1
    step = z3.If(z3.fpIsZero(x), least, z3.If(z3.fpIsNegative(x), bits + 1, bits - 1))
    stays = z3.And(z3.fpIsInf(x), z3.fpIsNegative(x))
    return z3.If(stays, x, z3.fpBVToFP(step, x.sort()))


def _above(x: z3.FPRef) -> z3.FPRef:
    return z3.fpNeg(_below(z3.fpNeg(x)))


_Operation = Callable[[z3.FPRMRef], z3.FPRef]


def _enclosed(operation: _Operation) -> z3.BoolRef:
    """The steps pass what is rounded down and up, hence the real result in between."""
    nearest = operation(_NEAREST)
    return z3.And(z3.fpLEQ(_below(nearest), operation(_DOWN)), z3.fpGEQ(_above(nearest), operation(_UP)))


def _case(says: str, operation: _Operation, *operands: z3.FPRef) -> Case:
    real = [z3.Not(z3.fpIsNaN(x)) for x in (*operands, operation(_NEAREST), operation(_DOWN), operation(_UP))]
    return Case(says, real, _enclosed(operation), "qffp", seconds=120)


_X, _Y = z3.FPs("x y", _DOUBLE)
_S, _T = z3.FPs("s t", _SINGLE)
_H, _I, _J = z3.FPs("h i j", _HALF)
_A, _B = z3.FPs("a b", _TINY)
_Binary = Callable[[z3.FPRMRef, z3.FPRef, z3.FPRef], z3.FPRef]


def _relative(operation: _Binary, underflow: bool) -> z3.BoolRef:
    """|fl - exact| <= u |exact|, or half the smallest number under `underflow`; the wide format holds all exactly."""
    exact = operation(_NEAREST, *(z3.fpFPToFP(_NEAREST, x, _WIDE) for x in (_A, _B)))
    off = z3.fpAbs(z3.fpSub(_NEAREST, z3.fpFPToFP(_NEAREST, operation(_NEAREST, _A, _B), _WIDE), exact))
    within = z3.fpLEQ(off, z3.fpMul(_NEAREST, z3.FPVal(2.0**-3, _WIDE), z3.fpAbs(exact)))
    return z3.Or(within, z3.fpLEQ(off, z3.FPVal(2.0**-5, _WIDE))) if underflow else within


def _finite(operation: _Binary, *operands: z3.FPRef) -> list[z3.BoolRef]:
    return [z3.Not(z3.Or(z3.fpIsInf(x), z3.fpIsNaN(x))) for x in (*operands, operation(_NEAREST, *operands))]


_SUM = _case("x + y, binary64", lambda mode: z3.fpAdd(mode, _X, _Y), _X, _Y)
_PRODUCT = _case("x y, binary32", lambda mode: z3.fpMul(mode, _S, _T), _S, _T)

LEMMA = Lemma(
    rules=("search",),
    code=("verale/rounding/enclosure.py", "verale/rounding/enclosure.py"),
    cases=(
        _SUM,
        _PRODUCT,
        _case("the root of x, binary32", lambda mode: z3.fpSqrt(mode, _S), _S),
        _case("x / y, half precision", lambda mode: z3.fpDiv(mode, _H, _I), _H, _I),
        _case("x y + z, fused, half precision", lambda mode: z3.fpFMA(mode, _H, _I, _J), _H, _I, _J),
        Case(
            "nextafter steps to the neighbour",
            [z3.Not(z3.fpIsNaN(_X)), z3.Not(z3.fpIsNaN(_Y)), z3.fpLT(_Y, _X)],
            z3.And(z3.fpLT(_below(_X), _X), z3.fpLEQ(_Y, _below(_X))),
        ),
        Case("1 + d of a product", _finite(z3.fpMul, _A, _B), _relative(z3.fpMul, underflow=True), "qffp"),
        Case(
            "1 + d of a sum, which cannot underflow",
            _finite(z3.fpAdd, _A, _B),
            _relative(z3.fpAdd, underflow=False),
            "qffp",
        ),
    ),
    twins=(
        replace(
            _SUM, says="what is nearest is below", claim=z3.fpLEQ(z3.fpAdd(_NEAREST, _X, _Y), z3.fpAdd(_DOWN, _X, _Y))
        ),
        replace(
            _PRODUCT,
            says="a step up from what is nearest is below",
            given=[*_PRODUCT.given, *_finite(z3.fpMul, _S, _T)],
            claim=z3.fpLEQ(_above(z3.fpMul(_NEAREST, _S, _T)), z3.fpMul(_DOWN, _S, _T)),
        ),
        Case(
            "1 + d of a product, underflow forgotten",
            _finite(z3.fpMul, _A, _B),
            _relative(z3.fpMul, underflow=False),
            "qffp",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
