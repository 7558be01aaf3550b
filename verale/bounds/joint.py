"""Joint: a margin bounded as one target, of images of one patch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from verale.bounds.ascent import Facts, best_weights
from verale.bounds.domain import ball_around, domain_range
from verale.bounds.observables import unit_vectors
from verale.errors import UsageError
from verale.head import Head, Identity, InnerProduct, Linear, MaxPooling, Negated
from verale.rounding import INFLATE, UNDERFLOW, UNIT, down, gamma, root, up

__all__ = ["Joint", "JointMargins"]

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
