"""Both ends of a form, by weights that are linear in it.

1. Let sum tau_i a_i = a, r = b - sum tau_i b_i and g any point. Then
   q(y) = sum tau_i q_i(y) - 2 <g, r> - 2 <y - g, r>, and with |y - g|^2 <= rho^2 the last term is within 2 rho |r|.
2. Let h_i = <b, b_i>, G the matrix of <b_i, b_j>, tau = X h and E = G X - 1. Then
   |r|^2 = |b|^2 - <h, tau> + <tau, E h> <= (1 + epsilon) |b|^2 - <h, tau>,
   epsilon = sum_m (sum_i |X_mi| |b_i|) (sum_j |E_mj| |b_j|).

Proof. 1: q(y) - sum tau_i q_i(y) = -2 <y, r>; Cauchy and Schwarz. 2: expansion, where E h = G tau - h; and
|h_i| <= |b| |b_i|, so |tau_m| <= |b| sum_i |X_mi| |b_i|, and E h in the same way.

Z3 covers the identities for two facts in two coordinates, 1 with inner products as numbers that satisfy Cauchy's
inequality, and of 2 one term of each sum.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

Y, G, B, B1, B2 = (z3.Reals(f"{name}_1 {name}_2") for name in ("y", "g", "b", "b1", "b2"))
A1, A2, T1, T2 = z3.Reals("a1 a2 t1 t2")
AWAY, WAY, REST, ROOT = z3.Reals("away way rest root")
LENGTH, ONE, H, X, E, TAU, LEFT = z3.Reals("length one h x e tau left")


def _dot(left: list[z3.ArithRef], right: list[z3.ArithRef]) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


def _form(curve: z3.ArithRef, vector: list[z3.ArithRef]) -> z3.ArithRef:
    return curve * _dot(Y, Y) - 2 * _dot(Y, vector)


R = [b - T1 * one - T2 * other for b, one, other in zip(B, B1, B2, strict=True)]
FROM = [y - g for y, g in zip(Y, G, strict=True)]
H1, H2 = _dot(B, B1), _dot(B, B2)
ERROR1 = T1 * _dot(B1, B1) + T2 * _dot(B1, B2) - H1
ERROR2 = T1 * _dot(B1, B2) + T2 * _dot(B2, B2) - H2
SWING = [ROOT >= 0, ROOT * ROOT >= WAY * REST, WAY >= 0, REST >= 0, AWAY * AWAY <= WAY * REST]
TERM = [LENGTH >= 0, ONE >= 0, H <= LENGTH * ONE, -H <= LENGTH * ONE]

LEMMA = Lemma(
    rules=("quadratic",),
    code=("verale/checker/plain/quadratic/span.py",),
    cases=(
        Case(
            "1. what the weighted facts leave",
            [],
            _form(T1 * A1 + T2 * A2, B) == T1 * _form(A1, B1) + T2 * _form(A2, B2) - 2 * _dot(G, R) - 2 * _dot(FROM, R),
        ),
        Case("1. the swing", SWING, z3.And(-ROOT <= AWAY, AWAY <= ROOT), tactic=NLSAT),
        Case(
            "2. the square of what is left",
            [],
            _dot(R, R) == _dot(B, B) - H1 * T1 - H2 * T2 + T1 * ERROR1 + T2 * ERROR2,
        ),
        Case("2. a term of tau, or of E h", TERM, X * H <= LENGTH * (z3.Abs(X) * ONE), tactic=NLSAT),
        Case(
            "2. a term of epsilon",
            [X >= 0, E >= 0, z3.Abs(TAU) <= LENGTH * X, z3.Abs(LEFT) <= LENGTH * E, LENGTH >= 0],
            TAU * LEFT <= X * E * LENGTH * LENGTH,
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case(
            "1. the foot is forgotten",
            [],
            _form(T1 * A1 + T2 * A2, B) == T1 * _form(A1, B1) + T2 * _form(A2, B2) - 2 * _dot(FROM, R),
        ),
        Case("1. half of the swing", SWING, AWAY <= ROOT / 2, tactic=NLSAT),
        Case("2. X is taken for exact", [], _dot(R, R) == _dot(B, B) - H1 * T1 - H2 * T2),
        Case("2. a sign is forgotten", TERM, X * H <= LENGTH * (X * ONE), tactic=NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
