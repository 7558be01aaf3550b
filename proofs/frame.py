"""A vector's part outside a nearly orthonormal frame. Let e_1, ..., e_n be vectors, in no row of whose Gram matrix the
sizes of <e_i, e_j> - [i = j] sum to more than h; b a vector, f_j = <b, e_j>, r = b - sum f_j e_j. Then

a. |r|^2 <= |b|^2 - |f|^2 + h |f|^2;
b. for any y and g with |<y - g, e_j>| <= d_j and |y - g| <= R, |<y - g, b>| <= |d| |f| + R |r|.

Proof. |r|^2 = |b|^2 - 2 |f|^2 + sum f_i f_j <e_i, e_j>, and the last sum is at most (1 + h) |f|^2: 2 |f_i f_j| is at
most f_i^2 + f_j^2, so what differs from |f|^2 is at most the sum of f_i^2 times the sizes of row i. b: <y - g, b> is
sum f_j <y - g, e_j> + <y - g, r>, by Cauchy and Schwarz twice.

Z3 covers a for two vectors, whose Gram matrix is named entry by entry, so in any dimension; of b the sum of two
products, each of which is bounded.

Reference: verale/checker/reading/facts.py.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

F, G, M, FIRST, SECOND, H, BB = z3.Reals("f g m first second h bb")
"""<b, e_1>, <b, e_2>, <e_1, e_2>, |e_1|^2, |e_2|^2, h, |b|^2."""


def _size(x: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < 0, -x, x)


ROWS = [_size(FIRST - 1) + _size(M) <= H, _size(M) + _size(SECOND - 1) <= H]
FF = F * F + G * G
OUTSIDE = BB - 2 * FF + F * F * FIRST + 2 * F * G * M + G * G * SECOND

ALONG, REST, WITHIN, SHARE, RADIUS, LENGTH = z3.Reals("along rest within share radius length")
"""sum f_j <y - g, e_j>, <y - g, r>, |d|, |f|, R, |r|."""
SIZES = [WITHIN >= 0, SHARE >= 0, RADIUS >= 0, LENGTH >= 0]
BOUNDED = [*SIZES, ALONG * ALONG <= WITHIN * WITHIN * SHARE * SHARE, REST * REST <= RADIUS * RADIUS * LENGTH * LENGTH]

LEMMA = Lemma(
    rules=("quadratic",),
    code=("verale/checker/reading/facts.py",),
    cases=(
        Case("a. the part outside", ROWS, OUTSIDE <= BB - FF + H * FF, tactic=NLSAT),
        Case("a. orthonormal vectors lose nothing", [*ROWS, H == 0], OUTSIDE == BB - FF, tactic=NLSAT),
        Case(
            "b. along the frame and outside it",
            BOUNDED,
            _size(ALONG + REST) <= WITHIN * SHARE + RADIUS * LENGTH,
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case("a. the frame taken for orthonormal", ROWS, OUTSIDE <= BB - FF, tactic=NLSAT),
        Case("a. only the first row is small", ROWS[:1], OUTSIDE <= BB - FF + H * FF, tactic=NLSAT),
        Case("b. the part outside is left out", BOUNDED, _size(ALONG + REST) <= WITHIN * SHARE, tactic=NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
