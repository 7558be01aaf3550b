"""Triangle: how each stated observable of a patch, by itself, bounds the others (metric heads)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from verale.bounds.intervals import Projection
from verale.bounds.observables import cut, stated_pairs
from verale.bounds.projection import ENTRIES_AT_ONCE, TOO_WIDE
from verale.head import Head
from verale.rounding import INFLATE, UNIT, Enclosure, gamma

_SLACK = gamma(32)
"""More relative roundings than there are on any path of this module."""


class Triangle:
    r"""The triangle inequality, statement by statement; the bounds of several statements are intersected.

    Squared distances: |d_jk - d_j| <= d_k <= d_jk + d_j with d_jk = |p_j - p_k|. Cosines: with alpha = arccos m_j and
    theta the angle of p_j and p_k, cos(alpha + theta) <= m_k <= cos(alpha - theta), for any alpha and theta.

    Both are the projection onto the hull of one anchor (see `Projection`), here in closed form, without arccos. With
    G_jk the inner products of b_j and b_k,

        squared distance:  d_k^2 = d_j^2 + |b_k - b_j|^2 -+ 2 (d_j^2 |b_k - b_j|^2)^(1/2),
        others:            m_k = shift_k + w t_k -+ (|t_k| e + ((G_kk - t_k^2) B)^(1/2)),

    where t_k = G_jk / s, w is the middle of (m_j - shift_j) / s, e half of its width, s = G_jj^(1/2), and B the
    greatest |z - x_0 - w b_j / s|^2, which is at most |z - x_0|^2 - w^2 + 2 |w| e.

    Soundness: an intersection of projection bounds, each sound; see `Projection`. Let g be the error of each G_jk. For
    any floats s, t_k and w, with a = b_j / s, |a|^2 = 1 + eta and <a, b_k> = t_k + delta_k,

        <z - x_0, b_k> = t_k <z - x_0, a> + w (delta_k - t_k eta) + <z - x_0 - w a, b_k - t_k a>,

    |b_k - t_k a|^2 = |b_k|^2 - t_k^2 - 2 t_k delta_k + t_k^2 eta, and |eta| <= g / s^2 and |delta_k| <= g / s, both but
    for roundings. These and the roundings of this module are bounded by constants of a statement, from the greatest
    |b_k|.
    Reference: Soria et al., arXiv 2511.16588 (triangular inequality) and 2608.16773 (cosine triangular inequality).
    """

    name = "triangle"
    ordered = False

    def __init__(self, head: Head) -> None:
        self._single = Projection(head)

    @property
    def size(self) -> int:
        """P."""
        return self._single.size

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """See `SpatialParadigm`."""
        domain = self._single.domain
        lower, upper = (end.repeat(len(stated), 1) for end in (domain.lower, domain.upper))
        some = max(1, ENTRIES_AT_ONCE // self.size)
        patches, prototypes = stated_pairs(stated)
        for start in range(0, len(patches), some):
            patch, prototype = patches[start : start + some], prototypes[start : start + some]
            alone = self.alone(prototype, observed[patch, prototype])
            where = patch[:, None].expand_as(alone.lower)
            lower.scatter_reduce_(0, where, alone.lower, "amax")
            upper.scatter_reduce_(0, where, alone.upper, "amin")
        return Enclosure.unchecked(lower, upper)

    def alone(self, prototypes: Tensor, given: Enclosure) -> Enclosure:
        """(S, P) what one statement each says of all observables: prototypes (S,), and their observables (S,)."""
        gram = self._single.gram
        ends = self._between(prototypes[:, None], gram.index_select(0, prototypes), given[:, None], slice(None))
        return cut(ends, (torch.arange(len(prototypes)), prototypes), given)

    def of(self, prototypes: Tensor, given: Enclosure, targets: Tensor) -> Enclosure:
        """What statements about prototypes say of the observables of others, `targets`, of the same shape."""
        ends = self._between(prototypes, self._single.gram[prototypes, targets], given, targets)
        own = prototypes == targets
        return Enclosure.unchecked(
            torch.where(own, torch.maximum(ends.lower, given.lower), ends.lower),
            torch.where(own, torch.minimum(ends.upper, given.upper), ends.upper),
        )

    def _between(self, prototypes: Tensor, products: Tensor, given: Enclosure, targets: Tensor | slice) -> Enclosure:
        """The ends of observables, from the products G_jk, of which memory is used."""
        domain, squares = self._single.domain, self._single.gram.diagonal()
        own, others = squares[prototypes], squares[targets]
        parts = self._of_distances if self._single.is_of_distances else self._of_products
        lower, upper = parts(prototypes, products, given, own, others, targets)
        # fmax and fmin take the other end where one is NaN: an end that is infinite says nothing of others
        return Enclosure.unchecked(
            torch.fmax(lower, domain.lower[targets], out=lower), torch.fmin(upper, domain.upper[targets], out=upper)
        )

    def _of_distances(
        self, prototypes: Tensor, products: Tensor, given: Enclosure, own: Tensor, others: Tensor,
        targets: Tensor | slice,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        single = self._single
        reach = products.mul_(-2).add_(own).add_(others).clamp_(min=0)
        off = 4 * single.largest + single.reach_error
        slack = INFLATE * (single.reach_error + _SLACK * 4 * (given.upper + off))
        swing = (reach + single.reach_error).sqrt_().mul_(2 * INFLATE * given.upper.sqrt())
        return reach + (given.lower - slack) - swing, swing.add_(reach).add_(given.upper + slack)

    def _of_products(
        self, prototypes: Tensor, products: Tensor, given: Enclosure, own: Tensor, others: Tensor,
        targets: Tensor | slice,
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        single = self._single
        error, whole = single.reach_error / 4, single.whole * INFLATE
        shift = single.shift[prototypes]
        low, high = given.lower - shift, given.upper - shift
        middle = (low + high) / 2
        lost = 8 * UNIT * (torch.maximum(given.lower.abs(), given.upper.abs()) + shift.abs()) + single.shift_error
        half = INFLATE * (torch.maximum(high - middle, middle - low) + lost)
        usable = (own > single.least_residual) & (half.square() <= TOO_WIDE * single.whole * own)
        length = own.clamp(min=single.least_residual).sqrt()
        longest = INFLATE * single.largest**0.5
        eta = INFLATE * (error / own.clamp(min=single.least_residual) + _SLACK)
        delta = INFLATE * (error / length + _SLACK * longest)
        weight = middle / length
        spread = INFLATE * (half / length + _SLACK * weight.abs())
        ball = (whole - weight.square() + INFLATE * 2 * weight.abs() * spread + weight.square() * (eta + _SLACK)).clamp(
            min=0
        )
        ball = ball + _SLACK * whole
        lacking = INFLATE * (error + 2 * longest * delta + longest**2 * (eta + _SLACK))
        along = products.div_(length)
        swing = (others - along.square()).add_(lacking).clamp_(min=0).mul_(ball).sqrt_()
        moved = weight.abs() * (delta + longest * eta) + single.shift_error
        sizes = longest * (weight.abs() + spread + ball.sqrt()) + single.shift[targets].abs()
        moved = INFLATE * (moved + _SLACK * sizes)
        swing = swing.addcmul_(along.abs(), spread.expand_as(along)).mul_(INFLATE).add_(moved)
        centre = along.mul_(weight).add_(single.shift[targets])
        nothing = ~usable.expand_as(swing)
        return (centre - swing).masked_fill_(nothing, -torch.inf), swing.add_(centre).masked_fill_(nothing, torch.inf)
