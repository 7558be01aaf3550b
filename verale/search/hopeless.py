r"""Hopeless: how many statements about activations every explanation has at least, of a batch of images together.

Prices y of the rivals bound from below what covers cost (`verale.search.covers`), whatever the prices are:
    cost(u, v) >= sum_c y_c need_c(u, v) - sum_j max(0, sum_c y_c gain_jc(u, v) - 1).
So no programme has to be solved where far fewer statements are known: some steps find prices that are good enough. Each
step lowers the prices of the rivals that the statements worth most cover well (mirror descent).

All of this is an estimate, for the search: statements may also say something of other activations.
"""

from __future__ import annotations

import math
from typing import cast
from weakref import WeakKeyDictionary

import torch
from torch import Tensor

from verale.bounds import LinearMargins, activation_range
from verale.rounding import Enclosure
from verale.search.covers import RESERVE, START
from verale.search.problem import Problem

NEIGHBOURS = 4
"""By what statements say of other activations, explanations seldom have fewer than one in so many of the statements
that covers without that have."""
_STEPS = 4
_GRID = 16
"""So many ceilings, and so many floors, are looked at together."""
_ENTRIES = 2**22
"""So many gains of prototypes against rivals are computed at once: 32 MiB."""


_KNOWN: WeakKeyDictionary[Problem, list[float]] = WeakKeyDictionary()
"""What was found: several searches ask of the same images."""


def least_sizes(problem: Problem) -> list[float]:
    """About how many statements covers of each image have at least; 0 where nothing is known.

    Args:
        problem: N images of a head with a linear readout.
    """
    if problem not in _KNOWN:
        everywhere = activation_range(problem.head, problem.patches)
        margins, observed = cast(LinearMargins, problem.margins), problem.stated_activations()
        step = max(1, _ENTRIES // margins.positive[0].numel())
        parts = (slice(start, start + step) for start in range(0, len(problem), step))
        sizes = [
            _least_sizes(margins.take(part), observed[part], everywhere, problem.prototypes_left) for part in parts
        ]
        _KNOWN[problem] = torch.cat(sizes).tolist()
    return _KNOWN[problem]


def _least_sizes(margins: LinearMargins, observed: Enclosure, everywhere: Enclosure, left: Tensor) -> Tensor:
    """(N,) the same.

    Args:
        margins: of N images.
        observed: (N, P) the ends that statements give.
        everywhere: (P,) the ranges of the activations.
        left: (P,) bool, the prototypes that may be stated.
    """
    fixed = margins.bias - RESERVE * margins.error
    start = observed.upper.quantile(START, dim=1, keepdim=True, interpolation="nearest")
    high = _uppers(observed, everywhere, start)
    low = everywhere.lower.expand_as(high)
    need = -(fixed + _times(low, margins.positive) + _times(high, margins.negative))
    asks = need > 0
    lower, upper = (observed.lower - low).clamp(min=0) * left, (high - observed.upper).clamp(min=0) * left
    gains = lower[:, :, None] * margins.positive - upper[:, :, None] * margins.negative  # (N, P, C)
    gains = gains / need[:, None].where(asks[:, None], math.inf)
    whole = gains.sum(1).where(asks, math.inf)  # by all statements together, of what each rival lacks
    prices = _prices(gains, whole, asks) / need.where(asks, 1.0)
    paid = (prices * fixed.where(asks, 0.0)).sum(1, keepdim=True)
    worth = _times(prices, margins.positive.mT), _times(prices, -margins.negative.mT)
    # By their places among the ends of activations: the last ceiling is none, and so is the first floor.
    none, count = torch.full_like(observed.upper[:, :1], math.inf), observed.upper.shape[1] + 1
    ceilings = torch.cat([observed.upper.sort(1).values, none], 1)
    floors = torch.cat([-none, observed.lower.sort(1).values], 1)

    def bounds(at_ceilings: Tensor, at_floors: Tensor) -> Tensor:
        """(N, M, M) what covers with ceilings and floors at places (N, M) each cost at least, but for a constant."""
        favour, against = worth
        low = floors.gather(1, at_floors)[:, :, None]
        lower = everywhere.lower.maximum(low)
        lower = torch.where(observed.lower[:, None] >= low, lower, everywhere.lower)
        by_low = favour[:, None] * (observed.lower[:, None] - lower).clamp(min=0) - 1
        rest = (at_floors > 0).to(lower) - (lower @ favour[:, :, None])[:, :, 0]
        rows = []
        for place in torch.split(at_ceilings, 1, 1):
            upper = _uppers(observed, everywhere, ceilings.gather(1, place))
            by_high = against * (upper - observed.upper).clamp(min=0)
            beyond = (by_low + by_high[:, None]).clamp_(min=0) @ left.to(lower)
            rows.append(rest - beyond + (upper * against).sum(1, keepdim=True) + (place < count - 1))
        return torch.stack(rows, 1)

    places = torch.arange(_GRID)[None].repeat(2, 1, 1) * (count - 1) // (_GRID - 1)
    for _ in range(2):  # finer around the pair that bounds least
        places = places.expand(2, len(need), -1)
        least, at = (bounds(places[0], places[1]) - paid[:, :, None]).flatten(1).min(1, keepdim=True)
        around = torch.stack([at // _GRID, at % _GRID])
        first, last = (places.gather(2, (around + step).clamp(0, _GRID - 1)) for step in (-1, 1))
        places = first + torch.arange(_GRID) * (last - first) // (_GRID - 1)
    known = (whole > 1).all(1) & asks.any(1)
    return least[:, 0].where(known, 0.0).nan_to_num(0.0, 0.0, 0.0)


def _prices(gains: Tensor, whole: Tensor, asks: Tensor) -> Tensor:
    """(N, C) prices of rivals that lack 1 each, of statements that give gains (N, P, C)."""
    prices = (whole.amin(1, keepdim=True) / whole).square().where(asks, 0.0)
    for _ in range(_STEPS):
        prices = prices / prices.sum(1, keepdim=True)
        worth = (gains @ prices[:, :, None])[:, :, 0]
        covered = _times((worth >= 1 / _scale(worth, prices)).to(worth), gains).where(asks, 0.0)
        mean = covered.sum(1, keepdim=True) / asks.sum(1, keepdim=True)
        spread = ((covered - mean).square().where(asks, 0.0).sum(1, keepdim=True) / asks.sum(1, keepdim=True)).sqrt()
        prices = prices * (-(covered - mean) / spread.clamp(min=1e-300)).exp()
    worth = (gains @ prices[:, :, None])[:, :, 0]
    return prices * _scale(worth, prices)


def _scale(worth: Tensor, prices: Tensor) -> Tensor:
    """(N, 1) by what factor prices (N, C) bound best, if statements are worth so much by them (N, P): the bound is
    concave in it, with its corners where a statement is worth what it costs."""
    order = worth.sort(1, descending=True).values
    number = torch.arange(1, worth.shape[1] + 1)
    bound = (prices.sum(1, keepdim=True) - order.cumsum(1)) / order + number
    best = bound.where(order > 0, -math.inf).argmax(1, keepdim=True)
    return 1 / order.gather(1, best)


def _uppers(observed: Enclosure, everywhere: Enclosure, ceiling: Tensor) -> Tensor:
    """(N, P) upper ends under ceilings (N, 1), which exempt those for which they would not be true."""
    return torch.where(observed.upper <= ceiling, everywhere.upper.minimum(ceiling), everywhere.upper)


def _times(vectors: Tensor, matrices: Tensor) -> Tensor:
    """(N, K) of vectors (N, P) and matrices (N, P, K)."""
    return (vectors[:, None] @ matrices)[:, 0]
