"""The least size of an explanation under `top_k`: what a weighting of the rivals excludes.

An *explanation* states intervals of some activations, T, and perhaps a ceiling and a floor, each with a list of
prototypes that it exempts; each of these counts 1. All that it states is true of one image, and all its reference
margins (certificates/v1.md, `top_k`, linear readouts) for a class p are positive. How small can it be? What any checker
proves is such an explanation, as no margin that the rules prove exceeds the reference margin.

A **cell** is a set of explanations: those whose ceiling u lies in [u1, u2] and whose floor v in [v1, v2], where an
infinite u or v stands for none. Its *cost* is the number of clauses that all of them have: 1 if u2 is finite, and 1 if
v1 is.

**Rule.** Let a_j lie in [l_j, h_j] at the image, and let its reference range over the domain be [L_j, H_j]. Let
    hi_j = min(H_j, max(u1, l_j)) if l_j <= u2, else H_j;    lo_j = max(L_j, min(v2, h_j)) if h_j >= v1, else L_j.
For a rival c let D = W_p - W_c, worst_j = D_j lo_j if D_j > 0, else D_j hi_j, gain_j = max(0, D_j a_j - worst_j),
with D_j a_j replaced by its greatest value, and need = -(b_p - b_c) - sum_j worst_j. Take weights y_c >= 0 of rivals
with need_c > 0. If the sum of the t greatest of
    s_j = sum_c y_c min(gain_cj, need_c)    is less than    sum_c y_c need_c,
then every explanation of the cell has more than t statements about activations: its size is at least t + 1 + cost.

*Proof.* Take an explanation of the cell and a rival c. Each activation has a range, given what is
stated (`top_k.py`):
(a) of j in T it contains the image's a_j, because all that is stated is true. So the least D_j a over the range is at
    most worst_j + gain_j.
(b) of any other j it contains [lo_j, hi_j], or its least D_j a is at most worst_j in any case: its upper end is H_j,
    unless the ceiling binds j. Then a_j <= u, as the ceiling is true; so l_j <= u <= u2, and the upper end is at least
    min(H_j, u) >= min(H_j, max(u1, l_j)) = hi_j. Likewise its lower end is at most lo_j.
The reference margin is the sum of these least values and b_p - b_c, and it is positive. So sum over T of
gain_cj > need_c. If need_c > 0, then sum over T of min(gain_cj, need_c) >= need_c: either one term is need_c, or no
term is cut. Multiply by y_c and add: the sum of s_j over T is at least sum_c y_c need_c. If T had at most t members,
that sum would be at most that of the t greatest s_j, as no s_j is negative: a contradiction. The clauses that every
explanation of the cell has count besides.

Rounding: (a) and (b) hold for any worst_j that is no less than the real one, so lo_j is rounded up and hi_j down: L, v2
and h up, H, u1 and l down. The conditions l_j <= u2 and h_j >= v1 may hold where the real ones do not, which narrows
[lo_j, hi_j]: so u2 is rounded up, and v1 down. The greatest D_j a_j is that of l_j or h_j, so gain_j is no less than
the real one; and need is rounded down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from operator import sub

from ..dyadic import ceil_at, floor_at
from ..head import Head
from .margin import lower_bound
from .pooling import Box

__all__ = ["Cell", "excludes"]


@dataclass(frozen=True)
class Cell:
    """Explanations whose ceiling lies in [u1, u2] and whose floor lies in [v1, v2]; None is the infinite end."""

    u1: Fraction | None = None
    u2: Fraction | None = None
    v1: Fraction | None = None
    v2: Fraction | None = None

    @property
    def cost(self) -> int:
        """How many clauses all of them have."""
        return (self.u2 is not None) + (self.v1 is not None)

    def box(self, domain: Box, image: Box) -> Box:
        """The ranges [lo_j, hi_j], rounded inward, given [L_j, H_j], inward, and [l_j, h_j], outward, on one grid."""
        bits = domain.bits
        u1, v1 = (None if end is None else floor_at(end, bits) for end in (self.u1, self.v1))
        u2, v2 = (None if end is None else ceil_at(end, bits) for end in (self.u2, self.v2))
        lower, upper = list(domain.lower), list(domain.upper)
        for j, (low, high) in enumerate(zip(image.lower, image.upper, strict=True)):
            if u2 is None or low <= u2:
                upper[j] = min(upper[j], low if u1 is None else max(u1, low))
            if v1 is None or high >= v1:
                lower[j] = max(lower[j], high if v2 is None else min(v2, high))
        return Box(lower, upper, bits, True)


def excludes(
    head: Head, predicted: int, domain: Box, image: Box, cell: Cell, weights: Mapping[int, int], count: int
) -> bool:
    """Whether every explanation of a cell has more than `count` statements about activations, by these weights.

    Args:
        head: one with a linear readout.
        predicted: the class that is explained.
        domain: the activations' ranges over the domain, rounded inward.
        image: their ranges at the image, rounded outward, on the same grid.
        cell: the cell.
        weights: y_c >= 0 by rival.
        count: t.
    """
    box = cell.box(domain, image)
    sums, total = [0] * head.count, 0
    for rival, weight in weights.items():
        need, gains = _need_and_gains(head, predicted, rival, box, image)
        if need > 0:
            total += weight * need
            sums = [s + weight * min(gain, need) for s, gain in zip(sums, gains, strict=True)]
    return sum(sorted(sums, reverse=True)[:count]) < total


def _need_and_gains(head: Head, predicted: int, rival: int, box: Box, image: Box) -> tuple[int, list[int]]:
    """need and gain_j for one rival, in units of 2^-(the bits of the weights and of the grid)."""
    unit = head.weight.bits + box.bits
    differences = map(sub, head.weight.rows[predicted], head.weight.rows[rival])
    ends = zip(differences, box.lower, box.upper, image.lower, image.upper, strict=True)
    gains = [max(0, d * (high - lo) if d > 0 else d * (low - hi)) for d, lo, hi, low, high in ends]
    return floor_at(-lower_bound(head, box, predicted, rival), unit), gains
