"""Pictures: tensor and PNG files, as certificates/network-v1.md, "Pictures", has them."""

from __future__ import annotations

import io
import random
import zlib
from types import SimpleNamespace

import pytest
from PIL import Image
from support import files
from support.networks import (
    GREY,
    SIGNATURE,
    chunk,
    drawn_picture,
    picture_digest,
    pictures_file,
    png,
    png_header,
)

from verale.checker import limit
from verale.checker.errors import FormatError, PictureError, UnprovedError
from verale.checker.read import pictures as module
from verale.checker.read.pictures import PictureFile, Pictures

COLOURS = (3, 4, 3)


def pictures(*data: bytes, shape: tuple[int, int, int] = GREY) -> Pictures:
    named = [PictureFile(f"file {n}", lambda each=each: each) for n, each in enumerate(data)]
    return Pictures(named, shape)


@pytest.mark.parametrize("shape", [GREY, COLOURS])
@pytest.mark.parametrize("filters", [[0], [1], [2], [3], [4], [4, 3, 2, 1, 0]])
def test_reads_every_filter(shape: tuple[int, int, int], filters: list[int]) -> None:
    picture = drawn_picture(shape)
    data = png(picture, (filters * 5)[: shape[1]], parts=3)
    found = pictures(data, shape=shape).find(picture_digest(picture))
    assert found is not None and list(found.values) == files.flat(picture) and found.shape == shape
    by_pillow = Image.open(io.BytesIO(data))  # a third reading
    pixels = [[[by_pillow.getpixel((x, y)) for x in range(shape[2])] for y in range(shape[1])]]
    colours = pixels if shape[0] == 1 else [[[p[c] for p in row] for row in pixels[0]] for c in range(3)]
    assert colours == picture


def test_a_row_of_a_tensor_and_a_png_file_have_the_same_digest() -> None:
    first, second = drawn_picture(GREY, 1), drawn_picture(GREY, 2)
    both = pictures(pictures_file([first, second]), png(first))
    for picture in (second, first, second):
        found = both.find(picture_digest(picture))
        assert found is not None and found.digest == picture_digest(picture)
    assert both.find("0" * 64) is None
    assert pictures(pictures_file([], GREY)).find("0" * 64) is None


def test_a_grey_png_file_stands_for_three_equal_channels() -> None:
    grey = drawn_picture((1, 4, 3))
    for filters in ([0] * 4, [4, 3, 2, 1]):
        found = pictures(png(grey, filters), shape=COLOURS).find(picture_digest(grey * 3))
        assert found is not None and found.shape == COLOURS
    with pytest.raises(PictureError, match="3 channels, expected the network's 1"):
        pictures(png(drawn_picture(COLOURS)), shape=(1, 4, 3))


def test_chunks_in_lower_case_are_left_out_of_account() -> None:
    picture = drawn_picture(GREY)
    between = chunk(b"gAMA", b"\0\0\xb1\x8f") + chunk(b"tEXt", b"Comment\0IEND")
    assert pictures(png(picture, between=between)).find(picture_digest(picture)) is not None


def test_inflates_no_more_than_the_picture_has(monkeypatch) -> None:
    """A file of kilobytes can claim gigabytes."""
    inflated: list[int] = []
    original = zlib.decompressobj

    def counting() -> SimpleNamespace:
        one = original()

        def decompress(data: bytes, most: int) -> bytes:
            lines = one.decompress(data, most)
            inflated.append(len(lines))
            return lines

        return SimpleNamespace(decompress=decompress, eof=False, unused_data=b"")

    monkeypatch.setattr(module.zlib, "decompressobj", counting)
    bomb = zlib.compress(bytes(2**24))
    with pytest.raises(PictureError, match="no zlib stream"):
        pictures(SIGNATURE + png_header(7, 5, 8, 0, 0, 0, 0) + chunk(b"IDAT", bomb) + chunk(b"IEND", b""))
    assert inflated == [41]


def test_refuses_a_file_that_is_too_long_or_no_png_file(monkeypatch) -> None:
    data = png(drawn_picture(GREY))
    monkeypatch.setattr(module, "LARGEST_PNG", len(data))
    pictures(data)
    with pytest.raises(FormatError, match="does not begin as a PNG file does"):
        module.read_png(b"no picture", GREY)
    monkeypatch.setattr(module, "LARGEST_PNG", len(data) - 1)
    with pytest.raises(PictureError, match="more than"):
        pictures(data)


def test_a_picture_that_is_not_kept_is_read_again_and_has_to_be_the_same(monkeypatch) -> None:
    contents = [png(drawn_picture(GREY, 1)), png(drawn_picture(GREY, 2))]
    found = Pictures([PictureFile(f"{n}.png", lambda n=n: contents[n]) for n in range(2)], GREY)
    first, second = (picture_digest(drawn_picture(GREY, seed)) for seed in (1, 2))
    monkeypatch.setattr(module, "_KEPT", 1100)  # one picture of 35 bytes
    for digest in (first, second, first):
        picture = found.find(digest)
        assert picture is not None and picture.digest == digest
    contents[1] = contents[0]
    with pytest.raises(PictureError, match=r"^1\.png: was changed meanwhile"):
        found.find(second)
    assert found.find(first) is not None


def test_no_picture_is_read_before_it_is_looked_for() -> None:
    """But the first, without which there may be none at all."""
    files = [png(drawn_picture(GREY, 1)), png(drawn_picture(GREY, 2)), b"no picture"]
    found = pictures(*files)
    assert found.find(picture_digest(drawn_picture(GREY, 1))) is not None and len(found._place_of) == 1
    assert found.find(picture_digest(drawn_picture(GREY, 2))) is not None


def test_a_file_that_cannot_be_used_is_left_out_of_account() -> None:
    """It is named where no other picture has the digest that is looked for: perhaps it was in that file."""
    for at in range(3):
        files = [png(drawn_picture(GREY, 1)), png(drawn_picture(GREY, 2))]
        files.insert(at, b"no picture")
        found = pictures(*files)
        for seed in (2, 1):
            assert found.find(picture_digest(drawn_picture(GREY, seed))) is not None
        for _ in range(2):
            with pytest.raises(PictureError, match=rf"^file {at}: pictures file: .*; no picture that can be read has"):
                found.find("0" * 64)
    with pytest.raises(PictureError, match=r"^file 0: .*; nor can 2 other files be read"):
        pictures(b"", b"no picture", b"")

    def gone() -> bytes:
        raise OSError(2, "No such file or directory")

    def large() -> bytes:
        raise MemoryError

    for read, why in ((gone, r"cannot be read \(No such file"), (large, "more memory than there is")):
        found = Pictures([PictureFile("a", lambda: png(drawn_picture(GREY, 1))), PictureFile("b", read)], GREY)
        with pytest.raises(PictureError, match=f"^b: .*{why}"):
            found.find("0" * 64)
        assert found.find(picture_digest(drawn_picture(GREY, 1))) is not None


def test_the_time_of_reading_is_limited_by_what_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here a look at the clock takes a second; it is looked at once a row."""
    now = iter(range(10**6))
    monkeypatch.setattr(limit, "thread_time", lambda: float(next(now)))
    monkeypatch.setattr(limit, "_BETWEEN", 0)
    files = [png(drawn_picture(GREY, seed)) for seed in range(1, 5)]
    digests = [picture_digest(drawn_picture(GREY, seed)) for seed in range(1, 5)]
    found = pictures(files[0]).find(digests[0])
    assert found is not None and found.taken > GREY[1]
    taken = found.taken
    named = [PictureFile(f"{n}.png", lambda n=n: files[n]) for n in range(4)]
    for order in ((0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)):
        few = Pictures(named, GREY, 6 * taken)
        for number in order:
            if number < 2:
                picture = few.find(digests[number])
                assert picture is not None and (picture.taken, picture.size) == (taken, len(files[number]))
            else:
                with pytest.raises(UnprovedError, match=r"^2\.png: it takes more than \S+ s of") as error:
                    few.find(digests[number])
                assert error.value.reason == "limit"
    assert Pictures(named, GREY, 13 * taken).find(digests[3]) is not None


def test_a_picture_that_takes_too_much_memory_is_not_inflated() -> None:
    tall = (1, 2**29, 2)
    bomb = SIGNATURE + png_header(2, 2**29, 8, 0, 0, 0, 0) + chunk(b"IDAT", b"no zlib") + chunk(b"IEND", b"")
    with pytest.raises(UnprovedError, match="raise the limit"):
        pictures(bomb, shape=tall).find("0" * 64)


@pytest.mark.parametrize("columns", [1, 2, 7, 300])
@pytest.mark.parametrize("channels", [1, 3])
def test_all_filters_over_all_bytes(channels: int, columns: int) -> None:
    """Compared with a reading by Pillow; bytes near 0, 128 and 255 are where carries and borrows go wrong."""
    source, rows = random.Random(f"{channels} {columns}"), 40
    drawn_from = [0, 1, 2, 127, 128, 129, 254, 255, 85, 170]
    lines = b"".join(
        bytes([source.randrange(5), *(source.choice(drawn_from) for _ in range(channels * columns))])
        for _ in range(rows)
    )
    kind = {1: 0, 3: 2}[channels]
    data = SIGNATURE + png_header(columns, rows, 8, kind, 0, 0, 0)
    data += chunk(b"IDAT", zlib.compress(lines)) + chunk(b"IEND", b"")
    values = module.read_png(data, (channels, rows, columns))
    pixels = Image.open(io.BytesIO(data)).tobytes()
    assert values == b"".join(pixels[channel::channels] for channel in range(channels))
