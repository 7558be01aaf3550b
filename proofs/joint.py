"""A margin of one patch is one combination of observables, and one form of y.

1. With a_j = S(m_j), S(m) = -s m or m: o_predicted - o_c = b + sum_j T_j m_j, b = b_predicted - b_c, T_j = -s_j D_j or
   D_j, D_j = W_predicted,j - W_cj. For squared distances sum_j T_j |y - p_j|^2 is
   (sum_j T_j) |y|^2 - 2 <y, sum_j T_j p_j> + sum_j T_j |p_j|^2.
2. A cosine m = <u, A> / |A| with |m| <= 1, D any number, and a share C: |D m - C <u, A>| <= |D - C |A||, which is at
   most the greater one of its values at two ends that hold |A|.
3. A form with the curvature A > 0 and half the slope q at y_0 is nowhere less than its value at y_0 minus |q|^2 / A.
4. A vector that satisfies the statements has a margin that is no less than any bound of it. So if its margin is at most
   0, no bound is positive.

Proof. 1: a readout is linear; |y - p|^2 = |y|^2 - 2 <y, p> + |p|^2. 2: <u, A> = m |A|, so the left side is
|m| |D - C |A||; a distance on a line is greatest at an end. 3: the form is its value plus 2 <q, d> + A |d|^2, d = y -
y_0, and A times this is |A d + q|^2 - |q|^2. 4: a bound holds for every vector that satisfies them.

Z3 covers 1 for two prototypes in two coordinates, and 3 with inner products as numbers that satisfy Cauchy's
inequality, hence in any dimension.

Reference: `verale/checker/reading/quadratic.py`; weak duality.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, main

NLSAT = "qfnra-nlsat"

Y = z3.Reals("y_1 y_2")
P1, P2 = z3.Reals("p1_1 p1_2"), z3.Reals("p2_1 p2_2")
M, S, W, V, T = (z3.RealVector(name, 2) for name in ("m", "s", "w", "v", "t"))
BIAS, OTHER = z3.Reals("b b_c")
COSINE, LENGTH, D, C, LOW, HIGH = z3.Reals("m_j a d c low high")
DD, QD, QQ, CURVE, SHARE = z3.Reals("dd qd qq a_0 share")
BOUND, MARGIN = z3.Reals("bound margin")


def _dot(left: list[z3.ArithRef], right: list[z3.ArithRef]) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


def _squared(vector: list[z3.ArithRef]) -> z3.ArithRef:
    return _dot(vector, vector)


def _distance(point: list[z3.ArithRef]) -> z3.ArithRef:
    return _squared([y - p for y, p in zip(Y, point, strict=True)])


def _size(x: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < 0, -x, x)


LOGIT = BIAS + z3.Sum([W[j] * (-S[j] * M[j]) for j in range(2)])
RIVAL = OTHER + z3.Sum([V[j] * (-S[j] * M[j]) for j in range(2)])
JOINED = BIAS - OTHER + z3.Sum([-S[j] * (W[j] - V[j]) * M[j] for j in range(2)])
SUM = T[0] * _distance(P1) + T[1] * _distance(P2)
VECTOR = [T[0] * one + T[1] * other for one, other in zip(P1, P2, strict=True)]
OF_COSINE = [LENGTH > 0, COSINE >= -1, COSINE <= 1]
ENDS = [LOW > 0, LOW <= LENGTH, LENGTH <= HIGH]
PSD = [DD >= 0, QQ >= 0, DD * QQ >= QD * QD]

LEMMA = Lemma(
    rules=("joint", "minimality"),
    code=("verale/checker/reading/quadratic.py", "verale/bounds/joint.py"),
    cases=(
        Case("1. the margin is one combination", [], LOGIT - RIVAL == JOINED),
        Case(
            "1. which is one form",
            [],
            (T[0] + T[1]) * _squared(Y) - 2 * _dot(Y, VECTOR) + T[0] * _squared(P1) + T[1] * _squared(P2) == SUM,
        ),
        Case(
            "2. what a share leaves of a cosine",
            OF_COSINE,
            _size(D * COSINE - C * COSINE * LENGTH) <= _size(D - C * LENGTH),
            NLSAT,
        ),
        Case(
            "2. at the ends of an enclosure",
            ENDS,
            _size(D - C * LENGTH) <= greatest(_size(D - C * LOW), _size(D - C * HIGH)),
            NLSAT,
        ),
        Case(
            "3. how far a form is below its value",
            [*PSD, CURVE > 0, SHARE * CURVE == QQ],
            CURVE * DD + 2 * QD >= -SHARE,
            NLSAT,
        ),
        Case("4. what a vector shows", [MARGIN <= 0, BOUND <= MARGIN], BOUND <= 0),
    ),
    twins=(
        Case("1. the scale forgotten", [S[0] > 0, S[1] > 0], LOGIT - RIVAL == BIAS - OTHER - _dot(list(W), list(M))),
        Case(
            "1. the squares of the prototypes forgotten",
            [],
            (T[0] + T[1]) * _squared(Y) - 2 * _dot(Y, VECTOR) == SUM,
        ),
        Case("2. at one end only", ENDS, _size(D - C * LENGTH) <= _size(D - C * LOW), NLSAT),
        Case(
            "2. a product that is no cosine",
            [LENGTH > 0],
            _size(D * COSINE - C * COSINE * LENGTH) <= _size(D - C * LENGTH),
            NLSAT,
        ),
        Case(
            "3. a form that is bent down", [*PSD, CURVE < 0, SHARE * CURVE == QQ], CURVE * DD + 2 * QD >= -SHARE, NLSAT
        ),
        Case(
            "3. half of what it takes", [*PSD, CURVE > 0, 2 * SHARE * CURVE == QQ], CURVE * DD + 2 * QD >= -SHARE, NLSAT
        ),
        Case("4. a margin that is positive", [MARGIN > 0, BOUND <= MARGIN], BOUND <= 0),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
