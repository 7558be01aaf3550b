"""Where patches lie in an image: cells of the latent grid, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

__all__ = ["Grid", "grid_of"]

_MOST = 64
"""Cells that a side is drawn with."""


@dataclass(frozen=True)
class Grid:
    """Rows and columns of cells. The first patches, the tokens, have none.

    Attributes:
        rows, columns: of the grid.
        tokens: how many patches come before the first cell (the class token of `BankPooling`).
        assumed: whether the shape is only a guess from the number of patches.
    """

    rows: int
    columns: int
    tokens: int = 0
    assumed: bool = False

    def cell(self, patch: int) -> tuple[int, int] | None:
        """Row and column of a patch, from 0; None for a token."""
        place = patch - self.tokens
        return None if not 0 <= place < self.rows * self.columns else divmod(place, self.columns)


def grid_of(patches: int, tokens: int = 0, shape: tuple[int, int] | None = None) -> Grid | None:
    """The grid of an image's patches.

    Args:
        patches: L.
        tokens: how many of them are no cells.
        shape: (H, W) of the latents, where they have one; without it a square is assumed.

    Returns:
        None where there is no telling, or too many cells to draw.
    """
    cells = patches - tokens
    if shape is not None and not tokens and shape[0] * shape[1] == cells:
        return Grid(*shape) if max(shape) <= _MOST else None
    side = isqrt(max(0, cells))
    return Grid(side, side, tokens, assumed=True) if side * side == cells and 1 <= side <= _MOST else None
