"""Pictures: tensor and PNG files, as certificates/network-v1.md, "Pictures", has them."""

from __future__ import annotations

import io
import zlib
from typing import Any

import pytest
from corpus.writing.malformed_pictures import SIGNATURE, drawn, header, malformed_pictures
from PIL import Image
from support.networks import chunk, picture_digest, pictures_file, png

from verale.checker.errors import FormatError, PictureError
from verale.checker.read import pictures as module
from verale.checker.read import png_reader
from verale.checker.read.pictures import PictureFile, Pictures
from verale.soundness.independent import files

GREY, COLOURS = (1, 5, 7), (3, 4, 3)


def pictures(*data: bytes, shape: tuple[int, int, int] = GREY) -> Pictures:
    named = [PictureFile(f"file {n}", lambda each=each: each) for n, each in enumerate(data)]
    return Pictures(named, shape)


@pytest.mark.parametrize("shape", [GREY, COLOURS])
@pytest.mark.parametrize("filters", [[0], [1], [2], [3], [4], [4, 3, 2, 1, 0]])
def test_reads_every_filter(shape: tuple[int, int, int], filters: list[int]) -> None:
    picture = drawn(shape)
    data = png(picture, (filters * 5)[: shape[1]], parts=3)
    found = pictures(data, shape=shape).find(picture_digest(picture))
    assert found is not None and list(found.values) == files.flat(picture) and found.shape == shape
    by_pillow = Image.open(io.BytesIO(data))  # a third reading
    pixels = [[[by_pillow.getpixel((x, y)) for x in range(shape[2])] for y in range(shape[1])]]
    colours = pixels if shape[0] == 1 else [[[p[c] for p in row] for row in pixels[0]] for c in range(3)]
    assert colours == picture


@pytest.mark.parametrize("mode", ["L", "RGB"])
def test_reads_what_pillow_writes(mode: str) -> None:
    shape = (1, 40, 30) if mode == "L" else (3, 40, 30)
    smooth = [[[(x * y + 7 * c) % 256 for x in range(30)] for y in range(40)] for c in range(shape[0])]
    interleaved = bytes(smooth[c][y][x] for y in range(40) for x in range(30) for c in range(shape[0]))
    stream = io.BytesIO()
    Image.frombytes(mode, (30, 40), interleaved).save(stream, "PNG", optimize=True)
    assert pictures(stream.getvalue(), shape=shape).find(picture_digest(smooth)) is not None


def test_a_row_of_a_tensor_and_a_png_file_have_the_same_digest() -> None:
    first, second = drawn(GREY, 1), drawn(GREY, 2)
    both = pictures(pictures_file([first, second]), png(first))
    for picture in (second, first, second):
        found = both.find(picture_digest(picture))
        assert found is not None and found.digest == picture_digest(picture)
    assert both.find("0" * 64) is None
    assert pictures(pictures_file([], GREY)).find("0" * 64) is None


def test_a_grey_png_file_stands_for_three_equal_channels() -> None:
    grey = drawn((1, 4, 3))
    for filters in ([0] * 4, [4, 3, 2, 1]):
        found = pictures(png(grey, filters), shape=COLOURS).find(picture_digest(grey * 3))
        assert found is not None and found.shape == COLOURS
    with pytest.raises(PictureError, match="expected the network's 1, 4 and 3"):
        pictures(png(drawn(COLOURS)), shape=(1, 4, 3))


def test_chunks_in_lower_case_are_left_out_of_account() -> None:
    picture = drawn(GREY)
    between = chunk(b"gAMA", b"\0\0\xb1\x8f") + chunk(b"tEXt", b"Comment\0IEND")
    assert pictures(png(picture, between=between)).find(picture_digest(picture)) is not None


BROKEN = malformed_pictures()


@pytest.mark.parametrize("name", BROKEN)
def test_refuses_what_breaks_a_rule(name: str) -> None:
    data, message = BROKEN[name]
    with pytest.raises(PictureError, match=f"^file 0: (PNG|pictures) file: .*(?:{message})|{message}") as error:
        pictures(data)
    assert str(error.value).isprintable() and len(str(error.value)) < 300


def test_inflates_no_more_than_the_picture_has(monkeypatch) -> None:
    """A file of kilobytes can claim gigabytes."""
    inflated: list[int] = []
    original = zlib.decompressobj

    class Counting:
        def __init__(self) -> None:
            self._one = original()

        def decompress(self, data: bytes, most: int) -> bytes:
            lines = self._one.decompress(data, most)
            inflated.append(len(lines))
            return lines

        def __getattr__(self, name: str) -> Any:
            return getattr(self._one, name)

    monkeypatch.setattr(png_reader.zlib, "decompressobj", Counting)
    bomb = zlib.compress(bytes(2**24))
    with pytest.raises(PictureError, match="no zlib stream"):
        pictures(SIGNATURE + header(7, 5, 8, 0, 0, 0, 0) + chunk(b"IDAT", bomb) + chunk(b"IEND", b""))
    assert inflated == [41]


def test_a_reader_of_png_files_reads_nothing_else() -> None:
    with pytest.raises(FormatError, match="does not begin as a PNG file does"):
        png_reader.read_png(pictures_file([drawn(GREY)]), GREY)


def test_refuses_a_file_that_is_too_long(monkeypatch) -> None:
    data = png(drawn(GREY))
    monkeypatch.setattr(png_reader, "LARGEST", len(data))
    pictures(data)
    monkeypatch.setattr(png_reader, "LARGEST", len(data) - 1)
    with pytest.raises(PictureError, match="more than"):
        pictures(data)


def test_a_file_that_changes_is_noticed() -> None:
    """What was found by its digest is read again, and has to have it still."""
    contents = [png(drawn(GREY, 1))]
    found = Pictures([PictureFile("a.png", lambda: contents[0])], GREY)
    assert found.find(picture_digest(drawn(GREY, 1))) is not None
    contents[0] = png(drawn(GREY, 2))
    with pytest.raises(PictureError, match=r"^a\.png: was changed meanwhile"):
        found.find(picture_digest(drawn(GREY, 1)))


def test_unfiltering_is_left_until_a_picture_is_looked_for(monkeypatch) -> None:
    monkeypatch.setattr(png_reader, "_unfiltered", lambda *_: pytest.fail("too early"))
    pictures(png(drawn(GREY)), png(drawn(GREY, 1)))
    assert module.LARGEST == 16 * 2**30
