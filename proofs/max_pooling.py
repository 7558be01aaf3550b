"""Max pooling, with a mask or without: if x_l is in [lo_l, hi_l] for all l, then max_l x_l is in [max lo_l, max hi_l],
min_l x_l in [min lo_l, min hi_l], both ends attained. If S falls, max_l S(x_l) = S(min_l x_l); if it rises, it is
S(max_l x_l). A prototype that looks at some patches only does not depend on the others. What is pooled over each column
of a mask is pooled over the columns that a prototype looks at.

Proof. A maximum does not fall when one of its terms rises, and x = lo and x = hi attain the ends. S(x_l) <= S(min_l
x_l) for every l, with equality where x_l is the least. Patches that a prototype does not look at are not among its
terms. A maximum over a union is the greatest of the maxima over what it is the union of.

Z3 proves it for one to four patches. It is given that S falls, or rises, between the numbers that occur; `similarity`
proves this of the similarities.

Reference: docs/design.md, 3.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations

import z3

from .lemma import Case, Lemma, greatest, least, main

_PATCHES = 4
_X, _LO, _HI = (z3.RealVector(name, _PATCHES) for name in ("x", "lo", "hi"))
_S = z3.Function("S", z3.RealSort(), z3.RealSort())
_COLUMNS = ((0,), (1,), (2, 3))
"""Of a mask of three columns: the last one stands for all further patches."""
_RANGES = [z3.And(_LO[patch] <= _X[patch], _X[patch] <= _HI[patch]) for patch in range(_PATCHES)]


def _ends(patches: Sequence[int]) -> z3.BoolRef:
    """Of the maximum and of the minimum, and that x = lo, x = hi attain them."""
    x, lo, hi = ([values[patch] for patch in patches] for values in (_X, _LO, _HI))
    return z3.And(
        [
            z3.And(
                pick(*lo) <= pick(*x),
                pick(*x) <= pick(*hi),
                z3.Implies(z3.And([a == b for a, b in zip(x, lo, strict=True)]), pick(*x) == pick(*lo)),
                z3.Implies(z3.And([a == b for a, b in zip(x, hi, strict=True)]), pick(*x) == pick(*hi)),
            )
            for pick in (greatest, least)
        ]
    )


def _masked(seen: Sequence[int]) -> z3.BoolRef:
    """What is pooled over columns first, and then over these, has the ends of their patches, and holds the maximum."""
    patches = [patch for column in seen for patch in _COLUMNS[column]]
    claims = []
    for pick in (greatest, least):

        def pooled(values: list[z3.ArithRef], pick: Callable[..., z3.ArithRef] = pick) -> z3.ArithRef:
            return pick(*(pick(*(values[patch] for patch in _COLUMNS[column])) for column in seen))

        x, lo, hi = map(pooled, (_X, _LO, _HI))
        claims += [x == pick(*(_X[patch] for patch in patches)), lo <= x, x <= hi]
    return z3.And([*claims, _ends(patches)])


def _monotone(falls: bool) -> list[z3.BoolRef]:
    pairs = [*combinations(_X, 2), *((b, a) for a, b in combinations(_X, 2))]
    return [z3.Implies(a <= b, _S(a) >= _S(b) if falls else _S(a) <= _S(b)) for a, b in pairs]


_POOLED = greatest(*map(_S, _X))

LEMMA = Lemma(
    rules=("pooling",),
    code=("verale/checker/reading/pooling.py", "verale/bounds/pooling.py", "verale/checker/reading/evaluation.py"),
    cases=(
        *(Case(f"the ends of {n} patches", _RANGES[:n], _ends(range(n))) for n in range(1, _PATCHES + 1)),
        *(
            Case(f"the columns {', '.join(map(str, seen))} of a mask", _RANGES, _masked(seen))
            for size in (1, 2, 3)
            for seen in combinations(range(len(_COLUMNS)), size)
        ),
        Case("S falls, and commutes", _monotone(falls=True), _POOLED == _S(least(*_X))),
        Case("S rises, and commutes", _monotone(falls=False), _POOLED == _S(greatest(*_X))),
    ),
    twins=(
        Case(
            "the upper end from the patch with the greatest lower end",
            [*_RANGES[:2], _LO[0] >= _LO[1]],
            greatest(*_X[:2]) <= _HI[0],
        ),
        Case("a patch that is not looked at counts", _RANGES, _LO[1] <= _X[0]),
        Case("the last column of a mask is one patch", _RANGES, greatest(*_X) <= greatest(*_HI[:3])),
        Case(
            "S that neither falls nor rises commutes",
            [_X[0] < _X[1], _X[1] < _X[2], _X[2] == _X[3]],
            z3.Or(_POOLED == _S(least(*_X)), _POOLED == _S(greatest(*_X))),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
