"""The part of an image that the network receives, made smaller."""

from __future__ import annotations

import io
from base64 import b64decode

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from verale import pictures
from verale.adapters.fields import ReceptiveFields
from verale.errors import InputError
from verale.report.grid import Grid
from verale.report.page_full import plain_patches
from verale.report.thumbnails import ImageFile, open_image, thumbnail, window_of

WHOLE = (0, 0, 1, 1)


def steps(*names_and_sizes: tuple[str, object]) -> dict[str, object]:
    return {str(n): {"type": name, "params": {"size": size}} for n, (name, size) in enumerate(names_and_sizes)}


def test_the_whole_image_is_the_window_unless_something_is_cut():
    for preprocessing in (None, {}, {"a": {"type": "ToTensor"}}, steps(("Resize", 256)), steps(("Resize", [224, 200]))):
        assert window_of(preprocessing).box(640, 480) == WHOLE
        assert window_of(preprocessing).unknown == ()


def test_a_crop_of_the_centre():
    window = window_of(steps(("Resize", 240), ("CenterCrop", 120)))
    assert window.box(640, 480) == pytest.approx((5 / 16, 1 / 4, 11 / 16, 3 / 4))
    assert window_of(steps(("CenterCrop", [100, 50]))).box(100, 200) == pytest.approx((0.25, 0.25, 0.75, 0.75))
    assert window_of(steps(("CenterCrop", 500))).box(100, 100) == WHOLE
    assert window_of(list(steps(("CenterCrop", 50)).values())).box(100, 100) == pytest.approx((0.25, 0.25, 0.75, 0.75))


def test_steps_that_may_move_pixels_are_named():
    odd = {"a": {"type": "RandomAffine"}, "b": {"type": "Resize", "params": {"size": "large"}}, "c": 3}
    assert window_of(odd).unknown == ("RandomAffine", "Resize", "an invalid step")
    assert window_of({"a": {"type": "Resize", "params": {"size": 8, "max_size": 9}}}).unknown == ("Resize",)
    assert window_of("whatever").unknown


def test_what_is_cut_away_is_not_shown(tmp_path):
    image = Image.new("RGB", (100, 100), "white")
    image.paste("black", (25, 25, 75, 75))
    image.save(tmp_path / "a.png")
    opened = open_image(ImageFile(tmp_path / "a.png", window_of(steps(("CenterCrop", 50)))), 40)
    assert opened.size == (40, 40) and opened.getextrema() == ((0, 0),) * 3


@pytest.mark.parametrize(("side", "kind"), [(32, "png"), (300, "jpeg")])
def test_thumbnails_are_small_and_of_what_the_file_holds(tmp_path, side, kind):
    Image.new("RGB", (side, side // 2), (200, 30, 30)).save(tmp_path / "a.bmp")
    uri = thumbnail(ImageFile(tmp_path / "a.bmp"), 100)
    assert uri.startswith(f"data:image/{kind};base64,")
    with Image.open(io.BytesIO(b64decode(uri.split(",")[1]))) as image:
        assert image.size == (min(side, 100), min(side, 100) // 2)
        assert abs(image.convert("RGB").getpixel((3, 3))[0] - 200) < 8


@pytest.mark.parametrize("content", [b"", b"no image", b"\x89PNG\r\n\x1a\n" + bytes(30)])
def test_broken_images_are_named(tmp_path, content):
    (tmp_path / "a.png").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.png: cannot be read as an image"):
        thumbnail(ImageFile(tmp_path / "a.png"), 64)


def test_bombs_are_refused(tmp_path, monkeypatch):
    """A file may have some pixels whatever its size, and some more for each byte."""
    Image.new("RGB", (20, 20)).save(tmp_path / "a.png")
    size = (tmp_path / "a.png").stat().st_size
    for most, each in ((400, 0), (0, -(-400 // size))):
        monkeypatch.setattr(pictures, "MOST_PIXELS", most)
        monkeypatch.setattr(pictures, "_PIXELS_A_BYTE", each)
        thumbnail(ImageFile(tmp_path / "a.png"), 64)
    monkeypatch.setattr(pictures, "MOST_PIXELS", 399)
    monkeypatch.setattr(pictures, "_PIXELS_A_BYTE", 0)
    with pytest.raises(InputError, match=rf"a\.png: has 20 x 20 pixels in {size} bytes, expected at most 399: make it"):
        thumbnail(ImageFile(tmp_path / "a.png"), 64)


@pytest.mark.parametrize("side", [32, 300])
def test_nothing_is_written_by_which_colours_change(tmp_path, side):
    """A profile, transparency, a gamma or an orientation, that the file has."""
    info = PngInfo()
    info.add(b"gAMA", (20000).to_bytes(4, "big"))
    image = Image.new("RGB", (side, side), (200, 30, 30))
    image.info["transparency"] = (200, 30, 30)
    exif = Image.Exif()
    exif[0x0112] = 6
    image.save(tmp_path / "a.png", pnginfo=info, icc_profile=bytes(200), transparency=(200, 30, 30), exif=exif)
    uri = thumbnail(ImageFile(tmp_path / "a.png"), 300)
    data = b64decode(uri.split(",")[1])
    assert not [kind for kind in (b"gAMA", b"iCCP", b"tRNS", b"eXIf", b"ICC_PROFILE", b"Exif") if kind in data]


@pytest.mark.parametrize("mode", ["RGB", "CMYK", "L"])
def test_of_a_photograph_the_pixels_as_they_are_stored_and_nothing_else(tmp_path, mode):
    """Whose file has markers of Adobe, a profile and an orientation, by which other programs show another picture."""
    image, exif = Image.new("RGB", (40, 20), (200, 30, 30)).convert(mode), Image.Exif()
    exif[0x0112] = 6
    image.save(tmp_path / "a.jpg", icc_profile=bytes(200), exif=exif, quality=95)
    with Image.open(tmp_path / "a.jpg") as stored:
        pixels = stored.convert("RGB").tobytes()
    uri = thumbnail(ImageFile(tmp_path / "a.jpg"), 40)
    data = b64decode(uri.split(",")[1])
    with Image.open(io.BytesIO(data)) as shown:
        assert (shown.mode, shown.size) == ("RGB", (40, 20)) and shown.tobytes() == pixels
    kinds, at = [], 8
    while at < len(data):
        kinds.append(data[at + 4 : at + 8])
        at += 12 + int.from_bytes(data[at : at + 4], "big")
    assert set(kinds) == {b"IHDR", b"IDAT", b"IEND"}


def test_squares_of_one_colour_are_known_and_what_their_fields_hold(tmp_path):
    """8 by 8 pixels, black but for a stroke in the lower half's left quarter. A token has no square."""
    fields = ReceptiveFields(((0, 8), (4, 8)), ((0, 4), (3, 8)), (8, 8), ())
    image = Image.new("L", (8, 8))
    image.putpixel((1, 6), 255)
    image.save(tmp_path / "a.png")
    uri = thumbnail(ImageFile(tmp_path / "a.png"), 224)
    assert plain_patches(uri, Grid(2, 2), {0, 1, 2, 3}, fields) == {0: "more", 1: "plain", 3: "plain"}
    assert plain_patches(uri, Grid(2, 2), {0, 2}, None) == {0: "unknown"}
    assert plain_patches(uri, Grid(2, 2, tokens=1), {0}, fields) == {}
