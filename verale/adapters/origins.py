"""Where a prototype comes from: the patch of a training image that projection copied into it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

__all__ = ["Origin"]


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
