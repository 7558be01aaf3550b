"""Products with a vector of bounded length, and with one that has no negative coordinate: let |z| <= R. Then |<z, A>|
<= R |A|; and if z >= 0, with A+ and A- the positive and the negative part of A (A = A+ - A-, both >= 0, never both
positive in one coordinate),

    -R |A-| <= <z, A> <= R |A+|.

Both ends are attained, by z = R A+ / |A+| and z = R A- / |A-| if A+ and A- are not 0, and by z = 0 otherwise.

If z <= 0, the same holds of -z and -A, whose product is that of z and A:

    -R |A+| <= <z, A> <= R |A-|.

And if |z| = 1, z >= 0 and no coordinate of A is positive, then <z, A> <= t, the greatest coordinate of A, attained on
its axis; if none is negative, <z, A> is at least the least one.

Proof. Cauchy and Schwarz. If z >= 0, then <z, A-> >= 0 and <z, A+> >= 0, so <z, A> <= <z, A+> <= |z| |A+| and <z, A> >=
-<z, A-> >= -|z| |A-|. <A+, A-> = 0, and R A+ / |A+| >= 0. Of a z >= 0 with |z| = 1 the sum is at least 1,
because (sum z_d)^2 >= sum z_d^2; so <z, A> <= t sum z_d <= t where t <= 0. The last claim is that of -A.

Z3 covers the last part coordinate by coordinate. It covers the rest in inner products of z, A+ and A-, hence in any
dimension; it uses only <z, A+> >= 0, <z, A-> >= 0 and two minors of the Gram matrix. It proves for one coordinate
that these signs follow from z >= 0, which is enough because they are sums. The domain's range of a cosine is this
lemma at R = 1 (`unit_ball`). Roots are numbers whose squares are at least the given ones. Reference: docs/design.md,
3.1.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, main

NLSAT = "qfnra-nlsat"

ZZ, ZPLUS, ZMINUS, PLUS, MINUS, R, REACH, BELOW = z3.Reals("zz z_plus z_minus plus minus r reach below")
"""|z|^2, <z, A+>, <z, A->, |A+|^2, |A-|^2, R, and what is put for R |A+| and R |A-|."""
CAUCHY = [ZPLUS * ZPLUS <= ZZ * PLUS, ZMINUS * ZMINUS <= ZZ * MINUS]
LENGTHS = [ZZ >= 0, PLUS >= 0, MINUS >= 0, R >= 0, ZZ <= R * R, *CAUCHY]
ENDS = [REACH >= 0, REACH * REACH >= R * R * PLUS, BELOW >= 0, BELOW * BELOW >= R * R * MINUS]
PRODUCT = ZPLUS - ZMINUS

SUM, SQUARES, FORM, GREATEST = z3.Reals("sum squares form greatest")
"""Of a vector z >= 0: the sum of its coordinates and of their squares; <z, A>; the greatest coordinate of A."""
SO_FAR = [SUM >= 0, SQUARES >= 0, SUM * SUM >= SQUARES, FORM <= GREATEST * SUM]

Z, A, ZA, AA, WHOLE, LENGTH, SHARE = z3.Reals("z a za aa whole length share")
POSITIVE, NEGATIVE = z3.If(A > 0, A, 0), z3.If(A < 0, -A, 0)

LEMMA = Lemma(
    rules=("domain",),
    code=("verale/checker/reading/space.py", "verale/bounds/domain.py"),
    cases=(
        Case(
            "any z",
            [ZZ >= 0, AA >= 0, R >= 0, ZZ <= R * R, ZA * ZA <= ZZ * AA, WHOLE >= 0, WHOLE * WHOLE >= R * R * AA],
            z3.And(-WHOLE <= ZA, ZA <= WHOLE),
            tactic=NLSAT,
        ),
        Case(
            "z >= 0",
            [*LENGTHS, *ENDS, ZPLUS >= 0, ZMINUS >= 0],
            z3.And(-BELOW <= PRODUCT, PRODUCT <= REACH),
            tactic=NLSAT,
        ),
        Case(
            "a coordinate",
            [Z >= 0],
            z3.And(
                Z * A == Z * POSITIVE - Z * NEGATIVE,
                Z * POSITIVE >= 0,
                Z * NEGATIVE >= 0,
                POSITIVE * NEGATIVE == 0,
                A * A == POSITIVE * POSITIVE + NEGATIVE * NEGATIVE,
            ),
        ),
        Case(
            "attained by R A+ / |A+|: of the length R, with the product R |A+|, its coordinates not negative",
            [LENGTH > 0, LENGTH * LENGTH == PLUS, R >= 0, SHARE * LENGTH == R],
            z3.And(SHARE * SHARE * PLUS == R * R, SHARE * PLUS == R * LENGTH, SHARE * POSITIVE >= 0),
            tactic=NLSAT,
        ),
        Case(
            "z <= 0: the mirror image",
            [*LENGTHS, *ENDS, ZPLUS <= 0, ZMINUS <= 0],
            z3.And(-REACH <= PRODUCT, PRODUCT <= BELOW),
            tactic=NLSAT,
        ),
        Case(
            "z >= 0, one more coordinate: its sum, its squares, and <z, A>",
            [*SO_FAR, Z >= 0, A <= GREATEST],
            z3.And((SUM + Z) * (SUM + Z) >= SQUARES + Z * Z, FORM + Z * A <= GREATEST * (SUM + Z)),
            tactic=NLSAT,
        ),
        Case(
            "|z| = 1 and no coordinate of A is positive",
            [*SO_FAR, SQUARES == 1, GREATEST <= 0],
            FORM <= GREATEST,
            tactic=NLSAT,
        ),
    ),
    twins=(
        Case("the greatest coordinate where it is positive", [*SO_FAR, SQUARES == 1], FORM <= GREATEST, tactic=NLSAT),
        Case(
            "the greatest coordinate where |z| < 1",
            [*SO_FAR, SQUARES <= 1, GREATEST <= 0],
            FORM <= GREATEST,
            tactic=NLSAT,
        ),
        Case(
            "the ends of z >= 0 where z <= 0",
            [*LENGTHS, *ENDS, ZPLUS <= 0, ZMINUS <= 0],
            PRODUCT <= REACH,
            tactic=NLSAT,
        ),
        Case("without z >= 0", [*LENGTHS, *ENDS], PRODUCT <= REACH, tactic=NLSAT),
        Case(
            "one coordinate may be negative",
            [Z >= -1, Z * Z <= 1, A < 0],
            Z * A <= 0,
        ),
        Case("the two parts exchanged", [*LENGTHS, *ENDS, ZPLUS >= 0, ZMINUS >= 0], PRODUCT <= BELOW, tactic=NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
