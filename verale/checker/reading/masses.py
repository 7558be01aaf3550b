"""The paradigm `simplex`: softmax masses of one patch are non-negative and sum to one.

Let low_i <= m_i <= high_i be stated for i in J, where a missing end is 0 or 1, and R = 1 - sum_J low_i, the mass that
the lows leave:
- an unstated mass lies in [0, R]; if it is the only unstated one, it is at least 1 - sum_J high_i;
- a stated mass lies in [low_i, min(1, high_i, low_i + R)]; if all are stated, it is at least 1 - sum of the other
  highs.
Every mass also lies in its range over the domain.
*Proof.* Each mass is 1 minus the sum of the others. If R is negative, no latent satisfies the statements,
and any value is sound; outward it is 0 then.

**Inward** these ends are exact for stated ends that are rounded inward, if masses satisfy those: if R >= 0, every low_i
<= high_i and, where all are stated, the highs sum to at least 1. Where one of these fails, ends cross.

The paradigm `assignment`: a patch can give the mass it has left only once (softmax heads).

Activations and margins have the ranges of `simplex`. For a rival c whose margin these leave too small, write
w_k = W_ck - W_predicted,k; R_l for what the lows stated at patch l leave, 1 where nothing is stated; and
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
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from operator import sub

from ..certificate import Certificate, PatchStatement
from ..dyadic import ceil_at
from ..head import Head
from ..limit import Clock
from .facts import by_patch
from .margin import lower_bound
from .space import Box, Ranges, Space, at


class Simplex:
    """Ranges of one patch of a softmax head."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def pooled(
        self, groups: Mapping[int, Sequence[PatchStatement]], patches: int, quick: bool = False
    ) -> Ranges | None:
        """None: masses are pooled after their similarities."""
        return None

    def ranges(self, statements: Sequence[PatchStatement], quick: bool = False) -> Ranges:
        """The range of every mass of a patch, given its statements."""
        return self.stated(statements).met(self._space.domain)

    def within(self, statements: Sequence[PatchStatement]) -> Ranges | None:
        """The same, rounded inward; None if one may be empty."""
        domain = self._space.within
        return domain and self.stated(statements, True).met(domain).filled()

    def stated(self, statements: Sequence[PatchStatement], inward: bool = False) -> Ranges:
        """The ends that statements leave."""
        left, count = Left(statements, self._space.bits, inward), self._space.head.count
        missing, every = (1 << self._space.bits) - sum(left.high.values()), len(left.low)
        lower = [max(0, missing) if every == count - 1 else 0] * count
        upper = [left.rest] * count
        for k, low in left.low.items():
            lower[k] = max(low, missing + left.high[k]) if every == count else low
            upper[k] = left.most(k)
        return Ranges(lower, upper)


class Left:
    """What the statements about a patch leave.

    Attributes:
        low, high: the ends of stated masses, on the grid.
        rest: R.
    """

    def __init__(self, statements: Sequence[PatchStatement], bits: int, inward: bool = False) -> None:
        one = 1 << bits
        self.low = {s.prototype: 0 if s.lower is None else max(0, at(s.lower, bits, inward)) for s in statements}
        self.high = {s.prototype: one if s.upper is None else at(s.upper, bits, not inward) for s in statements}
        rest = one - sum(self.low.values())
        self.rest = rest if inward else max(0, rest)

    def most(self, k: int) -> int:
        """The upper end of a mass."""
        return min(self.high[k], self.low[k] + self.rest) if k in self.low else self.rest


class Assignment:
    """What prices prove about one certificate."""

    def __init__(self, space: Space, certificate: Certificate) -> None:
        self._head, self._certificate, self._clock = space.head, certificate, space.arithmetic.clock
        self._bits = space.bits
        self._groups = list(by_patch(certificate.statements)[0].values())
        self._left = lru_cache(2)(self._leave)  # of all statements, and of all but the last one that was asked for
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
                margins[rival] = max(bound, self._against(rival, box).by_prices(prices))
        return tuple(margins)

    def provable(self, index: int, box: Box, rival: int) -> bool:
        """Whether some prices may prove a positive margin without the statement at `index`.

        Args:
            box: the ranges of `simplex` without it, rounded inward.
        """
        self._clock.look()
        against = self._against(rival, box, index)
        if rival in self._matchings and against.by_matching(self._matchings[rival]) <= 0:
            return False
        self._matchings[rival] = against.heaviest_matching(self._clock)
        return against.by_matching(self._matchings[rival]) > 0

    def _leave(self, dropped: int | None) -> tuple[list[Left], list[int]]:
        """What statements leave at their patches, and all o_k: of all, or inward of all but one. A group that is empty
        then keeps its position."""
        lefts, own = [], [0] * self._head.count
        for group in self._groups:
            stated = [s for s in group if dropped is None or s is not self._certificate.statements[dropped]]
            left = Left(stated, self._bits, dropped is not None)
            lefts.append(left)
            for k in left.low:
                own[k] = max(own[k], left.most(k))
        return lefts, own

    def _against(self, rival: int, box: Box, dropped: int | None = None) -> Against:
        return Against(self._head, self._certificate, rival, box, *self._left(dropped))


class Against:
    """One rival.

    Attributes:
        gains: k and w_k for the prototypes with w_k > 0.

    Args:
        box: the ranges of `simplex`.
        lefts: what statements leave at their patches.
        own: all o_k.
    """

    def __init__(
        self, head: Head, certificate: Certificate, rival: int, box: Box, lefts: list[Left], own: list[int]
    ) -> None:
        predicted, rows = certificate.predicted, head.weight.rows
        self._own, self._unit = own, box.bits + head.weight.bits
        self.gains = [(k, w) for k, w in enumerate(map(sub, rows[rival], rows[predicted])) if w > 0]
        self._known = lower_bound(head, replace(box, upper=own), predicted, rival)  # no patch gives what it has left
        self._lefts = [*lefts, Left((), box.bits)]
        self._counts = [1] * len(lefts) + [certificate.patches - len(lefts)]

    def by_prices(self, prices: Mapping[int, Fraction]) -> Fraction:
        """The margin that prices prove. They are rounded up: any prices are sound."""
        paid = [(k, w, ceil_at(prices.get(k, Fraction(0)), self._unit)) for k, w in self.gains]
        total, own = sum(price for _, _, price in paid), self._own
        for left, count in zip(self._lefts, self._counts, strict=True):
            excess = (w * (left.rest - own[k]) - v for k, w, v in paid if left.rest > own[k] and k not in left.low)
            total += count * max(0, max(excess, default=0))
        return self._known - Fraction(total, 1 << self._unit)

    def by_matching(self, pairs: Sequence[tuple[int, int]]) -> Fraction:
        """An upper bound of what prices prove. Pairs: indices of a patch (those without statements last) and a gain."""
        last = len(self._lefts) - 1
        total = sum(self._worth(self._lefts[min(patch, last)], self.gains[gain]) for patch, gain in pairs)
        return self._known - Fraction(total, 1 << self._unit)

    def heaviest_matching(self, clock: Clock) -> list[tuple[int, int]]:
        """The pairs that leave the least margin. Raises UnprovedError if that takes too long."""
        most = len(self.gains)
        lefts = [left for left, count in zip(self._lefts, self._counts, strict=True) for _ in range(min(count, most))]
        clock.keep(len(lefts) * most)
        return heaviest_matching([[self._worth(left, gain) for gain in self.gains] for left in lefts], clock.look)

    def _worth(self, left: Left, gain: tuple[int, int]) -> int:
        """x_lk."""
        k, w = gain
        return 0 if k in left.low else w * max(0, left.rest - self._own[k])


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
        distance: dict[int, int] = {}
        before: dict[int, int] = {}
        row, column, way, visited, unvisited = entering, -1, 0, [], set(range(columns))
        while row >= 0:
            passed()
            here, own = way + of_row[row], weights[row]
            for j in unvisited:
                reached = here + of_column[j] - own[j]
                if j not in distance or reached < distance[j]:
                    distance[j], before[j] = reached, column
            visited.append(column)
            column = min(unvisited, key=distance.__getitem__)
            unvisited.remove(column)
            row, way = partner[column], distance[column]
        of_row[entering] -= way
        for j in visited[1:]:
            of_row[partner[j]] -= way - distance[j]
            of_column[j] += way - distance[j]
        while before[column] >= 0:
            partner[column] = partner[before[column]]
            column = before[column]
        partner[column] = entering
    return [(row, column) for column, row in enumerate(partner) if row >= 0]
