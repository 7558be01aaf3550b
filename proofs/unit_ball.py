"""The working observable of a cosine. With epsilon E >= 0 let u = z / (|z| + E) (`cosine`) or z / (|z|^2 + E)^(1/2)
(rooted), the divisor being positive, and m = <u, p> / |p|. Then

a. |u| <= 1; |u| = 1 where E = 0; |u| < 1 where E > 0; u_d >= 0 where z_d >= 0;
b. <u, p> = m |p|, and with m in [low, high] and |p| in [l, g], 0 <= l, it lies between min(low l, low g) and max(high
   l, high g);
c. |m| <= 1.

Proof. |z| <= |z| + E and |z|^2 <= |z|^2 + E; a coordinate is divided by a positive number. m |p| >= low |p|, and low
|p| lies between low l and low g; likewise above. c is Cauchy and Schwarz.

Z3 covers all of it, in any dimension: only the length and one coordinate of a vector count. Roots are numbers whose
square is known.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

LENGTH, E, DIVISOR, U, ZD, UD = z3.Reals("length e divisor u z_d u_d")
"""|z|, E, what z is divided by, |u|, a coordinate of z and of u."""
ANY = [LENGTH >= 0, DIVISOR > 0, U * DIVISOR == LENGTH, UD * DIVISOR == ZD]
PLAIN = [*ANY, DIVISOR == LENGTH + E]
ROOTED = [*ANY, DIVISOR * DIVISOR == LENGTH * LENGTH + E]

M, LOW, HIGH, P, L, G, UP, UU = z3.Reals("m low high p l g up uu")
STATED = [LOW <= M, M <= HIGH, 0 <= L, L <= P, P <= G, UP == M * P]


def _least(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < y, x, y)


def _greatest(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < y, y, x)


def _polynomial(says: str, given: list[z3.BoolRef], claim: z3.BoolRef) -> Case:
    return Case(says, given, claim, tactic=NLSAT)


LEMMA = Lemma(
    rules=("domain", "quadratic", "instance"),
    code=(
        "verale/checker/reading/space.py",
        "verale/checker/reading/space.py",
        "verale/checker/reading/evaluation.py",
        "verale/bounds/domain.py",
        "verale/checker/reading/facts.py",
    ),
    cases=(
        *(
            case
            for kind, given in (("cosine", PLAIN), ("rooted", ROOTED))
            for case in (
                _polynomial(f"a. {kind}: |u| <= 1", [*given, E >= 0], z3.And(0 <= U, U <= 1)),
                _polynomial(f"a. {kind}: |u| = 1 without epsilon", [*given, E == 0], U == 1),
                _polynomial(f"a. {kind}: |u| < 1 with epsilon", [*given, E > 0], U < 1),
                _polynomial(f"a. {kind}: the orthant", [*given, E >= 0, ZD >= 0], UD >= 0),
            )
        ),
        _polynomial(
            "b. from a stated cosine",
            STATED,
            z3.And(_least(LOW * L, LOW * G) <= UP, UP <= _greatest(HIGH * L, HIGH * G)),
        ),
        _polynomial(
            "c. no cosine leaves [-1, 1]",
            [P > 0, UU >= 0, UU <= 1, UP * UP <= UU * P * P, M * P == UP],
            z3.And(-1 <= M, M <= 1),
        ),
    ),
    twins=(
        _polynomial("a. with a negative epsilon", PLAIN, U <= 1),
        _polynomial("a. rooted, with epsilon, on the sphere", [*ROOTED, E > 0, LENGTH > 0], U == 1),
        _polynomial("b. a negative end with the smaller length", STATED, LOW * L <= UP),
        _polynomial("b. a positive end with the smaller length", STATED, UP <= HIGH * L),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
