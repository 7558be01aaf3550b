"""Inner products of prototypes, one row at a time, kept while they are likely to be asked for again.

Rows of the Gram matrix <A_j, A_k> are what every patch with a statement about j needs; all of them at once may be too
many. Also, for a base A_0 (or none, the origin): the squares of b_k = A_k - A_0 and upper bounds of their lengths.
"""

from __future__ import annotations

from functools import lru_cache

from .space import Space

__all__ = ["COARSE", "Gram"]

COARSE = 48
"""Fractional bits of the coarse grid, on which what need not be tight is bounded."""

_KEPT = 512


class Gram:
    """The inner products of one head's prototypes."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.row = lru_cache(_KEPT)(self._row)
        """<A_j, A_k> for every k."""
        self.lengths = lru_cache(_KEPT // 4)(self._lengths)
        """|b_k|^2 for every k, exactly, and on the coarse grid: |b_k|^2 rounded down, |b_k| rounded up."""
        self.guard = max(sum(map(abs, vector)) for vector in space.vectors).bit_length()
        """max_k sum_d |A_kd| < 2^guard."""

    def against(self, vector: list[int]) -> list[int]:
        """<vector, A_k> for every k."""
        kernel = self.space.kernel
        row = kernel.matrix([[*vector, 0]])
        found: list[int] = []
        for chunk in self.space.chunks:
            found += kernel.rows(kernel.product(row, chunk.extended))[0]
        return found

    def _row(self, j: int) -> list[int]:
        return self.against(self.space.vectors[j])

    def _lengths(self, base: int | None) -> tuple[list[int], list[int], list[int]]:
        space = self.space
        squares = space.squares
        if base is not None:
            row = self.row(base)
            own = row[base]
            squares = [square - (product << 1) + own for square, product in zip(squares, row, strict=True)]
        drop = space.bits - 2 * COARSE
        rooted = ((square << space.lift) >> drop for square in squares)
        isqrt = space.kernel.isqrt
        return (
            squares,
            [(square << space.lift) >> space.bits - COARSE for square in squares],
            [isqrt(square) + 1 for square in rooted],
        )
