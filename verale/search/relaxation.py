"""The relaxation of a covering problem: min e x with G x >= need and 0 <= x <= 1, by an interior-point method.

There are far fewer rows than columns, so a step costs about one product of G with itself. The prices of the rows bound
the cost of every x from below, however far the method came (weak duality):
    cost >= sum_r y_r need_r - sum_j max(0, sum_r y_r G_rj - e_j).
All of this is an estimate, for the search.

Reference: Mehrotra, On the implementation of a primal-dual interior point method (1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Relaxed", "relaxed"]

_STEPS = 40
"""It seldom takes more than 20."""
_CLOSE = 1e-4
"""The share of the cost by which the bound may miss it."""
_BACK = 0.99
"""The share of the way to the nearest bound that a step goes."""
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


def relaxed(gains: Tensor, need: Tensor, costs: Tensor) -> Relaxed | None:
    """Solve a programme; None if all columns together do not cover.

    Args:
        gains: (R, P) G >= 0.
        need: (R,); what is not positive is met.
        costs: (P,) e >= 0.
    """
    asks = (need > 0).nonzero()[:, 0]
    scaled = gains[asks] / need[asks, None]
    whole = scaled.sum(1)
    if not bool((whole > 1).all()):
        return None
    entered = whole.argsort(stable=True)[:_ROWS]
    while True:
        share, own = _solved(scaled[entered], costs)
        missed = (1 - scaled @ share).index_fill(0, entered, 0.0)
        worst = missed.argsort(descending=True, stable=True)[:_ROWS]
        worst = worst[missed[worst] > _CLOSE]
        if not len(worst):
            break
        entered = torch.cat([entered, worst])
    prices = torch.zeros_like(need).index_put((asks[entered],), own / need[asks[entered]])
    reduced = costs - own @ scaled[entered]
    return Relaxed(share, prices, reduced, float(own.sum() + reduced.clamp(max=0).sum()))


def _solved(gains: Tensor, costs: Tensor) -> tuple[Tensor, Tensor]:
    """(P,) shares and (R,) prices of rows that need 1.

    The variables are x and 1 - x, with the multipliers z and w of their bounds, and the surplus s = G x - 1 of the
    rows, with the prices y. All equations hold at the start, and so they do after every step; all variables and
    multipliers are kept positive, and every product of the two is brought towards 0.
    """
    least = float(gains.sum(1).amin())
    share = torch.full_like(costs, (1 + 1 / least) / 2)
    surplus = gains @ share - 1
    prices = torch.full_like(gains[:, 0], float(costs.sum() / gains.sum()))
    reduced = costs - prices @ gains
    low, high = reduced.clamp(min=0) + 1, (-reduced).clamp(min=0) + 1
    best, bound = prices, -torch.inf
    for _ in range(_STEPS):
        reduced = costs - prices @ gains
        paid = float(prices.sum() + reduced.clamp(max=0).sum())
        if paid > bound:
            best, bound = prices, paid
        cost = float(costs @ share)
        if cost - bound <= _CLOSE * max(1.0, cost):
            break
        variables, multipliers = (share, 1 - share, surplus), (low, high, prices)
        newton = _Newton.of(gains, variables, multipliers)
        if newton is None:
            break
        # First straight on; how far that goes says how much of the products to keep.
        moves = newton.step((0.0, 0.0, 0.0))
        products = _products(variables, multipliers)
        ahead = _products(*(_moved(now, by) for now, by in zip((variables, multipliers), moves, strict=True)))
        kept = products * (ahead / products) ** 3 / (2 * len(costs) + len(gains))
        moves = newton.step(tuple(kept - x * z for x, z in zip(*moves, strict=True)))
        (share, _, surplus), (low, high, prices) = (
            _moved(now, by, _BACK) for now, by in zip((variables, multipliers), moves, strict=True)
        )
    return share, best


_Three = tuple[Tensor, Tensor, Tensor]


@dataclass(frozen=True, eq=False)
class _Newton:
    """The equations of one step, whose matrix is the same for every aim.

    Attributes:
        gains: (R, P).
        variables, multipliers: where it begins.
        weights: (P,) how easily a share moves.
        factor: of G weights G', with the rows' own term.
    """

    gains: Tensor
    variables: _Three
    multipliers: _Three
    weights: Tensor
    factor: Tensor

    @classmethod
    def of(cls, gains: Tensor, variables: _Three, multipliers: _Three) -> _Newton | None:
        """None where rounding leaves no factor."""
        (share, rest, surplus), (low, high, prices) = variables, multipliers
        weights = 1 / (low / share + high / rest)
        matrix = (gains * weights) @ gains.T
        matrix.diagonal().add_(surplus / prices)
        factor, failed = torch.linalg.cholesky_ex(matrix)
        return None if bool(failed) else cls(gains, variables, multipliers, weights, factor)

    def step(self, aims: tuple[float | Tensor, ...]) -> tuple[_Three, _Three]:
        """How variables and multipliers move, so that their products become the aims."""
        (share, rest, surplus), (low, high, prices) = self.variables, self.multipliers
        over, under, left = aims[0] / share - low, aims[1] / rest - high, aims[2] / prices - surplus
        pull = over - under
        right = left - self.gains @ (self.weights * pull)
        paid = torch.cholesky_solve(right[:, None], self.factor)[:, 0]
        moved = self.weights * (pull + paid @ self.gains)
        return (
            (moved, -moved, left - surplus / prices * paid),
            (over - low / share * moved, under + high / rest * moved, paid),
        )


def _products(variables: _Three, multipliers: _Three) -> float:
    return sum(float(x @ z) for x, z in zip(variables, multipliers, strict=True))


def _moved(values: _Three, by: _Three, share: float = 1.0) -> _Three:
    """As far as all stay positive, and at most the whole way."""
    length = min(1.0, share * min(map(_way, values, by)))
    first, second, third = (now + length * move for now, move in zip(values, by, strict=True))
    return first, second, third


def _way(values: Tensor, by: Tensor) -> float:
    """How often a move can be made until some value is 0."""
    return float(torch.where(by < 0, -values / by, torch.inf).amin())
