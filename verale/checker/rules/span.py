"""The span of one patch's anchors: the integers behind the lemma of `projection`, in whose letters this is written.

Multipliers are integers at 2^-e. What concerns the anchors alone is small; what runs over all targets is done by the
kernel's matrix products, a chunk of targets at a time, and otherwise touches each number once or twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from operator import add, mul

from ..dyadic import ceil_shift, dot
from .multipliers import approximate_inverse
from .space import Space

__all__ = ["Span"]

_PRECISION = 128  # bits of the multipliers below the inverse of the longest anchor's square


class Span:
    """The span of the vectors b_i = p_i - p_0, and the multipliers tau = X g_k that it gives every target k.

    Attributes:
        kept: which of the vectors span it; the others are left out.
        gram: g_ij.
        bits: e.

    Args:
        vectors, base: the b_i and p_0, in the unit of the space's vectors.
        noise, reach, in_order: see `approximate_inverse`.
    """

    def __init__(
        self,
        space: Space,
        vectors: Sequence[list[int]],
        base: list[int],
        noise: Sequence[int],
        reach: int,
        in_order: bool,
    ) -> None:
        self._space, self._kernel = space, space.kernel
        full = self._product(vectors, list(zip(*vectors, strict=True)))
        self.kept, self._inverse, self.bits = approximate_inverse(
            full, noise, reach, max(_PRECISION, space.lift), in_order
        )
        self.gram = [[full[i][j] for j in self.kept] for i in self.kept]
        self._columns = list(zip(*self._inverse, strict=True))
        # The numbers of the block are kept small for speed: h_ik = <b_i, p_k>, and g_ik = h_ik - c_i, c_i = <b_i, p_0>.
        self._base = base
        self._vectors = [vectors[i] for i in self.kept]
        self._constants = [dot(vector, base) for vector in self._vectors]

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

    def ends(
        self,
        centre: Sequence[int],
        shift: int,
        widths: Sequence[int],
        base_width: int,
        rho: int,
        distances: bool,
    ) -> tuple[list[int], list[int]]:
        """For every target, rounded outward to the grid:
        shift + centre.g_k / 2 [+ g_kk] -+ (|1 - sum tau_i| base_width / 2 + sum |tau_i| width_i / 2 + rho |r|).

        Args:
            centre: a row at 2^-2e on the grid.
            shift: on the grid, rounded down.
            widths, base_width: of the stated intervals, on the grid.
            rho: the square of what multiplies |r|, on the grid.
            distances: whether g_kk is added.
        """
        kernel, e = self._kernel, self.bits
        anchors = kernel.matrix(
            [*([*vector, 0] for vector in self._vectors), [*self._base, 0], [*repeat(0, len(self._base)), 1]]
        )
        sums = [sum(column) for column in self._columns]
        at_constants = [dot(self._constants, column) for column in self._columns]
        rows = [*self._inverse, sums, at_constants, centre]
        linear = kernel.matrix([[*row, 0, -dot(row, self._constants)] for row in rows])
        integer = kernel.integer
        own, shift, rho, one = map(integer, (dot(self._base, self._base), shift, rho, 1 << e))
        whole, base_width, kernel_widths = one + self._defect(), integer(base_width), list(map(integer, widths))
        raise_by, places = self._space.lift, e - self._space.lift
        isqrt = kernel.isqrt
        lower: list[int] = []
        upper: list[int] = []
        for chunk in self._space.chunks:
            block = kernel.product(anchors, chunk.extended)
            *h, to_base, _ = kernel.rows(block)
            *taus, totals, offsets, centres = kernel.rows(kernel.product(linear, block))
            explained = [-offset for offset in offsets]
            for tau, along in zip(taus, h, strict=True):
                explained = list(map(add, explained, map(mul, tau, along)))  # tau.g_k
            spreads = [abs(one - total) * base_width for total in totals]
            for tau, width in zip(taus, kernel_widths, strict=True):
                spreads = list(map(add, spreads, map(mul, map(abs, tau), repeat(width))))
            for square, product, part, middle, spread in zip(
                chunk.squares, to_base, explained, centres, spreads, strict=True
            ):
                g = square - (product << 1) + own
                middle = (middle >> 2 * e + 1) + shift
                if distances:
                    middle += g << raise_by
                reach = (spread >> e + 1) + isqrt((g * whole - part) * rho >> places) + 2  # 1 for each rounding down
                lower.append(middle - reach)
                upper.append(middle + reach + 2)
        return lower, upper

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
