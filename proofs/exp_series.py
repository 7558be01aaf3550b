"""exp x by a series with a remainder: with r = x - k ln 2, |r| <= 1/2,

    exp x = 2^k exp r,    exp r = sum_{i < N} r^i / i! + R,    |R| <= 2 |r|^N / N! <= 2 / b_N <= 2^-w

where b_N = 2^N N! is computed by b_1 = 2, b_(i+1) = 2 (i + 1) b_i, up to b_N >= 2^(w+1).

Proof. Let p_N = |r|^N / N!. The first term left out and twice the next are together at most twice the first:
p_N + 2 p_(N+1) = p_N (1 + 2 |r| / (N + 1)) <= 2 p_N for N >= 0. So, from the last term back, any number of terms from N
on sum to at most 2 p_N, and so does the limit. p_N b_N <= 1 by induction, as p_(N+1) b_(N+1) = p_N b_N 2 |r|. (The
docstring of the kernel has Lagrange's form of the remainder, with exp(1/2) <= 2, and the same bound.) The choice of k
does not matter: |r| <= 1/2 is checked for the interval that holds r, and a k for which it fails is refused.

Z3 proves both inductions for every real N >= 0, hence remainders of any length; remainders of three terms directly; the
last inequality; and Horner's form for four terms.

What Z3 does not do: exp x = 2^k exp r, the series and the limit (calculus).

Reference: `verale/checker/series.py`.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

_N, _R, _P, _NEXT, _B, _B_NEXT, _W = z3.Reals("n r p next_p b next_b two_to_w")
_HALF = [0 <= _R, 2 * _R <= 1, _N >= 0, _P >= 0, _NEXT * (_N + 1) == _P * _R]
_GROWING = [_B > 0, _B_NEXT == _B * 2 * (_N + 1)]
_X = z3.Real("x")
_TAIL = _X**2 / 2 + _X**3 / 6 + _X**4 / 24

LEMMA = Lemma(
    rules=("ln, exp (mpmath)",),
    code=("verale/checker/series.py",),
    cases=(
        Case("the remainder, one term more, any N", _HALF, _P + 2 * _NEXT <= 2 * _P, "qfnra-nlsat"),
        Case("the remainder, N = 2, three terms of it", [0 <= _X, 2 * _X <= 1], _TAIL <= 2 * _X**2 / 2, "qfnra-nlsat"),
        Case("p b starts at no more than 1", [0 <= _R, 2 * _R <= 1], _R * 2 <= 1),
        Case("p b stays no more than 1", [*_HALF, *_GROWING, _P * _B <= 1], _NEXT * _B_NEXT <= 1, "qfnra-nlsat"),
        Case(
            "so the remainder is at most 2^-w",
            [_P >= 0, _W >= 1, _B >= 2 * _W, _P * _B <= 1],
            2 * _P * _W <= 1,
            "qfnra-nlsat",
        ),
        Case(
            "Horner's form",
            [],
            1 + _X * (1 + _X / 2 * (1 + _X / 3)) == 1 + _X + _X**2 / 2 + _X**3 / 6,
            "qfnra-nlsat",
        ),
    ),
    twins=(
        Case("the remainder, |r| up to 2", [0 <= _R, _R <= 2, *_HALF[2:]], _P + 2 * _NEXT <= 2 * _P, "qfnra-nlsat"),
        Case("the remainder is at most its first term", [0 < _X, 2 * _X <= 1], _TAIL <= _X**2 / 2, "qfnra-nlsat"),
        Case("one step of b too few", [_P >= 0, _W >= 1, _B >= _W, _P * _B <= 1], 2 * _P * _W <= 1, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
