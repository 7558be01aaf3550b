"""Statements about the k greatest activations: how small can the other activations be?

**Published** (top-k explanations, as docs/design.md reports them): at least 0.
**Corrected.** It is the least value of the similarity over the head's domain: -1 for cosines of latents of any sign,
and -|p^-| for a unit p and latents without negative entries, p^- the vector of p's negative parts; for negated squared
distances over a box -sum_i max((p_i - lo)^2, (hi - p_i)^2). 0 holds only for similarities that are never negative, as
ln((d^2 + 1) / (d^2 + e)) with e < 1 is.
*Proof.* A maximum over patches is at least any patch's similarity, so at least its infimum over the domain. <z, p> =
<z, p^+> - <z, p^-> >= -|z| |p^-|. (z_i - p_i)^2 is convex in z_i, so it is greatest at an end of [lo, hi], and each
coordinate has a term of its own.

The twin is a whole explanation: logits o_0 = a_0 + a_1 and o_1 = bias, cosines, a_0 stated, a_1 not, and a_1 <= a_0 by
the order clause. With 0 <= a_1 the class 0 would follow from a_0 > bias.

Reference: docs/design.md, 3.4 item 4.
"""

from __future__ import annotations

import z3

from ..lemma import Case, Lemma, main

STATED, OTHER, BIAS, LEAST, PRODUCT = z3.Reals("a_0 a_1 bias least zp")
Z = z3.RealVector("z", 3)
P, Q = z3.RealVector("p", 3), z3.RealVector("q", 3)


def _dot(left: list[z3.ArithRef], right: list[z3.ArithRef]) -> z3.ArithRef:
    return z3.Sum([x * y for x, y in zip(left, right, strict=True)])


UNIT = [_dot(Z, Z) == 1, _dot(P, P) == 1, _dot(Q, Q) == 1]
ACTIVATIONS = [STATED == _dot(Z, P), OTHER == _dot(Z, Q), OTHER <= STATED, STATED > BIAS]
DECIDED = STATED + OTHER > BIAS

# Latents without negative entries, p = (p_0, -p_1, -p_2) with p_i >= 0, and norm = |p^-|.
NORM = z3.Real("norm")
ORTHANT = [*(x >= 0 for x in (*Z, *P)), NORM >= 0, NORM * NORM == P[1] * P[1] + P[2] * P[2], _dot(Z, Z) == 1]
LOW, HIGH, POINT, CENTRE = z3.Reals("lo hi z p")
NEAR, FAR = (POINT - CENTRE) * (POINT - CENTRE), [(CENTRE - LOW) * (CENTRE - LOW), (HIGH - CENTRE) * (HIGH - CENTRE)]
BOX = [POINT >= LOW, POINT <= HIGH]

LEMMA = Lemma(
    rules=("top_k, sparse",),
    code=("verale/checker/reading/paradigms.py", "verale/checker/reading/space.py"),
    cases=(
        Case(
            "with the least value over the domain instead",
            [STATED > BIAS - LEAST, OTHER >= LEAST, OTHER <= STATED],
            DECIDED,
        ),
        Case("cosines are -1 at least: |z + p|^2 >= 0, any dimension", [2 + 2 * PRODUCT >= 0], PRODUCT >= -1),
        Case(
            "cosines of latents without negative entries are -|p^-| at least, three dimensions",
            ORTHANT,
            Z[0] * P[0] - Z[1] * P[1] - Z[2] * P[2] >= -NORM,
            "qfnra-nlsat",
        ),
        Case("squared distances in a box, each coordinate", BOX, z3.Or(NEAR <= FAR[0], NEAR <= FAR[1]), "qfnra-nlsat"),
    ),
    twins=(
        Case("what 0 would prove (as published)", [*UNIT, *ACTIVATIONS, BIAS >= 0], DECIDED, "qfnra-nlsat"),
        Case(
            "the one of errata.md",
            [*UNIT, *ACTIVATIONS, Z[0] == 1, P[0] == 1, Q[0] == z3.Q(-4, 5), Q[1] == z3.Q(3, 5), BIAS == z3.Q(1, 2)],
            DECIDED,
            "qfnra-nlsat",
        ),
        Case("negated squared distances are not negative", BOX, -NEAR >= 0, "qfnra-nlsat"),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
