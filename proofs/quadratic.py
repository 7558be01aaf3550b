"""The rule of the geometric paradigms: weights of facts bound a form, whatever they are.

1. A form r(y) = A |y|^2 - 2 <y, Q> + C with A > 0 and A C >= |Q|^2 is nowhere negative.
2. Let q(y) = a |y|^2 - 2 <y, b>, w_i weights of forms q_i that lie in [low_i, high_i], A = a - sum w_i a_i > 0 and
   Q = b - sum w_i b_i. Then q(y) >= sum w_i e_i - |Q|^2 / A, e_i = low_i where w_i > 0, else high_i.

Proof. 1: A r(y) = |A y - Q|^2 + A C - |Q|^2. 2: q(y) - sum w_i q_i(y) = A |y|^2 - 2 <y, Q> >= -|Q|^2 / A by 1, and
w_i q_i(y) >= w_i e_i.

Z3 covers 1 with inner products as numbers that satisfy Cauchy's inequality, hence in any dimension; of 2 the
identity for two facts in two coordinates, and what follows for numbers.

Reference: docs/design.md, 3.1; weak duality.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

YY, YQ, QQ, A, C = z3.Reals("yy yq qq a c")
PSD = [YY >= 0, QQ >= 0, YY * QQ >= YQ * YQ]
R = A * YY - 2 * YQ + C

Y = z3.Reals("y_1 y_2")
B, B1, B2 = (z3.Reals(f"{name}_1 {name}_2") for name in ("b", "b1", "b2"))
CURVE, A1, A2, W1, W2 = z3.Reals("curve a1 a2 w1 w2")
LOW1, HIGH1, LOW2, HIGH2, Q0, Q1, Q2, SHARE = z3.Reals("low1 high1 low2 high2 q q1 q2 share")


def _dot(left: list[z3.ArithRef], right: list[z3.ArithRef]) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


def _form(curve: z3.ArithRef, vector: list[z3.ArithRef]) -> z3.ArithRef:
    return curve * _dot(Y, Y) - 2 * _dot(Y, vector)


def _side(weight: z3.ArithRef, low: z3.ArithRef, high: z3.ArithRef) -> z3.ArithRef:
    return weight * z3.If(weight > 0, low, high)


LEFT = [b - W1 * one - W2 * other for b, one, other in zip(B, B1, B2, strict=True)]
FACTS = [LOW1 <= Q1, Q1 <= HIGH1, LOW2 <= Q2, Q2 <= HIGH2]
SIDES = _side(W1, LOW1, HIGH1) + _side(W2, LOW2, HIGH2)
OTHERS = _side(W1, HIGH1, LOW1) + _side(W2, HIGH2, LOW2)

LEMMA = Lemma(
    rules=("quadratic",),
    code=("verale/checker/reading/facts.py", "verale/checker/reading/quadratic.py"),
    cases=(
        Case("1. a form that is nowhere negative", [*PSD, A > 0, A * C >= QQ], R >= 0, tactic=NLSAT),
        Case(
            "2. what the facts leave is a form",
            [],
            _form(CURVE, B) - W1 * _form(A1, B1) - W2 * _form(A2, B2) == _form(CURVE - W1 * A1 - W2 * A2, LEFT),
        ),
        Case(
            "2. the bound",
            [*FACTS, A > 0, SHARE * A == QQ, Q0 - W1 * Q1 - W2 * Q2 == A * YY - 2 * YQ, *PSD],
            Q0 >= SIDES - SHARE,
            tactic=NLSAT,
            seconds=60.0,
        ),
    ),
    twins=(
        Case("1. a form that is bent down", [*PSD, A < 0, A * C >= QQ], R >= 0, tactic=NLSAT),
        Case("1. half of what it takes", [*PSD, A > 0, 2 * A * C >= QQ], R >= 0, tactic=NLSAT),
        Case(
            "2. the ends exchanged",
            [*FACTS, A > 0, SHARE * A == QQ, Q0 - W1 * Q1 - W2 * Q2 == A * YY - 2 * YQ, *PSD],
            Q0 >= OTHERS - SHARE,
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
