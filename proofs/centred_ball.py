"""Inner products about the centre of the domain. Let z lie in [lower, upper]^D, c = (m, ..., m) with m the middle, h
half an edge, v = z - c.

a. |v|^2 <= D h^2, attained at the corners; so z is in the ball about c with that radius squared. This and |z| <= R
   both hold, so the smaller ball may be used.
b. <z, p> = <c, p> + <v, p>, <c, p> = m sum_d p_d, and beta_i = <z, p_i> - <c, p_i> = <v, p_i>. So a statement about
   <z, p_i> is one about <v, p_i>.
c. |v| <= R gives |<v, p>| <= R |p|, attained by v = R p / |p| and v = -R p / |p|.

Proof. |z_d - m| <= h in each coordinate. b is linear in z. c is Cauchy and Schwarz.

Z3 covers a coordinate of a and one more of them, a in two dimensions as a whole, b in inner products and c in the Gram
matrix, which is any dimension.

Reference: docs/design.md, 3.1; certificates/v1.md, `projection`.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

LOWER, UPPER, SUM, COUNT, R = z3.Reals("lower upper sum count r")
Z = z3.RealVector("z", 2)
MIDDLE, HALF = (LOWER + UPPER) / 2, (UPPER - LOWER) / 2
BOX = [LOWER <= Z[0], Z[0] <= UPPER]
SQUARE = [*BOX, LOWER <= Z[1], Z[1] <= UPPER]


def _from(centre: z3.ArithRef, entry: z3.ArithRef) -> z3.ArithRef:
    return (entry - centre) * (entry - centre)


ZP, CP, ZK, CK, TAU, VV, VP, PP, WHOLE, LENGTH, SHARE = z3.Reals("zp cp zk ck tau vv vp pp whole length share")
C, V, P = z3.Reals("c v p")

LEMMA = Lemma(
    rules=("quadratic",),
    code=("verale/checker/reading/space.py", "verale/checker/reading/space.py", "verale/bounds/projection.py"),
    cases=(
        Case("a. a coordinate", BOX, _from(MIDDLE, Z[0]) <= HALF * HALF, tactic=NLSAT),
        Case(
            "a. one more coordinate: any number of them",
            [*BOX, SUM <= COUNT * HALF * HALF],
            SUM + _from(MIDDLE, Z[0]) <= (COUNT + 1) * HALF * HALF,
            tactic=NLSAT,
        ),
        Case("a. two dimensions", SQUARE, _from(MIDDLE, Z[0]) + _from(MIDDLE, Z[1]) <= 2 * HALF * HALF, tactic=NLSAT),
        Case("a. attained at a corner", [LOWER <= UPPER], 2 * _from(MIDDLE, UPPER) == 2 * HALF * HALF, tactic=NLSAT),
        Case(
            "b. what a multiplier explains of <z, k>, about c and about 0",
            [],
            (ZK - CK) - TAU * (ZP - CP) == ZK - TAU * ZP - (CK - TAU * CP),
        ),
        Case(
            "c. in the ball",
            [VV >= 0, PP >= 0, VP * VP <= VV * PP, R >= 0, VV <= R * R, WHOLE >= 0, WHOLE * WHOLE >= R * R * PP],
            z3.And(CP - WHOLE <= CP + VP, CP + VP <= CP + WHOLE),
            tactic=NLSAT,
        ),
        Case(
            "c. attained",
            [LENGTH > 0, LENGTH * LENGTH == PP, R >= 0, SHARE * LENGTH == R],
            z3.And(SHARE * SHARE * PP == R * R, SHARE * PP == R * LENGTH),
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case(
            "a. the radius of one coordinate for two",
            SQUARE,
            _from(MIDDLE, Z[0]) + _from(MIDDLE, Z[1]) <= HALF * HALF,
            tactic=NLSAT,
        ),
        Case("a. the ball about 0 with half an edge", BOX, Z[0] * Z[0] <= HALF * HALF, tactic=NLSAT),
        Case(
            "b. statements about z taken for statements about z - c",
            [],
            (ZK - CK) - TAU * (ZP - CP) == ZK - TAU * ZP - CK,
        ),
        Case(
            "c. about 0 with the radius about c, on a line",
            [R >= 0, V * V <= R * R, WHOLE >= 0, WHOLE * WHOLE == R * R * P * P],
            (C + V) * P <= WHOLE,
            tactic=NLSAT,
        ),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
