"""Fewest: the fewest statements about activations that close every rival, by linear programming (linear readouts).

For a ceiling u (activations are at most u, but for those that exceed it), a floor v (at least v, but for those below)
and a set T of stated activations, rival c is closed when
    sum_{j in T} G_cj >= need_c,
where need_c is what the class lacks against c under the clauses alone, and G_cj >= 0 is what stating j gains. For a
given (u, v), that is a covering problem with one row a rival. Its relaxation (0 <= x_j <= 1) is solved, each beginning
where the one before ended, and its solution is rounded.

Which (u, v)? Prices y of the rivals that solve one relaxation bound every other from below, by weak duality:
    size(u, v) >= sum_c y_c need_c(u, v) - sum_j max(0, sum_c y_c G_cj(u, v) - 1).
So all pairs of a grid are bounded by the prices found so far, and the pair with the least bound is solved next, until
no bound is below the smallest cover. Finer grids around the best pair follow.

Where statements have costs, 1 is replaced by what a statement costs, and the size by the sum.

These are estimates for the search; the proof is elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from verale.bounds import LinearMargins
from verale.rounding import Enclosure
from verale.search.costs import UNIT_COSTS, Costs
from verale.search.programme import Basis, Relaxed, greedy_cover, relaxed

__all__ = ["Cover", "FewestActivations"]

Floats = NDArray[np.float64]
Pair = tuple[float, float]
"""(ceiling, floor)."""

_GRID = 64
"""So many ceilings and floors are considered at once."""

_PROGRAMMES = (8, 4)
"""The most linear programmes that are solved over the whole grid, and over a finer one around its best pair."""

_START = 0.75
"""The share of activations that the first ceiling bounds."""

_ZERO = 1e-7
"""What counts as zero in a solution."""

_FEW = 64
"""Where at most so many columns are undecided, covers are searched for by branch and bound."""

_NODES = 16
"""How many nodes of its tree that search visits; a limit of time would make results depend on the machine."""

_RESERVE = 3
"""A rival counts as closed when its margin exceeds so many of its rounding errors."""


@dataclass(frozen=True)
class Cover:
    """Statements about activations that close every rival, by estimate.

    Attributes:
        stated: the prototypes whose activations are stated, the most useful first.
        ceiling: what all activations but the higher ones are at most; infinity without a ceiling.
        floor: what all activations but the lower ones are at least; minus infinity without a floor.
    """

    stated: list[int]
    ceiling: float = math.inf
    floor: float = -math.inf

    @property
    def size(self) -> int:
        """The number of statements."""
        return len(self.stated) + self.clauses

    @property
    def clauses(self) -> int:
        """How many of them are clauses."""
        return (self.ceiling < math.inf) + (self.floor > -math.inf)


class FewestActivations:
    """The covering problems of one image.

    Args:
        margins: of this image alone.
        observed: (P,) the ends that statements give.
        range: (P,) the activations' ranges over the domain, finite.
        left: the prototypes that may be stated.
        costs: what statements cost.
    """

    def __init__(
        self,
        margins: LinearMargins,
        observed: Enclosure,
        range: Enclosure,
        left: list[int],
        costs: Costs = UNIT_COSTS,
    ) -> None:
        rivals = (margins.rivals[0] != margins.predicted[0]).cpu().numpy()
        self._favour: Floats = margins.positive[0].T.cpu().numpy()[rivals]
        self._against: Floats = -margins.negative[0].T.cpu().numpy()[rivals]
        self._fixed: Floats = (margins.bias - _RESERVE * margins.error)[0].cpu().numpy()[rivals]
        self._left = np.array(left, dtype=np.int64)
        self._costs = costs
        self._each: Floats = np.array(costs.of_prototypes(len(observed.lower)))
        self._low, self._high = observed.lower.cpu().numpy(), observed.upper.cpu().numpy()
        self._least, self._most = range.lower.cpu().numpy(), range.upper.cpu().numpy()
        self._basis: Basis | None = None

    def plain(self) -> Cover | None:
        """The cheapest cover that is found without clauses."""
        solved = self._solve(math.inf, -math.inf, math.inf)
        return None if solved is None else solved[0]

    def best(self) -> Cover | None:
        """The cheapest cover that is found; None where all statements that may be made do not close every rival.

        Of two of the same cost it is the one with fewer clauses, whose lists of exempt prototypes are long to read.
        """
        ceilings, floors = np.append(np.unique(self._high), np.inf), np.append(-np.inf, np.unique(self._low))
        start = float(np.quantile(self._high, _START, method="nearest")), -math.inf
        # With avoided prototypes not every ceiling and floor serves: they are tried until some do.
        pairs: list[Pair] = [start]
        if len(self._left) < len(self._low):
            pairs += product(_spread(ceilings).tolist(), _spread(floors).tolist())
        first = next(filter(None, (self._solve(*pair, math.inf) for pair in pairs)), None)
        if first is None or first[0] is None:
            return None
        best, prices = first[0], [first[1]]
        solved = {start, (best.ceiling, best.floor)}
        for programmes in _PROGRAMMES:
            grid = _spread(ceilings), _spread(floors)
            least: Floats = np.max([self._bounds(each, *grid) for each in prices], axis=0)
            for _ in range(programmes):
                pair, bound = _least(least, grid, solved)
                if bound > self._cost(best) - self._costs.step + _ZERO:
                    break
                found = self._solve(*pair, self._cost(best))
                solved.add(pair)
                if found is not None:
                    best = min(best, found[0] or best, key=self._length)
                    prices.append(found[1])
                    least = np.maximum(least, self._bounds(found[1], *grid))
            ceilings, floors = _around(ceilings, grid[0], best.ceiling), _around(floors, grid[1], best.floor)
        if best.floor > -math.inf and (best.ceiling, -math.inf) not in solved:
            found = self._solve(best.ceiling, -math.inf, self._cost(best) + self._costs.step)
            best = min(best, (found and found[0]) or best, key=self._length)
        return best

    def _cost(self, cover: Cover) -> float:
        clauses = (cover.ceiling < math.inf) * self._costs.ceiling + (cover.floor > -math.inf) * self._costs.floor
        return math.fsum(self._each[cover.stated]) + clauses

    def _length(self, cover: Cover) -> tuple[float, int]:
        return self._cost(cover), cover.clauses

    def _box(self, ceiling: Floats, floor: Floats) -> tuple[Floats, Floats]:
        """(N, P) and (M, P) what N floors and M ceilings leave to activations that are not stated."""
        low, high = floor[:, None], ceiling[:, None]
        return (
            np.where(self._low >= low, np.maximum(self._least, low), self._least),
            np.where(self._high <= high, np.minimum(self._most, high), self._most),
        )

    def _bounds(self, prices: Floats, ceilings: Floats, floors: Floats) -> Floats:
        """(M, N) lower bounds of the cost of a cover with each ceiling and each floor."""
        lower, upper = self._box(ceilings, floors)
        favour, against = prices @ self._favour, prices @ self._against
        gain_low = favour * (self._low - lower).clip(min=0)
        gain_high = against * (upper - self._high).clip(min=0)
        worth = self._left[(gain_low.max(0) + gain_high.max(0) > self._each)[self._left]]
        gain_low, gain_high = gain_low[:, worth] - self._each[worth], gain_high[:, worth]
        beyond = np.stack([(gain + gain_low).clip(min=0).sum(1) for gain in gain_high])
        lacking = (upper @ against)[:, None] - lower @ favour - prices @ self._fixed
        clauses = (ceilings < np.inf)[:, None] * self._costs.ceiling, (floors > -np.inf) * self._costs.floor
        bounds: Floats = lacking - beyond + clauses[0] + clauses[1]
        return bounds

    def _solve(self, ceiling: float, floor: float, limit: float) -> tuple[Cover | None, Floats] | None:
        """A cover with this ceiling and floor and the rivals' prices (K,); None where all statements do not cover.

        There is no cover where the relaxation leaves no room for one below `limit`. Where it does, the whole numbers
        are searched for one.
        """
        (lower,), (upper,) = self._box(np.array([ceiling]), np.array([floor]))
        need = self._against @ upper - self._favour @ lower - self._fixed
        clauses = Cover([], ceiling, floor)
        if not (need > 0).any():
            return clauses, np.zeros(len(need))
        gains = _Gains(
            *(self._favour, (self._low - lower).clip(min=0), self._against, (upper - self._high).clip(min=0)),
            *(self._left, need, self._each[self._left], self._costs.step),
        )
        room = limit - self._cost(clauses) - self._costs.step
        solution = gains.relaxed(self._basis, room + _ZERO)
        if solution is None:
            return None
        self._basis = solution.basis
        if solution.bound > room + _ZERO:
            return None, solution.prices
        stated = gains.rounded(solution.share)
        most = min(room, float(gains.each[stated].sum()) - self._costs.step)
        if most >= solution.bound - _ZERO:
            stated = gains.whole(solution, most) or stated
        return Cover(self._left[stated].tolist(), ceiling, floor), solution.prices


@dataclass(frozen=True, eq=False)
class _Gains:
    """A covering problem: what K statements gain, of P activations, for R rivals.

    Attributes:
        favour, against: (R, P) what a unit is worth at lower and at upper ends.
        low, high: (P,) by how much a statement tightens them.
        columns: (K,) the activations that may be stated.
        need: (R,) what rivals lack.
        each: (K,) what statements cost.
        step: by what costs of different covers differ.
    """

    favour: Floats
    low: Floats
    against: Floats
    high: Floats
    columns: NDArray[np.int64]
    need: Floats
    each: Floats
    step: float

    def rows(self, rivals: NDArray[np.int64]) -> Floats:
        """(M, K) what each statement gains against some rivals."""
        gains = self.favour[rivals] * self.low + self.against[rivals] * self.high
        return gains if len(self.columns) == gains.shape[1] else gains[:, self.columns]

    def given(self, share: Floats) -> Floats:
        """(R,) what shares (K,) of the statements gain."""
        all_ = np.zeros(len(self.low))
        all_[self.columns] = share
        given: Floats = self.favour @ (self.low * all_) + self.against @ (self.high * all_)
        return given

    def of(self, chosen: NDArray[np.int64]) -> Floats:
        """(R, M) what some statements gain."""
        where = self.columns[chosen]
        gains: Floats = self.favour[:, where] * self.low[where] + self.against[:, where] * self.high[where]
        return gains

    def rounded(self, share: Floats) -> list[int]:
        """A cover, the columns with the greatest shares first, of those that cost the same.

        Full columns are taken. Of the others, the one that covers most of what is left for its cost is taken, until
        nothing is left. Then columns that are not needed are dropped, the costliest and those with the smallest shares
        first.
        """
        full, parts = np.flatnonzero(share > 1 - _ZERO), np.flatnonzero((share > _ZERO) & (share <= 1 - _ZERO))
        chosen = full.tolist()
        left = self.need - self.given((share > 1 - _ZERO).astype(np.float64))
        for offered in (parts, np.flatnonzero(share <= _ZERO)):  # the latter where rounding left a row open
            if (left > 0).any():
                chosen += offered[greedy_cover(self.of(offered), self.need, left, self.each[offered])].tolist()
        return self._pruned(sorted(chosen, key=lambda column: (self.each[column], -share[column])))

    def _pruned(self, chosen: list[int]) -> list[int]:
        """The columns without those that are not needed, the last ones dropped first."""
        gains = self.of(np.array(chosen, dtype=np.int64))
        over, kept = gains.sum(1) - self.need, chosen.copy()
        for index in np.flatnonzero((gains <= over[:, None]).all(0))[::-1]:
            if (gains[:, index] <= over).all():
                over = over - gains[:, index]
                kept.remove(chosen[index])
        return kept

    def whole(self, solution: Relaxed, most: float) -> list[int] | None:
        """A cover that costs at most `most`, if a short search finds one: branch and bound, depth first, taking first.

        A column whose reduced cost exceeds what `most` leaves above the relaxation is decided: not in such a cover if
        its share is 0, in each such cover if it is 1.
        """
        room = most - solution.bound + _ZERO
        taken = (-solution.reduced > room) & (solution.share > 1 - _ZERO)
        (open_,) = np.nonzero(~taken & ~((solution.reduced > room) & (solution.share < _ZERO)))
        if len(open_) > _FEW:
            return None
        best, visited, stack = None, 0, [(np.flatnonzero(taken).tolist(), open_)]
        while stack and visited < _NODES:
            fixed, free = stack.pop()
            visited += 1
            node = self._after(fixed, free)
            spent = math.fsum(self.each[fixed])
            solved = node.relaxed(None, most - spent + _ZERO)
            if solved is None or spent + solved.bound > most + _ZERO:
                continue
            found = [*fixed, *free[node.rounded(solved.share)].tolist()]
            if (cost := math.fsum(self.each[found])) <= most:
                best, most = found, cost - self.step
            parts = np.where(np.abs(solved.share - 0.5) < 0.5 - _ZERO, solved.share, -1.0)
            if parts.max(initial=-1.0) > 0:
                branch = int(parts.argmax())
                without = np.delete(free, branch)
                stack += [(fixed, without), ([*fixed, int(free[branch])], without)]
        return best

    def relaxed(self, start: Basis | None, most: float) -> Relaxed | None:
        """See `verale.search.programme.relaxed`."""
        return relaxed(self.rows, self.given, self.need, self.each, start, most)

    def _after(self, fixed: list[int], free: NDArray[np.int64]) -> _Gains:
        """The problem that is left after some statements, with others."""
        taken = np.zeros(len(self.each))
        taken[fixed] = 1.0
        where = self.columns[free]
        return replace(
            self,
            **{name: getattr(self, name)[:, where] for name in ("favour", "against")},
            **{name: getattr(self, name)[where] for name in ("low", "high")},
            columns=np.arange(len(free)),
            need=self.need - self.given(taken),
            each=self.each[free],
        )


def _least(bounds: Floats, grid: tuple[Floats, Floats], solved: set[Pair]) -> tuple[Pair, float]:
    """The pair of ceiling and floor with the least bound among those that are not solved, and the bound."""
    for index in np.argsort(bounds, axis=None, kind="stable"):
        row, column = np.unravel_index(index, bounds.shape)
        pair = float(grid[0][row]), float(grid[1][column])
        if pair not in solved:
            return pair, float(bounds[row, column])
    return (math.inf, -math.inf), math.inf


def _spread(values: Floats) -> Floats:
    """At most _GRID of some sorted values, the first and the last among them."""
    chosen: Floats = values[np.unique(np.linspace(0, len(values) - 1, _GRID).round().astype(np.int64))]
    return chosen


def _around(values: Floats, grid: Floats, at: float) -> Floats:
    """The values from the grid's value before `at` to that after it."""
    index = int(np.searchsorted(grid, at))
    low, high = grid[max(0, index - 1)], grid[min(len(grid) - 1, index + 1)]
    between: Floats = values[(low <= values) & (values <= high)]
    return between
