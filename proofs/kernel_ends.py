"""From enclosures in a kernel's numbers to integers at 2^-bits: a value v in [l, h] has
floor(l 2^bits) <= v 2^bits <= ceil(h 2^bits), and with l and h as integers times powers of two these are shifts. Where
x < 0 and ceil(|x|) > bits, exp x lies between 0 and 2^-bits, so 0 and 1 enclose it. If n
exponentials are left out of a sum for this reason, the sum lies between the enclosure of the rest and n more. exp 0 =
1, exactly.

Proof. The first is `floors`. Since |x| <= bits would give ceil(|x|) <= bits, |x| > bits, and
exp x = e^x < 2^x < 2^-bits, as e > 2. The n terms left out of the sum lie between 0 and 2^-bits each.

Z3 proves the outward rounding; that |x| > bits follows from the ceiling; and the sum of the kept terms and of three
that are left out.

What Z3 does not do: exp x < 2^x for x < 0, which is e > 2: the first three terms of its series sum to 5/2. It is
assumed that an arb holds the value after / + log and exp; `lower()` and `upper()` are rounded outward; `man_exp()` is
exact (TRUSTED.md). Of mpmath only + - * /, rounded outward, are assumed; its series are in `atanh_series` and
`exp_series`.

Reference: `verale/checker/arithmetic.py`; TRUSTED.md, "What the files rest on".
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_V, _LOW, _HIGH, _UNIT, _SIZE, _KEPT = z3.Reals("v low high unit size kept")
_FLOOR, _CEILING, _BITS, _PLACES = z3.Ints("floor ceiling bits places")
_INSIDE = [_LOW <= _V, _V <= _HIGH, _UNIT > 0]
_ROUNDED = [z3.ToReal(_FLOOR) <= _LOW * _UNIT, _HIGH * _UNIT <= z3.ToReal(_CEILING)]
_IS_CEILING = [_SIZE > 0, _SIZE <= z3.ToReal(_PLACES), z3.ToReal(_PLACES) < _SIZE + 1]
_TINY = z3.RealVector("tiny", 3)
_LEFT_OUT = [z3.And(0 < each, each < 1) for each in _TINY]
_SUM = _KEPT + z3.Sum(_TINY)
_ENDS = [z3.ToReal(_FLOOR) <= _KEPT, _KEPT <= z3.ToReal(_CEILING)]

LEMMA = Lemma(
    rules=("ln, exp (arb)", "ln, exp (mpmath)"),
    code=("verale/checker/arb.py", "verale/checker/series.py"),
    cases=(
        Case(
            "ends at the unit",
            [*_INSIDE, *_ROUNDED],
            z3.And(z3.ToReal(_FLOOR) <= _V * _UNIT, _V * _UNIT <= z3.ToReal(_CEILING)),
            "default",
        ),
        Case("what the ceiling says", [*_IS_CEILING, _PLACES > _BITS, _BITS >= 0], _SIZE > z3.ToReal(_BITS)),
        Case(
            "a sum of which three terms are left out",
            [*_ENDS, *_LEFT_OUT],
            z3.And(z3.ToReal(_FLOOR) <= _SUM, _SUM <= z3.ToReal(_CEILING + 3)),
        ),
    ),
    twins=(
        Case(
            "the ceiling of what is at least bits",
            [*_IS_CEILING, _PLACES >= _BITS, _BITS >= 0],
            _SIZE >= z3.ToReal(_BITS),
        ),
        Case("a sum without what is left out", [*_ENDS, *_LEFT_OUT], _SUM <= z3.ToReal(_CEILING)),
        Case(
            "an upper end rounded to nearest",
            [*_INSIDE[:2], _HIGH - z3.ToReal(_CEILING) <= z3.Q(1, 2), z3.ToReal(_CEILING) - _HIGH <= z3.Q(1, 2)],
            _V <= z3.ToReal(_CEILING),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
