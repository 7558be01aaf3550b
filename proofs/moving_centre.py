"""The moving centre of `hypersphere`: which t is best, and that every t is sound.

Distances. Let c = sum w_i p_i with sum w_i = 1, |z - c| = rho, |z - p| = d, x = |p - c|^2 > 0 and c' = (1 - t) c + t p.

a. The weights (1 - t) w_i and t sum to one, for any t; rounded in any way, they do if the last is one minus the sum
   of the others.
b. |z - c'|^2 = (1 - t) rho^2 + t d^2 - t (1 - t) x, for any t.
c. t = 1/2 + (rho^2 - d^2) / (2 x) minimises this, and c' is the foot of the plane in which the spheres about c and p
   intersect: z - c' is orthogonal to p - c for every such z. It need not lie between c and p.

e. Corollary 1, the radius shrinks monotonically: about the foot it is |z - c'|^2 = rho^2 - t^2 x, so it
   never grows, and stays only where t = 0, that is, where the statement about p says what rho says already.

Cosines. Let |q| = 1, <u, c> = s, <u, q> = m, g = <c, q>, x = |c|^2 - g^2 > 0, a = (s - m g) / x and
b = (m |c|^2 - s g) / x.

d. c' = a c + b q is the projection of u on the span of c and q: <c', c> = s, <c', q> = m. Its square is a s + b m.

Proof. a is a sum. b is `ball_identity` for the two anchors c and p. c: b is x t^2 + (d^2 - rho^2 - x) t + rho^2, least
where 2 x t = x + rho^2 - d^2; 2 <z - c, p - c> = rho^2 + x - d^2 = 2 t x, so <z - c', p - c> = <z - c, p - c> - t x =
0. e: c in b, with d^2 = rho^2 + x - 2 t x. d: a |c|^2 + b g = s and a g + b = m are linear
equations with determinant x; <c', c'> = a <c', c> + b <c', q>.

Only a and b matter for soundness; c, d and e say why the rule moves the centre there. Z3 covers all of it in inner
products, hence in any dimension, and a for one more anchor, hence for any number of them.

The first twin cuts t to [0, 1]; then c' is not a foot.

Reference: docs/design.md, 3.1, 3.4; Soria et al., arXiv 2511.16588 (hypersphere intersection approximation) and
2608.16773; e is "Corollary 1: the radius shrinks monotonically" for distances.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

T, SUM, ROUNDED, ONE, LAST = z3.Reals("t sum rounded one last")

ZZ, ZP, PP = z3.Reals("zz zp pp")
"""Inner products of z - c and p - c; |p - c|^2 = PP is x."""
D2 = ZZ - 2 * ZP + PP
MOVED = ZZ - 2 * T * ZP + T * T * PP
REACHED = (1 - T) * ZZ + T * D2 - T * (1 - T) * PP
FOOT = [PP > 0, 2 * PP * T == PP + ZZ - D2]
OTHER = z3.Real("other")
AT_OTHER = (1 - OTHER) * ZZ + OTHER * D2 - OTHER * (1 - OTHER) * PP

CUT = z3.If(T < 0, 0, z3.If(T > 1, 1, T))

S, M, G, CC, A, B = z3.Reals("s m g cc a b")
X = CC - G * G
SOLVED = [X > 0, A * X == S - M * G, B * X == M * CC - S * G]
SQUARE = A * A * CC + 2 * A * B * G + B * B

LEMMA = Lemma(
    rules=("search",),
    code=("verale/bounds/hypersphere.py",),
    cases=(
        Case("a. the weights' sum", [SUM == 1], (1 - T) * SUM + T == 1),
        Case("a. rounded, the last one minus the others", [LAST == ONE - ROUNDED], ROUNDED + LAST == ONE),
        Case("b. |z - c'|^2 for any t", [], MOVED == REACHED),
        Case("c. it is least", FOOT, REACHED <= AT_OTHER, tactic=NLSAT),
        Case("c. the foot", FOOT, ZP - T * PP == 0, tactic=NLSAT),
        Case("e. Corollary 1: the radius about the foot", FOOT, REACHED == ZZ - T * T * PP, tactic=NLSAT),
        Case("e. Corollary 1: it shrinks", [*FOOT, T != 0], REACHED < ZZ, tactic=NLSAT),
        Case(
            "d. it has the products of u with c and q",
            SOLVED,
            z3.And(A * CC + B * G == S, A * G + B == M),
            tactic=NLSAT,
        ),
        Case("d. its square", [A * CC + B * G == S, A * G + B == M], SQUARE == A * S + B * M, tactic=NLSAT),
    ),
    twins=(
        Case("c. the foot lies between c and p", [*FOOT, ZZ * PP >= ZP * ZP], ZP - CUT * PP == 0, tactic=NLSAT),
        Case(
            "a. weights rounded each for itself", [SUM == 1, ROUNDED <= (1 - T) * SUM, LAST <= T], ROUNDED + LAST == 1
        ),
        Case("b. without the last term", [PP > 0, ZZ >= 0, D2 >= 0], MOVED == (1 - T) * ZZ + T * D2, tactic=NLSAT),
        Case("e. it shrinks wherever the centre moves to", [PP > 0, T > 0, T < 1], REACHED <= ZZ, tactic=NLSAT),
        Case("d. each of c and q taken for itself", SOLVED, z3.And(A * CC == S, B == M), tactic=NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
