r"""How far the ranges of a patch's observables reach beyond those for the middles of what is stated: wide intervals.

The names are those of `verale.bounds.projection`: directions e_i = sum_j C_ij b_j of anchors b_j, the floats t_ik near
<e_i, b_k>, the foot c = sum_i w_i e_i, r_k = b_k - sum_i t_ik e_i, and for every z

    <z - x_0, b_k> = sum_i t_ik <z - x_0, e_i> + <c, r_k> + <z - x_0 - c, r_k>,
    |z - x_0 - c|^2 = |z - x_0|^2 - 2 sum_i w_i <z - x_0, e_i> + |c|^2.

Let o_j be the stated observables, the base's first (of squared distances), and let each be within delta_j of a middle.
Then <z - x_0, e_i> is linear in the o_j. For any h > 0, with A >= |r_k|^2 and B >= |z - x_0 - c|^2 at the middles,

    2 <z - x_0 - c, r_k> <= h |z - x_0 - c|^2 + A / h <= h (B + 2/f sum_j beta_j (o_j - middle_j)) + A / h,

since 2 p q <= h p^2 + q^2 / h. So each end of the observable is linear in the o_j: it is what it is at the middles,
with (h B + A / h) / 2 for the swing |r_k| B^(1/2), and moves by at most sum_j |alpha_kj +- h_k beta_j| delta_j:

    squared distances: f = 2, alpha_kj = sum_i t_ik C_ij, beta_j = sum_i w_i C_ij; of the base 1 less all others
    products:          f = 1, alpha_kj = sum_i t_ik C_ij, beta_j = - sum_i w_i C_ij

**From within.** At theta_j of size delta_j, with the sign of alpha_kj +- h_k beta_j, all the statements hold with
equality for some z. There the observable is sum_j alpha_kj theta_j away, and swings by |r_k| rho, where rho^2 is
B + 2/f sum_j beta_j theta_j, less |C theta'|^2 for the offsets theta' by which the <z - x_0, b_j> differ.

Any h is sound. h = (A / B)^(1/2) is best for narrow intervals, (A / B')^(1/2) with B' the greatest B over the intervals
for wide ones; the lesser result of both is taken. It is the bound of a concave function by its tangent at the middles
(certificates/v1.md, "Weights that serve").
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from verale.bounds.at_once import INFLATE
from verale.rounding import gamma

__all__ = ["Moves", "Slopes", "moves", "slopes_of"]

_LEAST = 1e-300


def moves(alpha: Tensor, beta: Tensor, half: Tensor, bends: Tensor) -> tuple[Tensor, Tensor]:
    """(R, P) sum_j |alpha_kj - h_k beta_j| delta_j, and the same with a plus.

    Args:
        alpha, beta, half: see `Slopes`.
        bends: (R, P) h_k.
    """
    bend = bends[:, :, None] * beta[:, None]
    low, high = (((alpha + sign * bend).abs() * half[:, None]).sum(2) for sign in (-1, 1))
    return low, high


Moves = Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
"""The signature of `moves`."""


class Slopes(NamedTuple):
    """How the ends of the observables of R patches depend on N stated ones.

    Attributes:
        alpha: (R, P, N).
        beta: (R, N).
        half: (R, N) delta; 0 where nothing is stated.
        error: (R, N) by how much alpha may be off, for any observable.
        bend_error: (R, N) the same of beta.
        shift: (R, 1) no less than |C theta'|^2.
        sum_moves: what does most of the arithmetic, should there be anything faster.
    """

    alpha: Tensor
    beta: Tensor
    half: Tensor
    error: Tensor
    bend_error: Tensor
    shift: Tensor
    sum_moves: Moves = moves

    def swings(self, across: Tensor, ball: Tensor, factor: int) -> tuple[Tensor, Tensor]:
        """(R, P) how far lower and upper ends may be from the observables for the middles and no swing; rounded up.

        Args:
            across: (R, P) A, at least 0.
            ball: (R, 1) B, at least 0.
            factor: f.
        """
        low = high = torch.full_like(across, torch.inf)
        widest = ball + 2 / factor * (self.half * self.beta.abs()).sum(1, keepdim=True)
        off = (self.half * self.error).sum(1, keepdim=True)
        bent = (self.half * self.bend_error).sum(1, keepdim=True)
        for reach in (ball, widest):
            h = (across / reach.clamp(min=_LEAST)).sqrt()
            swing = (h * ball + torch.where(h > 0, across / h.clamp(min=_LEAST), 0.0)) * (factor / 2)
            fixed = swing + off + h * bent
            moved = self.sum_moves(self.alpha, self.beta, self.half, h)
            low, high = (torch.fmin(end, INFLATE * (fixed + way)) for end, way in zip((low, high), moved, strict=True))
        return low, high

    def attained(self, across: Tensor, ball: Tensor, factor: int) -> tuple[Tensor, Tensor]:
        """(R, P) how far lower and upper ends surely are from there; estimates but for the errors of the slopes.

        Where rho^2 may not be positive, perhaps no z has these equalities. Then the middles serve; if perhaps none has
        these either, nothing is known, and the ends are infinitely far inside.

        Args:
            across: no more than |r_k|^2, at least 0.
            ball: (R, 1) no more than rho^2 at the middles.
            factor: see `swings`.
        """
        h = (across / ball.clamp(min=_LEAST)).sqrt()
        middle = torch.where(ball > 0, factor * (across * ball.clamp(min=0)).sqrt(), -torch.inf)
        off = (self.half * self.error).sum(1, keepdim=True)
        bent = (self.half * self.bend_error).sum(1, keepdim=True) + self.shift
        ends = []
        for sign in (-1, 1):
            way = self.half[:, None] * (sign * self.alpha + h[:, :, None] * self.beta[:, None]).sign()
            left = ball + 2 / factor * ((self.beta[:, None] * way).sum(2) - INFLATE * bent)
            corner = sign * (self.alpha * way).sum(2) + factor * (across * left.clamp(min=0)).sqrt()
            ends.append(torch.where(left > 0, corner, middle) - INFLATE * off)
        return ends[0], ends[1]


def slopes_of(
    duals: Tensor, coefficients: Tensor, centre: Tensor, dual_error: Tensor, half: Tensor, sum_moves: Moves = moves
) -> Slopes:
    """The slopes of R patches with M directions each.

    Args:
        duals: (R, M, P) floats near <e_i, b_k>.
        coefficients: (R, M, M) C; 0 where a direction is missing.
        centre: (R, M) w.
        dual_error: (R, M) how far a computed <e_i, b_k> may be from the real number.
        half: (R, M) of the anchors' intervals or, with one number more, of the base's before them.
        sum_moves: see `Slopes`.

    Soundness: t, as other code computed it, and `duals` are both within `dual_error` of the same number. What the
    products here are rounded by is gamma of more operations than there are, times sums of sizes.
    """
    room = coefficients.shape[1]
    rounding, size = gamma(4 * room + 64), coefficients.abs()
    alpha = torch.bmm(duals.transpose(1, 2), coefficients)
    beta = torch.bmm(centre[:, None], coefficients)[:, 0]
    most = duals.abs().amax(2)
    error = torch.bmm((2 * dual_error + rounding * most)[:, None], size)[:, 0]
    bend_error = rounding * torch.bmm(centre.abs()[:, None], size)[:, 0]
    moved = half if half.shape[1] == room else (half[:, 1:] + half[:, :1]) / 2
    shift = INFLATE * torch.bmm(size, moved[:, :, None])[:, :, 0].square().sum(1, keepdim=True)
    if half.shape[1] == room:
        return Slopes(
            alpha, -beta, half, INFLATE * (error + rounding), INFLATE * (bend_error + rounding), shift, sum_moves
        )
    rest = rounding * torch.bmm(most[:, None], size)[:, 0] + error
    return Slopes(
        torch.cat([1 - alpha.sum(2, keepdim=True), alpha], 2),
        torch.cat([1 - beta.sum(1, keepdim=True), beta], 1),
        half,
        INFLATE * (torch.cat([rest.sum(1, keepdim=True), error], 1) + rounding),
        INFLATE * (torch.cat([2 * bend_error.sum(1, keepdim=True), bend_error], 1) + rounding),
        shift,
        sum_moves,
    )
