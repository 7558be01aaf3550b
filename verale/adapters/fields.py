"""Receptive fields and origins as data.

For every row and column of the latent grid, the pixels that it can depend on; and where a prototype comes from, the
patch of a training image that projection copied into it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True)
class Origin:
    """Where a prototype comes from.

    Attributes:
        prototype: its index.
        image: the index of the training image in the projection set.
        file: the image's file, where known.
        row, column: the patch's position in the latent grid.
    """

    prototype: int
    image: int
    file: Path | None
    row: int
    column: int

    def record(self) -> dict[str, Any]:
        """Plain data, as `source.json` has it."""
        return asdict(self) | {"file": None if self.file is None else str(self.file)}

    def __str__(self) -> str:
        name = f"image {self.image}" if self.file is None else self.file.name
        return f"training patch: {name}, row {self.row}, column {self.column}"
