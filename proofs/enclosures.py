"""What enclosures decide about a statement at given latents. Let x lie in [low, high].

a. If lower <= low and high <= upper, x lies in [lower, upper]; if high < lower or upper < low, it does not.
   Otherwise it is undecided.
b. An integer n over 2^b is at least y if and only if n >= ceil(y 2^b), and at most y if and only if n <= floor(y 2^b).
c. y / l with l in [l_0, l_1], l_0 > 0: between y / l_1 and y / l_0 for y >= 0, between y / l_0 and y / l_1 for y <= 0;
   with y in [low, high] the lower end is that of low and the upper one that of high. This encloses cosines, whose
   divisors are enclosed (|z| by roots, + E, and (|z|^2 + E)^(1/2)), and masses exp / sum of exp. y = 0 gives 0 for
   every divisor.
d. Of several x_j in [low_j, high_j] the greatest lies between the greatest low_j and the greatest high_j. So "none of
   them is above t" is true if every high_j <= t, and false if some low_j > t.
e. |z - p|^2 = |z|^2 - 2 <z, p> + |p|^2, exactly.

Proof. a, b and d from the order alone; n is an integer, so n >= y 2^b says n >= ceil(y 2^b). c: y / l falls with l for
y >= 0, rises for y <= 0, and rises with y. e: expand.

Z3 covers all of it: d for two numbers, that is, one more at a time; e for one coordinate, which is enough for sums.
How the roots, exponentials and quotients of c are enclosed belongs to the grid and the kernels.

Reference: certificates/v1.md, "Verification", step 5.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

X, LOW, HIGH, LOWER, UPPER = z3.Reals("x low high lower upper")
ENCLOSED = [LOW <= X, X <= HIGH]
STATED = z3.And(LOWER <= X, X <= UPPER)

N = z3.Int("n")
Y = z3.Real("y")
CEILING = -z3.ToInt(-Y)

QUOTIENT, L, L_0, L_1, LEAST, MOST = z3.Reals("quotient l l_0 l_1 least most")
DIVIDED = [L_0 > 0, L_0 <= L, L <= L_1, *ENCLOSED, QUOTIENT * L == X]
OUTWARD = [
    LEAST * z3.If(LOW > 0, L_1, L_0) <= LOW,
    MOST * z3.If(HIGH > 0, L_0, L_1) >= HIGH,
]

ROOT, SQUARE, E, BELOW, ABOVE = z3.Reals("root square e below above")
ROOTS = [BELOW >= 0, ABOVE >= 0, LOW <= E, E <= HIGH]
OTHER, OTHER_LOW, OTHER_HIGH, T = z3.Reals("other other_low other_high t")
BOTH = [*ENCLOSED, OTHER_LOW <= OTHER, OTHER <= OTHER_HIGH]


def _max(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x > y, x, y)


Z, P = z3.Reals("z p")

LEMMA = Lemma(
    rules=("instance", "refutation"),
    code=("verale/checker/reading/evaluation.py", "verale/checker/dyadic.py"),
    cases=(
        Case("a. true", [*ENCLOSED, LOWER <= LOW, HIGH <= UPPER], STATED),
        Case("a. false", [*ENCLOSED, z3.Or(HIGH < LOWER, UPPER < LOW)], z3.Not(STATED)),
        Case("b. at least", [], (N >= Y) == (N >= CEILING)),
        Case("b. at most", [], (N <= Y) == (N <= z3.ToInt(Y))),
        Case("c. a quotient", [*DIVIDED, *OUTWARD], z3.And(LEAST <= QUOTIENT, QUOTIENT <= MOST), tactic=NLSAT),
        Case("c. a quotient of 0", [L_0 > 0, L_0 <= L, QUOTIENT * L == 0], QUOTIENT == 0, tactic=NLSAT),
        Case(
            "c. |z| + E",
            [*ROOTS, ROOT >= 0, ROOT**2 == SQUARE, BELOW**2 <= SQUARE, ABOVE**2 >= SQUARE],
            z3.And(BELOW + LOW <= ROOT + E, ROOT + E <= ABOVE + HIGH),
            tactic=NLSAT,
        ),
        Case(
            "c. (|z|^2 + E)^(1/2)",
            [*ROOTS, ROOT >= 0, ROOT**2 == SQUARE + E, BELOW**2 <= SQUARE + LOW, ABOVE**2 >= SQUARE + HIGH],
            z3.And(BELOW <= ROOT, ROOT <= ABOVE),
            tactic=NLSAT,
        ),
        Case(
            "d. the greatest",
            BOTH,
            z3.And(_max(LOW, OTHER_LOW) <= _max(X, OTHER), _max(X, OTHER) <= _max(HIGH, OTHER_HIGH)),
        ),
        Case("d. none above t", [*BOTH, _max(HIGH, OTHER_HIGH) <= T], z3.And(X <= T, OTHER <= T)),
        Case("d. one above t", [*BOTH, _max(LOW, OTHER_LOW) > T], z3.Or(X > T, OTHER > T)),
        Case("e. a coordinate of a squared distance", [], (Z - P) * (Z - P) == Z * Z - 2 * Z * P + P * P),
    ),
    twins=(
        Case("a. enclosure and interval only meet: true", [*ENCLOSED, LOWER <= HIGH, LOW <= UPPER], STATED),
        Case(
            "a. the enclosure holds the interval: true",
            [*ENCLOSED, LOW <= LOWER, LOWER <= UPPER, UPPER <= HIGH],
            STATED,
        ),
        Case("a. not inside: false", [*ENCLOSED, z3.Or(LOW < LOWER, UPPER < HIGH)], z3.Not(STATED)),
        Case("b. at least, with the floor", [N >= z3.ToInt(Y)], N >= Y),
        Case(
            "c. a negative number over the greater length, for the lower end",
            [*DIVIDED, LOW < 0, LEAST * L_1 == LOW],
            LEAST <= QUOTIENT,
            tactic=NLSAT,
        ),
        Case("d. some enclosure reaches above t: false", [*BOTH, _max(HIGH, OTHER_HIGH) > T], z3.Or(X > T, OTHER > T)),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
