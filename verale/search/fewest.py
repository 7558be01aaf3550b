"""Fewest: the fewest statements about activations that close every rival, by linear programming (linear readouts).

For a ceiling u (activations are at most u, but for those that exceed it), a floor v (at least v, but for those below)
and a set T of stated activations, rival c is closed when
    sum_{j in T} G_cj >= need_c,
where need_c is what the class lacks against c under the clauses alone, and G_cj >= 0 is what stating j gains. For a
given (u, v), that is a covering problem with one row a rival. Its relaxation (0 <= x_j <= 1) is solved by HiGHS, and
its solution is rounded.

Which (u, v)? Prices y of the rivals that solve one relaxation bound every other from below, by weak duality:
    size(u, v) >= sum_c y_c need_c(u, v) - sum_j max(0, sum_c y_c G_cj(u, v) - 1).
So all pairs of a grid are bounded by the prices found so far, and the pair with the least bound is solved next, until
no bound is below the smallest cover. Finer grids around the best pair follow.

Where statements have costs, 1 is replaced by what a statement costs, and the size by the sum.

These are estimates for the search; the proof is elsewhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verale.bounds import LinearMargins
from verale.rounding import Enclosure
from verale.search.costs import NEARLY_FREE, UNIT_COSTS, Costs

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
"""HiGHS meets bounds and rows up to this."""

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
        if first is None:
            return None
        best, prices, solved = first[0], [first[1]], {start, (first[0].ceiling, first[0].floor)}
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
                    best = min(best, found[0], key=self._length)
                    prices.append(found[1])
                    least = np.maximum(least, self._bounds(found[1], *grid))
            ceilings, floors = _around(ceilings, grid[0], best.ceiling), _around(floors, grid[1], best.floor)
        if best.floor > -math.inf and (best.ceiling, -math.inf) not in solved:
            found = self._solve(best.ceiling, -math.inf, self._cost(best) + self._costs.step)
            best = min(best, best if found is None else found[0], key=self._length)
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
        gain_low, gain_high = gain_low[:, self._left], gain_high[:, self._left]
        beyond = np.stack([(gain + gain_low - self._each[self._left]).clip(min=0).sum(1) for gain in gain_high])
        lacking = (upper @ against)[:, None] - lower @ favour - prices @ self._fixed
        clauses = (ceilings < np.inf)[:, None] * self._costs.ceiling, (floors > -np.inf) * self._costs.floor
        bounds: Floats = lacking - beyond + clauses[0] + clauses[1]
        return bounds

    def _solve(self, ceiling: float, floor: float, limit: float) -> tuple[Cover, Floats] | None:
        """A cover with this ceiling and floor and the rivals' prices (K,); None where all statements do not cover.

        Where the relaxation leaves room for a cover below `limit`, the whole numbers are searched for one.
        """
        (lower,), (upper,) = self._box(np.array([ceiling]), np.array([floor]))
        need = self._against @ upper - self._favour @ lower - self._fixed
        gains = self._favour * (self._low - lower).clip(min=0) + self._against * (upper - self._high).clip(min=0)
        prices, clauses = np.zeros(len(need)), Cover([], ceiling, floor)
        open_ = need > 0
        if not open_.any():
            return clauses, prices
        gains = gains[open_][:, self._left] / need[open_, None]
        each = self._each[self._left]
        relaxed = _relaxation(gains, each, np.zeros(gains.shape[1]), np.ones(gains.shape[1]))
        if relaxed is None:
            return None
        prices[open_] = relaxed.prices / need[open_]
        stated, step = _rounded(gains, each, relaxed.share), self._costs.step
        most = min(limit - self._cost(clauses), float(each[stated].sum())) - step
        if most >= relaxed.cost - _ZERO:
            stated = _whole(gains, each, relaxed, most, step) or stated
        return Cover(self._left[stated].tolist(), ceiling, floor), prices


@dataclass(frozen=True)
class _Relaxed:
    """The least cost of x with gains x >= 1 and 0 <= x <= 1.

    Attributes:
        share: (P,) x.
        cost: of x.
        prices: of the rows.
    """

    share: Floats
    cost: float
    prices: Floats


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


def _relaxation(gains: Floats, each: Floats, lower: Floats, upper: Floats) -> _Relaxed | None:
    """The solution with lower <= x <= upper; None where even all columns do not cover, or HiGHS gives up."""
    from scipy.optimize import linprog

    if not (gains @ upper > 1).all():
        return None
    bounds = np.stack([lower, upper], 1)
    done: Any = linprog(each, A_ub=-gains, b_ub=-np.ones(len(gains)), bounds=bounds, method="highs")
    if done.status != 0:
        return None
    return _Relaxed(done.x, float((each * done.x).sum()), np.maximum(-done.ineqlin.marginals, 0.0))


def _rounded(gains: Floats, each: Floats, share: Floats) -> list[int]:
    """A cover, the columns with the greatest shares first, of those that cost the same.

    Full columns are taken. Of the others, the one that covers most of what is left for its cost is taken, until nothing
    is left. Then columns that are not needed are dropped, the costliest and those with the smallest shares first.
    """
    chosen = np.flatnonzero(share > 1 - _ZERO).tolist()
    left, offered = 1 - gains[:, chosen].sum(1), gains.copy()
    offered[:, chosen] = 0.0
    offered[:, share <= _ZERO] *= _ZERO  # only where rounding left a row open
    while (left > 0).any():
        best = int((np.minimum(offered, left.clip(min=0)[:, None]).sum(0) / each.clip(min=NEARLY_FREE)).argmax())
        chosen.append(best)
        left = left - gains[:, best]
        offered[:, best] = 0.0
    return _pruned(gains, sorted(chosen, key=lambda column: (each[column], -share[column])))


def _pruned(gains: Floats, chosen: list[int]) -> list[int]:
    """The columns without those that are not needed, the last ones dropped first."""
    total, kept = gains[:, chosen].sum(1), chosen.copy()
    for column in reversed(chosen):
        if (total - gains[:, column] >= 1).all():
            total = total - gains[:, column]
            kept.remove(column)
    return kept


def _whole(gains: Floats, each: Floats, relaxed: _Relaxed, most: float, step: float) -> list[int] | None:
    """A cover that costs at most `most`, if a short search finds one: branch and bound, depth first, taking first.

    Costs of different covers count as different if they differ by `step`.

    A column whose reduced cost exceeds what `most` leaves above the relaxation is decided: not in such a cover if its
    share is 0, in each such cover if it is 1.
    """
    surplus, room = each - relaxed.prices @ gains, most - relaxed.cost + _ZERO
    taken = (-surplus > room) & (relaxed.share > 1 - _ZERO)
    (open_,) = np.nonzero(~taken & ~((surplus > room) & (relaxed.share < _ZERO)))
    if len(open_) > _FEW:
        return None
    always = np.flatnonzero(taken).tolist()
    need = 1 - gains[:, taken].sum(1)
    undecided = need > 0
    gains, need, best, visited = gains[undecided][:, open_], need[undecided], None, 0
    most -= float(each[always].sum())
    each = each[open_]
    stack = [(np.zeros(len(open_)), np.ones(len(open_)))]
    while stack and visited < _NODES and len(need):
        lower, upper = stack.pop()
        visited += 1
        node = _relaxation(gains / need[:, None], each, lower, upper)
        if node is None or node.cost > most + _ZERO:
            continue
        found = _rounded(gains / need[:, None], each, node.share)
        if (cost := float(each[found].sum())) <= most:
            best, most = [*always, *open_[found].tolist()], cost - step
        branch = int(np.where(np.abs(node.share - 0.5) < 0.5 - _ZERO, node.share, -1.0).argmax())
        without, with_ = upper.copy(), lower.copy()
        without[branch], with_[branch] = 0.0, 1.0
        stack += [(lower, without), (with_, upper)]
    return best
