r"""What exact statements prove of many patches at once: ranges from without, and from within for each deletion.

One patch: let x_0 be its base, b_k = x_k - x_0, z a latent that satisfies the statements, f the foot of z - x_0 on the
span of the stated b_j, K their Gram matrix and o_j = <b_j, z - x_0>. Let C be any floats (here nearly the inverse of
K's Cholesky factor), e_i = sum_j C_ij b_j, t_k = (<e_i, b_k>)_i, w = C o, and D = C K C^T - I with |D| <= delta < 1
(Frobenius). Then C is invertible and K^-1 = C^T (I + D)^-1 C, where |(I + D)^-1 - I| <= delta / (1 - delta), so that
for reals

    <f, b_k> = t_k^T (I + D)^-1 w,   |f|^2 = w^T (I + D)^-1 w,   |b_k|^2 - |r_k|^2 = t_k^T (I + D)^-1 t_k,

r_k being the part of b_k orthogonal to the span: t_k^T t_k, t_k^T w and w^T w are off by delta / (1 - delta), which is
at most 1.01 delta, times their lengths.

**From without.** <z - x_0, b_k> = <f, b_k> + <z - x_0 - f, r_k>, and |z - x_0 - f|^2 = |z - x_0|^2 - |f|^2.

**Without statement q.** Let s_q be the dual vector of b_q (<s_q, b_j> is 1 for j = q, else 0), n = s_q / |s_q|,
tau_k = <n, b_k> and zeta = <n, f>. The span without b_q is what is orthogonal to n, so the foot becomes f - zeta n:

    <f, b_k> loses zeta tau_k,   |f|^2 loses zeta^2,   |r_k|^2 gains tau_k^2.

With g the column q of C, <s_q, b_k> = g^T (I + D)^-1 t_k and |s_q|^2 = g^T (I + D)^-1 g. So tau_k and zeta are
h^T t_k and h^T w with h = g / |g|, but for 3 delta times the lengths of t_k and w.

**Without the base** (squared distances alone). Barycentric coordinates treat all points alike: that of x_0 is 1 - sum_j
<s_j, x - x_0>, so with g = - sum_q C_q and s_0 = - sum_j s_j both tau_k and zeta gain 1 / |s_0|, again 1 / |g| but for
a share of 2 delta. The observable d_k^2 = |z - x_0|^2 + |b_k|^2 - 2 <z - x_0, b_k> then ranges around its middle plus
2 zeta tau_k, as after any other deletion. Proof: let f' be the foot on the hull of the other points, w' = z - f'. Then
d_k^2 = |w'|^2 + |f' - x_k|^2 + 2 <w', f' - x_k>, where f' = x_0 + f - zeta n, |w'|^2 = |z - x_0 - f|^2 + zeta^2, and
<f - b_k, n> = zeta - tau_k, so that |f' - x_k|^2 = |f - b_k|^2 - zeta^2 + 2 zeta tau_k.

**From within.** The foot is that of the image's own latent, whose observables lie in the stated intervals. All points
at a distance |w'| from f' orthogonally to the hull satisfy the remaining statements (as do all nearer ones in a ball),
and both ends are attained, along the part of b_k orthogonal to the hull. So these ranges, less what their ends may be
off by, hold no observable that the remaining statements exclude; see `Hull.inner`.

**Rounding.** Vectors are computed in coordinates: e_i = sum_j C_ij (x_j - x_0), then <e_i, x_k> - <e_i, x_0>. Each path
from a coordinate to a dual has at most as many roundings as one to an entry of the Gram matrix and 2 M + 16 more, and
the terms' sizes sum to at most sum_j |C_ij| (|x_j| + |x_0|) (|x_k| + |x_0|) <= 4 sum_j |C_ij| max |x|^2 (by Cauchy and
Schwarz, coordinate by coordinate). Likewise e_i itself is off by a vector no longer than gamma of as many operations
times 2 sum_j |C_ij| max |x|, and (C K C^T)_ij = <e_i, e_j>: so D is known from products of vectors of length about 1.
n = sum_i h_i e_i likewise from the computed e_i: <n, b_k> differs from sum_i h_i
<e_i, b_k> by gamma_(D + M + 32) of sum_i |h_i| |e_i| 4 max |x|, and that sum is at most (sum_i |e_i|^2)^(1/2). Errors
are constants of a patch and a deletion, from upper bounds T and W of the lengths of all t_k and of w; those of tau_k
and zeta are no longer, but for 1 / |s_0|. Products of errors are kept, sums are inflated, and gamma of more operations
than there are on any path, times upper bounds of all terms, covers what this module itself rounds, in any order of its
sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from torch import Tensor

from verale.bounds.projection import DEPENDENT, Hull
from verale.rounding import INFLATE, UNIT, Enclosure, gamma

_MOST_DEFECT = 2.0**-10
"""Directions that are farther from orthonormal than this prove nothing here."""

_ENTRIES_AT_ONCE = 2**18
"""So many duals are computed at once: 2 MiB, which a cache holds."""

_TINY = 1e-300

_BY_ROW = (
    "stated", "count", "there", "clear", "middle", "across", "ball", "_coefficients", "_directions", "_centre",
    "_delta", "_long", "_dual_error", "_wide", "_centre_error", "_half", "_far", "_farthest", "_lengths", "_size",
)  # fmt: skip


class _Errors(NamedTuple):
    """What `across`, |z - x_0|^2 - |f|^2 and the middles may be off by (S,), and the share that a product may lose."""

    across: Tensor
    ball: Tensor
    middle: Tensor
    share: float


@dataclass(frozen=True, eq=False)
class Deletions:
    """For each statement of R patches, M at most, what its deletion changes.

    Attributes:
        normals: (R, M, D) n.
        offset: (R, M) what <n, x_k> is short of tau_k.
        constant: (R, M) 1 / |s_0| for the base, else 0.
        zeta: (R, M).
        unit_error: (R, M) of h.
        product_error: (R,) of tau_k, in coordinates.
        clear: (R, M) whether n is known well enough.
    """

    normals: Tensor
    offset: Tensor
    constant: Tensor
    zeta: Tensor
    unit_error: Tensor
    product_error: Tensor
    clear: Tensor


class Slopes(NamedTuple):
    """How the observables of R patches depend on the M stated ones; see `verale.bounds.intervals`.

    Attributes:
        vectors: (R, M, D) alpha_k is <vector, b_k> and a constant.
        constant: (R, M).
        beta: (R, M).
        error, bend_error: (R, M) what alpha, of any observable, and beta may be off by.
    """

    vectors: Tensor
    constant: Tensor
    beta: Tensor
    error: Tensor
    bend_error: Tensor


class Spans:
    """R patches with exact statements.

    Args:
        paradigm: of the head.
        stated: (R, M) prototypes, those that count first; any behind them.
        count: (R,) how many count.
        observed: (R, P) enclosures of the patches' observables.

    Attributes:
        clear: (R,) whether every statement is a direction that is known well enough. Of other patches nothing is known
            here.
        middle, across: (R, P) the middles of the ranges, and |r_k|^2.
        ball: (R,) |z - x_0|^2 - |f|^2.
    """

    def __init__(self, paradigm: Hull, stated: Tensor, count: Tensor, observed: Enclosure) -> None:
        self._paradigm = paradigm
        self._points, gram, distance = paradigm.points, paradigm.gram, paradigm.is_of_distances
        self._depth = self._points.shape[1]
        self.stated, self.count, self.observed = stated, count, observed
        rows, size = len(stated), len(gram)
        skipped = int(distance)
        self.there = torch.arange(stated.shape[1]) < count[:, None]
        anchors, used = stated[:, skipped:], self.there[:, skipped:]
        room = self._room = anchors.shape[1]
        both, identity = used[:, :, None] & used[:, None, :], torch.eye(room, dtype=torch.float64)
        vectors = self._points.index_select(0, anchors.flatten()).view(rows, room, self._points.shape[1])
        squares, base = gram.diagonal(), stated[:, 0]
        inner = gram.flatten()[(anchors[:, :, None] * size + anchors[:, None, :]).flatten()].view(rows, room, room)
        reach = squares.expand(rows, -1)
        if distance:
            reach = (squares - 2 * gram.index_select(0, base) + squares[base][:, None]).clamp_(min=0)
            corner = gram.flatten()[(anchors * size + base[:, None]).flatten()].view(rows, room)
            inner = inner + squares[base][:, None, None] - corner[:, :, None] - corner[:, None, :]
            self._origin = self._points.index_select(0, base)
        factor, failed = torch.linalg.cholesky_ex(torch.where(both, inner, identity))
        own_reach = reach.gather(1, anchors)
        residual = factor.diagonal(dim1=1, dim2=2).square()
        usable = (residual > DEPENDENT * own_reach) & (residual > paradigm.least_residual) | ~used
        whole = usable.all(1) & (failed == 0)
        factor = torch.where(whole[:, None, None], factor, identity)
        coefficients = torch.linalg.solve_triangular(factor, identity.expand_as(factor), upper=False).tril()
        self._coefficients = coefficients = torch.where(both, coefficients, 0.0)

        length = coefficients.abs().sum(2)
        error = INFLATE * 4 * length * paradigm.largest * gamma(paradigm.operations + 2 * room + 16)
        self._dual_error = INFLATE * error.square().sum(1).sqrt()
        near = far = torch.full((rows,), paradigm.whole, dtype=torch.float64)
        if distance:
            near, far = (end.gather(1, base[:, None])[:, 0] for end in (observed.lower, observed.upper))
        offset, offset_error = self._offsets(anchors, near, far, own_reach)
        offset, offset_error = torch.where(used, offset, 0.0), torch.where(used, offset_error, 0.0)
        self._centre = centre = _times(coefficients, offset)
        spoiled = _times(coefficients.abs(), offset_error + gamma(2 * room + 16) * offset.abs())
        self._centre_error = INFLATE * spoiled.square().sum(1).sqrt()

        self._directions = coefficients @ vectors
        if distance:
            self._directions -= coefficients.sum(2)[:, :, None] * self._origin[:, None]
        along, squared = self._duals()
        # e_i is off by `slip`, and products of two of them by what that and their own rounding make of it.
        products = self._directions @ self._directions.transpose(1, 2)
        size_of = INFLATE * products.diagonal(dim1=1, dim2=2).clamp(min=0).sqrt() * (1 + 4 * gamma(self._depth))
        slip = INFLATE * 2 * length * math.sqrt(paradigm.largest) * gamma(paradigm.operations + 2 * room + 16)
        loose = slip[:, :, None] * (size_of + slip)[:, None, :]
        rounded = gamma(self._depth + 8) * size_of[:, :, None] * size_of[:, None, :] + 4 * UNIT
        deviation = (products - identity * used[:, :, None]).abs() + loose + loose.transpose(1, 2) + rounded
        self._delta = INFLATE * torch.where(both, deviation.square(), 0.0).sum((1, 2)).sqrt()
        self.clear = whole & (self._delta < _MOST_DEFECT)
        self.middle = ((near + far) / 2)[:, None] + reach - 2 * along if distance else along + paradigm.shift
        self.across = reach - squared
        weight = centre.square().sum(1)
        self._long = INFLATE * (squared.amax(1).sqrt() + self._dual_error)
        self._wide = INFLATE * (weight.sqrt() + 2 * self._centre_error)
        self.ball, self._half = (near + far) / 2 - weight, (far - near) / 2 * INFLATE
        self._far, self._farthest = far.abs(), INFLATE * (reach.amax(1) + paradigm.reach_error)
        self._lengths = length.square().sum(1)
        self._size = INFLATE * (self._directions.square().sum(2).sum(1)).sqrt()

    def _offsets(self, anchors: Tensor, near: Tensor, far: Tensor, reach: Tensor) -> tuple[Tensor, Tensor]:
        """<b_j, z - x_0> (R, M), and its errors."""
        low, high = self.observed.lower.gather(1, anchors), self.observed.upper.gather(1, anchors)
        if self._paradigm.is_of_distances:
            offset = (((near + far) / 2)[:, None] + reach - (low + high) / 2) / 2
            width = ((far - near)[:, None] + high - low) / 2 + self._paradigm.reach_error
            return offset, INFLATE * (width / 2 + 8 * UNIT * (far.abs()[:, None] + reach + high.abs()))
        shift = self._paradigm.shift[anchors]
        size = torch.maximum(low.abs(), high.abs()) + shift.abs()
        return (low + high) / 2 - shift, INFLATE * ((high - low) / 2 + self._paradigm.shift_error + 8 * UNIT * size)

    def _duals(self) -> tuple[Tensor, Tensor]:
        """sum_i w_i t_ik (R, P), and sum_i t_ik^2 (R, P)."""
        rows, room, depth = self._directions.shape
        size = len(self._points)
        along, squares = torch.zeros(rows, size, dtype=torch.float64), torch.zeros(rows, size, dtype=torch.float64)
        step = max(1, _ENTRIES_AT_ONCE // max(1, room * size))
        for begin in range(0, rows if room else 0, step):
            part = slice(begin, begin + step)
            duals = (self._directions[part].reshape(-1, depth) @ self._points.T).view(-1, room, size)
            if self._paradigm.is_of_distances:
                duals -= self._directions[part] @ self._origin[part, :, None]
            along[part] = (self._centre[part, None] @ duals)[:, 0]
            squares[part] = duals.square_().sum(1)
        return along, squares

    def replace(self, rows: Tensor, others: Spans, deletions: Deletions, new: Deletions) -> None:
        """Put other patches, with as much room for statements, in the place of some, and what deletions change too."""
        for name in _BY_ROW:
            getattr(self, name)[rows] = getattr(others, name)
        for field in fields(Deletions):
            getattr(deletions, field.name)[rows] = getattr(new, field.name)

    def deletions(self) -> Deletions:
        """What the deletion of each statement changes."""
        columns, distance = self._coefficients, self._paradigm.is_of_distances
        if distance:
            columns = torch.cat([-columns.sum(2, keepdim=True), columns], 2)
        squared = columns.square().sum(1)
        scale = torch.where(squared > 0, squared.clamp(min=_TINY).sqrt().reciprocal(), 0.0)
        columns = columns * scale[:, None]
        error, constant = torch.full_like(scale, gamma(2 * self._room + 16)), torch.zeros_like(scale)
        if distance:
            constant[:, 0] = scale[:, 0]
            error[:, 0] *= 1 + 2 * INFLATE * self._lengths.sqrt() * scale[:, 0]
        normals = columns.transpose(1, 2) @ self._directions
        offset = constant - (normals @ self._origin[:, :, None])[:, :, 0] if distance else constant
        operations = self._points.shape[1] + self._room + 32
        length = 4 * math.sqrt(self._paradigm.largest)
        return Deletions(
            normals=normals,
            offset=offset,
            constant=constant,
            zeta=constant + (self._centre[:, None] @ columns)[:, 0],
            unit_error=error,
            product_error=INFLATE * gamma(operations) * length * self._size,
            clear=error < _MOST_DEFECT,
        )

    def in_coordinates(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """The directions (R, M, D) of all patches and the feet (R, D), relative to the base, where prototypes have
        these coordinates (P, D)."""
        skipped = int(self._paradigm.is_of_distances)
        vectors = points[self.stated[:, skipped:]]
        if skipped:
            vectors = vectors - points[self.stated[:, :1]]
        directions = self._coefficients @ vectors
        return directions, (self._centre[:, None] @ directions)[:, 0]

    @property
    def errors(self) -> _Errors:
        """Those of all patches with all their statements."""
        return self._errors(None, None)

    def slopes(self) -> Slopes:
        """How observables depend on the stated ones; see `verale.bounds.intervals`."""
        columns, distance = self._coefficients, self._paradigm.is_of_distances
        share = 2 * gamma(2 * self._room + 64)
        product = INFLATE * gamma(self._points.shape[1] + self._room + 32) * 4 * math.sqrt(self._paradigm.largest)
        long, wide = self._long, self._wide
        off = INFLATE * (1.01 * self._delta * long + self._dual_error + share * long + product * self._size)
        bent = INFLATE * (1.01 * self._delta * wide + self._centre_error + share * wide)
        length = INFLATE * columns.square().sum(1).sqrt()
        along = (self._centre[:, None] @ columns)[:, 0]
        vectors = columns.transpose(1, 2) @ self._directions
        if not distance:
            return Slopes(vectors, torch.zeros_like(along), -along, length * off[:, None], length * bent[:, None])
        error, bend_error = length * off[:, None], length * bent[:, None]
        first = share + (length * (off + 2 * share * long)[:, None]).sum(1, keepdim=True)
        first_bend = share + (length * (bent + 2 * share * wide)[:, None]).sum(1, keepdim=True)
        return Slopes(
            vectors=torch.cat([-vectors.sum(1, keepdim=True), vectors], 1),
            constant=torch.cat([torch.ones_like(first), torch.zeros_like(along)], 1),
            beta=torch.cat([1 - along.sum(1, keepdim=True), along], 1),
            error=torch.cat([INFLATE * first, error], 1),
            bend_error=torch.cat([INFLATE * first_bend, bend_error], 1),
        )

    def moves(self, half: Tensor) -> Tensor:
        """(R,) the square of how far the foot moves at most when stated offsets move by (R, M), half as much for
        squared distances, the base's too."""
        if self._paradigm.is_of_distances:
            half = half[:, 1:] + half[:, :1]
        return (1 + 2 * self._delta) * _times(self._coefficients.abs(), half).square().sum(1)

    def alpha(self, slopes: Slopes, part: slice) -> Tensor:
        """(S, M, P) of some patches."""
        vectors, constant = slopes.vectors[part], slopes.constant[part]
        products = (vectors.reshape(-1, vectors.shape[2]) @ self._points.T).view(*vectors.shape[:2], -1)
        if self._paradigm.is_of_distances:
            constant = constant - (vectors @ self._origin[part, :, None])[:, :, 0]
        return products.add_(constant[:, :, None])

    def slopes_of_ends(self, slopes: Slopes, rows: Tensor, prototypes: Tensor) -> tuple[Tensor, Tensor]:
        """(S, M) how fast the lower and the upper ends of some observables move with the stated ones; estimates."""
        points = self._points[prototypes]
        if self._paradigm.is_of_distances:
            points = points - self._origin[rows]
        alpha = slopes.constant[rows] + (slopes.vectors[rows] @ points[:, :, None])[:, :, 0]
        h = (self.across[rows, prototypes].clamp(min=0) / self.ball[rows].clamp(min=_TINY)).sqrt()
        bow = h[:, None] * slopes.beta[rows]
        return alpha - bow, alpha + bow

    def ranges(self, within: bool) -> Enclosure:
        """(R, P) the ranges of the observables, from without or from within; anything where the patch is not clear."""
        domain = self._domain(within)
        lower, upper = self._ends(self.middle, self.across.clone(), self.ball, self._errors(None, None), within)
        stated = torch.where(self.there, self.stated, self.stated[:, :1])
        low, high = self.observed.lower.gather(1, stated), self.observed.upper.gather(1, stated)
        lower.scatter_(1, stated, torch.maximum(lower.gather(1, stated), low))
        upper.scatter_(1, stated, torch.minimum(upper.gather(1, stated), high))
        nothing = (self.count == 0)[:, None]
        return Enclosure.unchecked(torch.where(nothing, domain.lower, lower), torch.where(nothing, domain.upper, upper))

    def ranges_without(self, deletions: Deletions, rows: Tensor, places: Tensor, within: bool) -> Enclosure:
        """(S, P) the ranges of some patches, each without the statement at a place; the domain's if it has no other."""
        zeta, sign = deletions.zeta[rows, places], 2.0 if self._paradigm.is_of_distances else -1.0
        tau = torch.addmm(deletions.offset[rows, places][:, None], deletions.normals[rows, places], self._points.T)
        middle = self.middle.index_select(0, rows).addcmul_(tau, zeta[:, None], value=sign)
        across = self.across.index_select(0, rows).addcmul_(tau, tau)
        errors = self._errors((deletions, rows, places), zeta)
        lower, upper = self._ends(middle, across, self.ball[rows] + zeta.square(), errors, within)
        own, stated = self.stated[rows, places][:, None], self.stated.index_select(0, rows)
        stated = torch.where(self.there.index_select(0, rows), stated, own)
        low, high = (end.index_select(0, rows) for end in (self.observed.lower, self.observed.upper))
        kept = lower.gather(1, own), upper.gather(1, own)
        lower.scatter_(1, stated, torch.maximum(lower.gather(1, stated), low.gather(1, stated)))
        upper.scatter_(1, stated, torch.minimum(upper.gather(1, stated), high.gather(1, stated)))
        lower.scatter_(1, own, kept[0])
        upper.scatter_(1, own, kept[1])
        alone = (self.count[rows] == 1).nonzero()[:, 0]
        if len(alone):
            domain = self._domain(within)
            lower[alone], upper[alone] = domain.lower, domain.upper
        return Enclosure.unchecked(lower, upper)

    def _domain(self, within: bool) -> Enclosure:
        return self._paradigm.inner_domain if within else self._paradigm.outer

    def _ends(
        self, middle: Tensor, across: Tensor, ball: Tensor, errors: _Errors, within: bool
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """The ends of all observables (S, P), within those of the domain; the memory of `across` is used."""
        sign, domain = (-1.0 if within else 1.0), self._domain(within)
        factor = (2.0 if self._paradigm.is_of_distances else 1.0) * (1 + sign * errors.share)
        radius = factor * (ball + sign * errors.ball).clamp(min=0).sqrt()
        swing = across.add_((sign * errors.across)[:, None]).clamp_(min=0).sqrt_()
        swing.mul_(radius[:, None]).add_((sign * errors.middle)[:, None])
        lower = torch.maximum(middle - swing, domain.lower)
        return lower, torch.minimum(swing.add_(middle), domain.upper)

    def _errors(self, deleted: tuple[Deletions, Tensor, Tensor] | None, zeta: Tensor | None) -> _Errors:
        """The errors of all patches or, where statements are left out, of these."""
        numbers = (
            self._delta, self._long, self._dual_error, self._wide, self._centre_error, self._half, self._far,
            self._farthest,
        )  # fmt: skip
        share = gamma(2 * self._room + 32)
        if deleted is None or zeta is None:
            delta, long, dual_error, wide, centre_error, half, far, farthest = numbers
            constant = tau_error = zeta_error = size = torch.zeros_like(delta)
        else:
            deletions, rows, places = deleted
            delta, long, dual_error, wide, centre_error, half, far, farthest = (each[rows] for each in numbers)
            constant, unit_error = deletions.constant[rows, places], deletions.unit_error[rows, places]
            lost, size = constant * (2 * delta + 2 * unit_error + share), zeta.abs()
            tau_error = 3 * delta * long + dual_error + 2 * (unit_error + share) * long + lost
            tau_error = INFLATE * (tau_error + deletions.product_error[rows])
            zeta_error = INFLATE * (3 * delta * wide + centre_error + 2 * (unit_error + share) * wide + lost)
        most, greatest, defect = 1.01 * (long + constant), 1.01 * (wide + constant), 1.01 * delta
        across = defect * long * long + (2 * long + dual_error) * dual_error + (2 * most + tau_error) * tau_error
        ball = defect * wide * wide + (2 * wide + centre_error) * centre_error + (2 * size + zeta_error) * zeta_error
        middle = defect * long * wide + dual_error * wide + (long + dual_error) * centre_error
        middle = middle + size * tau_error + (most + tau_error) * zeta_error
        if self._paradigm.is_of_distances:
            middle = 2 * middle + half + self._paradigm.reach_error
        else:
            middle = middle + self._paradigm.shift_error
        ball = ball + half + share * (far + 3 * greatest * greatest)
        across = across + self._paradigm.reach_error + share * (farthest + 3 * most * most)
        middle = middle + share * (far + farthest + 6 * greatest * most)
        return _Errors(INFLATE * across, INFLATE * ball, INFLATE * middle, share)


def _times(matrix: Tensor, vector: Tensor) -> Tensor:
    """(R, M) products of matrices (R, M, M) and vectors (R, M)."""
    return (matrix @ vector[:, :, None])[:, :, 0]
