"""The span of one patch's anchors: the integers behind the lemma of `rule`. README.md has all symbols.

Multipliers are integers at 2^-e. There are few anchors, so their numbers are computed in Python's integers; there are
many targets, so theirs are computed by the kernel's matrix products, or touch each number once or twice.

**Swings.** <v - gamma, b_k> = sum tau_i <v - gamma, b_i> + <v - gamma, r>. The statements bound every <v - gamma, b_i>
closely, so the sum strays little, whatever the target; the rest swings by rho |r|.

**epsilon.** With E = g X - 1, epsilon |b_k|^2 has to be no less than g_k^T X^T E g_k = sum_m (X g_k)_m (E g_k)_m, and
by |g_ik| <= |b_i| |b_k| the sum over m of (sum_i |X_mi| |b_i|) (sum_j |E_mj| |b_j|) is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from operator import mul, sub
from typing import Any

from ...dyadic import ceil_shift, dot, floor_shift
from ..space import Chunk, Space
from .multipliers import approximate_inverse

__all__ = ["Reach", "Span"]

_PRECISION = 128  # bits of the multipliers below the inverse of the longest anchor's square


@dataclass(frozen=True)
class Reach:
    """How far an observable can be from its middle, for all targets at once.

    Attributes:
        sigma: the multipliers of gamma = sum sigma_i b_i, at 2^-e.
        linear: see `Span.linear`; its row gives twice the middle, less `shift` [and g_kk], on the grid.
        shift: on the grid, rounded down.
        widths, base_width: of the stated intervals, on the grid.
        near, far: the ends of |v - gamma|^2, on the grid.
        stray: see `Span.stray`.
        distances: whether the observable is g_kk - 2 <v, b_k> + d_0^2, and not <v, b_k>.
    """

    sigma: Sequence[int]
    linear: Any
    shift: int
    widths: Sequence[int]
    base_width: int
    near: int
    far: int
    stray: int
    distances: bool


class Span:
    """The span of the vectors b_i = p_i - p_0, and the multipliers tau = X g_k that it gives every target k.

    Attributes:
        kept: the indices of the vectors that span it; the rest are left out.
        gram: g_ij.
        bits: e.

    Args:
        space: the head.
        anchors, base: the prototypes p_i and p_0; p_0 None for the origin.
        noise, reach, in_order: see `approximate_inverse`.
    """

    def __init__(
        self, space: Space, anchors: Sequence[int], base: int | None, noise: Sequence[int], reach: int, in_order: bool
    ) -> None:
        self._space, self._kernel = space, space.kernel
        origin = [0] * space.head.depth if base is None else space.vectors[base]
        vectors = [list(map(sub, space.vectors[j], origin)) for j in anchors]
        full = self._product(vectors, list(zip(*vectors, strict=True)))
        self.kept, self._inverse, self.bits = approximate_inverse(
            full, noise, reach, max(_PRECISION, space.lift), in_order
        )
        self.gram = [[full[i][j] for j in self.kept] for i in self.kept]
        self._lengths = [isqrt(row[i]) + 1 for i, row in enumerate(self.gram)]  # more than |b_i|
        # Small numbers are faster: h_ik = <b_i, p_k>, and g_ik = h_ik - c_i, c_i = <b_i, p_0>.
        spanning = [vectors[i] for i in self.kept]
        self._constants, self._square = [dot(vector, origin) for vector in spanning], dot(origin, origin)
        nothing = [0] * space.head.depth
        columns = [[*vector, 0] for vector in spanning] + [[*nothing, 1], [*origin, 0]]
        self._anchors = self._kernel.matrix(list(zip(*columns, strict=True)))  # takes (A_k, 1) to h_ik, 1, <p_0, p_k>

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
            for s, column in zip(sigma, zip(*self._inverse, strict=True), strict=True)
        ]

    def foot(self, sigma: Sequence[int], places: int) -> list[int]:
        """p_0 + gamma at 2^-places, rounded down."""
        column = self._kernel.matrix([[s] for s in (*sigma, 0, 1 << self.bits)])
        entries = self._kernel.rows(self._kernel.product(self._anchors, column))
        return [floor_shift(int(entry), places - self.bits) for (entry,) in entries[:-1]]

    def linear(self, row: Sequence[int]) -> Any:
        """The matrix that takes h_ik, 1 and <p_0, p_k> to tau and row.g_k."""
        rows = [*self._inverse, row]
        constants = [-dot(each, self._constants) for each in rows]
        return self._kernel.matrix([*zip(*rows, strict=True), constants, [0] * len(rows)])

    def stray(self, sigma: Sequence[int], betas: Sequence[tuple[int, int]]) -> int:
        """A bound of |2 <v - gamma, sum tau_i b_i>| + |2 <v - gamma, gamma>| for all targets, on the grid, given the
        ends of all 2 beta_i."""
        total = 0
        for s, row, multipliers, (low, high) in zip(sigma, self.gram, self._inverse, betas, strict=True):
            reached = dot(row, sigma) << self._space.lift + 1 >> self.bits
            # |tau_i| <= sum_j |X_ij| |b_j| |b_k|, and |b_k| is at most twice the longest.
            most = dot(map(abs, multipliers), self._lengths) * 2 * self._space.longest
            total += max(high - reached, reached + 1 - low) * (abs(s) + most)
        return ceil_shift(total, -self.bits)

    def swings(self, reach: Reach, chunks: Iterable[Chunk]) -> Iterator[int]:
        """For every target, in chunks of one, no less than |<v - gamma, r>|, or for distances twice that, on the grid:
        with `stray` it bounds |<v - gamma, b_k>|, or |2 <v - gamma, gamma - b_k>|."""
        kernel = self._kernel
        product, rows, isqrt, transposed = kernel.product, kernel.rows, kernel.isqrt, kernel.transposed
        rho, places = self._rho(reach)
        form, whole = self._explained, self._whole
        for chunk in chunks:
            along = product(chunk.extended, self._anchors)
            ((explained,),) = rows(product(product(along, form), transposed(along)))
            yield isqrt((chunk.squares[0] * whole - explained) * rho >> places) + 1

    def ends(self, reach: Reach, chunks: Iterable[Chunk]) -> Iterator[tuple[int, int]]:
        """For every target of these chunks, rounded outward to the grid:
        shift + row.g_k / 2 [+ g_kk] -+ (|1 - sum tau_i| base_width / 2 + sum |tau_i| width_i / 2 + rho |r|).
        """
        kernel, e, lift = self._kernel, self.bits, self._space.lift
        integer, product, rows, isqrt = kernel.integer, kernel.product, kernel.rows, kernel.isqrt
        shift, base_width, one, own = map(integer, (reach.shift, reach.base_width, 1 << e, self._square))
        constants, widths = (list(map(integer, row)) for row in (self._constants, reach.widths))
        rho, places = self._rho(reach)
        linear, whole = reach.linear, self._whole
        for chunk in chunks:
            along = product(chunk.extended, self._anchors)
            each = zip(chunk.squares, rows(along), rows(product(along, linear)), strict=True)
            for square, (*g, _, product_0), (*tau, middle) in each:
                spread = sum(map(mul, map(abs, tau), widths))
                middle = (middle >> 2 * e + 1) + shift
                if reach.distances:
                    g = list(map(sub, g, constants))
                    square += own - 2 * product_0
                    middle += square << lift
                    spread += abs(one - sum(tau)) * base_width
                # 1 for each rounding down
                swing = (spread >> e + 1) + isqrt((square * whole - sum(map(mul, tau, g))) * rho >> places) + 2
                yield middle - swing, middle + swing + 2

    def _rho(self, reach: Reach) -> tuple[int, int]:
        """What |r|^2 at 2^-e is to be multiplied by, and then shifted down by, for the square, on the grid, of rho |r|,
        or for distances 2 rho |r|."""
        return self._kernel.integer(reach.far << 2 * reach.distances), self.bits - self._space.lift

    @cached_property
    def _explained(self) -> Any:
        """The quadratic form that takes h_ik, 1 and <p_0, p_k> to tau.g_k - (1 + epsilon) (|b_k|^2 - |A_k|^2)."""
        constants, whole = self._constants, int(self._whole)
        right = [-dot(row, constants) for row in self._inverse]
        below = [-dot(column, constants) for column in zip(*self._inverse, strict=True)]
        rows = [[*row, entry, 0] for row, entry in zip(self._inverse, right, strict=True)]
        last = [*below, -dot(right, constants) - whole * self._square, 2 * whole]
        return self._kernel.matrix([*rows, last, [0] * len(last)])

    @cached_property
    def _whole(self) -> int:
        """1 + epsilon at 2^-e, rounded up."""
        error = self._product(self.gram, self._inverse)
        for i, row in enumerate(error):
            row[i] -= 1 << self.bits
        total = sum(
            dot(map(abs, multipliers), self._lengths) * dot(map(abs, row), self._lengths)
            for multipliers, row in zip(self._inverse, error, strict=True)
        )
        return self._kernel.integer((1 << self.bits) + ceil_shift(total, -self.bits))

    def _product(self, left: Sequence[Sequence[int]], right: Sequence[Sequence[int]]) -> list[list[int]]:
        """The product of two small matrices, in Python's integers."""
        if not left:
            return []
        matrix = self._kernel.matrix
        product = self._kernel.rows(self._kernel.product(matrix(left), matrix(right)))
        return [list(map(int, row)) for row in product]
