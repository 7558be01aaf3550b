"""Ranges that lie within the reference ranges, for minimality.

**Point.** Let N >= |y|^2, and e orthogonal to y, to every b_i and to the target's b, with |e|^2 = N - |y|^2. Then a
form a |x|^2 - 2 <x, b> has at x = y + e the value a N - 2 <y, b>. So if the values of all facts lie between their ends,
x satisfies them, and the target's value is one that it takes. Without a dimension for e (products, cosines) all forms
but |x|^2 itself have a = 0, and x = y with |y|^2 <= N <= R^2 serves.

**Segment.** If (N, y) and (N + t e, y + t v) are such points, so is (N + s e, y + s v) for every s in [0, t].

**How far.** The greatest s >= 0 with spare + s slope - s^2 bend >= 0, bend > 0, is (slope + root) / (2 bend), root^2 =
slope^2 + 4 bend spare. A smaller root that is at least |slope| gives an s that also does.

**Ends.** If values v <= w are taken, and [c', d'] lies within [c, d], then [max(v, c'), min(w, d')] lies within the
intersection of [c, d] with any range that holds v and w; and that is not empty if max(v, c') <= min(w, d').

**Margin.** From ends within, a margin is at least the reference margin. So if it is at most 0, that is too.

Proof. Point: |x|^2 = |y|^2 + |e|^2 = N and <x, b> = <y, b>. Segment: a form's value changes linearly with s, and N +
s e - |y + s v|^2 is concave. How far: the quadratic is positive at s = 0 and falls through 0 at its greater root.
Margin: a term D a is at least D lo where D > 0 and D hi where D < 0, and neither falls as lo rises or hi falls.

Z3 covers it in inner products, which is any dimension at once.

Reference: certificates/v1.md, "Minimality".
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, greatest, least, main

A, N, YY, YB, EE = z3.Reals("a n yy yb ee")
POINT = A * (YY + EE) - 2 * (YB + 0) == A * N - 2 * YB

S, T, RISE, YV, VV, SPARE, SLOPE, BEND, ROOT = z3.Reals("s t rise yv vv spare slope bend root")
BETWEEN = [S >= 0, S <= T]


def _left(s: z3.ArithRef) -> z3.ArithRef:
    """N + s e - |y + s v|^2."""
    return N + s * RISE - (YY + 2 * s * YV + s * s * VV)


LOW, HIGH, VALUE, CHANGE = z3.Reals("low high value change")


def _held(s: z3.ArithRef) -> z3.BoolRef:
    return z3.And(LOW <= VALUE + s * CHANGE, VALUE + s * CHANGE <= HIGH)


FAR = [BEND > 0, SPARE >= 0, ROOT * ROOT <= SLOPE * SLOPE + 4 * BEND * SPARE, 2 * BEND * S == SLOPE + ROOT]
REACHED = z3.And(S >= 0, SPARE + S * SLOPE - S * S * BEND >= 0)

V, W, INF, SUP, C, D, C1, D1 = z3.Reals("v w inf sup c d c1 d1")
TAKEN = [INF <= V, V <= W, W <= SUP, C <= C1, D1 <= D]
WITHIN = z3.And(greatest(V, C1) >= greatest(INF, C), least(W, D1) <= least(SUP, D))

LO, HI, LO1, HI1, WEIGHT = z3.Reals("lo hi lo1 hi1 weight")
CLOSER = [LO <= LO1, HI1 <= HI]


def _term(low: z3.ArithRef, high: z3.ArithRef) -> z3.ArithRef:
    return z3.If(WEIGHT > 0, WEIGHT * low, WEIGHT * high)


LEMMA = Lemma(
    rules=("minimality",),
    code=("verale/checker/plain/quadratic/within.py", "verale/checker/plain/minimality.py"),
    cases=(
        Case("a point has the values of a vector of the space", [EE == N - YY, EE >= 0], POINT),
        Case(
            "the ball on a segment",
            [VV >= 0, _left(z3.RealVal(0)) >= 0, _left(T) >= 0, *BETWEEN],
            _left(S) >= 0,
            "qfnra-nlsat",
        ),
        Case("a form on a segment", [_held(z3.RealVal(0)), _held(T), *BETWEEN], _held(S), "qfnra-nlsat"),
        Case("how far", [*FAR, ROOT >= SLOPE, ROOT >= -SLOPE], REACHED, "qfnra-nlsat"),
        Case("ends within", TAKEN, WITHIN),
        Case("ends that do not cross", [*TAKEN, greatest(V, C1) <= least(W, D1)], greatest(INF, C) <= least(SUP, D)),
        Case("a term of a margin", CLOSER, _term(LO1, HI1) >= _term(LO, HI), "qfnra-nlsat"),
    ),
    twins=(
        Case("a point that is too long", [EE == YY - N, EE >= 0], POINT),
        Case(
            "the ball beyond a segment",
            [VV >= 0, _left(z3.RealVal(0)) >= 0, _left(T) >= 0, S > T, T > 0],
            _left(S) >= 0,
            "qfnra-nlsat",
        ),
        Case(
            "a root that is rounded up",
            [*FAR[:2], ROOT > 0, ROOT * ROOT > SLOPE * SLOPE + 4 * BEND * SPARE, FAR[3]],
            REACHED,
            "qfnra-nlsat",
        ),
        Case("ends rounded outward", [INF <= V, V <= W, W <= SUP, C1 <= C, D <= D1], WITHIN),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
