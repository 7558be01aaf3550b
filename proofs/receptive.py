"""Receptive fields of patches, along rows and along columns. An interval [f, e) of pixels is empty where e <= f.

- The hull of intervals, from the least first pixel to the greatest end of those that are not empty, holds every pixel
  that one of them holds, and its first and last pixel are held by one of them: no smaller interval does.
- Of hulls R along rows and S along columns, the rectangle R x S holds every rectangle of the parts: R(a) x S(b). So
  pictures that are the same in R x S are the same in each R(a) x S(b), of which an entry is computed.
- A window's t-th row, y stride - padding + t dilation with 0 <= t < kernel, is one that
  `range(first, first + kernel dilation, dilation)` counts.
- A pixel in the row r and column s is seen by the patch (y, x) and no other one if and only if r lies in R(y) and in no
  other row's interval, and s in S(x) and in no other column's.
- Times n, the cell y of n cells of a line of H pixels is [y H, (y + 1) H), and pixel p is [p n, (p + 1) n).

Proof. Least and greatest of finitely many numbers; a rectangle is a product. If another row y' held r, (y', x) would
see the pixel; if none does and no other column holds s, a patch (y', x') that is another one has y' other than y or x'
other than x, so it does not hold r or does not hold s. The induction over layers stands in the docstring of
`verale/checker/receptive.py`.

Z3 proves hulls of two intervals, and two rows with two columns; hulls of any number are hulls of hulls.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_F, _E, _G, _D, _PIXEL, _FIRST, _END = z3.Ints("first end other_first other_end pixel hull_first hull_end")
_ROW, _COLUMN = z3.Ints("row column")
_TOP, _BOTTOM, _LEFT, _RIGHT = z3.Ints("top bottom left right")


def _in(pixel: z3.ArithRef, first: z3.ArithRef, end: z3.ArithRef) -> z3.BoolRef:
    return z3.And(first <= pixel, pixel < end)


_BOTH = [_F < _E, _G < _D, _FIRST == least(_F, _G), _END == greatest(_E, _D)]
_ONE = [_F < _E, _D <= _G, _FIRST == _F, _END == _E]
_PART = [_in(_ROW, _F, _E), _in(_COLUMN, _G, _D), _TOP <= _F, _E <= _BOTTOM, _LEFT <= _G, _D <= _RIGHT]
_T, _KERNEL, _STEP, _AT = z3.Ints("t kernel dilation corner")
_TAP = [_STEP >= 1, _T >= 0, _T < _KERNEL]

_HOLDS = {name: z3.Bool(name) for name in ("own_row", "other_row", "own_column", "other_column")}
_OTHERS = [
    z3.And(_HOLDS["other_row"], _HOLDS["own_column"]),
    z3.And(_HOLDS["own_row"], _HOLDS["other_column"]),
    z3.And(_HOLDS["other_row"], _HOLDS["other_column"]),
]
_ALONE = z3.And(_HOLDS["own_row"], _HOLDS["own_column"], *map(z3.Not, _OTHERS))
_FACTORS = z3.And(_HOLDS["own_row"], z3.Not(_HOLDS["other_row"]), _HOLDS["own_column"], z3.Not(_HOLDS["other_column"]))

_POINT, _COUNT, _LENGTH, _CELL = z3.Reals("point count length cell")
_LINE = [_COUNT > 0, _LENGTH > 0]

LEMMA = Lemma(
    rules=("receptive field",),
    code=("verale/checker/receptive.py",),
    cases=(
        Case(
            "a hull holds both",
            _BOTH,
            z3.Implies(z3.Or(_in(_PIXEL, _F, _E), _in(_PIXEL, _G, _D)), _in(_PIXEL, _FIRST, _END)),
        ),
        Case(
            "one that is empty is left out",
            _ONE,
            z3.Implies(z3.Or(_in(_PIXEL, _F, _E), _in(_PIXEL, _G, _D)), _in(_PIXEL, _FIRST, _END)),
        ),
        Case(
            "a hull's first and last pixel are held by one of them",
            _BOTH,
            z3.And(
                *(z3.Or(_in(end, _F, _E), _in(end, _G, _D)) for end in (_FIRST, _END - 1)),
            ),
        ),
        Case("a rectangle of parts", _PART, z3.And(_in(_ROW, _TOP, _BOTTOM), _in(_COLUMN, _LEFT, _RIGHT))),
        Case(
            "a row of a window",
            _TAP,
            _in(_AT + _T * _STEP, _AT, _AT + _KERNEL * _STEP),
            "qfnia",
        ),
        Case("seen alone by rows and by columns", [z3.Or(*_HOLDS.values())], _ALONE == _FACTORS),
        Case(
            "a point of a cell, times the number of cells",
            _LINE,
            z3.And(_CELL * _LENGTH / _COUNT <= _POINT, _POINT < (_CELL + 1) * _LENGTH / _COUNT)
            == z3.And(_CELL * _LENGTH <= _POINT * _COUNT, _POINT * _COUNT < (_CELL + 1) * _LENGTH),
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case("a hull with what is empty is the least", [_F < _E, _D <= _G, _FIRST == least(_F, _G)], _FIRST == _F),
        Case("the first interval holds the other", _BOTH, z3.Implies(_in(_PIXEL, _FIRST, _END), _in(_PIXEL, _F, _E))),
        Case("a window without dilation", _TAP, _in(_AT + _T * _STEP, _AT, _AT + _KERNEL), "qfnia"),
        Case(
            "a row of its own is enough",
            [z3.Or(*_HOLDS.values())],
            z3.Implies(z3.And(_HOLDS["own_row"], z3.Not(_HOLDS["other_row"]), _HOLDS["own_column"]), _ALONE),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
