"""The grid: where the patches of an image lie, as cells in rows and columns."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import TYPE_CHECKING

from verale.adapters.fields import ReceptiveFields
from verale.checker import CheckerError
from verale.checker.errors import UnprovedError
from verale.checker.read.network_file import LARGEST, read_network
from verale.checker.receptive import receptive_fields
from verale.errors import InputError
from verale.files import SentFile, read
from verale.runs.inputs import NETWORK

if TYPE_CHECKING:
    from torch import Tensor

    from verale.head import Head

_LARGEST_SIDE = 64
"""The most cells a side that are drawn."""


@dataclass(frozen=True)
class Grid:
    """Rows and columns of cells. The first patches, the tokens (the class token of `BankPooling`), have no cell; the
    shape may be `assumed`, only a guess from the number of patches."""

    rows: int
    columns: int
    tokens: int = 0
    assumed: bool = False

    def cell(self, patch: int) -> tuple[int, int] | None:
        """Row and column of a patch, from 0; None for a token."""
        number = patch - self.tokens
        return None if not 0 <= number < self.rows * self.columns else divmod(number, self.columns)


@dataclass(frozen=True)
class NetworkBeside:
    """The network in a run's folder, as far as pages draw it: the `shape` (H, W) of the latents that it gives for a
    picture; and the receptive fields of its patches, as the checker computes them, None where windows are too large."""

    sha256: str
    shape: tuple[int, int]
    fields: ReceptiveFields | None

    @classmethod
    def of(cls, folder: Path) -> NetworkBeside | None:
        """That of a folder; None where there is none that can be read."""
        try:
            network = read_network(read(SentFile(folder / NETWORK), "a network file (safetensors)", most=LARGEST))
        except (InputError, CheckerError):
            return None
        rows, columns = network.layers[-1].shape[1:] or (1, 1)
        fields = None
        with suppress(UnprovedError):
            found = receptive_fields(network)
            fields = ReceptiveFields(found.rows, found.columns, found.size, (), by_checker=True)
        return cls(network.sha256, (rows, columns), fields)


def grid_of_image(
    patches: int, head: Head | None, latents: Tensor | None, shape: tuple[int, int] | None = None
) -> Grid | None:
    """The grid of an image's patches; None where its shape is unknown, or has too many cells to draw.

    The `shape` (H, W) is that by the network that a certificate names: whoever wrote the latents beside a picture may
    give them any other. Without it that of the latents counts, (N, D, H, W) or (N, L, D), or else a square is assumed.
    """
    tokens = 0
    if head is not None:
        from verale.head import BankPooling

        tokens = int(isinstance(head.pooling, BankPooling))
    if shape is None and latents is not None and len(latents.shape) == 4:
        shape = int(latents.shape[2]), int(latents.shape[3])
    cells = patches - tokens
    if shape is not None and not tokens and shape[0] * shape[1] == cells:
        return Grid(*shape) if max(shape) <= _LARGEST_SIDE else None
    side = isqrt(max(0, cells))
    return Grid(side, side, tokens, assumed=True) if side * side == cells and 1 <= side <= _LARGEST_SIDE else None
