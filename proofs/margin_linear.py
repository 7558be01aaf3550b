"""A linear readout: with D_j = W_predicted,j - W_c,j and a_j in [lo_j, hi_j],

    o_predicted - o_c = b_predicted - b_c + sum_j D_j a_j >= b_predicted - b_c + sum_j min(D_j lo_j, D_j hi_j),

which is attained, is never less than the bound from the two logits separately, and is no greater over a wider box.

Proof. D_j a_j is linear in a_j, so least at an end: at lo_j if D_j > 0, otherwise at hi_j. The a_j vary
independently, so all are least at once. Bounded separately, the two logits take different ends of one a_j:
min(W lo, W hi) - max(V lo, V hi) is at most W a - V a at either end. A minimum over more values is no greater.

Z3 proves each for one term with any numbers, and the whole for two activations. More activations are the human proof.

Reference: docs/design.md, 3.3.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_A, _LO, _HI, _W, _V, _BIAS = (z3.RealVector(name, 2) for name in ("a", "lo", "hi", "w", "v", "b"))
_WIDE_LO, _WIDE_HI = z3.Reals("wide_lo wide_hi")
_RANGES = [z3.And(_LO[j] <= _A[j], _A[j] <= _HI[j]) for j in range(2)]
_D = [w - v for w, v in zip(_W, _V, strict=True)]


def _term(d: z3.ArithRef, low: z3.ArithRef, high: z3.ArithRef) -> z3.ArithRef:
    """As the checker takes it: by the sign of d."""
    return d * z3.If(d > 0, low, high)


_TERM = _term(_D[0], _LO[0], _HI[0])
_APART = least(_W[0] * _LO[0], _W[0] * _HI[0]) - greatest(_V[0] * _LO[0], _V[0] * _HI[0])
_MARGIN = _BIAS[0] - _BIAS[1] + z3.Sum([_D[j] * _A[j] for j in range(2)])
_BOUND = _BIAS[0] - _BIAS[1] + z3.Sum([_term(_D[j], _LO[j], _HI[j]) for j in range(2)])

LEMMA = Lemma(
    rules=("margin", "refutation"),
    code=("verale/checker/reading/margin.py", "verale/bounds/margin.py", "verale/checker/reading/evaluation.py"),
    cases=(
        Case("one term", _RANGES[:1], _TERM <= _D[0] * _A[0], "qfnra-nlsat"),
        Case(
            "one term is the least of its two ends",
            _RANGES[:1],
            _TERM == least(_D[0] * _LO[0], _D[0] * _HI[0]),
            "qfnra-nlsat",
        ),
        Case("the margin, two activations", _RANGES, _BOUND <= _MARGIN, "qfnra-nlsat"),
        Case("not looser than apart", _RANGES[:1], _APART <= _TERM, "qfnra-nlsat"),
        Case(
            "no greater over a wider box",
            [*_RANGES[:1], _WIDE_LO <= _LO[0], _HI[0] <= _WIDE_HI],
            _term(_D[0], _WIDE_LO, _WIDE_HI) <= _TERM,
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case(
            "every activation at its lower end",
            _RANGES,
            _BIAS[0] - _BIAS[1] + z3.Sum([_D[j] * _LO[j] for j in range(2)]) <= _MARGIN,
            "qfnra-nlsat",
        ),
        Case(
            "the end chosen by the sign of the predicted class's weight",
            _RANGES[:1],
            _D[0] * z3.If(_W[0] > 0, _LO[0], _HI[0]) <= _D[0] * _A[0],
            "qfnra-nlsat",
        ),
        Case("as loose as apart", _RANGES[:1], _APART == _TERM, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
