"""Similarities of patches minus their mean, a = max_l g_l - mean_l g_l: what follows from statements about some
patches.

**Released** (the explanations of ProtoPool, as docs/design.md reports them): the mean of the explained image is
used, although it is not stated: a >= max of the stated g_l - that mean.
**Corrected.** With g_l in [lo_l, hi_l], the domain's range for an unstated patch, and t = max_l lo_l,
    a >= t - mean_l min(hi_l, t),
attained at g_l = min(hi_l, t). With one patch stated, and the others possibly as similar, that is 0.
*Proof.* a = mean_l (m - g_l), m = max_l g_l >= t. m - g_l >= m - min(hi_l, m) = max(0, m - hi_l) >= max(0, t - hi_l) =
t - min(hi_l, t). At g_l = min(hi_l, t), which is at least lo_l, the maximum is t: the patch of the greatest lo has
hi >= lo = t.

Z3 proves it for two and three patches. The form S(min d^2) - S(mean d^2) of ProtoPool's code fails in the same way:
if both patches are at the prototype, it is 0.

Reference: docs/design.md, 3.4 item 5; docs/heads.md, 17.
"""

from __future__ import annotations

import z3

from ..lemma import Case, Lemma, main


def _greatest(values: list[z3.ArithRef]) -> z3.ArithRef:
    greatest = values[0]
    for value in values[1:]:
        greatest = z3.If(value > greatest, value, greatest)
    return greatest


def _least(value: z3.ArithRef, other: z3.ArithRef) -> z3.ArithRef:
    return z3.If(value < other, value, other)


def _cases(patches: int) -> tuple[Case, Case]:
    """The bound, and that it is attained."""
    g, lo, hi = (z3.RealVector(name, patches) for name in ("g", "lo", "hi"))
    within = [z3.And(low <= value, value <= high) for low, value, high in zip(lo, g, hi, strict=True)]
    top = _greatest(lo)
    focal = patches * _greatest(g) - z3.Sum(g)
    bound = patches * top - z3.Sum([_least(high, top) for high in hi])
    at = [value == _least(high, top) for value, high in zip(g, hi, strict=True)]
    ordered = [low <= high for low, high in zip(lo, hi, strict=True)]
    return (
        Case(f"the bound, {patches} patches", within, focal >= bound),
        Case(f"it is attained, {patches} patches", [*ordered, *at], z3.And(*within, focal == bound)),
    )


G, MEAN = z3.RealVector("g", 2), z3.Real("mean")
IMAGE = z3.Real("image")  # the similarity of the second patch of the image that is explained
STATED = [G[0] == 1, G[1] >= 0, G[1] <= 1, IMAGE >= 0, IMAGE <= 1, 2 * MEAN == 1 + IMAGE]
FOCAL = 2 * _greatest(G) - z3.Sum(G)

LEMMA = Lemma(
    rules=("pooling",),
    code=("verale/checker/reading/pooling.py", "verale/checker/reading/pooling.py"),
    cases=(*_cases(2), *_cases(3)),
    twins=(
        Case("the image's own mean, which is not stated", STATED, FOCAL >= 2 * (1 - MEAN)),
        Case("the one of errata.md", [*STATED, IMAGE == 0, G[1] == 1], FOCAL >= 2 * (1 - MEAN)),
    ),
)

if __name__ == "__main__":
    main(LEMMA)
