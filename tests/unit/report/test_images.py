"""Images in folders of classes: what contradicts a label or a certificate, and what does not."""

from __future__ import annotations

import io
from base64 import b64decode
from pathlib import Path

import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from support.displayed import decoded
from support.networks import chunk, picture_digest, png

from verale import pictures
from verale.adapters.fields import ReceptiveFields
from verale.errors import InputError
from verale.report import images as module
from verale.report.collect import Item
from verale.report.grid import Grid
from verale.report.images import (
    AS_NOTED,
    BY_ORDER,
    GONE,
    OTHER,
    OUTSIDE,
    Match,
    Matcher,
    pictures_in,
    prototype_pictures,
    require_consistent,
)
from verale.report.page_full import plain_patches
from verale.report.thumbnails import ImageFile, image_of, open_image, thumbnail, to_draw, window_of
from verale.runs.inputs import sha256_of
from verale.runs.source import Source

ROOT = Path("/images")
TEN = [str(number) for number in range(11)]


def consistent(
    folders: list[str],
    labels: list[int | None],
    note: str = BY_ORDER,
    names: tuple[str, ...] | None = None,
    classes: int | None = None,
    predicted: int | None = None,
) -> bool:
    """Whether one image a folder, in this order, contradicts nothing."""
    files = tuple(ROOT / folder / f"{index}.png" for index, folder in enumerate(folders))
    digest = None if note == BY_ORDER else "0"
    source = Source(ROOT, files, (None,) * len(files), (digest,) * len(files))
    placed = [
        Item(None, predicted=predicted, label=label, image=Match(file, digest, label, note))
        for file, label in zip(files, labels, strict=True)
    ]
    try:
        require_consistent(placed, source, names, classes)
    except InputError as error:
        assert "lies in the folder" in str(error)
        return False
    return True


THREE, AB = ("ant", "bee", "cat"), ["a", "b"]
FOLDERS: list[tuple[bool, list[str], list[int | None], dict[str, object]]] = [
    (True, ["ant", "bee"], [0, 1], {"names": THREE, "classes": 3}),
    (False, ["ant", "bee"], [0, 2], {"names": THREE, "classes": 3}),
    (True, AB, [0, 1], {"classes": 2}),
    (False, AB, [1, 0], {"names": THREE[:2], "classes": 2}),
    # As torchvision counts folders: "10" comes after "1".
    (True, sorted(TEN), list(range(11)), {"classes": 11}),
    (True, sorted(TEN), [int(folder) for folder in sorted(TEN)], {"classes": 11}),
    (False, sorted(TEN), [*range(10), 9], {"classes": 11}),
    (True, ["3", "5"], [3, 5], {"classes": 10}),
    (False, ["3", "5"], [0, 1], {"classes": 10}),
    # Some of the classes: a folder has one class, whichever; and no folders of classes.
    (True, ["a", "a", "b"], [4, 4, 6], {"classes": 7}),
    (False, ["a", "a", "b"], [4, 5, 6], {"classes": 7}),
    (True, AB, [None, None], {"classes": 7}),
    (True, ["", ""], [1, 1], {"classes": 2}),
    # The class of a certificate counts where nothing else is known: a network may be wrong; and not where these are the
    # images, or are not shown.
    (False, ["0", "1"], [None, None], {"predicted": 1, "classes": 2}),
    (True, ["0", "1"], [0, 1], {"predicted": 1, "classes": 2}),
    (True, ["0", "1"], [None, None], {"note": "", "predicted": 1, "classes": 2}),
    (True, ["0", "1"], [None, None], {"note": GONE, "predicted": 1, "classes": 2}),
    # Known bytes may lie in folders of any kind, but not in another class.
    (True, ["monday", "monday", "friday"], [0, 1, 1], {"note": "", "classes": 9}),
    (False, ["b", "a"], [0, 1], {"note": "", "names": ("a", "b")}),
]


@pytest.mark.parametrize(("expected", "folders", "labels", "known"), FOLDERS)
def test_folders_and_labels(expected, folders, labels, known) -> None:
    assert consistent(folders, labels, **known) is expected


def test_numbers_of_equal_latents_are_kept_and_unknown_latents_have_none() -> None:
    matcher = Matcher(Source(), ["x", "y", "x"], ROOT)
    assert [matcher.index_of("x", number) for number in (0, 1, 2, 7, None)] == [0, 0, 2, 0, 0]
    assert (matcher.index_of("z", 1), matcher.index_of(None, 1)) == (None, None)
    assert Matcher(Source(), None, ROOT).index_of("x", 1) == 1
    assert matcher.image(1, True) is None, "there are no images"


def test_a_digest_without_the_latents_binds_nothing(tmp_path) -> None:
    (tmp_path / "a.png").write_bytes(b"a")
    sha256 = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    source = Source(tmp_path, (tmp_path / "a.png",), (None,), (sha256,))
    match = Matcher(source, ["x"], ROOT).image(0, True)
    assert match is not None and (match.sha256, match.note) == (sha256, BY_ORDER)
    bound = Source(tmp_path, (tmp_path / "a.png",), (None,), (sha256,), ("x",))
    assert [Matcher(bound, None, ROOT).image(0, by_latents).note for by_latents in (True, False)] == [
        AS_NOTED,
        BY_ORDER,
    ]
    (tmp_path / "a.png").write_bytes(b"b")
    assert Matcher(bound, None, ROOT).image(0, True).note == GONE
    for name in ("b.png", "deep/a.png"):  # wherever it lies now, in the folder of its name first
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"a")
        found = Matcher(bound, None, ROOT).image(0, True)
        assert found is not None and (found.file, found.note) == (tmp_path / "b.png", AS_NOTED)


def test_pictures_of_prototypes_are_files_whose_names_are_numbers(tmp_path) -> None:
    assert prototype_pictures(tmp_path) == {}, "there need not be any"
    (tmp_path / "prototypes").mkdir()
    names = ["0003.png", "12.JPG", "cover.png", "7.txt", "\u0663.png", "1234567890.png"]
    for name in names:
        (tmp_path / "prototypes" / name).touch()
    found = prototype_pictures(tmp_path)
    assert {number: path.name for number, path in found.items()} == {3: "0003.png", 12: "12.JPG"}
    assert prototype_pictures(tmp_path / "none", tmp_path / "prototypes") == found
    with pytest.raises(InputError, match="no such folder; expected pictures"):
        prototype_pictures(tmp_path, tmp_path / "none")
    with pytest.raises(InputError, match="no picture whose name is a prototype's number"):
        prototype_pictures(tmp_path, tmp_path)


GREY = [[[1, 2, 3], [40, 50, 60]]]
COLOURS = [[[1, 2]], [[3, 4]], [[5, 6]]]
HERE, THERE = picture_digest(GREY), picture_digest(COLOURS)


def test_a_grey_file_stands_for_one_channel_and_for_three() -> None:
    one, three = pictures_in(png(GREY))
    assert (one.shape, three.shape) == ((1, 2, 3), (3, 2, 3))
    assert [one.digest, three.digest] == [picture_digest(GREY), picture_digest(GREY * 3)]
    (colours,) = pictures_in(png(COLOURS))
    assert colours.digest == THERE and image_of(colours).getpixel((1, 0)) == (2, 4, 6)
    assert image_of(one).getpixel((2, 1)) == image_of(three).getpixel((2, 1)) == (60, 60, 60)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        png(GREY)[:-1],
        png(GREY, between=chunk(b"PLTE", bytes(3))),
        png(GREY).replace(b"IEND", b"IENd"),
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", b"\xff" * 13) + png(GREY)[33:],
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + png(GREY)[33:],
    ],
)
def test_what_the_checker_refuses_holds_no_picture(data: bytes, tmp_path: Path) -> None:
    assert [*pictures_in(data)] == []
    (tmp_path / "a.png").write_bytes(data)
    with pytest.raises(InputError, match="does not hold the picture that the certificate names"):
        open_image(ImageFile(tmp_path / "a.png", picture=HERE), 8)


def test_files_are_looked_through_once_and_only_where_that_is_needed(tmp_path: Path, monkeypatch) -> None:
    source = run(tmp_path, ["a.png", "b.png", "nothing.png"], [GREY, COLOURS, None])
    read = []
    true = module.read
    monkeypatch.setattr(
        module, "read", lambda path, *rest, **more: read.append(Path(path).name) or true(path, *rest, **more)
    )
    matcher = Matcher(source.within(tmp_path), None, tmp_path)
    files = [tmp_path / "pictures" / name for name in ("a.png", "b.png")]
    for digest, number, file in ((HERE, 0, 0), (HERE, 2, 0), (THERE, 2, 1), (HERE, 2, 0), (THERE, 2, 1)):
        match = matcher.matched(None, digest, number)[1]
        assert match is not None and match.file == files[file]
    assert matcher.matched(None, "0" * 64, 2)[1] == Match(None, None, None, OTHER)
    assert [name for name in read if name != "nothing.png"] == ["a.png", "b.png"]


def test_no_more_is_looked_through_than_is_bounded(tmp_path: Path, monkeypatch) -> None:
    source = run(tmp_path, ["a.png", "b.png"], [GREY, COLOURS])
    size = len(GREY[0]) * len(GREY[0][0]) * 4
    for most, note in ((size, ""), (size - 1, OTHER)):
        monkeypatch.setattr(module, "_SEARCHED", most)
        assert matched(tmp_path, source, 1)[1].note == note  # type: ignore[union-attr]
        assert matched(tmp_path, source, 0)[1].note == "", "where it is noted, it is looked for"  # type: ignore[union-attr]
    assert matched(tmp_path, source)[1].held is not None  # type: ignore[union-attr]
    monkeypatch.setattr(module, "_KEPT", 0)
    assert matched(tmp_path, source)[1].held is None, "it is read again to be drawn"  # type: ignore[union-attr]
    monkeypatch.setattr(module, "_LARGEST", 5)
    assert [*pictures_in(png(GREY))] == []


def run(
    folder: Path, names: list[str], pictures: list[object], digests: tuple[str, ...] = (), **more: object
) -> Source:
    """What `source.json` says of files in a run's folder `pictures`, which are written."""
    files = []
    for name, picture in zip(names, pictures, strict=True):
        path = folder / "pictures" / name
        path.parent.mkdir(exist_ok=True)
        if picture is not None:
            path.write_bytes(png(picture))  # type: ignore[arg-type]
        files.append(path)
    sums = tuple(sha256_of(path) if path.exists() else "0" * 64 for path in files)
    noted = {"labels": tuple(range(len(files))), "digests": sums, "pictures": digests} | more
    return Source(folder / "pictures", tuple(files), **noted)  # type: ignore[arg-type]


def matched(folder: Path, source: Source, number: int | None = 0) -> tuple[int | None, Match | None]:
    return Matcher(source.within(folder), None, folder).matched(None, HERE, number)


def found(file: Path | None, label: int | None = None, sha256: str | None = None, contradicted: bool = False) -> Match:
    """The match of a file that holds the picture, or of none."""
    return Match(file, sha256, label, OTHER if file is None else "", file and HERE, contradicted)


@pytest.mark.parametrize("number", [0, 1, None])
def test_the_file_that_is_noted_is_the_picture(number: int | None, tmp_path: Path) -> None:
    source = run(tmp_path, ["a.png", "b.png"], [GREY, COLOURS], (HERE, THERE))
    file = tmp_path / "pictures" / "a.png"
    assert matched(tmp_path, source, number) == (0, found(file, 0, source.digests[0]))
    assert to_draw(source, matched(tmp_path, source)[1]) == ImageFile(file, picture=HERE)


def test_an_entry_that_contradicts_itself_says_nothing(tmp_path: Path) -> None:
    """It notes another picture's file, or its digest for this file; a number proposes a file where none is noted."""
    file = tmp_path / "pictures" / "a.png"
    for digests in ((THERE, HERE), (THERE, THERE)):
        source = run(tmp_path, ["a.png", "b.png"], [GREY, COLOURS], digests)
        assert matched(tmp_path, source) == (None, found(file, contradicted=True))
    source = run(tmp_path, ["a.png", "b.png"], [GREY, COLOURS])
    assert matched(tmp_path, source) == (0, found(file, 0, source.digests[0]))
    assert matched(tmp_path, source, 1) == (None, found(file)), "it was the wrong one"
    assert matched(tmp_path, source, 7) == matched(tmp_path, source, None) == matched(tmp_path, source, 1)
    file.unlink()
    source = run(tmp_path, ["b.png"], [COLOURS], (HERE,))
    assert matched(tmp_path, source) == (None, found(None, contradicted=True))
    assert to_draw(source, Match(None, None, None, OTHER)) is None


def test_a_file_that_has_moved_keeps_its_label(tmp_path: Path) -> None:
    source = run(tmp_path, ["a.png", "b.png"], [GREY, COLOURS], (HERE, THERE))
    (tmp_path / "pictures" / "a.png").rename(tmp_path / "pictures" / "moved.png")
    moved = found(tmp_path / "pictures" / "moved.png", 0, source.digests[0])
    assert matched(tmp_path, source) == (0, moved)
    (tmp_path / "pictures" / "a.png").write_bytes(b"something else")
    assert matched(tmp_path, source) == (0, moved)
    Image.new("RGB", (3, 2)).save(tmp_path / "pictures" / "moved.png")
    assert matched(tmp_path, source) == (0, Match(tmp_path / "pictures" / "a.png", source.digests[0], 0, GONE))
    assert to_draw(source, Match(tmp_path / "pictures" / "a.png", None, 0, GONE)) is None


def test_without_source_the_pictures_of_the_run_are_looked_through(tmp_path: Path) -> None:
    run(tmp_path, ["a.png"], [GREY])
    assert matched(tmp_path, Source()) == (0, found(tmp_path / "pictures" / "a.png"))
    (tmp_path / "pictures" / "a.png").unlink()
    assert matched(tmp_path, Source()) == (0, None), "the pictures of a tensor are not shown"
    stored = Matcher(Source(), ["5" * 64], tmp_path)
    assert stored.matched(None, HERE, 0) == (None, None), "nothing says which latents are the picture's"


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    out, private = tmp_path / "out", tmp_path / "private"
    (out / "pictures").mkdir(parents=True)
    private.mkdir()
    (private / "a.png").write_bytes(png(GREY))
    (out / "pictures" / "a.png").symlink_to(private / "a.png")
    (out / "pictures" / "b.png").symlink_to(private / "a.png")
    source = Source(private, (private / "a.png",), (1,), (None,), pictures=(HERE,))
    assert matched(out, source) == (0, Match(private / "a.png", None, 1, OUTSIDE))
    assert matched(out, Source()) == (0, None)
    (out / "pictures" / "a.png").unlink()
    (out / "pictures" / "a.png").write_bytes(png(GREY))
    assert matched(out, source) == (0, found(out / "pictures" / "a.png", 1)), "the run keeps a copy"


def test_of_latents_no_image_is_verified(tmp_path: Path) -> None:
    source = run(tmp_path, ["a.png"], [GREY], latents=("5" * 64,))
    matcher = Matcher(source, None, tmp_path)
    index, match = matcher.matched("5" * 64, None, 0)
    assert index == 0 and match == Match(source.files[0], source.digests[0], 0, AS_NOTED)
    assert matcher.matched(None, None, 0) == (None, None)
    pictured = Source(source.folder, source.files, (None,), source.digests, pictures=(HERE,))
    assert Matcher(pictured, ["5" * 64], tmp_path).matched("5" * 64, None, 0)[1].note == BY_ORDER  # type: ignore[union-attr]
    by_order = Source(source.folder, source.files, (None,), (None,))
    assert Matcher(by_order, None, tmp_path).matched(None, None, 0) == (0, Match(source.files[0], None, None, BY_ORDER))


WHOLE = (0, 0, 1, 1)


def steps(*names_and_sizes: tuple[str, object]) -> dict[str, object]:
    return {str(n): {"type": name, "params": {"size": size}} for n, (name, size) in enumerate(names_and_sizes)}


CUT = (0.25, 0.25, 0.75, 0.75)
WINDOWS = [
    *((each, (640, 480), WHOLE, ()) for each in (None, {}, {"a": {"type": "ToTensor"}}, steps(("Resize", 256)))),
    (steps(("Resize", [224, 200])), (640, 480), WHOLE, ()),
    (steps(("Resize", 240), ("CenterCrop", 120)), (640, 480), (5 / 16, 1 / 4, 11 / 16, 3 / 4), ()),
    (steps(("CenterCrop", [100, 50])), (100, 200), CUT, ()),
    (steps(("CenterCrop", 500)), (100, 100), WHOLE, ()),
    (list(steps(("CenterCrop", 50)).values()), (100, 100), CUT, ()),
    # Steps that may move pixels are named.
    ({"a": {"type": "RandomAffine"}, "c": 3}, (9, 9), WHOLE, ("RandomAffine", "an invalid step")),
    (steps(("Resize", "large")), (9, 9), WHOLE, ("Resize",)),
    ({"a": {"type": "Resize", "params": {"size": 8, "max_size": 9}}}, (9, 9), WHOLE, ("Resize",)),
    ("whatever", (9, 9), WHOLE, ("an invalid step",)),
]


def test_the_window_is_what_steps_leave() -> None:
    for preprocessing, size, box, unknown in WINDOWS:
        window = window_of(preprocessing)
        assert window.box(*size) == pytest.approx(box) and window.unknown == unknown, preprocessing


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


def test_broken_images_are_named(tmp_path):
    for content in (b"", b"no image", b"\x89PNG\r\n\x1a\n" + bytes(30)):
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
    shown = decoded(thumbnail(ImageFile(tmp_path / "a.jpg"), 40))
    assert shown.shape == (20, 40, 3) and shown.tobytes() == pixels


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
