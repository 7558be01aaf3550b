"""Projection: the exact range of every observable of a patch, given some of them (metric heads); and the inner products
of prototypes with one another that it needs, with the same bits on every processor.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from verale.bounds.domain import ball_around, domain_range, inner_domain_range
from verale.bounds.observables import require_geometry, unit_vectors
from verale.head import Head, InnerProduct
from verale.rounding import INFLATE, UNDERFLOW, UNIT, Enclosure, gamma, up

DEPENDENT = 1e-9
"""An anchor whose squared distance from the hull of the others is below this fraction of its own length is not used
as a direction (its own statement still holds). This is a choice of multipliers: it affects tightness, never
soundness."""

TOO_WIDE = 1 - 1e-6
"""The least square of an interval's half width, as a fraction of that of the ball's along the prototype, at which a
single statement about a patch is used for its own observable only."""

ENTRIES_AT_ONCE = 2**21
"""Of the products of directions and prototypes, and of the bounds of single statements, so many are computed at once:
16 MiB, which a cache may hold."""


class Hull:
    r"""Squared distances or cosines of a patch from some of them: the ball lemma with one multiplier vector a target.

    Let t_ik be floats (here the computed <e_i, b_k>), r_k = b_k - sum_i t_ik e_i, c = sum_i w_i e_i. For every z

        <z - x_0, b_k> = sum_i t_ik <z - x_0, e_i> + <c, r_k> + <z - x_0 - c, r_k>,

    an identity. The first sum is linear in the statements, the second term is 0 up to the defect of the e_i,
    and the third is at most rho |r_k|, where rho^2 >= |z - x_0 - c|^2 = |z - x_0|^2 - 2 sum_i w_i <z - x_0,
    e_i> + |c|^2. So

        squared distance:  d_k^2 = d_0^2 + |b_k|^2 - 2 <z - x_0, b_k>,   x_0 the first anchor,
        cosine:            m_k = <u, q_k>,   x_0 = 0, q_k = p_k / |p_k|, |u| <= 1,
        inner product:     m_k = <x_0, p_k> + <z - x_0, p_k>,   x_0 the centre of the ball around the domain.

    With exact statements the e_i span the anchors' hull, w is the projection of z and |r_k| the distance of
    p_k from the hull: both ends are attained as soon as the hull is not the whole space.

    Cost of one statement: O(P m) flops, one gather of m rows of the Gram matrix, independent of D. Of a single
    statement that is wider than the ball along its prototype, only its own interval is kept, as in the checker.

    Attributes:
        domain, outer: (P,) what observables can be, the first from within where ranges are.
        is_from_within: whether ranges are from within.
        is_of_distances: whether observables are squared distances.
        gram: (P, P) inner products of the vectors x, the prototypes from their mean, or their directions; estimates.
        whole: the square of the radius of the ball in which latents lie; 0 for distances.
        shift: (P,) observables of the ball's centre; an estimate.
        least_residual: a direction whose square is not above this is not used.
        largest: the greatest |x_k|^2, rounded up.
        operations: the rounded operations of an entry of `gram`.
        reach_error: the error of |x_k - x_j|^2 from `gram`, or of |x_k|^2.
        shift_error: the error of `shift`, and of 8 operations with it.

    Soundness: any floats t, w, coefficients are sound; the errors of every computed inner product are bounded
    a priori (gamma_n) and not recursively, since each row of <e_i, b_k> is computed from the Gram matrix
    itself.
    Reference: docs/design.md, 3.1; generalises the triangular and hypersphere bounds of Soria et al. (arXiv
    2511.16588, 2608.16773).
    """

    name = "projection"
    ordered = False

    def __init__(self, head: Head) -> None:
        require_geometry("projection", head, "a metric head; for softmax use 'simplex'")
        self._head, self.is_from_within = head, False
        self.domain = self.outer = domain_range(head)
        self.is_of_distances = head.geometry.is_distance
        points = head.points.to(torch.float64)
        depth = head.depth
        self.whole = 0.0 if self.is_of_distances else 1.0
        self.shift, self.shift_error = points.new_zeros(len(points)), 0.0
        if isinstance(head.geometry, InnerProduct):
            centre, radius = ball_around(head.domain, head.geometry.radius, depth)
            self.whole = float(up(points.new_tensor(radius).square()))
            size = up(abs(centre) * points.abs().sum(1) * (1 + gamma(depth + 4)))
            shift = Enclosure.around(centre * points.sum(1), up(size * gamma(depth + 4) + depth * UNDERFLOW))
            size = torch.maximum(shift.lower.abs(), shift.upper.abs())
            self.shift = (shift.lower + shift.upper) / 2
            self.shift_error = float(up((shift.upper - shift.lower) + 16 * UNIT * size).amax())
        elif self.is_of_distances:
            # Distances do not move with the origin; from the mean, inner products are smaller and so are their errors.
            points = points - points.mean(0)
        else:
            points = unit_vectors(points)
        self.largest = 1.0 + gamma(3 * depth + 40)
        if self.is_of_distances or isinstance(head.geometry, InnerProduct):
            self.largest = float(up(points.square().sum(1).amax() * (1 + gamma(depth + 4)))) + depth * UNDERFLOW
        self.points = points
        self.gram = gram(points)
        # Coordinates are off by a few relative roundings (centring, scaling, norm), their products and sums by gamma_D.
        self.operations = 3 * depth + 40
        gram_error = INFLATE * (gamma(self.operations) * self.largest + depth * UNDERFLOW)
        self.reach_error = 4 * INFLATE * (gram_error + 16 * UNIT * self.largest)
        self.least_residual = 16 * self.reach_error

    @property
    def size(self) -> int:
        """P."""
        return len(self.gram)

    @cached_property
    def inner_domain(self) -> Enclosure:
        """(P,) what observables can be, from within."""
        return inner_domain_range(self._head)

    def inner(self) -> Self:
        """See `SpatialParadigm.inner`.

        Soundness: any multipliers give a range that holds <v, b_k> for all v of the ball (squared distances: of the
        sphere) that satisfy the statements. Let f be the foot of the image's own v on the span of the stated b_i, and
        r' the part of b_k orthogonal to the span. Then f -+ (|v|^2 - |f|^2)^(1/2) r' / |r'| satisfies the statements
        too, and attains <f, b_k> -+ (|v|^2 - |f|^2)^(1/2) |r'|. All this is known within the errors of the outer
        bounds and what c and r_k are short of f and r'; here they are taken off. A direction that is left out may be
        one that the checker uses: then nothing is known of the patch.
        """
        within = copy(self)
        within.is_from_within, within.domain = True, self.inner_domain
        return within

    def independent(self, stated: Sequence[int]) -> list[int]:
        """The prototypes that add enough to the hull of those before them, by Cholesky's factorisation row by row."""
        own = torch.tensor(stated)
        products, skipped = self.gram[own[:, None], own], int(self.is_of_distances)
        if skipped:
            products = products - products[:1] - products[:, :1] + products[0, 0]
        kept, factor = list(range(skipped)), torch.zeros_like(products)
        for at in range(skipped, len(stated)):
            count, reach = len(kept) - skipped, float(products[at, at])
            known = products[kept[skipped:], at][:, None]
            along = torch.linalg.solve_triangular(factor[:count, :count], known, upper=False)[:, 0]
            rest = reach - float(along @ along)
            if rest > 2 * DEPENDENT * reach and rest > 32 * self.reach_error:
                factor[count, :count], factor[count, count] = along, rest**0.5
                kept.append(at)
        return [stated[at] for at in kept]


_SIGNIFICAND = 53
_DEEPEST = 2**16
_AT_ONCE = 64 * 2**20
"""So many bytes of products are computed at once: of 10,000 vectors all products take 800 MB."""
_FARTHEST = 1000
"""Largest exponent. Squares of floats that are this large, or this small, are no floats."""


def gram(rows: Tensor) -> Tensor:
    """<a, b> for all rows a and b.

    A library's matrix product adds in an order of its own, which differs between processors. Here every row is scaled
    by a power of two and cut into three slices, numbers of so few bits that sums of their products are exact in any
    order. The slices' products are then added in the order that stands here.

    Args:
        rows: (N, D) float64.

    Returns:
        (N, N). With D > 65536 it is the library's matrix product.

    Soundness: it is off by at most gamma_(D + 1) |a| |b| and what underflows; the library's by gamma_D |a| |b|. Let
        coordinates be at most 1, n = ceil(log2 D), b = floor((53 - n) / 2). Slice k is a multiple of 2^(-k b) and at
        most 2^(-(k - 1) b), so that products of the slices i and j are multiples of 2^(-(i + j) b), their sums at most
        2^(n - (i + j - 2) b): they have at most n + 2 b <= 53 bits, whatever the order. Products that are left out have
        i + j > 4 or belong to what three slices leave; all together these are at most D 2^(2 - 3 b), which is below
        gamma_(D + 1) of the two largest coordinates up to D = 2^16. Of the five sums four are of numbers below 2^(2 -
        b) |a| |b|, and the last one rounds the result once.
    """
    depth = rows.shape[1]
    if depth > _DEEPEST:
        return rows @ rows.T
    unit, (first, second, third) = _sliced(rows, (_SIGNIFICAND - (depth - 1).bit_length()) // 2)
    products = rows.new_empty(len(rows), len(rows))
    for part in torch.split(torch.arange(len(rows)), max(1, _AT_ONCE // (8 * max(1, len(rows))))):
        # In place, since each of these may be as large as all products.
        small = _mirrored(first, third, part).add_(second[part] @ second.T)
        small.add_(_mirrored(first, second, part)).add_(first[part] @ first.T)
        products[part] = small.mul_(unit[part] * unit.T)
    return products


def _mirrored(one: Tensor, other: Tensor, part: Tensor) -> Tensor:
    """Some rows of one @ other.T plus its mirror image, whose entries are exact."""
    products = one[part] @ other.T
    return products + (products.T if len(part) == len(one) else other[part] @ one.T)


def _sliced(rows: Tensor, bits: int) -> tuple[Tensor, list[Tensor]]:
    """Powers of two (N, 1), not below the rows' coordinates, and the slices of the rows divided by them."""
    exponent = torch.frexp(rows.abs().amax(1, keepdim=True)).exponent
    # By its bits: a library's power of two may be off by a unit in the last place, on a device or another processor.
    unit = ((exponent.clamp(-_FARTHEST, _FARTHEST).long() + 1023) << 52).view(torch.float64)
    rest, slices = rows / unit, []
    for number in (1, 2, 3):
        grid = 2.0 ** (number * bits)
        slices.append((rest * grid).round() / grid)
        rest = rest - slices[-1]
    return unit, slices
