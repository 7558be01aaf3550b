"""Sums. Let D_j = W_yj - W_cj of the predicted class y and a rival c, and let B be the prototypes that belong to y:
those with W_c'j <= W_yj for every class c'. If a_j >= lo_j for j in B, and the sum over all other j of
(W_cj - W_yj) a_j is at most U, then

a. o_y - o_c >= b_y - b_c + sum over B of D_j lo_j - U;
b. D_j >= 0 for every j in B, whatever c is: so lower ends are all that counts of them;
c. if a_j lies in [lo_j, hi_j] for the other j too, the sum over them is at most the sum of the greater ends of
   -D_j a_j: this is how a checker finds that a sum is true.

Proof. a: o_y - o_c = b_y - b_c + sum_j D_j a_j, of which those in B give at least sum D_j lo_j by b, and the others at
least -U. b is what belonging means. c: term by term.

Z3 covers two prototypes of the class and two others; with more, the sums are split so.

Reference: verale/checker/reading/margin.py, proofs/rocq/theories/SumStatements.v.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

Y, C = z3.Reals("y1 y2 y3 y4"), z3.Reals("c1 c2 c3 c4")
"""Weights of the class and of the rival: prototypes 1 and 2 belong to the class."""
A, LOW, HIGH = z3.Reals("a1 a2 a3 a4"), z3.Reals("l1 l2 l3 l4"), z3.Reals("h1 h2 h3 h4")
BIAS, U = z3.Reals("bias u")

BELONG = [C[j] <= Y[j] for j in (0, 1)]
SHOWN = [LOW[j] <= A[j] for j in (0, 1)]
TAKEN = sum((C[j] - Y[j]) * A[j] for j in (2, 3))
AHEAD = BIAS + sum((Y[j] - C[j]) * A[j] for j in range(4))
PROVED = BIAS + sum((Y[j] - C[j]) * LOW[j] for j in (0, 1)) - U

GAIN, VALUE, LEAST, MOST = z3.Reals("gain value least most")
INSIDE = [LEAST <= VALUE, VALUE <= MOST]
GREATER = z3.If(GAIN > 0, GAIN * MOST, GAIN * LEAST)

LEMMA = Lemma(
    rules=("margin",),
    code=("verale/checker/reading/margin.py", "verale/search/paradigms/evidence.py"),
    cases=(
        Case("a. what is shown less what is taken back", [*BELONG, *SHOWN, TAKEN <= U], AHEAD >= PROVED, tactic=NLSAT),
        Case(
            "b. a prototype of the class gives no rival",
            [C[0] <= Y[0], LOW[0] <= A[0]],
            (Y[0] - C[0]) * LOW[0] <= (Y[0] - C[0]) * A[0],
            tactic=NLSAT,
        ),
        Case("c. a term at its greater end", INSIDE, GAIN * VALUE <= GREATER, tactic=NLSAT),
    ),
    twins=(
        Case(
            "a. a prototype that does not belong is shown",
            [BELONG[0], *SHOWN, TAKEN <= U],
            AHEAD >= PROVED,
            tactic=NLSAT,
        ),
        Case("a. the sum of another sign", [*BELONG, *SHOWN, -TAKEN <= U], AHEAD >= PROVED, tactic=NLSAT),
        Case("a. a sum about nobody", [*BELONG, *SHOWN], AHEAD >= PROVED, tactic=NLSAT),
        Case(
            "a. one of the others is left out of the sum",
            [*BELONG, *SHOWN, (C[2] - Y[2]) * A[2] <= U],
            AHEAD >= PROVED,
            tactic=NLSAT,
        ),
        Case(
            "c. a term at its lesser end",
            INSIDE,
            GAIN * VALUE <= z3.If(GAIN > 0, GAIN * LEAST, GAIN * MOST),
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
