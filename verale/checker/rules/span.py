"""The span of one patch's anchors: the integers behind the lemma of `projection`, in whose letters this is written.

Multipliers are integers at 2^-e. What concerns the anchors alone is small; what runs over all targets is done by the
kernel's matrix products, or touches each number once or twice.

**Screening.** Most patches do not matter for most prototypes: pooled over patches, an observable has the ends of other
patches. With tau = 0 the lemma says cheaply that <v, b_k> lies within rho |b_k| of <gamma, b_k> = sigma.g_k. Where that
shows that a patch changes neither of the pooled ends `known` from other patches, it is left at that: the range given
holds, and is as tight as pooling can tell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import add, mul, sub

from ..dyadic import ceil_shift, dot, floor_shift
from .gram import COARSE, Gram
from .multipliers import approximate_inverse
from .space import Ranges

__all__ = ["Reach", "Span"]

_TOGETHER = 256  # targets: enough for matrix products, few enough for a processor's cache
_SLACK = 256  # of the coarse grid, more than all that is rounded there
_PRECISION = 128  # bits of the multipliers below the inverse of the longest anchor's square


@dataclass(frozen=True)
class Reach:
    """How far an observable may be from its middle, for all targets at once.

    Attributes:
        sigma: the multipliers of gamma = sum sigma_i b_i, at 2^-e.
        centre: the row over g_k that gives twice the middle, less `shift` [and g_kk], at 2^-2e on the grid.
        shift: on the grid, rounded down.
        widths, base_width: of the stated intervals, on the grid.
        rho: the square of what multiplies |r|, on the grid.
        distances: whether the observable is g_kk - 2 <v, b_k> + d_0^2, and not <v, b_k>.
    """

    sigma: Sequence[int]
    centre: Sequence[int]
    shift: int
    widths: Sequence[int]
    base_width: int
    rho: int
    distances: bool


class Span:
    """The span of the vectors b_i = p_i - p_0, and the multipliers tau = X g_k that it gives every target k.

    Attributes:
        kept: which of the vectors span it; the others are left out.
        gram: g_ij.
        bits: e.

    Args:
        gram: the inner products of the head's prototypes.
        anchors, base: the prototypes p_i and p_0; None for the origin.
        noise, reach, in_order: see `approximate_inverse`.
    """

    def __init__(
        self, gram: Gram, anchors: Sequence[int], base: int | None, noise: Sequence[int], reach: int, in_order: bool
    ) -> None:
        self._products, self._base = gram, base
        self._space, self._kernel = gram.space, gram.space.kernel
        # Numbers are kept small for speed: h_ik = <b_i, p_k>, and g_ik = h_ik - c_i, c_i = <b_i, p_0>.
        constants = [0 if base is None else int(gram.row(j)[base] - gram.row(base)[base]) for j in anchors]
        full = [[int(h) - c for h in self._inner(i, anchors)] for i, c in zip(anchors, constants, strict=True)]
        self.kept, self._inverse, self.bits = approximate_inverse(
            full, noise, reach, max(_PRECISION, self._space.lift), in_order
        )
        self.gram = [[full[i][j] for j in self.kept] for i in self.kept]
        self._columns = list(zip(*self._inverse, strict=True))
        self._anchors = [anchors[i] for i in self.kept]
        self._constants = [constants[i] for i in self.kept]

    def times(self, values: Sequence[int], places: int) -> list[int]:
        """X values / 2^places, rounded."""
        return [dot(row, values) >> places for row in self._inverse]

    def form(self, sigma: Sequence[int]) -> int:
        """sigma^T g sigma, at 2^-2e."""
        return dot(sigma, [dot(row, sigma) for row in self.gram])

    def row(self, weights: Sequence[int], sigma: Sequence[int], scale: int) -> list[int]:
        """The row over g_k that gives weights.tau + scale <gamma, r>, at 2^-2e."""
        reached = [dot(row, sigma) for row in self.gram]
        return [
            (dot(weights, column) << self.bits) + scale * ((s << self.bits) - dot(reached, column))
            for s, column in zip(sigma, self._columns, strict=True)
        ]

    def ends(self, reach: Reach, wanted: Sequence[int]) -> Iterator[tuple[int, int]]:
        """For every target wanted, rounded outward to the grid:
        shift + centre.g_k / 2 [+ g_kk] -+ (|1 - sum tau_i| base_width / 2 + sum |tau_i| width_i / 2 + rho |r|).
        """
        kernel, e = self._kernel, self.bits
        sums = [sum(column) for column in self._columns]
        at_constants = [dot(self._constants, column) for column in self._columns]
        rows = [*self._inverse, sums, at_constants, reach.centre]
        linear = kernel.matrix([[*row, -dot(row, self._constants)] for row in rows])
        integer = kernel.integer
        shift, rho, base_width, one = map(integer, (reach.shift, reach.rho, reach.base_width, 1 << e))
        whole, widths = one + self._defect(), list(map(integer, reach.widths))
        raise_by, places = self._space.lift, e - self._space.lift
        isqrt = kernel.isqrt
        squares, _, _ = self._products.lengths(self._base)
        for start in range(0, len(wanted), _TOGETHER):
            part = wanted[start : start + _TOGETHER]
            h = [self._inner(j, part) for j in self._anchors]
            block = kernel.matrix([*h, [1] * len(part)])
            *taus, totals, offsets, centres = kernel.rows(kernel.product(linear, block))
            explained = [-offset for offset in offsets]
            for tau, along in zip(taus, h, strict=True):
                explained = list(map(add, explained, map(mul, tau, along)))  # tau.g_k
            spreads = [abs(one - total) * base_width for total in totals]
            for tau, width in zip(taus, widths, strict=True):
                spreads = list(map(add, spreads, map(mul, map(abs, tau), repeat(width))))
            for k, product, middle, spread in zip(part, explained, centres, spreads, strict=True):
                g = squares[k]
                middle = (middle >> 2 * e + 1) + shift
                if reach.distances:
                    middle += g << raise_by
                swing = (spread >> e + 1) + isqrt((g * whole - product) * rho >> places) + 2  # 1 for each rounding down
                yield middle - swing, middle + swing + 2

    def screen(self, reach: Reach, known: Ranges) -> tuple[list[int], list[int], list[int]]:
        """The targets for which this patch may matter, and for the others ends that hold.

        shift + [g_kk - 2] sigma.g_k -+ (base_width / 2 + rho |b_k|) is bounded on the coarse grid, a few units off.

        Args:
            known: what other patches give, pooled: the smallest ends of distances, the greatest of products; finite.

        Returns:
            the targets, in order; lower and upper ends of all, without meaning for these.
        """
        space, drop, guard = self._space, self._space.bits - COARSE, self._products.guard + 4
        scaled = [-2 * s for s in reach.sigma] if reach.distances else reach.sigma
        # sigma.g_k << lift is at 2^-(e + bits); coordinates are rounded down to what their sum needs.
        places = self.bits + drop - space.lift
        vector = [floor_shift(entry, guard - places) for entry in self._combined(scaled)]
        constant = floor_shift(-dot(scaled, self._constants), -places) + (reach.shift >> drop)
        _, squares, lengths = self._products.lengths(self._base)
        middles = [(product >> guard) + constant for product in self._products.against(vector)]
        if reach.distances:
            middles = list(map(add, middles, squares))
        radius = self._kernel.isqrt(reach.rho >> space.bits - 2 * COARSE) + 1
        width = (reach.base_width >> drop + 1) + _SLACK
        swings = [(radius * length >> COARSE) + width for length in lengths]
        lower, upper = list(known.lower), list(known.upper or [])
        each = enumerate(zip(middles, swings, lower, upper, strict=True))
        if reach.distances:
            wanted = [k for k, (m, swing, low, high) in each if m - swing <= low >> drop or m - _SLACK <= high >> drop]
            return wanted, lower, [m + swing << drop for m, swing in zip(middles, swings, strict=True)]
        wanted = [k for k, (m, swing, low, high) in each if m + swing > high >> drop or m + _SLACK > low >> drop]
        return wanted, [m - swing << drop for m, swing in zip(middles, swings, strict=True)], upper

    def _inner(self, anchor: int, targets: Sequence[int]) -> list[int]:
        """h_ik = <b_i, p_k>."""
        row = map(self._products.row(anchor).__getitem__, targets)
        if self._base is None:
            return list(row)
        return list(map(sub, row, map(self._products.row(self._base).__getitem__, targets)))

    def _combined(self, weights: Sequence[int]) -> list[int]:
        """sum_i weights_i b_i."""
        vectors = self._space.vectors
        found = [0] * len(vectors[0])
        for weight, j in zip(weights, self._anchors, strict=True):
            found = list(map(add, found, map(mul, repeat(weight), vectors[j])))
        if self._base is not None:
            found = list(map(add, found, map(mul, repeat(-sum(weights)), vectors[self._base])))
        return found

    def _defect(self) -> int:
        """epsilon at 2^-e, rounded up."""
        error = self._product(self.gram, self._inverse)
        for i, row in enumerate(error):
            row[i] -= 1 << self.bits
        form = self._product(self._columns, error)
        total = sum(
            abs(entry) * max(self.gram[i][i], self.gram[j][j])
            for i, row in enumerate(form)
            for j, entry in enumerate(row)
        )
        return ceil_shift(total, -self.bits)

    def _product(self, left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> list[list[int]]:
        """The product of two small matrices, in Python's integers."""
        if not left:
            return []
        matrix = self._kernel.matrix
        product = self._kernel.rows(self._kernel.product(matrix(left), matrix(right)))
        return [list(map(int, row)) for row in product]
