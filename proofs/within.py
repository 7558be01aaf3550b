"""Ranges that lie within the reference ranges, for minimality.

**Point.** Let N >= |y|^2, and e orthogonal to y, to every b_i and to the target's b, with |e|^2 = N - |y|^2. Then a
form a |x|^2 - 2 <x, b> has at x = y + e the value a N - 2 <y, b>. So if the values of all facts lie between their ends,
x satisfies them, and the target's value is one that it takes. Without a dimension for e (products, cosines) all forms
but |x|^2 itself have a = 0, and x = y with |y|^2 <= N <= R^2 serves.

**Ends.** If values v <= w are taken, and [c', d'] lies within [c, d], then [max(v, c'), min(w, d')] lies within the
intersection of [c, d] with any range that holds v and w; and that is not empty if max(v, c') <= min(w, d').

**Margin.** From ends within, a margin is at least the reference margin. So if it is at most 0, that is too.

Proof. Point: |x|^2 = |y|^2 + |e|^2 = N and <x, b> = <y, b>. Margin: a term D a is at least D lo where D > 0 and D hi
where D < 0, and neither falls as lo rises or hi falls.

Z3 covers it in inner products, which is any dimension at once.

Reference: certificates/v1.md, "Minimality".
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

A, N, YY, YB, EE = z3.Reals("a n yy yb ee")
POINT = A * (YY + EE) - 2 * (YB + 0) == A * N - 2 * YB

V, W, INF, SUP, C, D, C1, D1 = z3.Reals("v w inf sup c d c1 d1")
TAKEN = [INF <= V, V <= W, W <= SUP, C <= C1, D1 <= D]
WITHIN = z3.And(greatest(V, C1) >= greatest(INF, C), least(W, D1) <= least(SUP, D))

LO, HI, LO1, HI1, WEIGHT = z3.Reals("lo hi lo1 hi1 weight")
CLOSER = [LO <= LO1, HI1 <= HI]


def _term(low: z3.ArithRef, high: z3.ArithRef) -> z3.ArithRef:
    return z3.If(WEIGHT > 0, WEIGHT * low, WEIGHT * high)


LEMMA = Lemma(
    rules=("minimality",),
    code=("verale/checker/reading/points.py", "verale/checker/reading/margin.py"),
    cases=(
        Case("a point has the values of a vector of the space", [EE == N - YY, EE >= 0], POINT),
        Case("ends within", TAKEN, WITHIN),
        Case("ends that do not cross", [*TAKEN, greatest(V, C1) <= least(W, D1)], greatest(INF, C) <= least(SUP, D)),
        Case("a term of a margin", CLOSER, _term(LO1, HI1) >= _term(LO, HI), "qfnra-nlsat"),
    ),
    twins=(
        Case("a point that is too long", [EE == YY - N, EE >= 0], POINT),
        Case("ends rounded outward", [INF <= V, V <= W, W <= SUP, C1 <= C, D <= D1], WITHIN),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
