"""Ranges over a box, coordinate by coordinate. Let f(z) = sum_d f_d(z_d), each z_d in [lower_d, upper_d]
independently, and let f_d have the range [a_d, b_d] there, both ends attained. Then f has the range [sum a_d, sum b_d],
both ends attained. In particular

a. a linear form <z, w>: sum_d min(lower_d w_d, upper_d w_d) and sum_d max(lower_d w_d, upper_d w_d);
b. |z - p|^2: sum_d max(0, lower_d - p_d, p_d - upper_d)^2 and sum_d max((p_d - lower_d)^2, (upper_d - p_d)^2); an
   infinite end is left out of the first, which stays true and attained, and makes the second infinite.
c. Several distances together are a linear form if multipliers sum to one: for sum mu_j = 1, |z - p_k|^2 -
   sum mu_j |z - p_j|^2 = |p_k|^2 - sum mu_j |p_j|^2 - 2 <z, p_k - sum mu_j p_j>. Over the box, a bounds it. No rule
   of the checker uses c yet; it intersects the ranges of projection with those of the box.

Proof. f(z) >= sum a_d term by term, with equality at the latent whose coordinates attain the a_d. It is
in the box because its coordinates are independent. a: z_d w_d rises or falls with z_d throughout. b: (z_d - p_d)^2
falls up to p_d and rises after it. c: expand; |z|^2 has the coefficient 1 - sum mu_j.

Z3 covers a coordinate, one more coordinate on a sum (any number by induction), and c for one to three anchors in inner
products.

Reference: docs/design.md, 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

Z, P, W, LOWER, UPPER = z3.Reals("z p w lower upper")
BOX = [LOWER <= Z, Z <= UPPER]


def _least(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < y, x, y)


def _greatest(x: z3.ArithRef, y: z3.ArithRef) -> z3.ArithRef:
    return z3.If(x < y, y, x)


def _square(x: z3.ArithRef) -> z3.ArithRef:
    return x * x


LINE = _least(LOWER * W, UPPER * W), _greatest(LOWER * W, UPPER * W)
OFF = _greatest(_greatest(z3.RealVal(0), LOWER - P), P - UPPER)
NEAR, FAR = _square(OFF), _greatest(_square(P - LOWER), _square(UPPER - P))
NEAREST = z3.If(P < LOWER, LOWER, z3.If(P > UPPER, UPPER, P))
FARTHEST = z3.If(_square(P - LOWER) > _square(UPPER - P), LOWER, UPPER)

A, F, B, SUM, LEAST, MOST = z3.Reals("a f b sum least most")


def _combined(anchors: int, total: int) -> Case:
    mu, zp, pp = (z3.RealVector(name, anchors) for name in ("mu", "zp", "pp"))
    zz, zk, kk = z3.Reals("zz zk kk")
    weighted = z3.Sum([mu[j] * (zz - 2 * zp[j] + pp[j]) for j in range(anchors)])
    constant = kk - z3.Sum([mu[j] * pp[j] for j in range(anchors)])
    form = zk - z3.Sum([mu[j] * zp[j] for j in range(anchors)])
    says = f"c. a linear form, {anchors} anchors, any dimension, multipliers that sum to {total}"
    return Case(says, [z3.Sum(mu) == total], (zz - 2 * zk + kk) - weighted == constant - 2 * form)


def _polynomial(says: str, given: Sequence[z3.BoolRef], claim: z3.BoolRef) -> Case:
    return Case(says, given, claim, tactic=NLSAT)


LEMMA = Lemma(
    rules=("domain", "picture"),
    code=("verale/checker/reading/space.py", "verale/checker/reading/evaluation.py", "verale/bounds/domain.py"),
    cases=(
        _polynomial("a. a coordinate", BOX, z3.And(LINE[0] <= Z * W, Z * W <= LINE[1])),
        _polynomial("b. a coordinate", BOX, z3.And(NEAR <= _square(Z - P), _square(Z - P) <= FAR)),
        _polynomial(
            "b. attained in the box",
            [LOWER <= UPPER],
            z3.And(
                LOWER <= NEAREST,
                NEAREST <= UPPER,
                _square(NEAREST - P) == NEAR,
                _square(FARTHEST - P) == FAR,
            ),
        ),
        _polynomial(
            "b. a box without an upper end",
            [LOWER <= Z],
            _square(_greatest(z3.RealVal(0), LOWER - P)) <= _square(Z - P),
        ),
        _polynomial(
            "b. a box without a lower end",
            [Z <= UPPER],
            _square(_greatest(z3.RealVal(0), P - UPPER)) <= _square(Z - P),
        ),
        Case(
            "one more coordinate: any number of them",
            [A <= F, F <= B, LEAST <= SUM, SUM <= MOST],
            z3.And(
                LEAST + A <= SUM + F,
                SUM + F <= MOST + B,
                z3.Implies(z3.And(SUM == LEAST, F == A), SUM + F == LEAST + A),
            ),
        ),
        *(_combined(anchors, 1) for anchors in (1, 2, 3)),
    ),
    twins=(
        _polynomial("a. the lower end of z for every sign of w", BOX, LOWER * W <= Z * W),
        _polynomial(
            "b. the nearer end of the box for the least distance",
            BOX,
            _least(_square(P - LOWER), _square(UPPER - P)) <= _square(Z - P),
        ),
        _polynomial("b. the upper end of z for the greatest distance", BOX, _square(Z - P) <= _square(UPPER - P)),
        _combined(2, 0),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
