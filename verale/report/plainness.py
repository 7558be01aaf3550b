"""Which patches of a picture are nearly of one colour: a reader asks why a black square should decide."""

from __future__ import annotations

import io
from base64 import b64decode
from typing import TYPE_CHECKING

from PIL import Image

from verale.report.grid import Grid

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields

__all__ = ["plain_patches"]

_RANGE = 24
"""Of 255 levels of grey: what spans fewer looks like one colour."""

FIELD_HOLDS_MORE, FIELD_IS_PLAIN, FIELD_UNKNOWN = "more", "plain", "unknown"
"""What a receptive field holds beside a plain square."""


def plain_patches(picture: str, grid: Grid, patches: set[int], fields: ReceptiveFields | None) -> dict[int, str]:
    """Of the patches whose squares are nearly of one colour: what their receptive fields hold.

    Args:
        picture: a data URI, base64, that the page made.
        grid: where the patches lie.
        patches: those that are looked at.
        fields: the receptive fields; None where they are not known.
    """
    with Image.open(io.BytesIO(b64decode(picture.partition(",")[2]))) as opened:
        grey = opened.convert("L")
    wide, high = grey.size
    found = {}
    for patch in patches:
        cell = grid.cell(patch)
        if cell is None:
            continue
        row, column = cell
        across, down = wide / grid.columns, high / grid.rows
        if not _is_plain(grey, (column * across, row * down, (column + 1) * across, (row + 1) * down)):
            continue
        if fields is None:
            found[patch] = FIELD_UNKNOWN
            continue
        left, top, right, bottom = fields.box(row, column)
        x, y = wide / fields.size[1], high / fields.size[0]
        field = _is_plain(grey, (left * x, top * y, right * x, bottom * y))
        found[patch] = FIELD_IS_PLAIN if field else FIELD_HOLDS_MORE
    return found


def _is_plain(grey: Image.Image, box: tuple[float, float, float, float]) -> bool:
    left, top = (int(end) for end in box[:2])
    right, bottom = max(left + 1, round(box[2])), max(top + 1, round(box[3]))
    least, most = grey.crop((left, top, right, bottom)).getextrema()
    return float(most) - float(least) < _RANGE  # type: ignore[arg-type]
