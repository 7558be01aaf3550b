"""A soft tree: leaf q has the value D_q, node i the value f_i = (1 - a_i) f_absent + a_i f_present, a_i in [0, 1]. With
a_i in [lo_i, hi_i], cut to [0, 1], where f_absent >= p and f_present >= q,

    f_i >= min over a in {lo_i, hi_i} of (1 - a) p + a q, at hi_i where q < p, else at lo_i,

with equality if p and q are attained and no other node of the two subtrees uses a_i. Rounded down, it is still a
bound.

Proof. No factor is negative, so f_i >= (1 - a) p + a q, which is affine in a with the slope q - p, hence least at an
end. In a tree every node has its own activation, so both children are least at once. By induction from the leaves
the root's bound is the least difference of logits. Rounding down p and q lowers what is above them.

In floats: v + s (w - v), |v|, |w| <= M, 0 <= s <= 1, with each of the three operations off by a factor 1 + d, |d| <= u,
is off by at most 8 u M, for u <= 1/16 (of float64 it is 2^-53).

Z3 proves the step for any numbers, the cut, a whole tree of three nodes and four leaves, and the rounding. Other trees
follow by induction, the human proof.

Reference: docs/design.md, 3.3; docs/heads.md, 6 (ProtoTree).
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

_A, _LO, _HI, _F, _G, _P, _Q = z3.Reals("a lo hi absent present least_absent least_present")
_ZERO, _ONE = z3.RealVal(0), z3.RealVal(1)
_UNIT = [0 <= _A, _A <= 1]
_RANGE = [_LO <= _A, _A <= _HI]


def _cut(end: z3.ArithRef) -> z3.ArithRef:
    return least(_ONE, greatest(_ZERO, end))


def _node(a: z3.ArithRef, absent: z3.ArithRef, present: z3.ArithRef) -> z3.ArithRef:
    return (1 - a) * absent + a * present


def _bound(low: z3.ArithRef, high: z3.ArithRef, absent: z3.ArithRef, present: z3.ArithRef) -> z3.ArithRef:
    return _node(z3.If(present < absent, high, low), absent, present)


_ACTS, _LOWS, _HIGHS, _LEAVES = (
    z3.RealVector(name, size) for name, size in (("s", 3), ("low", 3), ("high", 3), ("leaf", 4))
)
_TREE = [z3.And(0 <= low, low <= a, a <= high, high <= 1) for low, a, high in zip(_LOWS, _ACTS, _HIGHS, strict=True)]
_ROOT = _node(_ACTS[0], _node(_ACTS[1], *_LEAVES[:2]), _node(_ACTS[2], *_LEAVES[2:]))
_CHILDREN = z3.Reals("bound_1 bound_2")
_NAMED = [
    _CHILDREN[0] == _bound(_LOWS[1], _HIGHS[1], *_LEAVES[:2]),
    _CHILDREN[1] == _bound(_LOWS[2], _HIGHS[2], *_LEAVES[2:]),
]

_V, _W, _S, _U = z3.Reals("v w share u")
_ERRORS = z3.RealVector("d", 3)
_SMALL = [0 < _U, _U <= z3.Q(1, 16), -1 <= _V, _V <= 1, -1 <= _W, _W <= 1, 0 <= _S, _S <= 1]
_SMALL += [z3.And(-_U <= d, d <= _U) for d in _ERRORS]
_STEP = z3.Real("step")  # s (w - v), which |v|, |w| <= 1 and 0 <= s <= 1 leave in [-2, 2]
_TURN = z3.Real("turn")  # (1 + d_0) (1 + d_1) - 1
_TURNED = [-2 <= _STEP, _STEP <= 2, -2 * _U - _U * _U <= _TURN, _TURN <= 2 * _U + _U * _U]
_OFF = (_V + _STEP * (1 + _TURN)) * (1 + _ERRORS[2]) - (_V + _STEP)

LEMMA = Lemma(
    rules=("margin", "refutation"),
    code=("verale/checker/reading/margin.py", "verale/bounds/margin.py"),
    cases=(
        Case(
            "a node",
            [*_UNIT, *_RANGE, _F >= _P, _G >= _Q],
            _bound(_LO, _HI, _P, _Q) <= _node(_A, _F, _G),
            "qfnra-nlsat",
        ),
        Case(
            "it is the lesser of its ends",
            _RANGE,
            _bound(_LO, _HI, _P, _Q) == least(_node(_LO, _P, _Q), _node(_HI, _P, _Q)),
            "qfnra-nlsat",
        ),
        Case("what is cut to [0, 1] holds the activation", [*_UNIT, *_RANGE], z3.And(_cut(_LO) <= _A, _A <= _cut(_HI))),
        Case(
            "a tree of three nodes", [*_TREE, *_NAMED], _bound(_LOWS[0], _HIGHS[0], *_CHILDREN) <= _ROOT, "qfnra-nlsat"
        ),
        Case(
            "in floats: s (w - v)",
            _SMALL,
            z3.And(-2 <= _S * (_W - _V), _S * (_W - _V) <= 2, -1 <= _V + _S * (_W - _V), _V + _S * (_W - _V) <= 1),
            "qfnra-nlsat",
        ),
        Case(
            "in floats: two factors",
            _SMALL,
            z3.And(*(end * ((1 + _ERRORS[0]) * (1 + _ERRORS[1]) - 1) <= 2 * _U + _U * _U for end in (1, -1))),
            "qfnra-nlsat",
        ),
        Case(
            "in floats: a node",
            [*_SMALL, *_TURNED, -1 <= _V + _STEP, _V + _STEP <= 1],
            z3.And(_OFF <= 8 * _U, -8 * _U <= _OFF),
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case(
            "an activation that may leave [0, 1]",
            [*_RANGE, _F >= _P, _G >= _Q],
            _bound(_LO, _HI, _P, _Q) <= _node(_A, _F, _G),
            "qfnra-nlsat",
        ),
        Case("always at the lower end", [*_UNIT, *_RANGE], _node(_LO, _P, _Q) <= _node(_A, _P, _Q), "qfnra-nlsat"),
        Case(
            "in floats: off by no more than u M",
            [*_SMALL, *_TURNED, -1 <= _V + _STEP, _V + _STEP <= 1],
            _OFF <= _U,
            "qfnra-nlsat",
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
