"""Two or more statements bound every other observable, in Gram form.

Let u, p_1, ..., p_n, k be vectors, g the Gram matrix of the p_i, det g > 0, beta_i = <u, p_i> and g_k the <p_i, k>.
Then

    (<u, k> - beta^T g^-1 g_k)^2 <= (|u|^2 - beta^T g^-1 beta) (|k|^2 - g_k^T g^-1 g_k),

and both factors are >= 0. The first is |u|^2 minus the square of the foot of u on the span, the second |r|^2 of
`projection` at X = g^-1: this is the interval that its multipliers give. For distances u = z - p_0, k = p_k - p_0 and n
statements besides the base's; for cosines u itself, with 1 for |u|^2, and n statements. n = 1 is `one_statement`.

Proof. u - gamma and k - kappa, with gamma and kappa the feet on the span of the p_i, are orthogonal to it. The factors
are their squares, and their product is <u, k> - beta^T g^-1 g_k. Cauchy and Schwarz.

In determinants: the right side minus the left one is det g^-1 times the determinant of the Gram matrix of p_1, ...,
p_n, u, k, which is >= 0 as the matrix is positive semidefinite. Z3 proves that for n = 1 and 2 with the six and ten
entries as free real numbers, hence in any dimension. In coordinates it proves that the determinant is a square, and the
inequality once more. Four vectors span at most four dimensions, and an orthonormal basis of their span, taken in their
order (Gram and Schmidt), makes their matrix triangular; so p_1 = (a, 0, 0, 0), p_2 = (b, c, 0, 0), k = (d, e, f, 0), u
= (x, y, w, t) is any four vectors.

What Z3 does not do: more than two statements besides a base. The proof above is for any number.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"


def _det(matrix: Sequence[Sequence[z3.ArithRef]]) -> z3.ArithRef:
    if len(matrix) == 1:
        return matrix[0][0]
    minors = [[[*row[:j], *row[j + 1 :]] for row in matrix[1:]] for j in range(len(matrix))]
    return z3.Sum([(-1) ** j * entry * _det(minors[j]) for j, entry in enumerate(matrix[0])])


def _bordered(gram: Sequence[Sequence[z3.ArithRef]], n: int, left: int, right: int) -> z3.ArithRef:
    """det g times (<left, right> - its part within the span)."""
    rows, columns = [*range(n), left], [*range(n), right]
    return _det([[gram[i][j] for j in columns] for i in rows])


def _identity(n: int) -> Case:
    size = n + 2
    gram = [[z3.Real(f"g_{min(i, j)}_{max(i, j)}") for j in range(size)] for i in range(size)]
    u, k = n, n + 1
    own = _det([row[:n] for row in gram[:n]])
    gap = _bordered(gram, n, u, u) * _bordered(gram, n, k, k) - _bordered(gram, n, u, k) * _bordered(gram, n, u, k)
    return Case(f"the gap is a determinant, {n} statements, any dimension", [], gap == own * _det(gram), tactic=NLSAT)


A, B, C, D, E, F, X, Y, W, T = z3.Reals("a b c d e f x y w t")
P1, P2, K, U = (A, 0, 0, 0), (B, C, 0, 0), (D, E, F, 0), (X, Y, W, T)


def _inner(left: Sequence[z3.ArithRef | int], right: Sequence[z3.ArithRef | int]) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


GRAM = [[_inner(left, right) for right in (P1, P2, U, K)] for left in (P1, P2, U, K)]
OWN = GRAM[0][0] * GRAM[1][1] - GRAM[0][1] * GRAM[0][1]


def _explained(left: int, right: int) -> z3.ArithRef:
    """det g times the part of an inner product within the span of p_1 and p_2."""
    (g11, g12, *_), (_, g22, *_) = GRAM[:2]
    first, second = GRAM[0], GRAM[1]
    return (
        g22 * first[left] * first[right]
        - g12 * (first[left] * second[right] + second[left] * first[right])
        + g11 * second[left] * second[right]
    )


def _rest(left: int, right: int) -> z3.ArithRef:
    return OWN * GRAM[left][right] - _explained(left, right)


ROOT, UU, UK, KK = z3.Reals("root uu uk kk")

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/projection.py",),
    cases=(
        _identity(1),
        _identity(2),
        *(
            Case(f"{says}, in coordinates", [], left == right, tactic=NLSAT)
            for says, left, right in (
                ("the determinant is a square", _det(GRAM), (A * C * F * T) ** 2),
                ("the first factor", _rest(2, 2), (A * C) ** 2 * (W * W + T * T)),
                ("the second factor", _rest(3, 3), (A * C * F) ** 2),
                ("the product", _rest(2, 3), (A * C) ** 2 * W * F),
            )
        ),
        Case(
            "the inequality, in coordinates",
            [UU == W * W + T * T, KK == F * F, UK == W * F],
            z3.And(UU >= 0, KK >= 0, UK * UK <= UU * KK),
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case(
            "statements taken one at a time, as if p_1 and p_2 were orthogonal",
            [A == 1, B == 1, C == 1, D == 0, E == 1, F == 0, T == 0],
            _inner(U, K) == _inner(U, P1) * _inner(K, P1) + _inner(U, P2) * _inner(K, P2) / _inner(P2, P2),
        ),
        Case(
            "only the target's rest, as if u were explained",
            [UU == W * W + T * T, KK == F * F, UK == W * F],
            UK * UK <= KK,
            tactic=NLSAT,
        ),
        Case(
            "u's rest by both statements, the target's and the product's by p_1 alone",
            [A == 1, B == 0, C == 1, T == 0],
            (_inner(U, K) - X * D) ** 2 <= (W * W + T * T) * (E * E + F * F),
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
