"""The best weights of facts about a vector, for many targets at once; estimates, which `verale.bounds.joint` proves.

Facts are lo_i <= v_i(y) <= hi_i with v_i(y) = a_i |y|^2 - 2 <y, b_i> + c_i, targets t(y) = sum_i T_i v_i(y). For
weights w write K = T - w. If A = sum_i K_i a_i > 0 then sum_i K_i v_i is least at y = sum_i K_i b_i / A, and

    h(w) = sum_i K_i v_i(y) + sum_i w_i e_i,   e_i = lo_i where w_i > 0, else hi_i,

is a lower bound of the target. h is concave, and its slope is e_i - v_i(y).

**Interior point.** Write w = w+ - w-, both at least 0. At the best weights w+ (v - lo) = 0, w- (hi - v) = 0 and
A (N - |y|^2) = 0, where N stands for |y|^2 in v: a vector may have a coordinate more than the b_i. With a small number
in place of 0 these equations are smooth, and Newton's method solves them while that number shrinks. The slope of v in w
is the matrix of 2 <b_i - a_i y, b_j - a_j y> / A. An interval that is next to a point has a weight of any sign, and v
is held in its middle.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from verale.rounding import root

__all__ = ["Facts", "best_weights"]

_ROUNDS = 40
_NARROW = 1e-9
"""Intervals no wider than this, in units of their fact, are taken for points."""
_SHRINK = 0.15
"""What a round leaves of the products that are to become 0."""
_LEAST = 1e-9
"""They are not made smaller than this: then A is too small for float64."""
_BACK = 0.98
"""The greatest share of itself that a weight or a gap loses in a round."""
_FALL = 0.6
"""The same of A: y moves far where it falls."""
_FLAT = 1e-11
"""Where A is less, nothing is known of y."""
_RIDGE = 1e-13
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Facts:
    """F facts.

    Attributes:
        curves: (F,) the a_i, 0 or 1.
        vectors: (F, D) the b_i.
        constants: (F,) the c_i.
        units: (F,) about the size of v_i.
    """

    curves: Tensor
    vectors: Tensor
    constants: Tensor
    units: Tensor


def best_weights(facts: Facts, targets: Tensor, lower: Tensor, upper: Tensor) -> Tensor:
    """Weights (B, F) for B targets.

    Args:
        facts: what is known.
        targets: (B, F) the T_i.
        lower, upper: (B, F) the ends; an infinite one says nothing. Facts with two such ends have the weight 0.
    """
    if not bool((lower.isfinite() | upper.isfinite()).any()):
        return torch.zeros_like(targets)
    size = (targets * facts.units).abs().amax(1, keepdim=True).clamp(min=_TINY)
    units = facts.units
    scaled = Facts(facts.curves / units, facts.vectors / units[:, None], facts.constants / units, units)
    used = (lower.isfinite() | upper.isfinite()).any(0)
    ascent = _Ascent(scaled, targets * units / size, lower / units, upper / units, used)
    weights = torch.zeros_like(targets)
    weights[:, used] = ascent.weights() * size / units[used]
    return weights


@dataclass(frozen=True, eq=False)
class _State:
    """Weights of B targets, all (B, F): w = free + up - down, and how far v is to be from both ends."""

    free: Tensor
    up: Tensor
    down: Tensor
    above: Tensor
    below: Tensor

    @property
    def total(self) -> Tensor:
        """The weights."""
        return self.free + self.up - self.down

    def moved(self, step: _State, length: Tensor) -> _State:
        """After a share of a step, (B,)."""
        each = ((getattr(self, f.name), getattr(step, f.name)) for f in fields(self))
        return _State(*(now + length[:, None] * change for now, change in each))


class _Ascent:
    """B targets whose weights are improved together; values and weights are in units. Facts that are not `used` are
    among the targets only."""

    def __init__(self, facts: Facts, targets: Tensor, lower: Tensor, upper: Tensor, used: Tensor) -> None:
        rest = targets[:, ~used]
        self._curve, self._vector = rest @ facts.curves[~used], rest @ facts.vectors[~used]
        self._constant = rest @ facts.constants[~used]
        self._facts = Facts(facts.curves[used], facts.vectors[used], facts.constants[used], facts.units[used])
        self._targets, lower, upper = targets[:, used], lower[:, used], upper[:, used]
        self._point = upper - lower <= _NARROW
        self._middle = torch.where(self._point, (lower + upper) / 2, 0.0)
        self._has_low, self._has_high = (end.isfinite() & ~self._point for end in (lower, upper))
        self._low, self._high = torch.where(self._has_low, lower, 0.0), torch.where(self._has_high, upper, 0.0)
        self._stated = (self._point | self._has_low | self._has_high).to(targets)

    def weights(self) -> Tensor:
        """The weights with the greatest bounds that some rounds meet."""
        state = self._start()
        best, found = torch.full_like(self._curve, -torch.inf), state.total
        for _ in range(_ROUNDS):
            state, bound = self._round(state)
            better = (bound > best)[:, None]
            found, best = torch.where(better, state.total, found), torch.maximum(best, bound)
        return found

    def _start(self) -> _State:
        """Weights with which A is about 1."""
        curves = self._facts.curves
        zero, one = torch.zeros_like(self._targets), torch.ones_like(self._targets)
        up, down = torch.where(self._has_low, 0.1, zero), torch.where(self._has_high, 0.1, zero)
        useful = (self._point | self._has_high) * curves
        missing = (curves.amax() - (self._targets - up + down) @ curves - self._curve).clamp(min=0)
        part = missing[:, None] / useful.sum(1, keepdim=True).clamp(min=_TINY) * (useful > 0)
        down = torch.where(self._has_high, down + part, down)
        return _State(torch.where(self._point, -part, zero), up, down, one, one)

    def _bound(self, weights: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """h, A, and y, (B,), (B,) and (B, D)."""
        share = self._targets - weights
        curve = share @ self._facts.curves + self._curve
        place = (share @ self._facts.vectors + self._vector) / curve.clamp(min=_TINY)[:, None]
        ends = torch.where(weights > 0, self._low, self._high) + self._middle
        rest = self._curve * place.square().sum(1) - 2 * (place * self._vector).sum(1) + self._constant
        bound = (share * self._values(place) + weights * ends).sum(1) + rest
        return torch.where(curve > _FLAT, bound, -torch.inf).nan_to_num(-torch.inf), curve, place

    def _values(self, place: Tensor) -> Tensor:
        facts = self._facts
        return facts.curves * place.square().sum(1, keepdim=True) - 2 * place @ facts.vectors.T + facts.constants

    def _round(self, now: _State) -> tuple[_State, Tensor]:
        """One step of Newton's method, and h after it."""
        facts, point = self._facts, self._point
        _, curve, place = self._bound(now.total)
        curve = curve.clamp(min=_TINY)[:, None]
        gaps = (now.up * now.above + now.down * now.below).sum(1, keepdim=True)
        sides = (self._has_low.sum(1) + self._has_high.sum(1)).clamp(min=1)[:, None]
        aim = (_SHRINK * gaps / sides).clamp(min=_LEAST)
        values = self._values(place) + facts.curves * aim / curve
        lever = facts.vectors - facts.curves[:, None] * place[:, None]
        bent = facts.curves * root(aim) / curve
        matrix = 2 * (lever @ lever.transpose(1, 2)) / curve[:, :, None] + bent[:, :, None] * bent[:, None]
        matrix = matrix * self._stated[:, :, None] * self._stated[:, None]

        short = torch.where(self._has_low, values - self._low - now.above, 0.0)
        over = torch.where(self._has_high, self._high - values - now.below, 0.0)
        rise = torch.where(self._has_low, (aim - now.up * (now.above + short)) / now.above, 0.0)
        fall = torch.where(self._has_high, (aim - now.down * (now.below + over)) / now.below, 0.0)
        give = now.up / now.above + now.down / now.below
        slack = torch.where(give > 0, 1 / give.clamp(min=_TINY), 0.0)
        right = torch.where(point, self._middle - values, (rise - fall) * slack)
        ridge = _RIDGE * matrix.diagonal(dim1=1, dim2=2).amax(1, keepdim=True) + _TINY
        solved, _ = torch.linalg.solve_ex(
            matrix + torch.diag_embed(slack + ridge + (1 - self._stated)), right[:, :, None]
        )
        change = solved.nan_to_num(0.0, 0.0, 0.0) * self._stated[:, :, None]
        moved, change = (matrix @ change)[:, :, 0], change[:, :, 0]

        step = _State(
            torch.where(point, change, 0.0),
            torch.where(self._has_low, rise - now.up / now.above * moved, 0.0),
            torch.where(self._has_high, fall + now.down / now.below * moved, 0.0),
            torch.where(self._has_low, short + moved, 0.0),
            torch.where(self._has_high, over - moved, 0.0),
        )
        after = now.moved(step, self._length(now, step, curve[:, 0]))
        return after, self._bound(after.total)[0]

    def _length(self, now: _State, step: _State, curve: Tensor) -> Tensor:
        """(B,) how much of a step keeps A and all that is positive so."""
        falls = step.total @ self._facts.curves
        length = torch.where(falls > 0, _FALL * curve / falls.clamp(min=_TINY), 1.0).clamp(max=1.0)
        for name in ("up", "down", "above", "below"):
            old, change = getattr(now, name), getattr(step, name)
            limit = torch.where(change < 0, _BACK * old / (-change).clamp(min=_TINY), 1.0)
            length = torch.minimum(length, limit.amin(1))
        return length
