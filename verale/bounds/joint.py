r"""Joint: a margin bounded as one target, of images of one patch; and the weights of statements that serve best.

**The best weights**, for many targets at once, are estimates, which `Joint` proves. Facts are lo_i <= v_i(y) <= hi_i
with v_i(y) = a_i |y|^2 - 2 <y, b_i> + c_i, targets t(y) = sum_i T_i v_i(y). For weights w write K = T - w. If
A = sum_i K_i a_i > 0 then sum_i K_i v_i is least at y = sum_i K_i b_i / A, and

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

from verale.bounds.domain import ball_around, domain_range
from verale.bounds.observables import unit_vectors
from verale.errors import UsageError
from verale.head import Head, Identity, InnerProduct, Linear, MaxPooling, Negated
from verale.rounding import INFLATE, UNDERFLOW, UNIT, down, gamma, root, up

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


_BYTES = 2**26
"""About how much memory the differences of vectors take at once."""


@dataclass(frozen=True, eq=False)
class JointMargins:
    """Margins of N explanations.

    Attributes:
        lower: (N, C) proved lower bounds of o_predicted - o_c; infinity at the predicted class.
        weights: (N, C, P), of products (N, C, P + 1): the price w of each statement, and last that of the ball. The
            bound is a constant plus, for each statement, w times its lower end where w > 0 and w times its upper end
            where w < 0: so they say what an end may move.
    """

    lower: Tensor
    weights: Tensor


class Joint:
    r"""Margins of a linear readout over one patch whose similarities are linear in the observables.

    A margin is t(y) = bias + sum_j T_j v_j(y), where v_j is the observable of prototype j, T_j = -s_j D_j for squared
    distances (`negated`) and D_j for products (`identity`), D_j = W_predicted,j - W_cj. Statements say v_i in
    [lo_i, hi_i]. Products have one fact more, v = |y - c|^2 in [0, R^2], about the ball that holds the latents (of
    cosines y = u). Every v is a_i |y|^2 - 2 <y, b_i> + c_i.

    **Rule.** Let w_i be weights, K = T - w, A = sum_i K_i a_i > 0, y_0 any vector and q = sum_i K_i (a_i y_0 - b_i).
    For all y that satisfy the statements

        t(y) >= bias + sum_i (w_i e_i + K_i v_i(y_0)) - |q|^2 / A,   e_i = lo_i where w_i > 0, else hi_i.

    *Proof.* t(y) = bias + sum_i w_i v_i(y) + sum_i K_i v_i(y), and w_i v_i(y) >= w_i e_i. The last sum is quadratic
    with the curvature A and half its slope at y_0 is q, so it is its value at y_0 plus 2 <q, y - y_0> + A |y - y_0|^2,
    which is at least -|q|^2 / A.

    At y_0 = sum_i K_i b_i / A the vector q is 0 but for rounding, and the v_i(y_0) are what the statements say, so
    little is lost to cancellation. `verale.checker.reading.quadratic` has the same rule, with weights of its own.

    Attributes:
        head: the head.
        facts: what is known, for the search: of distances about the mean of the prototypes, of products about the
            centre of the ball, which is the last one.

    Soundness: any floats w and y_0 are sound. Of the differences K each has its rounding error counted; all sums have
    gamma_n of their terms' sizes.
    """

    name = "joint"

    def __init__(self, head: Head) -> None:
        if not self.admits(head):
            raise UsageError(
                "paradigm 'joint' needs a margin that is one quadratic target: pooling 'max', a linear readout, and the"
                " similarity 'negated' of squared distances or 'identity' of inner products or cosines. Others, such as"
                " 'quadratic', are no such target"
            )
        self.head = head
        self._euclidean = head.geometry.is_distance
        self._domain = domain_range(head)
        self._weight = head.weight.to(torch.float64)
        bias = head.bias
        self._bias = self._weight.new_zeros(head.classes) if bias is None else bias.to(torch.float64)
        self._scale = None if head.scale is None or not self._euclidean else head.scale.to(torch.float64)
        points = head.points.to(torch.float64)
        self._turn = 0.0  # how far a vector may be from the real one, whose length is 1
        if not self._euclidean and not isinstance(head.geometry, InnerProduct):
            points = unit_vectors(points)
            self._turn = gamma(3 * head.depth + 40)
        self._points = points
        self._ball: tuple[float, float] | None = None
        if not self._euclidean:
            self._ball = (0.0, 1.0)
            if isinstance(head.geometry, InnerProduct):
                self._ball = ball_around(head.domain, head.geometry.radius, head.depth)
        self.facts = self._known(points)

    @staticmethod
    def admits(head: Head) -> bool:
        """Whether the margins of a head are such targets, for images of one patch."""
        similar = Negated if head.geometry.is_distance else Identity
        return (
            head.geometry.has_prototypes
            and isinstance(head.similarity, similar)
            and isinstance(head.pooling, MaxPooling)
            and isinstance(head.readout, Linear)
        )

    def targets(self, predicted: Tensor) -> tuple[Tensor, Tensor]:
        """The T_j (N, C, P) and the biases (N, C), rounded, of predicted classes (N,)."""
        difference = self._weight[predicted][:, None] - self._weight
        if self._euclidean:
            difference = -difference if self._scale is None else -difference * self._scale
        return difference, self._bias[predicted][:, None] - self._bias

    def margins(self, predicted: Tensor, lower: Tensor, upper: Tensor) -> JointMargins:
        """Proved margins of N explanations, with the best weights that a search finds.

        Args:
            predicted: (N,) the explained classes.
            lower, upper: (N, P) the ends of the statements; minus infinity and infinity where an end, or the whole
                statement, is missing.
        """
        lower, upper = self._filled(lower, upper)
        targets, _ = self.targets(predicted)
        rivals = torch.arange(self.head.classes) != predicted[:, None]
        wide = (*targets.shape[:2], lower.shape[1])
        ends = (end[:, None].expand(wide)[rivals] for end in (lower, upper))
        more = self._with_ball(targets)
        weights = torch.zeros_like(more)
        weights[rivals] = best_weights(self.facts, more[rivals], *ends)
        return JointMargins(self._proved(predicted, lower, upper, weights), weights)

    def proved(self, predicted: Tensor, lower: Tensor, upper: Tensor, weights: Tensor) -> Tensor:
        """(N, C) proved margins with given weights, as in `JointMargins`; see `margins`."""
        return self._proved(predicted, *self._filled(lower, upper), weights)

    def _known(self, points: Tensor) -> Facts:
        """The facts, about a centre near which the vectors are: then the search loses less to rounding."""
        count = len(points)
        ones = points.new_ones(count)
        if self._euclidean:
            vectors = points - points.mean(0)
            squares = vectors.square().sum(1)
            return Facts(ones, vectors, squares, ones * self._domain.upper.clamp(min=1e-300).amax())
        centre, radius = self._ball or (0.0, 1.0)
        vectors = torch.cat([-points / 2, torch.zeros_like(points[:1])])
        constants = torch.cat([centre * points.sum(1), points.new_zeros(1)])
        units = torch.cat([root(points.square().sum(1)) * radius, points.new_full((1,), radius**2)])
        return Facts(torch.cat([ones * 0, ones[:1]]), vectors, constants, units.clamp(min=1e-300))

    def _filled(self, lower: Tensor, upper: Tensor) -> tuple[Tensor, Tensor]:
        """The ends of all facts: a statement with one end has the domain's as the other."""
        stated = lower.isfinite() | upper.isfinite()
        lower = torch.where(stated & ~lower.isfinite(), self._domain.lower, lower)
        upper = torch.where(stated & ~upper.isfinite(), self._domain.upper, upper)
        if self._ball is None:
            return lower, upper
        own = lower.new_tensor([[0.0, 1.0]]).expand(len(lower), 2)
        square = float(up(lower.new_tensor(self._ball[1]).square()))
        return torch.cat([lower, own[:, :1]], 1), torch.cat([upper, own[:, 1:] * square], 1)

    def _with_ball(self, values: Tensor) -> Tensor:
        """The same, and 0 for the ball of products."""
        return values if self._ball is None else torch.nn.functional.pad(values, (0, 1))

    def _proved(self, predicted: Tensor, lower: Tensor, upper: Tensor, weights: Tensor) -> Tensor:
        rows = max(1, _BYTES // (8 * self._points.numel() * self.head.classes))
        parts = zip(*(torch.split(each, rows) for each in (predicted, lower, upper, weights)), strict=True)
        bounds = [self._some_proved(*part) for part in parts]
        return torch.cat(bounds) if bounds else lower.new_zeros(0, self.head.classes)

    def _some_proved(self, predicted: Tensor, lower: Tensor, upper: Tensor, weights: Tensor) -> Tensor:
        targets, bias = self.targets(predicted)
        targets = self._with_ball(targets)
        curves, depth, count = self.facts.curves, self.head.depth, weights.shape[-1]
        share = targets - weights
        # A difference of weights, its product with the scale, and the difference from w are rounded once each.
        off = up(INFLATE * UNIT * (3 * targets.abs() + share.abs()) + 4 * UNDERFLOW)
        sizes = share.abs() + off

        place = self._place(share)
        values, error = self._values(place)
        ends = torch.where(weights > 0, lower[:, None], upper[:, None]).masked_fill(weights == 0, 0.0)
        terms, paid = share * values, weights * ends
        size = (terms.abs() + paid.abs()).sum(-1) + bias.abs()
        lost = (off * (values.abs() + error) + share.abs() * error).sum(-1)
        lost = up(INFLATE * (lost + gamma(2 * count + 8) * size + (4 * count + 8) * UNDERFLOW))

        whole = (share * curves).sum(-1)
        curve = down(whole - up(INFLATE * ((sizes * curves).sum(-1) * gamma(count + 4) + (off * curves).sum(-1))))
        slope, slack = self._slope(place, share, sizes, off)
        bent = up(INFLATE * ((slope.abs() + slack).square().sum(-1) + depth * UNDERFLOW))
        bound = bias + (terms + paid).sum(-1) - lost - up(bent / curve.clamp(min=UNDERFLOW)) * INFLATE
        bound = down(bound - up(UNIT * 4 * (bound.abs() + size + lost)))
        bound = torch.where(curve > 0, bound, -torch.inf).nan_to_num(-torch.inf, torch.inf, -torch.inf)
        return bound.scatter(1, predicted[:, None], torch.inf)

    def _place(self, share: Tensor) -> Tensor:
        """(N, C, D) y_0, relative to the centre of the ball where there is one."""
        facts = self.facts
        curve = (share @ facts.curves).clamp(min=UNDERFLOW)[..., None]
        if not self._euclidean:
            return share @ facts.vectors / curve
        return share @ facts.vectors / curve + self._points.mean(0)

    def _values(self, place: Tensor) -> tuple[Tensor, Tensor]:
        """(N, C, F) each: the v_i(y_0), and no less than what rounding does to them."""
        depth = self.head.depth
        if self._euclidean:
            values = (place[:, :, None] - self._points).square_().sum(-1)
            return values, up(values * gamma(depth + 4) + depth * UNDERFLOW)
        centre, _ = self._ball or (0.0, 1.0)
        sums, length = self._points.abs().sum(1), place.abs() @ self._points.abs().T
        values = place @ self._points.T + centre * self._points.sum(1)
        error = gamma(depth + 8) * (length + abs(centre) * sums) + depth * UNDERFLOW
        if self._turn:
            error = error + self._turn * up(root(place.square().sum(-1, keepdim=True)) * (1 + gamma(depth + 8)))
        square = place.square().sum(-1, keepdim=True)
        return torch.cat([values, square], -1), up(
            INFLATE * torch.cat([error, square * gamma(depth + 4) + depth * UNDERFLOW], -1)
        )

    def _slope(self, place: Tensor, share: Tensor, sizes: Tensor, off: Tensor) -> tuple[Tensor, Tensor]:
        """(N, C, D) each: q, and no less than what rounding does to it."""
        curves = self.facts.curves
        vectors = self._points if self._euclidean else torch.nn.functional.pad(-self._points / 2, (0, 0, 0, 1))
        count = len(vectors)
        slope = (share @ curves)[..., None] * place - share @ vectors
        reach, along = place.abs(), vectors.abs()
        error = gamma(count + 8) * ((sizes @ curves)[..., None] * reach + sizes @ along)
        error = error + (off @ curves)[..., None] * reach + off @ along + sizes.sum(-1, keepdim=True) * self._turn
        return slope, up(INFLATE * error + 4 * count * UNDERFLOW)
