"""The cost of an approximate inverse: for X any matrix, g the Gram matrix of b_1, ..., b_n, g_k the vector of the <b_i,
b_k>, tau = X g_k and r = b_k - sum tau_i b_i,

    |r|^2 = g_kk - tau.g_k + g_k^T M g_k,  M = X^T (g X - 1),
    |r|^2 <= g_kk (1 + epsilon) - tau.g_k,   epsilon = sum_m (sum_i |X_mi| l_i) (sum_j |E_mj| l_j),
    E = g X - 1,  l_i >= |b_i|.

Proof. |r|^2 = g_kk - 2 tau.g_k + tau^T g tau, and tau^T g tau - tau.g_k = g_k^T X^T g X g_k - g_k^T X^T g_k. By Cauchy
and Schwarz |g_ik| <= l_i |b_k|, so (X g_k)_m and (E g_k)_m are at most |b_k| times the two sums, and g_k^T M g_k =
sum_m (X g_k)_m (E g_k)_m.

If X is the inverse, g_k = g tau, and with beta = g sigma as well <gamma, b_k> = sigma.g_k = tau.beta, so <gamma, r>
= 0, |r|^2 = g_kk - tau.g_k and |v - gamma|^2 = |v|^2 - sigma.beta: r and v - gamma are orthogonal to the span.

Z3 covers the identity for n = 1, 2 and 3 and the exact inverse (in inner products, hence in any dimension), one
entry of a row, one more of them, and one m. Sums of n terms follow by induction.

Reference: docs/design.md, 3.1; v1.md, `projection`.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from .lemma import Case, Lemma, main


def _length(n: int) -> Case:
    x = [z3.RealVector(f"x_{i}", n) for i in range(n)]
    g = [[z3.Real(f"g_{min(i, j)}_{max(i, j)}") for j in range(n)] for i in range(n)]
    gk, gkk, span = z3.RealVector("gk", n), z3.Real("gkk"), range(n)
    tau = [z3.Sum([x[i][j] * gk[j] for j in span]) for i in span]
    square = gkk - 2 * z3.Sum([tau[i] * gk[i] for i in span])
    square += z3.Sum([tau[i] * tau[j] * g[i][j] for i in span for j in span])
    error = [[z3.Sum([g[i][m] * x[m][j] for m in span]) - int(i == j) for j in span] for i in span]
    form = [[z3.Sum([x[m][i] * error[m][j] for m in span]) for j in span] for i in span]
    expanded = gkk - z3.Sum([tau[i] * gk[i] for i in span])
    expanded += z3.Sum([gk[i] * form[i][j] * gk[j] for i in span for j in span])
    return Case(f"|r|^2 for any X, {n} anchors, any dimension", [], square == expanded, tactic="qfnra-nlsat")


def _inverse(n: int) -> Case:
    """An exact inverse: g_k = g tau and beta = g sigma."""
    g = [[z3.Real(f"g_{min(i, j)}_{max(i, j)}") for j in range(n)] for i in range(n)]
    tau, sigma, span = z3.RealVector("tau", n), z3.RealVector("sigma", n), range(n)
    gk = [z3.Sum([g[i][j] * tau[j] for j in span]) for i in span]
    beta = [z3.Sum([g[i][j] * sigma[j] for j in span]) for i in span]
    gkk, vv = z3.Reals("gkk vv")

    def of(left: Sequence[z3.ArithRef], right: Sequence[z3.ArithRef]) -> z3.ArithRef:
        return z3.Sum([x * y for x, y in zip(left, right, strict=True)])

    def form(weights: Sequence[z3.ArithRef]) -> z3.ArithRef:
        return z3.Sum([weights[i] * weights[j] * g[i][j] for i in span for j in span])

    return Case(
        f"the exact inverse, {n} anchors, any dimension",
        [],
        z3.And(
            of(sigma, gk) == of(tau, beta),
            gkk - 2 * of(tau, gk) + form(tau) == gkk - of(tau, gk),
            vv - 2 * of(sigma, beta) + form(sigma) == vv - of(sigma, beta),
        ),
        tactic="qfnra-nlsat",
    )


def _abs(value: z3.ArithRef) -> z3.ArithRef:
    return z3.If(value >= 0, value, -value)


ENTRY, GII, GIK, GKK, LI, BK_LENGTH = z3.Reals("x_mi g_ii g_ik g_kk l_i length_k")
CAUCHY = [GII >= 0, GKK >= 0, GIK * GIK <= GII * GKK, LI >= 0, LI * LI >= GII, BK_LENGTH >= 0, BK_LENGTH**2 == GKK]
LEFT, RIGHT, LEFT_MOST, RIGHT_MOST = z3.Reals("left right left_most right_most")
ONE, SUM, ONE_MOST, SUM_MOST = z3.Reals("one sum one_most sum_most")
X, G, B1, BK = z3.Reals("x g b_1 b_k")

LEMMA = Lemma(
    rules=("projection",),
    code=("verale/checker/rules/projection/span.py", "verale/checker/rules/projection/rule.py"),
    cases=(
        *(_length(n) for n in (1, 2, 3)),
        *(_inverse(n) for n in (1, 2, 3)),
        Case(
            "|g_ik| <= l_i |b_k|",
            CAUCHY,
            z3.And(GIK <= LI * BK_LENGTH, -GIK <= LI * BK_LENGTH),
            tactic="qfnra-nlsat",
        ),
        Case(
            "one entry of a row",
            [ONE <= ONE_MOST, -ONE <= ONE_MOST],
            ENTRY * ONE <= _abs(ENTRY) * ONE_MOST,
        ),
        Case(
            "one m",
            [-LEFT_MOST <= LEFT, LEFT <= LEFT_MOST, -RIGHT_MOST <= RIGHT, RIGHT <= RIGHT_MOST],
            LEFT * RIGHT <= LEFT_MOST * RIGHT_MOST,
            tactic="qfnra-nlsat",
        ),
        Case("one more entry", [ONE <= ONE_MOST, SUM <= SUM_MOST], ONE + SUM <= ONE_MOST + SUM_MOST),
    ),
    twins=(
        Case(
            "without epsilon",
            [G == B1 * B1],
            (BK - X * B1 * BK * B1) * (BK - X * B1 * BK * B1) <= BK * BK - X * (B1 * BK) * (B1 * BK),
            tactic="qfnra-nlsat",
        ),
        Case(
            "a length that is too short",
            [*CAUCHY[:3], LI >= 0, LI * LI <= GII, *CAUCHY[5:]],
            GIK <= LI * BK_LENGTH,
            tactic="qfnra-nlsat",
        ),
        Case("a row without its absolute value", [ONE <= ONE_MOST, -ONE <= ONE_MOST], ENTRY * ONE <= ENTRY * ONE_MOST),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
