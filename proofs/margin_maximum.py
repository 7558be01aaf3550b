"""A readout by maxima: o_c = max over the prototypes j of class c of a_j + b_j, a_j in [lo_j, hi_j]. Then

    o_predicted - o_c >= max over predicted's of (lo_j + b_j) - max over c's of (hi_j + b_j),

attained where the two classes share no prototype.

Proof. A maximum does not fall when one of its terms rises. a_j = lo_j for the predicted class and a_j = hi_j for the
other class attains it.

Z3 proves it for classes of two and three prototypes, disjoint and with one in common. More are the human proof.

Reference: docs/design.md, 3.3; docs/heads.md, 13 (mixtures by their best component).
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

_COUNT = 5
_A, _LO, _HI, _B = (z3.RealVector(name, _COUNT) for name in ("a", "lo", "hi", "b"))
_RANGES = [z3.And(_LO[j] <= _A[j], _A[j] <= _HI[j]) for j in range(_COUNT)]
_OWN, _OTHER = (0, 1), (2, 3, 4)


def _logit(ends: list[z3.ArithRef], members: tuple[int, ...]) -> z3.ArithRef:
    return greatest(*(ends[j] + _B[j] for j in members))


def _holds(own: tuple[int, ...], other: tuple[int, ...]) -> z3.BoolRef:
    return _logit(_LO, own) - _logit(_HI, other) <= _logit(_A, own) - _logit(_A, other)


_WORST = [_A[j] == (_LO[j] if j in _OWN else _HI[j]) for j in range(_COUNT)]
_EQUAL = _logit(_LO, _OWN) - _logit(_HI, _OTHER) == _logit(_A, _OWN) - _logit(_A, _OTHER)

LEMMA = Lemma(
    rules=("margin", "refutation"),
    code=("verale/checker/reading/margin.py", "verale/bounds/margin.py"),
    cases=(
        Case("two prototypes against three", _RANGES, _holds(_OWN, _OTHER)),
        Case("one in common", _RANGES, _holds((0, 1, 2), (2, 3, 4))),
        Case("attained where they share none", [*_RANGES, *_WORST], _EQUAL),
    ),
    twins=(
        Case(
            "lower ends on both sides",
            _RANGES,
            _logit(_LO, _OWN) - _logit(_LO, _OTHER) <= _logit(_A, _OWN) - _logit(_A, _OTHER),
        ),
        Case(
            "only the prototype of the greatest upper end counts for the rival, its bias forgotten",
            _RANGES,
            _logit(_LO, _OWN) - greatest(*(_HI[j] for j in _OTHER)) <= _logit(_A, _OWN) - _logit(_A, _OTHER),
        ),
        Case(
            "what the class shares with the rival is left out of the rival's",
            _RANGES,
            _logit(_LO, (0, 1, 2)) - _logit(_HI, (3, 4)) <= _logit(_A, (0, 1, 2)) - _logit(_A, (2, 3, 4)),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
