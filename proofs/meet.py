"""The ranges that several rules give for one number are intersected: if x lies in [a, b] and in [c, d], it lies in
[max(a, c), min(b, d)].

A latent that satisfies all statements of E also satisfies every subset of E, so x lies in the range that any subset
gives. So these ranges may be intersected, in any number and order: those of single statements (`triangle`), of the
first, the first two, ... (`projection` with wide intervals), of the positions of a centre (`hypersphere`), the domain's
own, and a statement about x itself (`top_k` has these two). If the ends cross, no latent satisfies E, and every claim
about all such latents is true. An infinite end counts as no end.

Proof. x >= a and x >= c, so x >= the greater; likewise above. One more range at a time: induction on their number.

Z3 covers two ranges, for numbers, and for every latent that satisfies two statements. The sort of latents is left open,
so they may be anything.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main


def _max(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x > y, x, y)


def _min(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < y, x, y)


A, B, C, D, X = z3.Reals("a b c d x")
BOTH = [A <= X, X <= B, C <= X, X <= D]
MET = z3.And(_max(A, C) <= X, X <= _min(B, D))

LATENTS = z3.DeclareSort("Latent")
FIRST, SECOND = (z3.Function(name, LATENTS, z3.BoolSort()) for name in ("first", "second"))
OBSERVABLE = z3.Function("observable", LATENTS, z3.RealSort())
ANY, Z = z3.Consts("any z", LATENTS)
RULES = [
    z3.ForAll(ANY, z3.Implies(FIRST(ANY), z3.And(A <= OBSERVABLE(ANY), OBSERVABLE(ANY) <= B))),
    z3.ForAll(ANY, z3.Implies(SECOND(ANY), z3.And(C <= OBSERVABLE(ANY), OBSERVABLE(ANY) <= D))),
]
SAID = z3.And(_max(A, C) <= OBSERVABLE(Z), OBSERVABLE(Z) <= _min(B, D))

LEMMA = Lemma(
    rules=("quadratic", "top_k, sparse"),
    code=(
        "verale/checker/reading/space.py",
        "verale/checker/reading/paradigms.py",
        "verale/checker/reading/quadratic.py",
    ),
    cases=(
        Case("two ranges of a number", BOTH, MET),
        Case("two statements about a latent", [*RULES, FIRST(Z), SECOND(Z)], SAID),
        Case("ends that cross: there is no such number", [A <= X, X <= B, C > B], z3.Not(z3.And(C <= X, X <= D))),
    ),
    twins=(
        Case("one of two ranges", [z3.Or(z3.And(A <= X, X <= B), z3.And(C <= X, X <= D))], MET),
        Case("one of two statements", [*RULES, FIRST(Z)], SAID),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
