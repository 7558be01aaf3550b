"""Missing ends of what is stated about a patch: ends that the space and the other statements imply stand for them.

Products. Let |v| <= R. Then -R |p| <= <v, p> <= R |p|. A squared distance is 0 at least.

Near. If |y - p_i| <= s then |y - p_j| <= s + |p_i - p_j|; so (s + t)^2 stands for the upper end of |y - p_j|^2, where s
and t are no less than the root of the stated upper end and than |p_i - p_j|.

Far. Let h_j = (s + r_j)^2, s^2 >= M, r_j no less than any |p_j - p_k|. If |y - p_k|^2 >= L_k wherever all stated j have
|y - p_j|^2 <= h_j, then |y - p_k|^2 >= min(L_k, M) for all y. And if M is the greatest lower end that is stated, some y
has |y - p_k|^2 = M and satisfies all lower ends: the one above p_k, at the height M^(1/2) along a coordinate that is 0
in every prototype. It keeps all |y - p_j|^2 <= h_j too.

Proof. Products: Cauchy and Schwarz. Near: the triangle inequality. Far: where not all |y - p_j|^2 <= h_j, some
|y - p_j| > s + r_j, so |y - p_k| >= |y - p_j| - |p_j - p_k| > s, whose square is M at least. The y above p_k has
|y - p_j|^2 = |p_k - p_j|^2 + M >= M, and M is no less than any lower end.

Only inner products occur, so this holds in any dimension. Z3 has the entries of the Gram matrix of y - p_i and p_j -
p_i, or of v and p, as free numbers of which it uses only that the matrix is positive semidefinite. It proves far for
one stated j; of several, the one that breaks its end is enough.
"""

from __future__ import annotations

import z3

from .lemma import Case, Lemma, least, main

_NLSAT = "qfnra-nlsat"

VV, VP, PP, R, SIZE, REACH = z3.Reals("vv vp pp r size reach")
BALL = [VV >= 0, PP >= 0, VV * PP >= VP * VP, R >= 0, VV <= R * R, SIZE >= 0, SIZE * SIZE == PP, REACH >= R * SIZE]
"""v and p; |p|, and R |p| rounded up."""

S, T, H, BB, VB, D = z3.Reals("s t h bb vb d")
_GRAM = [VV >= 0, BB >= 0, VV * BB >= VB * VB]
"""v = y - p_i and b = p_j - p_i: |y - p_j|^2 is VV - 2 VB + BB."""
_OTHER = VV - 2 * VB + BB
NEAR = [*_GRAM, VV <= H, S >= 0, S * S >= H, T >= 0, T * T >= BB]

M, L, LOW, NEXT, OTHER = z3.Reals("m l low next other")
FAR = [*_GRAM, S >= 0, S * S >= M, T >= 0, T * T >= BB, z3.Implies(_OTHER <= (S + T) * (S + T), VV >= L)]
"""v = y - p_k and b = p_j - p_k: |y - p_k|^2 is VV."""
ABOVE = [BB >= 0, M >= 0, M >= LOW, S >= 0, S * S >= M, T >= 0, T * T >= BB]
"""y is at the height M^(1/2) above p_k: |y - p_k|^2 is M, and |y - p_j|^2 is BB + M."""

LEMMA = Lemma(
    rules=("quadratic",),
    code=("verale/checker/reading/facts.py",),
    cases=(
        Case("products in a ball", BALL, z3.And(-REACH <= VP, VP <= REACH), tactic=_NLSAT),
        Case("near", NEAR, _OTHER <= (S + T) * (S + T), tactic=_NLSAT),
        Case("far", FAR, VV >= least(L, M), tactic=_NLSAT),
        Case("far: the point above satisfies the lower ends", ABOVE, BB + M >= LOW),
        Case("far: the point above keeps the other ends", ABOVE, BB + M <= (S + T) * (S + T), tactic=_NLSAT),
    ),
    twins=(
        Case("near, squares added", [*NEAR, S * S == H, T * T == BB], _OTHER <= H + BB, tactic=_NLSAT),
        Case("near, on the other side", NEAR, _OTHER <= H, tactic=_NLSAT),
        Case("far, with nothing taken off", FAR, VV >= L, tactic=_NLSAT),
        Case(
            "far, from ends no farther than M",
            [*FAR[:-1], z3.Implies(_OTHER <= M, VV >= L)],
            VV >= least(L, M),
            tactic=_NLSAT,
        ),
        Case("products beyond the ball", [*BALL[:4], *BALL[5:]], VP <= REACH, tactic=_NLSAT),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
