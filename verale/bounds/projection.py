"""Projection: the exact range of every observable of a patch, given some of them (metric heads)."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag

from verale.bounds.at_once import INFLATE, SumDuals, directions_of, dual_sums, duals_of
from verale.bounds.domain import ball_around, domain_range, inner_domain_range
from verale.bounds.intervals import Moves, Slopes, moves, slopes_of
from verale.bounds.observables import norm, scaled
from verale.bounds.products import gram
from verale.bounds.rows import put, require_geometry, take
from verale.head import Head, InnerProduct
from verale.rounding import UNDERFLOW, UNIT, Enclosure, down, gamma, up

__all__ = ["Hulls", "Projection", "ProjectionNumbers", "ProjectionPrecision"]

_DEPENDENT = 1e-9
"""An anchor whose squared distance from the hull of the others is below this fraction of its own length is not used
as a direction (its own statement still holds). This is a choice of multipliers: it affects tightness, never
soundness."""

_TOO_WIDE = 1 - 1e-6
"""The least square of an interval's half width, as a fraction of that of the ball's along the prototype, at which a
single statement about a patch is used for its own observable only."""

_ENTRIES_AT_ONCE = 2**21
"""Of the products of directions and prototypes, so many are computed at once: 16 MiB, which a cache may hold."""


@dataclass(frozen=True, eq=False)
class Hulls:
    """R patches, each with the affine hull of its anchors.

    Vectors are relative to the patch's base x_0 (the first anchor; the origin on the sphere): b_k = x_k - x_0
    for prototype k. Directions e_i = sum_j coefficients[i, j] b_anchor(j) are *defined* by these floats; they
    are orthonormal up to `defect`.

    Attributes:
        lower, upper: (R, P) bounds of the observables so far.
        base: (R,) prototype at x_0, -1 while there is none.
        base_lower, base_upper: (R,) squared distance from the latent to x_0.
        reach: (R, P) |b_k|^2, estimate within a stated error.
        count: (R,) number of directions m.
        anchors: (R, M) prototype of each direction's newest anchor.
        offset, offset_error: (R, M) <b_anchor(i), z - x_0>, centre and radius.
        coefficients: (R, M, M) lower triangular.
        centre, centre_error: (R, M) <e_i, z - x_0>, centre w_i and radius.
        dual_error: (R, M) radius of the computed <e_i, b_k>, any k.
        defect: (R,) upper bound of the squared Frobenius norm of (<e_i, e_j>) - identity.
        along: (R, P) sum_i w_i <e_i, b_k>, estimate.
        across: (R, P) |b_k|^2 - sum_i <e_i, b_k>^2, estimate.
        dropped: (R,) whether the prototype of a statement is not used as a direction.
    """

    lower: Tensor
    upper: Tensor
    base: Tensor
    base_lower: Tensor
    base_upper: Tensor
    reach: Tensor
    count: Tensor
    anchors: Tensor
    offset: Tensor
    offset_error: Tensor
    coefficients: Tensor
    centre: Tensor
    centre_error: Tensor
    dual_error: Tensor
    defect: Tensor
    along: Tensor
    across: Tensor
    dropped: Tensor

    @property
    def range(self) -> Enclosure:
        """(R, P) bounds of the observables."""
        return Enclosure.unchecked(self.lower, self.upper)


class _Entered(NamedTuple):
    """Statements of R patches that are entered at once.

    Attributes:
        lists: (R, M) their prototypes, padded.
        said: (R, M) bool, which of these are stated.
        whole: (R,) bool, whether all of a patch's are used as directions.
    """

    lists: Tensor
    said: Tensor
    whole: Tensor


class ProjectionNumbers(NamedTuple):
    """What the projection knows of a head; estimates, but for the domain.

    Attributes:
        gram: (P, P) inner products of the prototypes from their mean, or of their directions.
        whole: the square of the radius of the ball in which latents lie; 0 for distances.
        shift: (P,) observables of the ball's centre.
        domain: (P,) what observables can be.
        least_residual: a direction whose square is not above this is not used.
    """

    gram: Tensor
    whole: float
    shift: Tensor
    domain: Enclosure
    least_residual: float


class ProjectionPrecision(NamedTuple):
    """What a proof needs beside those numbers.

    Attributes:
        largest: the greatest |x_k|^2 of the vectors that `gram` is of, rounded up.
        operations: the rounded operations of an entry of `gram`.
        reach_error: the error of |x_k - x_j|^2 from `gram`, or of |x_k|^2.
        shift_error: the error of `shift`, and of 8 operations with it.
        outer, inner: (P,) the domain's ranges, from without and from within.
    """

    largest: float
    operations: int
    reach_error: float
    shift_error: float
    outer: Enclosure
    inner: Enclosure


class Projection:
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
        self._head, self._inside = head, False
        self._precision: ProjectionPrecision | None = None
        self._domain = domain_range(head)
        self._euclidean = head.geometry.is_distance
        points = head.points.to(torch.float64)
        depth = head.depth
        self._whole = 1.0
        self._shift: Enclosure | None = None
        if isinstance(head.geometry, InnerProduct):
            centre, radius = ball_around(head.domain, head.geometry.radius, depth)
            self._whole = float(up(points.new_tensor(radius).square()))
            size = up(abs(centre) * points.abs().sum(1) * (1 + gamma(depth + 4)))
            self._shift = Enclosure.around(centre * points.sum(1), up(size * gamma(depth + 4) + depth * UNDERFLOW))
            self._largest = float(up(points.square().sum(1).amax() * (1 + gamma(depth + 4)))) + depth * UNDERFLOW
        elif self._euclidean:
            # Distances do not move with the origin; from the mean, inner products are smaller and so are their errors.
            points = points - points.mean(0)
            self._largest = float(up(points.square().sum(1).amax() * (1 + gamma(depth + 4)))) + depth * UNDERFLOW
        else:
            directions = scaled(points)
            points = directions / norm(directions).upper[:, None]
            self._largest = 1.0 + gamma(3 * depth + 40)
        self._gram = gram(points)
        # Coordinates are off by a few relative roundings (centring, scaling, norm), their products and sums by gamma_D.
        self._depth_operations = 3 * depth + 40
        self._gram_error = INFLATE * (gamma(self._depth_operations) * self._largest + depth * UNDERFLOW)
        self._reach_error = 4 * INFLATE * (self._gram_error + 16 * UNIT * self._largest)

    @property
    def size(self) -> int:
        """P."""
        return int(self._gram.shape[0])

    def numbers(self) -> ProjectionNumbers:
        """What a search without rounding needs."""
        shift = self._gram.new_zeros(self.size)
        if self._shift is not None:
            shift = (self._shift.lower + self._shift.upper) / 2
        whole = 0.0 if self._euclidean else self._whole
        return ProjectionNumbers(self._gram, whole, shift, self._domain, 16 * self._reach_error)

    def precision(self) -> ProjectionPrecision:
        """What a proof from these numbers needs."""
        if self._precision is None:
            error = 0.0
            if self._shift is not None:
                size = torch.maximum(self._shift.lower.abs(), self._shift.upper.abs())
                error = float(up((self._shift.upper - self._shift.lower) + 16 * UNIT * size).amax())
            self._precision = ProjectionPrecision(
                largest=self._largest,
                operations=self._depth_operations,
                reach_error=self._reach_error,
                shift_error=error,
                outer=self._domain,
                inner=inner_domain_range(self._head),
            )
        return self._precision

    def start(self, rows: int) -> Hulls:
        """Patches without statements: the domain's range; on the sphere the origin is their base."""
        new = self._gram.new_zeros
        unset = torch.full((rows,), -1, dtype=torch.int64)
        reach = new((rows, self.size)) if self._euclidean else self._gram.diagonal().expand(rows, -1).clone()
        return Hulls(
            lower=self._domain.lower.expand(rows, -1).clone(),
            upper=self._domain.upper.expand(rows, -1).clone(),
            base=unset,
            base_lower=new(rows),
            base_upper=new(rows) + (0.0 if self._euclidean else self._whole),
            reach=reach,
            count=torch.zeros_like(unset),
            anchors=torch.zeros((rows, 0), dtype=torch.int64),
            offset=new((rows, 0)),
            offset_error=new((rows, 0)),
            coefficients=new((rows, 0, 0)),
            centre=new((rows, 0)),
            centre_error=new((rows, 0)),
            dual_error=new((rows, 0)),
            defect=new(rows),
            along=new((rows, self.size)),
            across=reach.clone(),
            dropped=torch.zeros_like(unset, dtype=torch.bool),
        )

    def inner(self) -> Projection:
        """See `SpatialParadigm.inner`.

        Soundness: any multipliers give a range that holds <v, b_k> for all v of the ball (squared distances: of the
        sphere) that satisfy the statements. Let f be the foot of the image's own v on the span of the stated b_i, and
        r' the part of b_k orthogonal to the span. Then f -+ (|v|^2 - |f|^2)^(1/2) r' / |r'| satisfies the statements
        too, and attains <f, b_k> -+ (|v|^2 - |f|^2)^(1/2) |r'|. All this is known within the errors of the outer
        bounds and what c and r_k are short of f and r'; here they are taken off. A direction that is left out may be
        one that the checker uses: then nothing is known of the patch.
        """
        within = copy(self)
        within._inside, within._domain = True, inner_domain_range(self._head)
        return within

    def extend(self, rows: Hulls, prototype: Tensor, observed: Enclosure) -> Hulls:
        """Enter one observable a patch: as its base if it has none, else as one more direction."""
        unset = rows.base < 0 if self._euclidean else torch.zeros_like(rows.base, dtype=torch.bool)
        if bool(unset.all()):
            extended = self._add_base(rows, prototype, observed)
        elif not bool(unset.any()):
            extended = self._add_direction(rows, prototype, observed)
        else:
            extended = take(rows, torch.arange(len(prototype)))
            for part, enter in ((unset, self._add_base), (~unset, self._add_direction)):
                index = part.nonzero().flatten()
                extended = put(extended, index, enter(take(rows, index), prototype[index], observed[index]))
        return self._tighten(extended, prototype, observed)

    def ranges_at_once(
        self, prototypes: list[list[int]], observed: Enclosure, sum_duals: SumDuals = dual_sums
    ) -> Enclosure:
        """(R, P) what `extend` gives after all statements of each patch, but for the intervals of single ones on the
        way: with equations these differ by rounding only.

        Args:
            prototypes: for each patch those to state, in order.
            observed: (R, P) all observables of each patch.
            sum_duals: what does most of the arithmetic, should there be anything faster.
        """
        return self._in_parts(prototypes, observed, partial(self._hulls_at_once, sum_duals=sum_duals))

    def ranges_of_intervals(
        self,
        prototypes: list[list[int]],
        observed: Enclosure,
        sum_duals: SumDuals = dual_sums,
        sum_moves: Moves = moves,
    ) -> Enclosure:
        """(R, P) the ranges that all statements of each patch give together, however wide their intervals are.

        Args:
            prototypes, observed, sum_duals: see `ranges_at_once`.
            sum_moves: see `verale.bounds.intervals`.

        Soundness: the ranges for the middles of the intervals, moved outward by what `verale.bounds.intervals` proves
        of their widths.
        """
        of_some = partial(self._of_intervals, sum_duals=sum_duals, sum_moves=sum_moves)
        return self._in_parts(prototypes, observed, of_some)

    def _of_intervals(
        self, prototypes: list[list[int]], observed: Enclosure, sum_duals: SumDuals, sum_moves: Moves
    ) -> Enclosure:
        middle = (observed.lower + observed.upper) / 2
        half = up(torch.maximum(observed.upper - middle, middle - observed.lower))
        rows, stated = self._rows_at_once(prototypes, Enclosure.exact(middle), sum_duals)
        half = half.gather(1, stated.lists).masked_fill(~stated.said, 0.0)
        based = rows.base if self._euclidean else None
        duals = duals_of(self._gram, based, rows.anchors, rows.coefficients)
        slopes = slopes_of(duals, rows.coefficients, rows.centre, rows.dual_error, half, sum_moves)
        return self._known(rows, prototypes, stated, observed, slopes)

    def _in_parts(
        self,
        prototypes: list[list[int]],
        observed: Enclosure,
        ranges: Callable[[list[list[int]], Enclosure], Enclosure],
    ) -> Enclosure:
        """The ranges of patches, some at a time: those with as many statements together."""
        lower, upper = (end.expand(len(prototypes), -1).clone() for end in (self._domain.lower, self._domain.upper))
        rows = sorted((row for row, stated in enumerate(prototypes) if stated), key=lambda row: len(prototypes[row]))
        begin = 0
        while begin < len(rows):
            end = begin + 1
            while end < len(rows) and (end + 1 - begin) * len(prototypes[rows[end]]) * self.size <= _ENTRIES_AT_ONCE:
                end += 1
            index = torch.tensor(rows[begin:end])
            known = ranges([prototypes[row] for row in rows[begin:end]], observed[index])
            lower[index], upper[index] = known.lower, known.upper
            begin = end
        return Enclosure.unchecked(lower, upper)

    def _hulls_at_once(self, prototypes: list[list[int]], observed: Enclosure, sum_duals: SumDuals) -> Enclosure:
        """What `ranges_at_once` gives, of patches with a statement each, sorted by how many."""
        rows, stated = self._rows_at_once(prototypes, observed, sum_duals)
        return self._known(rows, prototypes, stated, observed)

    def _known(
        self,
        rows: Hulls,
        prototypes: list[list[int]],
        stated: _Entered,
        observed: Enclosure,
        slopes: Slopes | None = None,
    ) -> Enclosure:
        """The ranges of patches whose statements are entered."""
        each = torch.arange(len(prototypes))
        last = stated.lists[each, stated.said.sum(1) - 1]
        known = self._tighten(rows, last, observed[each, last], slopes).range
        row, step = stated.said.nonzero(as_tuple=True)
        prototype = stated.lists[row, step]
        known.lower[row, prototype] = torch.maximum(known.lower, observed.lower)[row, prototype]
        known.upper[row, prototype] = torch.minimum(known.upper, observed.upper)[row, prototype]
        for index in (~stated.whole).nonzero()[:, 0].tolist():  # a direction must be left out: one after the other
            single = self.start(1)
            for j in prototypes[index]:
                single = self.extend(single, last.new_tensor([j]), observed[[index], [j]])
            known.lower[index], known.upper[index] = single.lower[0], single.upper[0]
        return known

    def _rows_at_once(
        self, prototypes: list[list[int]], observed: Enclosure, sum_duals: SumDuals
    ) -> tuple[Hulls, _Entered]:
        """The rows of patches with a statement each, sorted by how many."""
        count, skipped = len(prototypes), int(self._euclidean)
        room = max(1, len(prototypes[-1]) - skipped)
        lists = torch.tensor([stated + [0] * (room + skipped - len(stated)) for stated in prototypes])
        stated = torch.tensor([len(each) for each in prototypes])
        each, steps = torch.arange(count), torch.arange(room + skipped)
        said = steps < stated[:, None]
        base, anchors, present = (lists[:, 0] if skipped else None), lists[:, skipped:], said[:, skipped:]
        rows = self.start(count)
        if base is not None:
            rows = self._add_base(rows, base, observed[each, base])
        offset, offset_error = self._offset(rows, anchors, observed[each[:, None], anchors])
        directions, whole = directions_of(
            self._gram,
            base,
            anchors,
            present,
            offset,
            offset_error,
            self._largest,
            self._depth_operations,
            _DEPENDENT,
            16 * self._reach_error,
            sum_duals,
        )
        rows = replace(
            rows,
            count=present.sum(1),
            anchors=anchors,
            offset=offset,
            offset_error=offset_error,
            coefficients=directions.coefficients,
            centre=directions.centre,
            centre_error=directions.centre_error,
            dual_error=directions.dual_error,
            defect=directions.defect,
            along=directions.along,
            across=rows.reach - directions.squares,
        )
        return rows, _Entered(lists, said, whole)

    def _add_base(self, rows: Hulls, prototype: Tensor, observed: Enclosure) -> Hulls:
        """The first anchor of a patch becomes its base."""
        gram = self._gram
        corner = gram[prototype, prototype][:, None]
        reach = (gram.diagonal() - 2 * gram[prototype] + corner).clamp(min=0)
        return replace(
            rows,
            base=prototype,
            base_lower=observed.lower,
            base_upper=observed.upper,
            reach=reach,
            across=reach.clone(),
        )

    def _add_direction(self, rows: Hulls, prototype: Tensor, observed: Enclosure) -> Hulls:
        """One more direction e = sum_j coefficients_j b_j, for patches that have a base."""
        rows = _with_room(rows)
        each = torch.arange(len(prototype))
        newest = (each, rows.count)
        residual = rows.across[each, prototype]
        usable = (residual > _DEPENDENT * rows.reach[each, prototype]) & (residual > 16 * self._reach_error)
        scale = torch.where(usable, residual.clamp(min=1e-300).rsqrt(), 0.0)

        known = self._inner(rows, rows.anchors, prototype[:, None])
        overlap = torch.einsum("rij,rj->ri", rows.coefficients, known)
        row = -scale[:, None] * torch.einsum("ri,rij->rj", overlap, rows.coefficients)
        row[newest] = scale
        coefficients, anchors = rows.coefficients.clone(), rows.anchors.clone()
        coefficients[each, rows.count] = row
        anchors[newest] = prototype
        offset, offset_error = rows.offset.clone(), rows.offset_error.clone()
        middle, radius = self._offset(rows, prototype[:, None], observed[:, None])
        offset[newest], offset_error[newest] = middle[:, 0], radius[:, 0]

        operations = 2 * row.shape[1] + 16
        length = row.abs().sum(1)
        dual = self._inner_products(rows.base, anchors, row)
        dual_radius = INFLATE * 4 * length * self._largest * gamma(self._depth_operations + operations)
        centre = (row * offset).sum(1)
        spoiled = (row.abs() * offset_error).sum(1) + gamma(operations) * (row.abs() * offset.abs()).sum(1)
        radius = INFLATE * spoiled
        defect = self._defect(coefficients, dual.gather(1, anchors), dual_radius, rows.count)

        new = {name: getattr(rows, name).clone() for name in ("centre", "centre_error", "dual_error")}
        for name, value in (("centre", centre), ("centre_error", radius), ("dual_error", dual_radius)):
            new[name][newest] = torch.where(usable, value, 0.0)
        return replace(
            rows,
            count=rows.count + usable,
            anchors=anchors,
            coefficients=coefficients,
            offset=offset,
            offset_error=offset_error,
            defect=torch.where(usable, rows.defect + defect, rows.defect),
            along=rows.along + dual * centre[:, None],
            across=rows.across - dual.square(),
            dropped=rows.dropped | ~usable,
            **new,
        )

    def _inner(self, rows: Hulls, first: Tensor, second: Tensor) -> Tensor:
        """<b_first, b_second>, estimate: the floats it goes into define directions, whatever their error."""
        if not self._euclidean:
            return self._gram[first, second]
        base = rows.base[:, None]
        return self._gram[first, second] - self._gram[first, base] - self._gram[base, second] + self._gram[base, base]

    def _inner_products(self, base: Tensor, anchors: Tensor, row: Tensor) -> Tensor:
        """<e, b_k> for e = sum_j row_j b_anchor(j) and every k: (R, P)."""
        if not self._euclidean:
            return embedding_bag(anchors, self._gram, per_sample_weights=row, mode="sum")
        # b_k = x_k - x_0 is not formed: the base enters with minus the sum of the coefficients.
        corner = self._gram[anchors, base[:, None]] - self._gram[base, base][:, None]
        weights = torch.cat([row, -row.sum(1, keepdim=True)], 1)
        index = torch.cat([anchors, base[:, None]], 1)
        products = embedding_bag(index, self._gram, per_sample_weights=weights, mode="sum")
        return products.sub_((row * corner).sum(1, keepdim=True))

    def _offset(self, rows: Hulls, prototypes: Tensor, observed: Enclosure) -> tuple[Tensor, Tensor]:
        """<b_j, z - x_0> of prototypes (R, M): centre and radius."""
        if self._euclidean:
            reach = Enclosure.around(rows.reach.gather(1, prototypes), self._reach_error)
            twice = Enclosure(rows.base_lower[:, None], rows.base_upper[:, None]) + reach - observed
            observed = Enclosure(twice.lower / 2, twice.upper / 2)
        elif self._shift is not None:
            observed = observed - self._shift[prototypes]
        middle = (observed.lower + observed.upper) / 2
        return middle, up(torch.maximum(observed.upper - middle, middle - observed.lower))

    def _defect(self, coefficients: Tensor, products: Tensor, radius: Tensor, count: Tensor) -> Tensor:
        """What the new direction e adds to the squared Frobenius norm of (<e_i, e_j>) - identity.

        `products` are <e, b_anchor(i)>, each within its `radius`.
        """
        each = torch.arange(len(count))
        deviation = torch.einsum("rij,rj->ri", coefficients, products)
        deviation[each, count] -= 1
        lengths = coefficients.abs().sum(2)
        rounding = gamma(2 * products.shape[1] + 4) * products.abs().amax(1, keepdim=True)
        deviation = INFLATE * (deviation.abs() + lengths * (radius[:, None] + rounding) + 4 * UNIT)
        present = torch.arange(products.shape[1]) <= count[:, None]
        squares = torch.where(present, deviation.square(), 0.0)
        return INFLATE * (2 * squares.sum(1) - squares[each, count])

    def _tighten(self, rows: Hulls, prototype: Tensor, observed: Enclosure, slopes: Slopes | None = None) -> Hulls:
        """The bounds of the class docstring, intersected with the earlier ones and with the statement itself.

        With slopes, rows know the middles of intervals, and ends depend on these as the slopes say.

        Every error is one number a patch; only `tilt` grows with the statements' widths. All are >= 0 and inflated, and
        `slack` times the sum of all magnitudes covers the roundings of this method itself.
        """
        slack = gamma(4 * rows.centre.shape[1] + 96)
        weight = rows.centre.square().sum(1, keepdim=True)
        whole = rows.base_upper[:, None]
        farthest = rows.reach.amax(1, keepdim=True)
        # sum_i t_ik^2 <= |b_k|^2 - across + rounding: what errors of the w_i and of the directions are multiplied by.
        spread = (rows.reach - rows.across).clamp_(min=0).add_(2.0**-29 * farthest)
        widest = INFLATE * spread.amax(1, keepdim=True)
        magnitude = INFLATE * 4 * (whole + weight + farthest + widest + self._reach_error)
        defect = rows.defect.sqrt()[:, None]
        dual_error = rows.dual_error.norm(dim=1, keepdim=True)

        outside_error = (
            self._reach_error + 2 * widest.sqrt() * dual_error + defect * widest + slack * (farthest + widest)
        )
        ball_error = 2 * (rows.centre.abs() * rows.centre_error).sum(1, keepdim=True) + defect * weight
        ball = (whole - weight + INFLATE * (ball_error + slack * (whole + weight))).clamp(min=0)
        tilt = rows.centre_error.norm(dim=1, keepdim=True) + (defect + slack) * weight.sqrt()
        error = weight.sqrt() * dual_error + slack * magnitude
        if self._inside:
            short = dual_error + defect * widest.sqrt()
            rest = rows.across - 2 * (INFLATE * outside_error + short.square())
            least = (rows.base_lower[:, None] if self._euclidean else whole) - weight
            least -= 2 * (INFLATE * (ball_error + slack * (whole + weight)) + tilt.square())
            rest, factor = rest.clamp(min=0), 1 + self._euclidean
            if slopes is None:
                swings = [factor * (rest * least.clamp(min=0)).sqrt_()] * 2
            else:
                swings = list(slopes.attained(rest, least, factor))
            short = factor * INFLATE * (spread.sqrt() * tilt + error + tilt * short) + 4 * slack * magnitude
            radii = [swing * (1 - slack) - short for swing in swings]
            return self._cut(rows, *self._within(rows, *radii), prototype, observed)
        outside = (rows.across + INFLATE * outside_error).clamp_(min=0)
        low = high = (outside * ball).sqrt_()
        if slopes is not None:
            low, high = slopes.swings(outside, ball, 1 + self._euclidean)
        radius = spread.sqrt_().mul_(INFLATE * tilt).add_(error)
        if self._euclidean:
            centre = rows.reach - 2 * rows.along
            radius = radius.mul_(2 * INFLATE).add_(self._reach_error + slack * magnitude)
            twice = 2 * INFLATE if slopes is None else INFLATE
            lower = (centre + rows.base_lower[:, None]).sub_(radius).sub_(twice * low).clamp_(min=0)
            upper = centre.add_(whole).add_(radius).add_(twice * high)
        else:
            radius = radius.mul_(INFLATE).add_(slack * magnitude)
            lower, upper = rows.along - (radius + INFLATE * low), rows.along + (radius + INFLATE * high)
            if self._shift is not None:
                lower, upper = down(lower + self._shift.lower), up(upper + self._shift.upper)
            # The checker takes no direction from a single statement that is wider than the ball.
            own = self._gram.diagonal()[rows.anchors[:, 0]]
            half = rows.offset_error[:, 0] if slopes is None else slopes.half[:, 0]
            single = (rows.count == 1) & (half.square() > _TOO_WIDE * whole[:, 0] * own)
            lower, upper = lower.masked_fill(single[:, None], -torch.inf), upper.masked_fill(single[:, None], torch.inf)
        # fmax and fmin take the other end where one is NaN: an invalid result tightens nothing.
        return self._cut(rows, torch.fmax(lower, rows.lower), torch.fmin(upper, rows.upper), prototype, observed)

    def _within(self, rows: Hulls, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """The ends of `inner`, given what the observables surely swing by, down and up."""
        if self._euclidean:
            middle = rows.reach - 2 * rows.along
            lower = middle + rows.base_upper[:, None] - (low - self._reach_error)
            upper = middle + rows.base_lower[:, None] + (high - self._reach_error)
        else:
            lower, upper = rows.along - low, rows.along + high
            if self._shift is not None:
                lower, upper = up(lower + self._shift.upper), down(upper + self._shift.lower)
        unknown = rows.dropped[:, None] | lower.isnan() | upper.isnan()
        lower = torch.maximum(lower, rows.lower).masked_fill(unknown, torch.inf)
        return lower, torch.minimum(upper, rows.upper).masked_fill(unknown, -torch.inf)

    def _cut(self, rows: Hulls, lower: Tensor, upper: Tensor, prototype: Tensor, observed: Enclosure) -> Hulls:
        """Rows with these ends, cut by the statement itself."""
        each = torch.arange(len(prototype))
        lower[each, prototype] = torch.maximum(lower[each, prototype], observed.lower)
        upper[each, prototype] = torch.minimum(upper[each, prototype], observed.upper)
        return replace(rows, lower=lower, upper=upper)


def _with_room(rows: Hulls) -> Hulls:
    """Rows with space for one more direction in each."""
    room = rows.anchors.shape[1]
    if int(rows.count.max()) < room:
        return rows
    more = max(4, room)
    widen = ("anchors", "offset", "offset_error", "centre", "centre_error", "dual_error")
    padded = {name: torch.nn.functional.pad(getattr(rows, name), (0, more)) for name in widen}
    return replace(rows, coefficients=torch.nn.functional.pad(rows.coefficients, (0, more, 0, more)), **padded)
