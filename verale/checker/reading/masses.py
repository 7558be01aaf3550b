"""The paradigm `simplex`: softmax masses of one patch are non-negative and sum to one.

Let low_i <= m_i <= high_i be stated for i in J, where a missing end is 0 or 1, and R = 1 - sum_J low_i, the mass that
the lows leave:
- an unstated mass lies in [0, R]; if it is the only unstated one, it is at least 1 - sum_J high_i;
- a stated mass lies in [low_i, min(1, high_i, low_i + R)]; if all are stated, it is at least 1 - sum of the other
  highs.
Every mass also lies in its range over the domain. Where that is [0, 1] for all of them, no end changes: the lower ones
are not below 0, R is not above 1, and the upper end of a stated mass is cut at 1.
*Proof.* Each mass is 1 minus the sum of the others. If R is negative, no latent satisfies the statements,
and any value is sound; it is 0 then.

**Inward** these ends are exact for stated ends that are rounded inward, if masses satisfy those: if R >= 0, every low_i
<= high_i and, where all are stated, the highs sum to at least 1. Where one of the last two fails, ends cross.

The heaviest matching of a matrix of integers: a witness for minimality, which needs no proof.

The paradigm `assignment`: a patch can give the mass it has left only once (softmax heads).

Activations and margins have the ranges of `simplex`. For a rival c whose margin these leave too small, write
w_k = W_ck - W_predicted,k; low_l and high_l for the stated ends of masses of patch l, 0 and 1 where one is missing; and
    R_l = max(0, 1 - sum of the lows stated at l), 1 where nothing is stated,
    o_k = max over the patches where k is stated of min(high, low + R_l), at least 0,
    x_lk = w_k (R_l - o_k)^+ where w_k > 0 and k is unstated at l.
**Rule.** For any prices v_k >= 0,
    sum_k w_k a_k <= sum_{w_k <= 0} w_k (lower end of a_k) + sum_{w_k > 0} (w_k o_k + v_k)
                     + sum_l max(0, max_k x_lk - v_k).
*Proof.* Write u_l for the last maximum: x_lk <= v_k + u_l. Let w_k > 0. A stated mass of k is at most o_k (`simplex`).
If a_k > o_k it is hence attained at a patch l(k) where k is unstated, by a mass m <= R_l, and since (m - o_k)^+ is
convex in m and 0 at m = 0,
    w_k (m - o_k) <= (m / R_l) w_k (R_l - o_k)^+ <= (m / R_l) (v_k + u_l) <= v_k + (m / R_l) u_l.
The masses unstated at one patch sum to at most R_l. Summed over all k with the same l(k) = l, these are at most the sum
of their v_k and once u_l. Where a_k <= o_k, v_k >= 0 is enough.

**Which is best.** Let M match patches to prototypes, each at most once. For any prices the right side is at least its
first two sums without the v_k plus sum_M x_lk, since x_lk <= v_k + u_l. So a matching that leaves a margin <= 0 shows
that no prices prove it; nor does `simplex`, which is the rule at v_k = max_l x_lk. Nothing here depends on how prices
or matchings are found.

**Inward.** For minimality all this is computed from ends that are rounded inward. Then R_l, o_k and minus the lower end
of a_k are at most the real ones, and what a matching leaves is at least what it really leaves: of R_l and o_k it takes,
for each k with w_k > 0, w_k o_k or w_k max(o_k, R_l), which do not fall with either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import sub
from typing import TypeAlias

from ..certificate import Certificate, PatchStatement
from ..dyadic import ceil_at, floor_at
from ..head import Head
from ..limit import Clock
from .margin import lower_bound
from .paradigms import by_patch
from .pooling import Box
from .space import Ranges, Space

__all__ = ["Assignment", "Simplex", "heaviest_matching"]

_Rounding: TypeAlias = Callable[[Fraction, int], int]


class Simplex:
    """Ranges of one patch of a softmax head."""

    def __init__(self, space: Space) -> None:
        self._space = space
        count, one = space.head.count, 1 << space.bits
        self._whole = space.domain == Ranges([0] * count, [one] * count)

    def pooled(self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool) -> None:
        """None: masses are pooled after their similarities."""

    def ranges(self, statements: Sequence[PatchStatement], quick: bool = False) -> Ranges:
        """The range of every mass of a patch, given its statements; none is quicker."""
        lower, upper, _ = self._ends(statements, floor_at, ceil_at)
        ranges = Ranges(lower, upper)
        return ranges if self._whole else ranges.met(self._space.domain)

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The same, rounded inward; None if one may be empty."""
        lower, upper, left = self._ends(statements, ceil_at, floor_at)
        domain = self._space.within
        return None if domain is None or not left else Ranges(lower, upper).met(domain).filled()

    def _ends(
        self, statements: Sequence[PatchStatement], lowest: _Rounding, highest: _Rounding
    ) -> tuple[list[int], list[int], bool]:
        """The ends that stated ones leave, and whether the lower ones leave any; of other contradictions ends cross."""
        bits, count = self._space.bits, self._space.head.count
        one = 1 << bits
        stated = {
            s.prototype: (
                0 if s.lower is None else max(0, lowest(s.lower, bits)),
                one if s.upper is None else highest(s.upper, bits),
            )
            for s in statements
        }
        lows = sum(low for low, _ in stated.values())
        rest = max(0, one - lows)
        highs = sum(high for _, high in stated.values())
        least = max(0, one - highs) if len(stated) == count - 1 else 0
        lower, upper = [least] * count, [rest] * count
        for prototype, (low, high) in stated.items():
            others = one - (highs - high) if len(stated) == count else 0
            lower[prototype] = max(low, others)
            upper[prototype] = min(one, high, low + rest)
        return lower, upper, lows <= one


def heaviest_matching(
    weights: Sequence[Sequence[int]], passed: Callable[[], None] = lambda: None
) -> list[tuple[int, int]]:
    """Pairs (row, column), each row and column at most once, of greatest total weight.

    Args:
        weights: a matrix of numbers >= 0.
        passed: called at each step of a path; may raise.

    Reference: Kuhn, The Hungarian method for the assignment problem (1955), by shortest augmenting paths.
    """
    columns = len(weights[0]) if weights else 0
    if len(weights) > columns:
        return [(row, column) for column, row in heaviest_matching(list(zip(*weights, strict=True)), passed)]
    # For the rows so far, weights[i][j] <= of_row[i] + of_column[j], with equality where j's partner is i.
    of_row, of_column, partner = [0] * len(weights), [0] * columns, [-1] * columns
    for entering, own in enumerate(weights):
        of_row[entering] = max(own)
        distance = [of_row[entering] + price - weight for price, weight in zip(of_column, own, strict=True)]
        before = [-1] * columns
        unvisited, visited = set(range(columns)), []
        while True:
            passed()
            column = min(unvisited, key=distance.__getitem__)
            unvisited.remove(column)
            row = partner[column]
            if row < 0:
                break
            visited.append(column)
            way, own = distance[column] + of_row[row], weights[row]
            for j in unvisited:
                reached = way + of_column[j] - own[j]
                if reached < distance[j]:
                    distance[j], before[j] = reached, column
        of_row[entering] -= distance[column]
        for j in visited:
            of_row[partner[j]] -= distance[column] - distance[j]
            of_column[j] += distance[column] - distance[j]
        while before[column] >= 0:
            partner[column] = partner[before[column]]
            column = before[column]
        partner[column] = entering
    return [(row, column) for column, row in enumerate(partner) if row >= 0]


class Assignment:
    """What prices prove about one certificate."""

    def __init__(self, space: Space, certificate: Certificate) -> None:
        self._head, self._certificate, self._clock = space.head, certificate, space.arithmetic.clock
        self._groups = [[statement for _, statement in group] for group in by_patch(certificate.statements).values()]
        self._left = _Left.of(self._groups, certificate.patches, space.bits)
        self._without: tuple[int, _Left] = -1, self._left
        self._matchings: dict[int, list[tuple[int, int]]] = {}

    def margins(self, box: Box, simplex: Sequence[Fraction | None]) -> tuple[Fraction | None, ...]:
        """The margins of `simplex`; where one is less than the stated margin, that of the prices if it is greater.

        Args:
            box: the ranges of `simplex`.
        """
        margins = list(simplex)
        for rival, prices in self._certificate.prices.items():
            bound, stated = margins[rival], self._certificate.margins[rival]
            if bound is not None and stated is not None and bound < stated:
                margins[rival] = max(bound, self._against(rival, box, self._left).by_prices(prices))
        return tuple(margins)

    def provable(self, index: int, box: Box, rival: int) -> bool:
        """Whether some prices may prove a positive margin without the statement at `index`.

        Args:
            box: the ranges of `simplex` without it, rounded inward.
        """
        self._clock.look()
        if lower_bound(self._head, box, self._certificate.predicted, rival) > 0:
            return True
        if self._without[0] != index:
            dropped = self._certificate.statements[index]
            groups = [[s for s in group if s is not dropped] for group in self._groups]
            self._without = index, _Left.of(groups, self._certificate.patches, box.bits, inward=True)
        against = self._against(rival, box, self._without[1])
        if rival in self._matchings and against.by_matching(self._matchings[rival]) <= 0:
            return False
        self._matchings[rival] = against.heaviest_matching(self._clock)
        return against.by_matching(self._matchings[rival]) > 0

    def _against(self, rival: int, box: Box, left: _Left) -> _Against:
        return _Against.of(self._head, self._certificate.predicted, rival, box, left)


@dataclass(frozen=True)
class _Left:
    """What statements leave, on the grid.

    Attributes:
        patches: for each group of statements about one patch, R_l and the prototypes that are stated.
        unstated: how many patches have no statement.
        tops: o_k, 0 where it is missing.
    """

    patches: list[tuple[int, set[int]]]
    unstated: int
    tops: dict[int, int]

    @classmethod
    def of(cls, groups: Sequence[Sequence[PatchStatement]], patches: int, bits: int, inward: bool = False) -> _Left:
        """What groups of statements leave. An empty group keeps its position."""
        lowest, highest = (ceil_at, floor_at) if inward else (floor_at, ceil_at)
        remainders: list[tuple[int, set[int]]] = []
        tops: dict[int, int] = {}
        for group in groups:
            lows = [0 if s.lower is None else max(0, lowest(s.lower, bits)) for s in group]
            rest = max(0, (1 << bits) - sum(lows))
            remainders.append((rest, {s.prototype for s in group}))
            for s, low in zip(group, lows, strict=True):
                high = 1 << bits if s.upper is None else highest(s.upper, bits)
                tops[s.prototype] = max(tops.get(s.prototype, 0), min(high, low + rest))
        return cls(remainders, patches - len(groups), tops)


@dataclass(frozen=True)
class _Against:
    """One rival.

    Attributes:
        known: the margin if no patch gave the mass it has left.
        gains: k, w_k and o_k for the prototypes with w_k > 0.
        unit: bits of the grid of x_lk and prices.
    """

    known: Fraction
    gains: list[tuple[int, int, int]]
    left: _Left
    one: int
    unit: int

    @classmethod
    def of(cls, head: Head, predicted: int, rival: int, box: Box, left: _Left) -> _Against:
        """Args: box, the ranges of `simplex`."""
        tops = [left.tops.get(k, 0) for k in range(head.count)]
        rows = head.weight.rows
        gains = [(k, w, tops[k]) for k, w in enumerate(map(sub, rows[rival], rows[predicted])) if w > 0]
        known = lower_bound(head, Box(box.lower, tops, box.bits), predicted, rival)
        return cls(known, gains, left, 1 << box.bits, box.bits + head.weight.bits)

    def by_prices(self, prices: Mapping[int, Fraction]) -> Fraction:
        """The margin that prices prove. They are rounded up: any prices are sound."""
        paid = {k: ceil_at(prices[k], self.unit) for k, _, _ in self.gains if k in prices}
        priced = [(k, w, top, paid.get(k, 0)) for k, w, top in self.gains]
        total = sum(paid.values())
        for count, (rest, stated) in [(1, patch) for patch in self.left.patches] + [(self.left.unstated, self._free)]:
            excess = (w * (rest - top) - price for k, w, top, price in priced if rest > top and k not in stated)
            total += count * max(0, max(excess, default=0))
        return self.known - Fraction(total, 1 << self.unit)

    def by_matching(self, pairs: Sequence[tuple[int, int]]) -> Fraction:
        """An upper bound of what prices prove. Pairs: indices of a patch (those without statements last) and a gain."""
        patches = self.left.patches
        total = 0
        for patch, gain in pairs:
            total += self._worth(patches[patch] if patch < len(patches) else self._free, self.gains[gain])
        return self.known - Fraction(total, 1 << self.unit)

    def heaviest_matching(self, clock: Clock) -> list[tuple[int, int]]:
        """The pairs that leave the least margin. Raises UnprovedError if that takes too long."""
        patches = self.left.patches + [self._free] * min(self.left.unstated, len(self.gains))
        clock.keep(len(patches) * len(self.gains))
        weights = [[self._worth(patch, gain) for gain in self.gains] for patch in patches]
        return heaviest_matching(weights, clock.look)

    def _worth(self, patch: tuple[int, set[int]], gain: tuple[int, int, int]) -> int:
        (rest, stated), (k, w, top) = patch, gain
        return w * (rest - top) if rest > top and k not in stated else 0

    @property
    def _free(self) -> tuple[int, set[int]]:
        return self.one, set()
