"""Simplex: masses m_1, ..., m_P >= 0 of one patch sum to one, and low_i <= m_i <= high_i is stated for i in J. With
R = max(0, 1 - sum_J low_i):

- an unstated mass lies in [0, R], and if it is the only unstated one, it is at least 1 - sum_J high_i;
- a stated mass is at most low_i + R, and if all are stated, at least 1 - the sum of the other highs.

For an end that is not stated, 0 or 1 stands, as no mass is less or more.

Where all logits lie in [lower, upper], every mass lies in [e / (e + P - 1), 1 / (1 + (P - 1) e)], e = exp(lower -
upper); both ends are attained, by one logit at one end and all others at the other.

Proof. A mass is 1 / (1 + sum of P - 1 powers exp(z_i - z_j)), each of which lies in [e, 1 / e]. Each mass is one
minus the sum of the others. For an unstated mass, the others sum to at least sum_J low_i; for a stated one, to at
least that minus its own low. If all others are stated, they sum to at most the sum of their highs.

Z3 proves it for four masses, of which the first none to four are stated; the order of masses does not matter. Ends on
the grid are weaker statements, for which the same holds, and the remainder may be cut at 0 after each. Any number of
masses is the human proof.

Reference: docs/design.md, 3.2; Soria et al., Formal Abductive Latent Explanations (arXiv 2511.16588), PIP-Net bounds.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

_MASSES = 4
E, A_LESS, OTHERS, POWERS, MASS = z3.Reals("e a_less others powers mass")
BOUNDED = [0 < E, E <= 1, OTHERS >= 0, OTHERS * E <= POWERS, POWERS * E <= OTHERS, MASS * (1 + POWERS) == 1]
"""e, P - 1, the sum of the powers, and a mass."""

_M, _LOW, _HIGH = (z3.RealVector(name, _MASSES) for name in ("m", "low", "high"))


def _given(stated: int) -> list[z3.BoolRef]:
    ends = [end for i in range(stated) for end in (_LOW[i] >= 0, _LOW[i] <= _M[i], _M[i] <= _HIGH[i])]
    return [z3.Sum(_M) == 1, *(mass >= 0 for mass in _M), *ends]


def _rest(stated: int) -> z3.ArithRef:
    return greatest(z3.RealVal(0), 1 - z3.Sum([z3.RealVal(0), *_LOW[:stated]]))


def _case(stated: int) -> Case:
    rest, highs = _rest(stated), z3.Sum([z3.RealVal(0), *_HIGH[:stated]])
    claims = [_M[i] <= _LOW[i] + rest for i in range(stated)]
    claims += [_M[i] <= rest for i in range(stated, _MASSES)]
    if stated == _MASSES - 1:
        claims.append(_M[-1] >= 1 - highs)
    if stated == _MASSES:
        claims += [_M[i] >= 1 - (highs - _HIGH[i]) for i in range(stated)]
    return Case(f"the ranges of {_MASSES} masses, {stated} of them stated", _given(stated), z3.And(claims))


LEMMA = Lemma(
    rules=("domain", "simplex", "assignment"),
    code=(
        "verale/checker/reading/space.py",
        "verale/checker/reading/masses.py",
        "verale/bounds/domain.py",
        "verale/bounds/simplex.py",
    ),
    cases=(
        *(_case(stated) for stated in range(_MASSES + 1)),
        Case("no mass is less than 0 or more than 1", _given(0), z3.And([z3.And(0 <= mass, mass <= 1) for mass in _M])),
        Case(
            "what is left, statement by statement, is no less",
            _given(2),
            greatest(z3.RealVal(0), greatest(z3.RealVal(0), 1 - _LOW[0]) - _LOW[1]) >= _rest(2),
        ),
        Case(
            "a mass of bounded logits",
            BOUNDED,
            z3.And(E <= MASS * (E + OTHERS), MASS * (1 + OTHERS * E) <= 1),
            tactic="qfnra-nlsat",
        ),
        Case(
            "an e rounded down gives a lower end no greater",
            [0 <= A_LESS, A_LESS <= E, E <= 1, OTHERS >= 1],
            z3.And(A_LESS * (E + OTHERS) <= E * (A_LESS + OTHERS), 1 + OTHERS * A_LESS <= 1 + OTHERS * E),
            tactic="qfnra-nlsat",
        ),
    ),
    twins=(
        Case("a mass of bounded logits is 1 / P at least", BOUNDED, MASS * (1 + OTHERS) >= 1, tactic="qfnra-nlsat"),
        Case(
            "an e rounded up",
            [E <= A_LESS, 0 < E, OTHERS >= 1],
            A_LESS * (E + OTHERS) <= E * (A_LESS + OTHERS),
            tactic="qfnra-nlsat",
        ),
        Case("what is left if the upper ends were the masses", _given(2), _M[2] <= 1 - _HIGH[0] - _HIGH[1]),
        Case("the least of one of two unstated masses", _given(2), _M[2] >= 1 - _HIGH[0] - _HIGH[1]),
        Case("what is left, where masses may be negative", [z3.Sum(_M) == 1, _LOW[0] <= _M[0]], _M[1] <= 1 - _LOW[0]),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
