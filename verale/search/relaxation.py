"""The relaxation of a covering problem: min e x with G x >= need and 0 <= x <= 1, by an interior-point method.

There are far fewer rows than columns, so a step costs about one product of G with itself. The prices of the rows bound
the cost of every x from below, however far the method came (weak duality):
    cost >= sum_r y_r need_r - sum_j max(0, sum_r y_r G_rj - e_j).
All of this is an estimate, for the search.

Reference: Wright, Primal-dual interior-point methods (1997), chapter 5.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["Relaxed", "relaxed"]

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
