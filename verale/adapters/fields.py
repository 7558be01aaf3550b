"""Receptive fields as data: for every row and column of the latent grid, the pixels that it can depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Axis", "ReceptiveFields"]

Axis = tuple[tuple[int, int], ...]
"""For every row, or every column, the first of its pixels and the one after the last; empty where these are equal."""

_MOST_NAMED = 20
"""The most modules of unknown reach that a file names."""


@dataclass(frozen=True)
class ReceptiveFields:
    """The receptive field of every patch: the pixels outside of which nothing changes its latent.

    Attributes:
        rows, columns: for each row, and each column, of the latent grid the first of its pixels, and the one after the
            last.
        size: (H, W) of the image, in pixels of the network's input.
        unknown: the modules and functions whose every output is taken to depend on the whole image.
        by_checker: whether the checker computed them, of the network's file.
    """

    rows: Axis
    columns: Axis
    size: tuple[int, int]
    unknown: tuple[str, ...]
    by_checker: bool = False

    def box(self, row: int, column: int) -> tuple[int, int, int, int]:
        """Of a patch: left, top, right, bottom, the latter two outside."""
        (top, bottom), (left, right) = self.rows[row], self.columns[column]
        return left, top, right, bottom

    @property
    def whole(self) -> bool:
        """Whether every patch depends on the whole image."""
        height, width = self.size
        return set(self.rows) == {(0, height)} and set(self.columns) == {(0, width)}

    def record(self) -> dict[str, Any]:
        """Plain data, as `source.json` has it."""
        named = list(self.unknown[:_MOST_NAMED])
        return {
            "size": list(self.size),
            "rows": list(map(list, self.rows)),
            "columns": list(map(list, self.columns)),
            "unknown": named,
        }
