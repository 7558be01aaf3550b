"""Covers: the fewest statements about activations, a ceiling and a floor that close every rival (linear readouts).

What is known of activations are ends: their lower ends, and their upper ends with the sign turned, so that a greater
one always says more. Rival c is closed when
    sum_i worth_ic end_i > -fixed_c.
A ceiling u (activations are at most u, but for those that exceed it) and a floor v raise many ends at once. For a given
(u, v), stating activations so that every rival gains what it lacks is a covering problem. Its relaxation is solved
(see below) and rounded: full statements are taken, then greedily what covers most of what is left.
Where statements about an activation bound others too, an end is as tight as the tightest says, and what statements gain
together is less than the sum of what each gains: then only those are taken that are worth what they cost after those
before them, and the relaxation of what is left is solved again.

Which (u, v)? Prices of the rivals that solve one relaxation bound every other from below, by weak duality:
    cost(u, v) >= sum_c y_c need_c(u, v) - sum_j max(0, sum_c y_c gain_jc(u, v) - cost_j).
So all pairs of a grid are bounded by the prices found so far, and the pair with the least bound is solved next, until
no bound is below the cheapest cover. Finer grids around the best pair follow. Where statements bound others, the bounds
are estimates.

The relaxation of a covering problem, min e x with G x >= need and 0 <= x <= 1, is solved by an interior-point method.
There are far fewer rows than columns, so a step costs about one product of G with itself. The prices of the rows bound
the cost of every x from below, however far the method came (weak duality):
    cost >= sum_r y_r need_r - sum_j max(0, sum_r y_r G_rj - e_j).
All of this is an estimate, for the search; the proof is elsewhere.

Reference: Wright, Primal-dual interior-point methods (1997), chapter 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from verale.bounds import LinearMargins
from verale.rounding import Enclosure
from verale.search.costs import NEARLY_FREE, UNIT_COSTS, Costs

_STEPS = 60
"""It seldom takes more than 25."""
_CLOSE = 1e-4
"""The share of the cost by which the bound may miss it."""
_BACK = 0.99
"""The share of the way to the nearest bound that a step goes."""
_LEAST_AIM = 0.01
"""A step does not aim at less than this share of the mean product."""
_ROWS = 256
"""So many rows are entered at first, those that are hardest to meet; and then as many of those that are missed."""


@dataclass(frozen=True, eq=False)
class Relaxed:
    """What was found for R rows and P columns.

    Attributes:
        share: (P,) x, about.
        prices: (R,) y >= 0.
        reduced: (P,) the reduced costs e - y G.
        bound: no x costs less.
    """

    share: Tensor
    prices: Tensor
    reduced: Tensor
    bound: float


def relaxed(gains: Tensor, need: Tensor, costs: Tensor, enough: float = math.inf) -> Relaxed | None:
    """Solve a programme; None if all columns together do not cover.

    Args:
        gains: (R, P) G >= 0.
        need: (R,); what is not positive is met.
        costs: (P,) e >= 0.
        enough: a bound above this is not raised any further.
    """
    asks = (need > 0).nonzero()[:, 0]
    scaled = gains[asks] / need[asks, None]
    whole = scaled.sum(1)
    if not bool((whole > 1).all()):
        return None
    entered = whole.argsort(stable=True)[:_ROWS]
    while True:
        share, own = _solved(scaled[entered], costs, enough)
        reduced = costs - own @ scaled[entered]
        bound = float(own.sum() + reduced.clamp(max=0).sum())
        missed = (1 - scaled @ share).index_fill(0, entered, 0.0)
        worst = missed.argsort(descending=True, stable=True)[:_ROWS]
        worst = worst[missed[worst] > _CLOSE]
        if bound > enough or not len(worst):
            break
        entered = torch.cat([entered, worst])
    prices = torch.zeros_like(need).index_put((asks[entered],), own / need[asks[entered]])
    return Relaxed(share, prices, reduced, bound)


def _solved(gains: Tensor, costs: Tensor, enough: float) -> tuple[Tensor, Tensor]:
    """(P,) shares and (R,) prices of rows that need 1.

    The variables are x, 1 - x, and the surplus s = G x - 1 of the rows, with the multipliers z, w and y; y are the
    prices. All equations hold at the start, and so they do after every step; all numbers are kept positive, and each
    product of a variable and its multiplier is brought to the same `aim`, which is less where steps are long.
    """
    parts = [len(costs), len(costs), len(gains)]
    least = float(gains.sum(1).amin())
    share = torch.full_like(costs, (1 + 1 / least) / 2)
    variables = torch.cat([share, 1 - share, gains @ share - 1])
    prices = torch.full_like(gains[:, 0], float(costs.sum() / gains.sum()))
    reduced = costs - prices @ gains
    multipliers = torch.cat([reduced.clamp(min=0) + 1, (-reduced).clamp(min=0) + 1, prices])
    best, bound, length = prices, -torch.inf, 1.0
    for _ in range(_STEPS):
        share, prices = variables[: parts[0]], multipliers[-parts[2] :]
        paid = float(prices.sum() + (costs - prices @ gains).clamp(max=0).sum())
        if paid > bound:
            best, bound = prices, paid
        cost = float(costs @ share)
        if bound > enough or cost - bound <= _CLOSE * max(1.0, cost):
            break
        aim = max(_LEAST_AIM, (1 - length) ** 2) * (variables @ multipliers) / len(variables)
        rates, ahead = multipliers / variables, aim / variables - multipliers
        low, high, _ = torch.split(rates, parts)
        weights, slack = 1 / (low + high), 1 / rates[-parts[2] :]
        matrix = (gains * weights) @ gains.T
        matrix.diagonal().add_(slack)
        factor, failed = torch.linalg.cholesky_ex(matrix)
        if bool(failed):
            break
        over, under, rest = torch.split(ahead, parts)
        missed = slack * rest - gains @ (weights * (over - under))
        paid_more = torch.cholesky_solve(missed[:, None], factor)[:, 0]
        moved = weights * (over - under + paid_more @ gains)
        by = torch.cat([moved, -moved, slack * (rest - paid_more)])
        more = ahead - rates * by
        length = min(1.0, _BACK * min(_way(variables, by), _way(multipliers, more)))
        variables, multipliers = variables + length * by, multipliers + length * more
    return variables[: parts[0]], best


def _way(values: Tensor, by: Tensor) -> float:
    """How often a move can be made until some value is 0."""
    return float(torch.where(by < 0, -values / by, torch.inf).amin())


_GRID = 64
"""So many ceilings and floors are considered at once."""

_COARSE = 16
"""So many where covers are only bounded."""

_PROGRAMMES = (4, 3, 1)
"""The most relaxations that are solved over the whole grid, and over finer ones around its best pair."""

START = 0.75
"""The share of activations that the first ceiling bounds."""

_ZERO = 1e-3
"""What counts as zero in a relaxation's solution."""

RESERVE = 3
"""A rival counts as closed when its margin exceeds so many of its rounding errors."""

Pair = tuple[float, float]
"""(ceiling, floor)."""


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
    def clauses(self) -> int:
        """How many of them are clauses."""
        return (self.ceiling < math.inf) + (self.floor > -math.inf)


@dataclass(frozen=True, eq=False)
class Clauses:
    """What ceilings and floors leave to the activations, without statements about them.

    Attributes:
        uppers: of ceilings (M,) the upper ends (M, P); infinity is no ceiling.
        lowers: of floors (N,) the lower ends (N, P); minus infinity is no floor.
    """

    uppers: Callable[[Tensor], Tensor]
    lowers: Callable[[Tensor], Tensor]

    @classmethod
    def alone(cls, observed: Enclosure, range: Enclosure) -> Clauses:
        """Clauses that exempt those of P activations for which they would not be true, and bound the others' ranges."""
        return cls(
            lambda high: range.upper.minimum(high[:, None]).where(observed.upper <= high[:, None], range.upper),
            lambda low: range.lower.maximum(low[:, None]).where(observed.lower >= low[:, None], range.lower),
        )


class Covers:
    """The covering problems of one image.

    Args:
        margins: of this image alone.
        observed: (P,) the ends that statements give.
        left: (P,) bool, the prototypes that may be stated.
        costs: what statements cost.
        table: (P, P) row k has the ranges that follow from the statement about a_k; None where that says nothing of the
            others.
    """

    def __init__(
        self,
        margins: LinearMargins,
        observed: Enclosure,
        left: Tensor,
        costs: Costs = UNIT_COSTS,
        table: Enclosure | None = None,
    ) -> None:
        rivals = torch.arange(margins.error.shape[1]) != margins.predicted[0]
        self._worth = torch.cat([margins.positive[0], -margins.negative[0]])[:, rivals]
        self._fixed = (margins.bias - RESERVE * margins.error)[0, rivals]
        self._observed, self._left, self._costs = observed, left, costs
        self._each = torch.tensor(costs.of_prototypes(len(left)), dtype=torch.float64)
        self._stated: list[int] = left.nonzero()[:, 0].tolist()
        self._own = _ends(observed)
        self._table = None if table is None else _ends(table).masked_fill(~left[:, None], -math.inf)
        no = self._own.new_tensor([math.inf])
        self._ceilings = torch.cat([torch.unique(observed.upper), no])
        self._floors = torch.cat([-no, torch.unique(observed.lower)])
        self._start = float(observed.upper.quantile(START, interpolation="nearest")), -math.inf

    def least(self, clauses: Clauses, enough: float) -> float:
        """About what every cover costs at least, by the prices of one relaxation, which is not solved any further where
        they bound more than enough; 0 where it has no solution."""
        high, low = (self._own.new_tensor([each]) for each in self._start)
        base = _ends(Enclosure.unchecked(clauses.lowers(low)[0], clauses.uppers(high)[0]))
        grid = _spread(self._ceilings, _COARSE), _spread(self._floors, _COARSE)
        ends, gains, need = (clauses.uppers(grid[0]), clauses.lowers(grid[1])), self._gains(base), self._lacks(base)
        least = 0.0
        for bound in (enough, math.inf) if bool((need > 0).any()) else ():
            solution = relaxed(gains, need, self._each, bound) if least <= enough else None
            if solution is not None:
                least = float(self._bounds(solution.prices, grid, ends).amin())
        return least

    def plain(self, clauses: Clauses) -> Cover | None:
        """The cheapest cover that is found without clauses."""
        solved = self._solve(clauses, (math.inf, -math.inf), math.inf)
        return None if solved is None else solved[0]

    def best(self, clauses: Clauses, rough: Clauses | None = None) -> Cover | None:
        """The cheapest cover that is found; None where all statements that may be made do not close every rival.

        Of two of the same cost it is the one with fewer clauses, whose lists of exempt prototypes are long to read.

        Args:
            clauses: what ceilings and floors say.
            rough: what they say at least, faster to compute: by this the pairs of a grid are compared.
        """
        rough = rough or clauses
        ceilings, floors, start = self._ceilings, self._floors, self._start
        grid = _spread(ceilings), _spread(floors)
        # With avoided prototypes not every ceiling and floor serves: those are tried with which all statements do.
        pairs = [start]
        if not bool(self._left.all()):
            low, high = self._with(self._own.new_full(self._own.shape, -math.inf), self._stated).chunk(2)
            favour, against = self._worth.chunk(2)
            over = (-clauses.uppers(grid[0])).maximum(high) @ against
            closed = self._fixed + over[:, None] + clauses.lowers(grid[1]).maximum(low) @ favour
            serve = (~(closed < 0)).all(2).nonzero().tolist()
            pairs += [(float(grid[0][u]), float(grid[1][v])) for u, v in serve]
        first = next(filter(None, (self._solve(clauses, pair, math.inf) for pair in pairs)), None)
        if first is None or first[0] is None:
            return None
        best, prices, solved = first[0], [first[1]], {start, (first[0].ceiling, first[0].floor)}
        for programmes in _PROGRAMMES:
            ends = rough.uppers(grid[0]), rough.lowers(grid[1])
            least = torch.stack([self._bounds(some, grid, ends) for some in prices]).amax(0)
            for _ in range(programmes):
                # the pair with the least bound among those that are not solved
                pair, bound = (math.inf, -math.inf), math.inf
                for index in least.flatten().argsort(stable=True).tolist():
                    row, column = divmod(index, len(grid[1]))
                    if (each := (float(grid[0][row]), float(grid[1][column]))) not in solved:
                        pair, bound = each, float(least[row, column])
                        break
                if bound > self._cost(best) - self._costs.step + _ZERO:
                    break
                solved.add(pair)
                found = self._solve(clauses, pair, self._cost(best))
                if found is not None:
                    best = min(best, found[0] or best, key=self._length)
                    prices.append(found[1])
                    least = least.maximum(self._bounds(found[1], grid, ends))
            grid = _around(ceilings, grid[0], best.ceiling), _around(floors, grid[1], best.floor)
        if best.floor > -math.inf and (best.ceiling, -math.inf) not in solved:
            found = self._solve(clauses, (best.ceiling, -math.inf), self._cost(best) + self._costs.step)
            best = min(best, (found and found[0]) or best, key=self._length)
        return best

    def _cost(self, cover: Cover) -> float:
        clauses = (cover.ceiling < math.inf) * self._costs.ceiling + (cover.floor > -math.inf) * self._costs.floor
        return math.fsum(self._each[cover.stated].tolist()) + clauses

    def _length(self, cover: Cover) -> tuple[float, int]:
        return self._cost(cover), cover.clauses

    def _bounds(self, prices: Tensor, grid: tuple[Tensor, Tensor], ends: tuple[Tensor, Tensor]) -> Tensor:
        """(M, N) lower bounds of the cost of a cover with each ceiling and each floor, whose upper ends are (M, P) and
        lower ends (N, P)."""
        against, favour = (self._worth @ prices).view(2, -1).flip(0)
        uppers, lowers = ends
        gain_low = favour * (self._observed.lower - lowers).clamp(min=0)
        gain_high = against * (uppers - self._observed.upper).clamp(min=0)
        worth = self._left & (gain_low.amax(0) + gain_high.amax(0) > self._each)
        gain_low, gain_high = gain_low[:, worth] - self._each[worth], gain_high[:, worth]
        beyond = torch.stack([(gain + gain_low).clamp(min=0).sum(1) for gain in gain_high])
        lacking = (uppers @ against)[:, None] - lowers @ favour - prices @ self._fixed
        clauses = (grid[0] < math.inf)[:, None] * self._costs.ceiling + (grid[1] > -math.inf) * self._costs.floor
        bounds: Tensor = lacking - beyond + clauses
        return bounds

    def _solve(self, clauses: Clauses, pair: Pair, limit: float) -> tuple[Cover | None, Tensor] | None:
        """A cover with this ceiling and floor and the rivals' prices (R,); None where all statements do not cover.

        There is no cover where the relaxation leaves no room for one below `limit`.
        """
        high, low = (self._own.new_tensor([each]) for each in pair)
        base = _ends(Enclosure.unchecked(clauses.lowers(low)[0], clauses.uppers(high)[0]))
        cover = Cover([], *pair)
        need = self._lacks(base)
        if not bool((need > 0).any()):
            return cover, torch.zeros_like(need)
        room = limit - self._cost(cover) - self._costs.step
        found = self._chosen(base, room)
        if found is None:
            return None
        stated, prices = found
        return (None if stated is None else replace(cover, stated=stated)), prices

    def _chosen(self, base: Tensor, room: float) -> tuple[list[int] | None, Tensor] | None:
        """Statements that close all rivals from some ends, the most useful first, and the prices that the first
        relaxation gives the rivals; None where all statements do not. There are no statements where its bound leaves no
        room."""
        ends, chosen, prices, linked = base, list[int](), None, False
        while bool(((lacks := self._lacks(ends)) > 0).any()):
            gains = self._gains(ends, linked)
            gains[:, chosen] = 0.0
            solution = relaxed(gains, lacks, self._each, room + _ZERO if prices is None else math.inf)
            if solution is None and self._table is not None and not linked:
                linked = True  # what their own statements do not close, those about others may
                continue
            if solution is None:
                return None
            if prices is None:
                prices = solution.prices
                if solution.bound > room + _ZERO:
                    return None, prices
            # those that are worth what they cost, each after those before it, the most useful first
            order = solution.reduced.argsort(stable=True)
            taken = order[(solution.reduced < -_ZERO)[order] & self._left[order]].tolist()
            if self._table is not None:
                worth, offered_, taken = self._worth @ solution.prices, taken, []
                after = ends
                for k in offered_:
                    if float((self._table[k] - after).clamp(min=0) @ worth) >= self._each[k]:
                        after = after.maximum(self._table[k])
                        taken.append(k)
            ends = self._with(ends, taken)
            if self._table is None or not taken:
                parts = (solution.share > _ZERO).index_fill(0, torch.tensor(taken, dtype=torch.int64), False)
                for offered in (parts, ~parts & self._left):
                    columns = offered.nonzero()[:, 0]
                    more = columns[self._greedy(gains[:, columns], lacks, self._lacks(ends), columns)].tolist()
                    ends, taken = self._with(ends, more), taken + more
            chosen += taken
        kept = self._pruned(base, sorted(chosen, key=self._each.tolist().__getitem__))
        return kept, prices if prices is not None else torch.zeros_like(self._fixed)

    def _greedy(self, gains: Tensor, need: Tensor, left: Tensor, columns: Tensor) -> list[int]:
        """Of (R, K) gains the columns, those first that cover most of what is left for their cost, until nothing is."""
        chosen: list[int] = []
        worth = 1 / self._each[columns].clamp(min=NEARLY_FREE)
        need = need.clamp(min=0)
        while bool((left > 0).any()) and len(chosen) < len(worth):
            rows = left > 0
            shares = gains[rows].minimum(left[rows, None]) / need[rows, None]
            best = int((shares.sum(0) * worth).argmax())
            chosen.append(best)
            left = left - gains[:, best]
            worth[best] = -1.0
        return chosen

    def _pruned(self, base: Tensor, order: list[int]) -> list[int]:
        """The statements without those that are not needed, the last ones dropped first."""
        if self._table is None:
            last = order[::-1]
            gone, _ = one_by_one(-self._lacks(self._with(base, order)), self._gains(base).T[last], 0.0)
            return [k for k, is_gone in zip(last, gone.tolist(), strict=True) if not is_gone][::-1]
        kept = order.copy()
        rows = self._table[order]
        ends = base.maximum(rows.amax(0)) if order else base
        lacks = self._lacks(ends)
        for index in range(len(order) - 1, -1, -1):
            (tight,) = ((rows[index] >= ends) & (rows[index] > base)).nonzero(as_tuple=True)
            before = rows[index, tight]
            rows[index, tight] = -math.inf
            now = base[tight].maximum(rows[:, tight].amax(0))
            moved = lacks + (ends[tight] - now) @ self._worth[tight]
            if bool((moved < 0).all()):
                lacks, ends[tight] = moved, now
                rows[index] = -math.inf
                del kept[index]
            else:
                rows[index, tight] = before
        return kept

    def _lacks(self, ends: Tensor) -> Tensor:
        """(R,) what rivals lack."""
        return -(self._fixed + ends @ self._worth)

    def _with(self, ends: Tensor, stated: list[int]) -> Tensor:
        """The ends with what some statements say."""
        if not stated:
            return ends
        if self._table is not None:
            return ends.maximum(self._table[stated].amax(0))
        where = torch.tensor([*stated, *(len(self._left) + k for k in stated)])
        return ends.index_put((where,), ends[where].maximum(self._own[where]))

    def _gains(self, ends: Tensor, linked: bool = False) -> Tensor:
        """(R, P) what each statement gains alone; only if `linked` also by what it says of other activations."""
        if linked and self._table is not None:
            return ((self._table - ends).clamp(min=0) @ self._worth).T.contiguous()
        size = len(self._left)
        tighter = (self._own - ends).clamp(min=0)[:, None]
        gains = self._worth[:size] * tighter[:size] + self._worth[size:] * tighter[size:]
        return (gains * self._left[:, None]).T.contiguous()


def one_by_one(margins: Tensor, lost: Tensor, least: float) -> tuple[Tensor, Tensor]:
    """(S,) bool, which of S items go, one after the other, each if all margins (C,) stay above `least` without it; and
    the margins in the end.

    Args:
        lost: (S, C) by how much margins fall without each, at least 0; they fall by the sum without several.
    """
    gone, left = torch.zeros(len(lost), dtype=torch.bool), torch.arange(len(lost))
    while len(left := left[(margins - lost[left] > least).all(1)]):  # what is needed now is needed for good
        count = max(1, int((margins - lost[left].cumsum(0) > least).all(1).long().cumprod(0).sum()))
        gone[left[:count]] = True
        margins, left = margins - lost[left[:count]].sum(0), left[count:]
    return gone, margins


def _ends(box: Enclosure) -> Tensor:
    """(..., 2 P) the lower ends, and the upper ends with the sign turned."""
    return torch.cat([box.lower, -box.upper], -1)


def _spread(values: Tensor, most: int = _GRID) -> Tensor:
    """At most so many of some sorted values, the first and the last among them."""
    places = torch.linspace(0, len(values) - 1, min(most, len(values))).round().long()
    return values[places]


def _around(values: Tensor, grid: Tensor, at: float) -> Tensor:
    """Some values from the grid's value before `at` to that after it."""
    index = int((grid < at).sum())
    low, high = grid[max(0, index - 1)], grid[min(len(grid) - 1, index + 1)]
    return _spread(values[(low <= values) & (values <= high)])
