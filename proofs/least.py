"""The least size of an explanation (`top_k`, linear readouts). An explanation states some activations, T, and at most a
ceiling and a floor; all of it is true of one image. Take gain_cj >= 0 and need_c as in `checker/least.py`, and
weights y_c >= 0 of rivals with need_c > 0, and s_j = sum_c y_c min(gain_cj, need_c). If the t greatest s_j add up to
less than sum_c y_c need_c, then T has more than t members.

Proof. The entailment gives sum over T of gain_cj > need_c for every rival. Then sum over T of min(gain_cj, need_c) is
at least need_c: either one term is need_c, and none is negative, or no term is cut. Weighted and added up, the sum of
s_j over T is at least sum_c y_c need_c. If T had at most t members, it would be at most the sum of the t greatest s_j.

Ranges. If the ceiling u of an explanation lies in [u1, u2] and binds j, then a_j <= u, since it is true; so a_j <= u2,
and the upper end that the rule gives is at least min(H_j, max(u1, a_j)). If it does not bind j, the end is H_j. The
floor mirrors this.

Z3 proves the covering inequality for one rival and three stated activations, the weighted sum for two rivals and two
activations, and the ranges of one activation. More are the human proof.

Reference: Wolsey, Integer Programming (1998), knapsack covers and Lagrangian duality.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_GAIN, _NEED = z3.RealVector("gain", 3), z3.Real("need")
_ENTAILED = [z3.And([gain >= 0 for gain in _GAIN]), z3.Sum(_GAIN) > _NEED]
_CUT = z3.Sum([least(gain, _NEED) for gain in _GAIN])

_G, _N, _Y = [z3.RealVector(name, 2) for name in ("g", "h")], z3.RealVector("n", 2), z3.RealVector("y", 2)
_WEIGHED = [sum((_Y[c] * _G[c][j] for c in range(2)), z3.RealVal(0)) for j in range(2)]
_TOTAL = sum((_Y[c] * _N[c] for c in range(2)), z3.RealVal(0))
_COVERED = [
    *(z3.And(_Y[c] >= 0, _N[c] > 0) for c in range(2)),
    *(z3.And(0 <= _G[c][j], _G[c][j] <= _N[c]) for c in range(2) for j in range(2)),
]


def _stated(c: int, members: tuple[int, ...]) -> z3.BoolRef:
    """What covers a rival, if these activations are stated."""
    return sum((_G[c][j] for j in members), z3.RealVal(0)) >= _N[c]


_A, _H, _U, _U1, _U2, _LOW, _HIGH = z3.Reals("a domain_high u u1 u2 a_low a_high")
_TRUE = [_LOW <= _A, _A <= _HIGH, _A <= _H, _U1 <= _U, _U <= _U2]
_END = z3.If(_LOW <= _U2, least(_H, greatest(_U1, _LOW)), _H)

LEMMA = Lemma(
    rules=("least size",),
    code=("verale/checker/least.py", "verale/search/least.py"),
    cases=(
        Case("gains that are cut at the need still cover it", [*_ENTAILED, _NEED > 0], _CUT >= _NEED),
        Case(
            "two stated activations weigh as much as the needs",
            [*_COVERED, _stated(0, (0, 1)), _stated(1, (0, 1))],
            _WEIGHED[0] + _WEIGHED[1] >= _TOTAL,
            "qfnra-nlsat",
        ),
        Case(
            "one stated activation weighs as much as the needs",
            [*_COVERED, _stated(0, (0,)), _stated(1, (0,))],
            greatest(_WEIGHED[0], _WEIGHED[1]) >= _TOTAL,
            "qfnra-nlsat",
        ),
        Case("where the ceiling binds", [*_TRUE, _A <= _U], _END <= least(_H, _U)),
        Case("where it does not", _TRUE, _END <= _H),
    ),
    twins=(
        Case("a need below 0 is covered too", _ENTAILED, _CUT >= _NEED),
        Case(
            "the greatest weight alone, where two activations are stated",
            [*_COVERED, _stated(0, (0, 1)), _stated(1, (0, 1))],
            greatest(_WEIGHED[0], _WEIGHED[1]) >= _TOTAL,
            "qfnra-nlsat",
        ),
        Case(
            "a negative weight",
            [*_COVERED[2:], _N[0] > 0, _N[1] > 0, _stated(0, (0, 1)), _stated(1, (0, 1))],
            _WEIGHED[0] + _WEIGHED[1] >= _TOTAL,
            "qfnra-nlsat",
        ),
        Case(
            "the ceiling at the greatest end of its range",
            [*_TRUE, _A <= _U],
            z3.If(_LOW <= _U2, least(_H, _U2), _H) <= least(_H, _U),
        ),
        Case(
            "the activation at the greatest end of its range",
            [*_TRUE, _A <= _U],
            z3.If(_LOW <= _U2, least(_H, greatest(_U1, _HIGH)), _H) <= least(_H, _U),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
