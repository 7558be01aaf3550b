"""Statements about activations: a_j lies in [lo_j, hi_j] for the stated ones, where one end may be missing; none but
the ones that it lists exceeds an upper end (the ceiling, or order clause); none but the ones that it lists falls short
of a lower end (the floor). Over the head's domain a_j lies in [L_j, H_j]. Then a_j is at least L_j, and lo_j if that is
stated, and the floor's end if the floor does not list it; at most H_j, and hi_j if that is stated, and the ceiling's
end if the ceiling does not list it. Ends rounded outward are still ends. Fewer statements give a box that contains the
box of all.

Proof. Each end is a statement or the domain's; all hold, so do the greatest of the lower and the least of the upper.
With one statement less, one of them is missing.

The lower end of an unstated activation is the domain's, not 0: log-densities and inner products, hence activations, can
be negative. The published bound of 0 is a twin. So are clauses that bind those that they list, or the other side, and
an end that is missing and is taken for 0.

Z3 proves it for activations of every kind: stated and listed, listed alone, neither, stated and unlisted, each listed
by the floor or not; and stated on either side alone.

Reference: docs/design.md, 3.4 item 4; Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), top-k
explanations.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_KINDS = 10
_A, _L, _H = (z3.RealVector(name, _KINDS) for name in ("a", "domain_low", "domain_high"))
_LO, _HI, _MOST, _LEAST = z3.RealVector("lo", _KINDS), z3.RealVector("hi", _KINDS), z3.Real("most"), z3.Real("least")
_LO_DOWN, _HI_UP = z3.RealVector("lo_down", _KINDS), z3.RealVector("hi_up", _KINDS)
_MOST_UP, _LEAST_DOWN = z3.Reals("most_up least_down")
_STATED_LOW, _STATED_HIGH = (0, 3, 4, 7, 8), (0, 3, 4, 7, 9)  # of 8 and 9 one end is missing
_LISTED, _LISTED_BY_FLOOR = (0, 1, 4, 5), (0, 1, 2, 3)
_EVERY = range(_KINDS)

_GIVEN = [
    *(z3.And(_L[j] <= _A[j], _A[j] <= _H[j]) for j in _EVERY),
    *(_LO[j] <= _A[j] for j in _STATED_LOW),
    *(_A[j] <= _HI[j] for j in _STATED_HIGH),
    *(_A[j] <= _MOST for j in _EVERY if j not in _LISTED),
    *(_LEAST <= _A[j] for j in _EVERY if j not in _LISTED_BY_FLOOR),
]
_ROUNDED = [
    *(_LO_DOWN[j] <= _LO[j] for j in _STATED_LOW),
    *(_HI[j] <= _HI_UP[j] for j in _STATED_HIGH),
    _MOST <= _MOST_UP,
    _LEAST_DOWN <= _LEAST,
]


def _box(
    ceiling: bool = True, floor: bool = True, dropped: tuple[int, ...] = ()
) -> list[tuple[z3.ArithRef, z3.ArithRef]]:
    """The ends of all activations, from rounded ones."""
    ends = []
    for j in _EVERY:
        lower, upper = [_L[j]], [_H[j]]
        if j in _STATED_LOW and j not in dropped:
            lower.append(_LO_DOWN[j])
        if j in _STATED_HIGH and j not in dropped:
            upper.append(_HI_UP[j])
        if ceiling and j not in _LISTED:
            upper.append(_MOST_UP)
        if floor and j not in _LISTED_BY_FLOOR:
            lower.append(_LEAST_DOWN)
        ends.append((greatest(*lower), least(*upper)))
    return ends


_INSIDE = z3.And([z3.And(low <= a, a <= high) for a, (low, high) in zip(_A, _box(), strict=True)])


def _wider(other: list[tuple[z3.ArithRef, z3.ArithRef]]) -> z3.BoolRef:
    pairs = zip(_box(), other, strict=True)
    return z3.And([z3.And(wide[0] <= own[0], own[1] <= wide[1]) for own, wide in pairs])


LEMMA = Lemma(
    rules=("top_k, sparse",),
    code=("verale/checker/reading/paradigms.py", "verale/bounds/pooling.py"),
    cases=(
        Case("the box holds the activations", [*_GIVEN, *_ROUNDED], _INSIDE),
        Case("without the ceiling it is wider", [*_GIVEN, *_ROUNDED], _wider(_box(ceiling=False))),
        Case("without the floor it is wider", [*_GIVEN, *_ROUNDED], _wider(_box(floor=False))),
        Case("without a statement it is wider", [*_GIVEN, *_ROUNDED], _wider(_box(dropped=(3,)))),
        Case("without a statement of one end it is wider", [*_GIVEN, *_ROUNDED], _wider(_box(dropped=(8,)))),
    ),
    twins=(
        Case("no activation that is not stated is below 0", _GIVEN, _A[2] >= 0),
        Case("the ceiling binds what it lists", _GIVEN, _A[1] <= _MOST),
        Case("the floor binds what it lists", _GIVEN, _A[1] >= _LEAST),
        Case("the floor is a ceiling", _GIVEN, _A[6] <= _LEAST),
        Case("a missing lower end is 0", _GIVEN, _A[9] >= 0),
        Case("a missing upper end is the lower one", _GIVEN, _A[8] <= _LO[8]),
        Case("ends rounded inward", [*_GIVEN, _LO_DOWN[0] >= _LO[0]], _LO_DOWN[0] <= _A[0]),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
