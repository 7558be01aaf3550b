"""Squares of one colour are known, and whether what the network sees with them is of one colour too."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from verale.adapters.fields import ReceptiveFields
from verale.report.grid import Grid
from verale.report.page_detail import plain_patches
from verale.report.thumbnails import ImageFile, Thumbnails

GRID = Grid(2, 2)
FIELDS = ReceptiveFields(((0, 8), (4, 8)), ((0, 4), (3, 8)), (8, 8), ())


def picture(tmp_path: Path) -> str:
    """8 by 8, black but for a stroke in the lower half's left quarter."""
    image = Image.new("L", (8, 8))
    image.putpixel((1, 6), 255)
    image.save(tmp_path / "a.png")
    return Thumbnails(224).uri(ImageFile(tmp_path / "a.png"))


def test_what_a_field_holds_beside_a_plain_square(tmp_path):
    uri = picture(tmp_path)
    assert plain_patches(uri, GRID, {0, 1, 2, 3}, FIELDS) == {0: "more", 1: "plain", 3: "plain"}
    assert plain_patches(uri, GRID, {0, 2}, None) == {0: "unknown"}


def test_tokens_have_no_square(tmp_path):
    assert plain_patches(picture(tmp_path), Grid(2, 2, tokens=1), {0}, FIELDS) == {}
