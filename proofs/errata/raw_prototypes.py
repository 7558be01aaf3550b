"""The range of the cosine of z and p_1, given the cosine s of z and p_0: prototypes as stored, or of length one.

**Released** (the spherical hypersphere paradigm, as docs/design.md reports it): <p_0, p_1> of the stored prototypes is
taken for the cosine of their angle.
**Corrected.** With n_i = |p_i| and g = <p_0, p_1>, the cosine m of z and p_1 has
    (n_0 n_1 m - s g)^2 <= (1 - s^2) (n_0^2 n_1^2 - g^2),
which for n_0 = n_1 = 1 is the released form.
*Proof.* With u_i = p_i / n_i, c = <u_0, u_1> and z a unit vector, z - s u_0 and u_1 - c u_0 are orthogonal to u_0,
their squares are 1 - s^2 and 1 - c^2, their product is m - s c; Cauchy and Schwarz, and g = n_0 n_1 c.

In coordinates u_0 = (1, 0), u_1 = (c, h), z = (s, y) and w along all that is orthogonal to both.

Reference: docs/design.md, 3.4 item 5; docs/heads.md, 17.
"""

from __future__ import annotations

import z3

from ..lemma import Case, Lemma, main

C, H, S, Y, W, N0, N1 = z3.Reals("c h s y w n0 n1")
UNIT = [C * C + H * H == 1, H >= 0, S * S + Y * Y + W * W == 1]
M, G = S * C + Y * H, N0 * N1 * C
LENGTHS = [N0 > 0, N1 > 0]
AS_STORED = (M - S * G) * (M - S * G) <= (1 - S * S) * (1 - G * G)
CORRECTED = (N0 * N1 * M - S * G) * (N0 * N1 * M - S * G) <= (1 - S * S) * (N0 * N0 * N1 * N1 - G * G)

LEMMA = Lemma(
    rules=("search",),
    code=("verale/checker/reading/facts.py",),
    cases=(
        Case("any lengths, each divided by", [*UNIT, *LENGTHS], CORRECTED, "qfnra-nlsat"),
        Case("length one", [*UNIT, N0 == 1, N1 == 1], AS_STORED, "qfnra-nlsat"),
    ),
    twins=(
        Case(
            "the one of errata.md: length one half",
            [*UNIT, N0 == z3.Q(1, 2), N1 == z3.Q(1, 2), S == z3.Q(4, 5), C == z3.Q(3, 5), Y == z3.Q(3, 5)],
            AS_STORED,
            "qfnra-nlsat",
        ),
        Case("as stored, any lengths", [*UNIT, *LENGTHS, G * G <= 1], AS_STORED, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
