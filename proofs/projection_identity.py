"""The identity behind `projection`. For any vectors v, b_1, ..., b_n, b_k and any real tau_i, sigma_i, with beta_i =
<v, b_i>, g_ij = <b_i, b_j>, r = b_k - sum tau_i b_i and gamma = sum sigma_i b_i,

    <v, b_k>      = sum tau_i beta_i + <gamma, r> + <v - gamma, r>,
    |v - gamma|^2 = |v|^2 - 2 sum sigma_i beta_i + sigma^T g sigma,
    <gamma, r>    = sum_i sigma_i (g_ik - sum_j g_ij tau_j),

and by Cauchy and Schwarz |<v - gamma, r>| <= rho |r| where |v - gamma|^2 <= rho^2. Hence the observables:

    |z - p_k|^2 = (1 - sum tau_i) d_0^2 + sum tau_i (d_i^2 - g_ii) + g_kk - 2 <gamma, r> - 2 <v - gamma, r>
                                                    for v = z - p_0, b_i = p_i - p_0, d_i = |z - p_i|,
    <z, p_k>    = <c, p_k> + <v, b_k>, beta_i = <z, p_i> - <c, p_i>     for v = z - c, b_i = p_i (`centred_ball`),

and with d_i^2 between lo_i and hi_i, mid_i and width_i their mean and difference, the first is at most as far from its
value at the mid_i as (|1 - sum tau_i| width_0 + sum |tau_i| width_i) / 2 + 2 rho |r|; likewise the other observable.

Proof. b_k = sum tau_i b_i + r, and v = gamma + (v - gamma); expand. 2 <v, b_i> = |v|^2 - |v - b_i|^2 + |b_i|^2 with |v|
= d_0 and v - b_i = z - p_i gives the distances; <z, p> = <c, p> + <z - c, p> the inner products. A term t x is within
|t| width / 2 of t mid.

A vector here is a list of coefficients on v, b_1, ..., b_k, and inner products of these are free real numbers. So Z3's
proofs hold in any dimension; n is one to three, and larger n are left to the proof above. Since tau and sigma may be
any multipliers, an approximate inverse, rounded in any way, is sound.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import z3

from .lemma import Case, Lemma, main

_Vector: TypeAlias = Sequence[z3.ArithRef | int]


class _Setting:
    """v, b_1, ..., b_n and b_k by their inner products; tau, sigma, r and gamma."""

    def __init__(self, n: int) -> None:
        self.n, size = n, n + 2
        self._gram = [[z3.Real(f"g_{min(i, j)}_{max(i, j)}") for j in range(size)] for i in range(size)]
        self.tau, self.sigma = z3.RealVector("tau", n), z3.RealVector("sigma", n)
        unit = [[int(i == j) for j in range(size)] for i in range(size)]
        self.v, self.b, self.target = unit[0], unit[1:-1], unit[-1]
        self.r: _Vector = [0, *(-t for t in self.tau), 1]
        self.gamma: _Vector = [0, *self.sigma, 0]
        self.beta = [self.inner(self.v, b) for b in self.b]

    def inner(self, left: _Vector, right: _Vector) -> z3.ArithRef:
        pairs = [(x * y, i, j) for i, x in enumerate(left) for j, y in enumerate(right)]
        return z3.Sum([weight * self._gram[i][j] for weight, i, j in pairs])

    def square(self, vector: _Vector) -> z3.ArithRef:
        return self.inner(vector, vector)

    def weighted(self, weights: Sequence[z3.ArithRef], values: Sequence[z3.ArithRef]) -> z3.ArithRef:
        return z3.Sum([w * value for w, value in zip(weights, values, strict=True)])


def _minus(left: _Vector, right: _Vector) -> _Vector:
    return [x - y for x, y in zip(left, right, strict=True)]


def _identities(n: int) -> Case:
    s = _Setting(n)
    off = _minus(s.v, s.gamma)
    along = s.weighted(s.tau, s.beta)
    form = z3.Sum([s.sigma[i] * s.sigma[j] * s.inner(s.b[i], s.b[j]) for i in range(n) for j in range(n)])
    row = [s.inner(s.b[i], s.target) - z3.Sum([s.inner(s.b[i], s.b[j]) * s.tau[j] for j in range(n)]) for i in range(n)]
    return Case(
        f"the three identities, {n} anchors, any dimension",
        [],
        z3.And(
            s.inner(s.v, s.target) == along + s.inner(s.gamma, s.r) + s.inner(off, s.r),
            s.square(off) == s.square(s.v) - 2 * s.weighted(s.sigma, s.beta) + form,
            s.inner(s.gamma, s.r) == s.weighted(s.sigma, row),
        ),
        tactic="qfnra-nlsat",
    )


def _distance(n: int, own: int | None = None) -> Case:
    """The formula of a squared distance; `own` is put for the coefficient of d_0^2."""
    s = _Setting(n)
    stated = [s.square(_minus(s.v, b)) - s.square(b) for b in s.b]
    base = (1 - z3.Sum(s.tau) if own is None else own) * s.square(s.v)
    rest = s.square(s.target) - 2 * s.inner(s.gamma, s.r) - 2 * s.inner(_minus(s.v, s.gamma), s.r)
    expanded = base + s.weighted(s.tau, stated) + rest
    says = f"the squared distance, {n} anchors and a base, any dimension"
    return Case(
        says if own is None else f"{says}: d_0^2 stands once, whatever the multipliers",
        [],
        s.square(_minus(s.v, s.target)) == expanded,
        tactic="qfnra-nlsat",
    )


PRODUCT, OFF, OTHER, RHO, ROOT, T, X, LOW, HIGH, MIDDLE = z3.Reals("product off other rho2 root t x low high middle")
"""<v - gamma, r>, |v - gamma|^2, |r|^2, rho^2 and what is put for rho |r|."""
PSD = [OFF >= 0, OTHER >= 0, PRODUCT * PRODUCT <= OFF * OTHER]

V, B1, BK, TAU, SIGMA = z3.Reals("v b_1 b_k tau sigma")
"""Numbers, which are vectors of one dimension, for the twins: real latents and prototypes."""
_R, _GAMMA = BK - TAU * B1, SIGMA * B1
_WITHIN = [ROOT >= 0, ROOT == z3.If((V - _GAMMA) * _R >= 0, (V - _GAMMA) * _R, -(V - _GAMMA) * _R)]

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/projection.py",),
    cases=(
        *(_identities(n) for n in (1, 2, 3)),
        *(_distance(n) for n in (1, 2, 3)),
        Case(
            "what is left, by Cauchy and Schwarz",
            [*PSD, OFF <= RHO, ROOT >= 0, ROOT * ROOT >= RHO * OTHER],
            z3.And(-ROOT <= PRODUCT, PRODUCT <= ROOT),
            tactic="qfnra-nlsat",
        ),
        Case(
            "a term is within |t| width / 2 of its middle",
            [LOW <= X, X <= HIGH],
            z3.And(
                2 * T * X <= T * (LOW + HIGH) + z3.If(T > 0, T, -T) * (HIGH - LOW),
                2 * T * X >= T * (LOW + HIGH) - z3.If(T > 0, T, -T) * (HIGH - LOW),
            ),
        ),
    ),
    twins=(
        Case("<gamma, r> left out, as if tau were exact", _WITHIN, V * BK <= TAU * V * B1 + ROOT, tactic="qfnra-nlsat"),
        _distance(1, own=1),
        Case(
            "what is left, with a rho^2 below |v - gamma|^2",
            [*PSD, 0 <= RHO, RHO <= OFF, ROOT >= 0, ROOT * ROOT >= RHO * OTHER],
            PRODUCT <= ROOT,
            tactic="qfnra-nlsat",
        ),
        Case(
            "a term, the width with the sign of its multiplier",
            [LOW <= X, X <= HIGH],
            2 * T * X <= T * (LOW + HIGH) + T * (HIGH - LOW),
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
