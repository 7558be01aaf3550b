"""Statements about activations: a_j lies in [lo_j, hi_j] for the stated ones, and none but the listed ones exceeds an
upper end (the order clause). Over the head's domain a_j lies in [L_j, H_j]. Then a_j is at least L_j, and lo_j if it
is stated; at most H_j, and hi_j if it is stated, and the clause's end if it is not listed. Ends rounded outward are
still ends. Fewer statements give a box that contains the box of all.

Proof. Each end is a statement or the domain's; all hold, so do the greatest of the lower and the least of the upper.
With one statement less, one of them is missing.

The lower end of an unstated activation is the domain's, not 0: log-densities and inner products, hence activations, can
be negative. The published bound of 0 is a twin. So is a clause that binds those that it lists.

Z3 proves it for activations of every kind: stated and listed, listed alone, neither, and, as a fourth, stated and
unlisted.

Reference: docs/design.md, 3.4 item 4; Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), top-k
explanations.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_A, _L, _H = (z3.RealVector(name, 4) for name in ("a", "domain_low", "domain_high"))
_LO, _HI, _MOST = z3.RealVector("lo", 4), z3.RealVector("hi", 4), z3.Real("most")
_LO_DOWN, _HI_UP, _MOST_UP = z3.RealVector("lo_down", 4), z3.RealVector("hi_up", 4), z3.Real("most_up")
_STATED, _LISTED = (0, 3), (0, 1)

_GIVEN = [
    *(z3.And(_L[j] <= _A[j], _A[j] <= _H[j]) for j in range(4)),
    *(z3.And(_LO[j] <= _A[j], _A[j] <= _HI[j]) for j in _STATED),
    *(_A[j] <= _MOST for j in range(4) if j not in _LISTED),
]
_ROUNDED = [*(z3.And(_LO_DOWN[j] <= _LO[j], _HI[j] <= _HI_UP[j]) for j in _STATED), _MOST <= _MOST_UP]


def _box(clause: bool = True, stated: tuple[int, ...] = _STATED) -> list[tuple[z3.ArithRef, z3.ArithRef]]:
    """The ends of all activations, from rounded ones."""
    ends = []
    for j in range(4):
        lower, upper = [_L[j]], [_H[j]]
        if j in stated:
            lower.append(_LO_DOWN[j])
            upper.append(_HI_UP[j])
        if clause and j not in _LISTED:
            upper.append(_MOST_UP)
        ends.append((greatest(*lower), least(*upper)))
    return ends


_INSIDE = z3.And([z3.And(low <= a, a <= high) for a, (low, high) in zip(_A, _box(), strict=True)])


def _wider(other: list[tuple[z3.ArithRef, z3.ArithRef]]) -> z3.BoolRef:
    pairs = zip(_box(), other, strict=True)
    return z3.And([z3.And(wide[0] <= own[0], own[1] <= wide[1]) for own, wide in pairs])


LEMMA = Lemma(
    rules=("top_k, sparse",),
    code=("verale/checker/rules/top_k.py", "verale/bounds/top_k.py"),
    cases=(
        Case("the box holds the activations", [*_GIVEN, *_ROUNDED], _INSIDE),
        Case("without the clause it is wider", [*_GIVEN, *_ROUNDED], _wider(_box(clause=False))),
        Case("without a statement it is wider", [*_GIVEN, *_ROUNDED], _wider(_box(stated=(0,)))),
    ),
    twins=(
        Case("no activation that is not stated is below 0", _GIVEN, _A[2] >= 0),
        Case("the clause binds what it lists", _GIVEN, _A[1] <= _MOST),
        Case("ends rounded inward", [*_GIVEN, _LO_DOWN[0] >= _LO[0]], _LO_DOWN[0] <= _A[0]),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
