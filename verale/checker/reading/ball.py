"""A ball that holds a patch's latent, and what it says of every observable: less than the best weights do, but of all
of them at once.

y, forms and facts are those of `facts`. Let g = sum v_i b_i, and e_j = sum l_ji b_i be nearly orthonormal: in no row do
the sizes of <e_i, e_j> - [i = j] sum to more than h. Let |<y - g, e_j>| <= d_j and |y - g| <= R for every y that
satisfies the facts.

**Rule.** For every vector b, with f_j = <b, e_j>,
    |<y, b> - <g, b>| <= |d| |f| + R (|b|^2 - |f|^2 + h |f|^2)^(1/2).
*Proof.* Let r = b - sum f_j e_j. Then <y - g, b> = sum f_j <y - g, e_j> + <y - g, r>, where the sum is at most |d| |f|
and the rest at most R |r| (Cauchy and Schwarz). And |r|^2 = |b|^2 - 2 |f|^2 + |sum f_j e_j|^2, where the last term is
at most (1 + h) |f|^2: the matrix of the <e_i, e_j> has no eigenvalue greater than its greatest row sum of sizes.

**Facts** say where y is. As b_0 = 0 and a_0 = 1, |y|^2 lies in [low_0, high_0], and 2 <y, b_i> = a_i |y|^2 - q_i(y) in
[a_i low_0 - high_i, a_i high_0 - low_i]. So each |<y - g, b_i>| is bounded, and with it d_j, the sum of these bounds
times |l_ji|; and |y - g|^2 = |y|^2 - sum v_i 2 <y, b_i> + |g|^2.

Any v and l are sound, so they come from code that need not be right (`weights`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from ..arithmetic import Rows
from ..dyadic import ceil_shift, dot, floor_shift
from .facts import Facts


@dataclass(frozen=True)
class Frame:
    """The foot g = sum v_i b_i, v_i at 2^-`foot_places`, and the vectors e_j = sum l_ji b_i, l_ji at 2^-`places`."""

    foot: list[int]
    foot_places: int
    basis: Rows
    places: int


def enclosures(facts: Facts, frame: Frame) -> list[tuple[int, int]]:
    """The range of every working observable, on the grid."""
    facts.look()
    lift, below, places = facts.lift, frame.foot_places, frame.places
    (least, most), basis = facts.ends[0], frame.basis
    # 2 <y, b_i> and 2 <g, b_i>, on the grid.
    twice = [(a * least - high, a * most - low) for a, (low, high) in zip(facts.curves, facts.ends, strict=True)]
    twice[0] = 0, 0
    feet = [dot(row, frame.foot) for row in facts.gram]
    off = [
        max(0, high - floor_shift(foot, lift + 1 - below), ceil_shift(foot, lift + 1 - below) - low)
        for (low, high), foot in zip(twice, feet, strict=True)
    ]
    parts = sum([v * (low if v > 0 else high) for v, (low, high) in zip(frame.foot, twice, strict=True)])
    square = most - floor_shift(parts, -below) + ceil_shift(dot(frame.foot, feet), lift - 2 * below)
    radius = isqrt(max(0, square) << lift) + 1  # R, at 2^-lift of the grid
    across = isqrt(sum([dot(map(abs, row), off) ** 2 for row in basis])) + 1  # |d|, at 2^-(places + 1) of the grid
    images, excess = [[dot(row, vector) for row in facts.gram] for vector in basis], 0  # h, at 2^-(2 places)
    for j, vector in enumerate(basis):
        facts.look()
        products = [dot(vector, image) for image in images]
        products[j] -= 1 << 2 * places
        excess = max(excess, sum(map(abs, products)))
    *along, middles = facts.sums([*basis, frame.foot])
    ranges = []
    for k, (middle, *shares) in enumerate(zip(middles, *along, strict=True)):  # |f| and |r| are at 2^-places
        share = dot(shares, shares)
        rest = (facts.squares[k] << 2 * places) - share - (-share * excess >> 2 * places)
        half = across * (isqrt(share) + 1) + (radius * (isqrt(max(0, rest)) + 1) << places + 1)
        half = ceil_shift(half, -2 * places - 1)
        low, high = floor_shift(middle, lift - below) - half, ceil_shift(middle, lift - below) + half
        if facts.distances:  # |y|^2 - 2 <y, b> + |b|^2
            low, high = least - 2 * high, most - 2 * low
        ranges.append((low + facts.constants[k], high + facts.constants[k]))
    return ranges
