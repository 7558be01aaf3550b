"""What one activation says of another, of distances and of cosines (pooling max). x_j is the pooled observable.

a. If S falls, S(t) > high and S(x) <= high, then x > t; and if S(t) < low and S(x) >= low, then x < t.
b. The roots of pooled squared distances differ by at most d = |p_j - p_k|, as those of each patch do.
c. With |r_j - r_k| <= d, D = d^2 and R >= (t D)^(1/2): r_k^2 >= t > D gives r_j^2 >= t + D - 2 R, and r_k^2 <= t gives
   r_j^2 <= t + D + 2 R.
d. Let |u| <= 1, and c the cosine of unit vectors p_j and p_k, -1 <= t <= 1, R >= ((1 - c^2)(1 - t^2))^(1/2). If
   <u, p_k> <= t < c then <u, p_j> <= c t + R; if <u, p_k> >= t > -c then <u, p_j> >= c t - R.
e. Both ends of d, R the root, move outward as c falls: the upper one for t < c, the lower one, which is minus the upper
   one at -t, for t > -c.
f. Reference ranges: roots differ by at most d just where r_j^2 + r_k^2 - D <= 2 r_j r_k; and of angles whose cosines
   are x and t and sines p and q, all x with c <= x t + p q are at most c t + R, which fits where t < c.

Proof. a: otherwise S(x) >= S(t), or S(x) <= S(t). b: the patch with the least distance to p_k has one of at most d
more to p_j, and likewise with j and k exchanged. c: r_j >= r_k - d >= t^(1/2) - d > 0, and r_j <= t^(1/2) + d; square.
d: with one coordinate more, 0 in p_j and p_k, u has the length 1. Angles on the sphere are a metric, so c t + R is at
least the cosine of the difference of the angles arccos t > arccos c, and c t - R at most that of their sum, which is
less than pi. e: the angle of c rises, and so the difference falls. f: square; x t + p q is the cosine of the
difference of the angles.

Z3 proves b for two patches, as more are pooled one by one; and d in a plane, which holds p_j, p_k and the projection of
u: <u, p_j> and <u, p_k> are those of the projection, whose length is at most 1.

Reference: `verale/checker/reading/lipschitz.py`.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, least, main

NLSAT = "qfnra-nlsat"

X, T, S_X, S_T, HIGH, LOW = z3.Reals("x t s_x s_t high low")
FALLS = [z3.Implies(X <= T, S_X >= S_T), z3.Implies(X >= T, S_X <= S_T)]

A_J, A_K, B_J, B_K, D = z3.Reals("a_j a_k b_j b_k d")
NEAR = [A_J - A_K <= D, A_K - A_J <= D, B_J - B_K <= D, B_K - B_J <= D]

R_J, R_K, R = z3.Reals("r_j r_k r")
POOLED = [D >= 0, R_J >= 0, R_K >= 0, R_J - R_K <= D, R_K - R_J <= D, T >= 0, R >= 0, R * R >= T * D * D]

U, V, C, S, Q = z3.Reals("u v c s q")
"""u = (U, V) in the plane of p_k = (1, 0) and p_j = (C, S); Q is the sine of t."""
PLANE = [U * U + V * V <= 1, C * C + S * S == 1, S >= 0, T * T + Q * Q == 1, Q >= 0]
COSINE = C * U + S * V

LESS, SINE, M = z3.Reals("less sine m")
"""The cosine c rounded down, t < LESS <= C, is (1 - M) t + M C."""
BETWEEN = [*PLANE[1:], 0 <= M, M <= 1, LESS == (1 - M) * T + M * C]
ON_ARC = LESS * LESS + SINE * SINE == 1
ABOVE = SINE >= (1 - M) * Q + M * S

E, P = z3.Reals("e p")
"""A cosine that fits T, and its sine."""
FIT = [*PLANE[1:], E * E + P * P == 1, P >= 0, C <= E * T + P * Q]
ROOTS = [D >= 0, R_J >= 0, R_K >= 0]
APART = R_J * R_J + R_K * R_K - D * D

LEMMA = Lemma(
    rules=("mixed", "minimality"),
    code=("verale/checker/reading/lipschitz.py", "verale/bounds/lipschitz.py"),
    cases=(
        Case("a. from an upper end", [*FALLS, S_T > HIGH, S_X <= HIGH], X > T),
        Case("a. from a lower end", [*FALLS, S_T < LOW, S_X >= LOW], X < T),
        Case(
            "b. pooled roots",
            NEAR,
            z3.And(least(A_J, B_J) - least(A_K, B_K) <= D, least(A_K, B_K) - least(A_J, B_J) <= D),
        ),
        Case("c. no nearer", [*POOLED, R_K * R_K >= T, T > D * D], R_J * R_J >= T + D * D - 2 * R, tactic=NLSAT),
        Case("c. no farther", [*POOLED, R_K * R_K <= T], R_J * R_J <= T + D * D + 2 * R, tactic=NLSAT),
        Case("d. no nearer", [*PLANE, U <= T, T < C], COSINE <= C * T + S * Q, tactic=NLSAT),
        Case("d. no farther", [*PLANE, U >= T, T > -C], COSINE >= C * T - S * Q, tactic=NLSAT),
        Case("e. the arc lies above its chord", [*BETWEEN, SINE >= 0, ON_ARC], ABOVE, tactic=NLSAT),
        Case("e. no nearer", [*BETWEEN, ABOVE], C * T + S * Q <= LESS * T + SINE * Q, tactic=NLSAT),
        Case("f. roots that fit", [*ROOTS, R_J - R_K <= D, R_K - R_J <= D], APART <= 2 * R_J * R_K, tactic=NLSAT),
        Case("f. no others", [*ROOTS, APART <= 2 * R_J * R_K], R_J - R_K <= D, tactic=NLSAT),
        Case("f. cosines that fit", [*FIT, T < C], E <= C * T + S * Q, tactic=NLSAT),
        Case(
            "f. the end fits",
            [*PLANE[1:], T < C, E == C * T + S * Q, P == C * Q - S * T],
            z3.And(P >= 0, C <= E * T + P * Q),
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case("a. where S is not less", [*FALLS, S_T >= HIGH, S_X <= HIGH], X > T),
        Case("c. nearer than D", [*POOLED, R_K * R_K >= T], R_J * R_J >= T + D * D - 2 * R, tactic=NLSAT),
        Case("d. beyond the prototype", [*PLANE, U <= T], COSINE <= C * T + S * Q, tactic=NLSAT),
        Case("d. beyond its opposite", [*PLANE, U >= T], COSINE >= C * T - S * Q, tactic=NLSAT),
        Case("f. cosines beyond the prototype", FIT, E <= C * T + S * Q, tactic=NLSAT),
        Case("f. the sum of the roots", [*ROOTS, APART <= 2 * R_J * R_K], R_J + R_K <= D, tactic=NLSAT),
        Case("e. rounded up", [*BETWEEN, ABOVE], C * T + S * Q >= LESS * T + SINE * Q, tactic=NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
