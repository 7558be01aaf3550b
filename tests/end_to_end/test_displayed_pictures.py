"""What stands beside PROVED was proved: whatever else lies in a folder, each output shows the picture that the
certificate names, or none, and says in words what nothing checks."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text
from PIL import Image
from support.commands import in_process
from support.displayed import OUTPUTS, displayed
from support.networks import chunk
from support.reporting import folder_of, report_head
from support.seen import COUNT, explained_pictures
from support.torch_networks import SHAPE, random_pictures

import verale
from verale.certificate import Certificate
from verale.certificate.words import (
    AS_LABELLED,
    LABELS,
    NAMED_PICTURE,
    OWN_NAMES,
    PROTOTYPES,
    PROVED_PICTURE,
    from_picture,
    not_proved,
)
from verale.head import as_patches, digest, image_digests, load_latents, save_latents
from verale.report.collect import collect
from verale.report.grid import Grid
from verale.report.images import AS_GIVEN, AS_NOTED, OTHER

FOUND = [name for name in OUTPUTS if name != "plot"]
"""The outputs that look for the picture themselves."""
PROVED = [name for name in FOUND if name != "compare"]
"""Those that audit: a comparison proves nothing."""
DRAWN = [name for name in FOUND if name not in ("csv", "parquet", "show")]
"""Those that draw the picture; the others name its file."""
IN_WORDS = [name for name in PROVED if name not in ("csv", "parquet")]
SHORTLY = ("html", "csv")
"""A short run tries these of everything; the others share their code."""


def shortly(outputs: list[str]) -> list[Any]:
    """The outputs, of which a short run tries few."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name not in SHORTLY)) for name in outputs]


def once(outputs: list[str]) -> list[Any]:
    """The outputs, of which a short run tries those that no other stands for: small figures for the large ones."""
    return [pytest.param(name, marks=[pytest.mark.long] * (name in ("parquet", "figure"))) for name in outputs]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of pictures."""
    return Path(shutil.copytree(explained_pictures(), tmp_path / "out"))


def noted(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "source.json").read_text())
    return record


def write(folder: Path, record: dict[str, Any]) -> None:
    (folder / "source.json").write_text(json.dumps(record))


def place(folder: Path, number: int) -> Path:
    """Where the file of a picture lies."""
    return folder / "pictures" / str(noted(folder)["images"][number]["file"])


def own(number: int) -> list[Any]:
    """The pixels of a picture."""
    return list(random_pictures(COUNT)[number].permute(1, 2, 0).tolist())


def held(path: Path) -> list[Any]:
    """Those that a file holds, which is no strange one."""
    with Image.open(path) as image:
        return list(np.asarray(image.convert("RGB")).tolist())


def files_swapped(folder: Path) -> None:
    record = noted(folder)
    first, second = record["images"][0], record["images"][2]
    for name in ("file", "sha256"):
        first[name], second[name] = second[name], first[name]
    write(folder, record)


def digests_swapped(folder: Path) -> None:
    record = noted(folder)
    digests = record["image_pictures"]
    digests[0], digests[2] = digests[2], digests[0]
    write(folder, record)


def digests_left_out(folder: Path) -> None:
    """And the files of two images swapped: only the order proposes an image."""
    files_swapped(folder)
    record = noted(folder)
    del record["image_pictures"]
    for image in record["images"]:
        del image["sha256"]
    write(folder, record)


def cut(folder: Path) -> None:
    """By the preprocessing: a page shows a part of the images of latents then."""
    write(folder, noted(folder) | {"preprocessing": [{"type": "CenterCrop", "params": {"size": 4}}]})


def moved(folder: Path) -> None:
    """Another picture lies in its place."""
    first, second = place(folder, 0), place(folder, 2)
    first.rename(folder / "pictures" / "elsewhere.png")
    first.write_bytes(second.read_bytes())


def source_lost(folder: Path) -> None:
    (folder / "source.json").unlink()


def written_anew(folder: Path, before: Sequence[bytes] = (), after: Sequence[bytes] = ()) -> None:
    """The first picture's file with other bytes, more chunks before the IDAT and after it, and its digest in
    `source.json`."""
    record, path = noted(folder), place(folder, 0)
    lines = b"".join(b"\0" + bytes(value for pixel in row for value in pixel) for row in own(0))
    header = SIZE + bytes([8, 2, 0, 0, 0])
    chunks = [chunk(b"IHDR", header), *before, chunk(b"IDAT", zlib.compress(lines)), *after, chunk(b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))
    record["images"][0]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    write(folder, record)


def numbers(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "big") for value in values)


SIZE = numbers(SHAPE[2], SHAPE[1])
STRANGE: dict[str, tuple[list[bytes], ...]] = {
    # A frame stands before the picture: Pillow shows that frame.
    "animated": (
        [
            chunk(b"acTL", numbers(2, 1)),
            chunk(b"fcTL", bytes(4) + SIZE + bytes(8) + b"\0\x01\0\x0a\0\0"),
            chunk(b"fdAT", numbers(1) + zlib.compress((b"\0" + bytes([200] * 3 * SHAPE[2])) * SHAPE[1])),
        ],
    ),
    # One of its colours is.
    "transparent": ([chunk(b"tRNS", bytes(each for value in own(0)[0][0] for each in (0, value)))],),
    # Other programs show other colours, turned.
    "profiled": (
        [
            chunk(b"gAMA", numbers(20000)),
            chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(200))),
            chunk(b"eXIf", b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"),
        ],
    ),
    # The same by chunks of other kinds, and pixels that are not square.
    "coloured": (
        [
            chunk(b"cICP", bytes([9, 16, 0, 1])),
            chunk(b"cHRM", numbers(31270, 32900, 15000, 6000, 30000, 60000, 64000, 33000)),
            chunk(b"pHYs", numbers(1, 9) + b"\0"),
            chunk(b"sBIT", bytes([1, 1, 1])),
            chunk(b"bKGD", bytes([0, 9, 0, 9, 0, 9])),
        ],
    ),
    # Its pixels come in parts, the first of which is empty, and a profile and words follow.
    "divided": ([chunk(b"sRGB", b"\x02"), chunk(b"IDAT", b"")], [chunk(b"gAMA", numbers(9)), chunk(b"tEXt", b"a\0b")]),
}


Attack = Callable[[Path], None]
EDITED: tuple[Attack, ...] = (files_swapped, digests_swapped, digests_left_out, cut, moved, source_lost, written_anew)
ATTACKS = {attack.__name__: attack for attack in EDITED}
CASES = [
    pytest.param(attack, output, marks=[pytest.mark.long] * (output != "html"))
    for attack in (*ATTACKS, *STRANGE)
    for output in FOUND
    if (attack, output) != ("source_lost", "compare")
]


@pytest.mark.parametrize(("attack", "output"), CASES)
def test_the_picture_that_is_shown_or_named_is_the_certificates(attack: str, output: str, folder: Path) -> None:
    if attack in STRANGE:
        written_anew(folder, *STRANGE[attack])
    else:
        ATTACKS[attack](folder)
    shown = displayed(output, folder, 0)
    assert shown.pixels is None or shown.pixels.tolist() == own(0)
    assert (shown.pixels is not None) == (output in DRAWN)
    if shown.name is not None and attack not in STRANGE:
        assert own(0) in [held(each) for each in folder.rglob(f"pictures/**/{shown.name}")]
    assert (PROVED_PICTURE if output in PROVED else NAMED_PICTURE) in shown.text
    assert AS_NOTED not in shown.text and OTHER not in shown.text


@pytest.mark.parametrize("output", once(PROVED))
def test_a_picture_that_is_not_there_is_not_shown(output: str, folder: Path) -> None:
    """Another one lies in its place, and `source.json` says that it is the one."""
    record = noted(folder)
    place(folder, 0).write_bytes(place(folder, 2).read_bytes())
    record["images"][0]["sha256"] = record["images"][2]["sha256"]
    write(folder, record)
    shown = displayed(output, folder, 0)
    assert shown.pixels is None and shown.name is None and OTHER in shown.text
    assert "image_verified: False" in shown.text or output not in ("csv", "parquet")


def in_table(folder: Path, change: Callable[[dict[str, str]], dict[str, str]], count: int = COUNT) -> None:
    """Change the first rows of the table."""
    with (folder / "explanations.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    with (folder / "explanations.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0])
        writer.writeheader()
        writer.writerows([*map(change, rows[:count]), *rows[count:]])


@pytest.mark.parametrize("attack", [files_swapped, digests_swapped])
def test_what_source_json_says_of_another_picture_is_left_out(attack: Attack, folder: Path) -> None:
    in_table(folder, lambda row: row | {"True Label": "", "Correct": ""})  # those of `source.json` count
    assert AS_LABELLED in displayed("csv", folder, 0).text
    attack(folder)
    for output in ("csv", "show", "compact", "notebook"):
        assert AS_LABELLED not in displayed(output, folder, 0).text
    done = in_process("report", folder, "-o", folder / "page.html")
    assert "WARNING: source.json names other pictures than 2 certificates do: it was changed" in done.stderr
    assert "Of 2 certificates, source.json names other pictures than they do." in (folder / "page.html").read_text()


@pytest.mark.parametrize(
    ("arithmetic", "output"),
    [("real", name) if name == "figure" else pytest.param("real", *each.values, marks=each.marks)
     for each, name in zip(once(PROVED), PROVED, strict=True)]
    + [pytest.param("float32", *each.values, marks=each.marks) for each in shortly(PROVED)],
)  # fmt: skip
def test_the_proof_of_the_picture_is_told_and_not_denied(arithmetic: str, output: str) -> None:
    shown = displayed(output, explained_pictures(arithmetic), 0)
    if output in IN_WORDS:
        how = {"real": "in real arithmetic", "float32": "in float32, in any order of sums"}[arithmetic]
        begun = f"From the bytes of the picture, this network's first layers, {how}, give latents of which this holds."
        assert begun in shown.text and not_proved({"picture"}) in shown.text
        assert "PROVED from the bytes of the picture" in shown.text
    else:
        assert "picture: proved" in shown.text and f"arithmetic: {arithmetic}" in shown.text
    assert "about the first layers, which make latents" not in shown.text and PROVED_PICTURE in shown.text
    if output == "html":
        assert f"picture ({'real arithmetic' if arithmetic == 'real' else arithmetic}) proved" in shown.text


@pytest.mark.parametrize("output", once(PROVED))
def test_of_a_picture_that_was_not_checked_nothing_is_called_proved(output: str, folder: Path) -> None:
    (folder / "network.safetensors").unlink()
    shown = displayed(output, folder, 0)
    assert NAMED_PICTURE in shown.text and PROVED_PICTURE not in shown.text
    assert from_picture("real") not in shown.text
    if output in IN_WORDS:
        assert (
            "anything about the first layers, which make latents" in shown.text and "picture not checked" in shown.text
        )
    else:
        assert "picture: not checked" in shown.text


def labelled(folder: Path, label: int) -> None:
    """The first image with a true class, in both files that have it."""
    record = noted(folder)
    record["images"][0]["label"] = label
    write(folder, record)
    correct = {"True Label": str(label)}
    in_table(folder, lambda row: row | correct | {"Correct": str(int(row["Pred Label"]) == label)}, 1)
    shutil.move(place(folder, 0), folder / "pictures" / "first.png")  # out of the folder of another class


@pytest.mark.parametrize("output", once(FOUND))
def test_true_classes_are_as_labelled_and_mistakes_are_told(output: str, folder: Path) -> None:
    """Whoever edits the labels shows wrong classes as right ones: nothing checks them, and every output says so."""
    predicted = Certificate.load(folder / "000000.ale.json").predicted
    for label in (predicted, (predicted + 1) % 3):
        shutil.copytree(folder, again := folder.parent / f"labelled {label}")
        labelled(again, label)
        name = noted(again)["classes"][label]
        shown, wrong = displayed(output, again, 0), label != predicted
        assert AS_LABELLED in shown.text, "in words"
        if output in ("show", "figure", "compact", "notebook"):
            assert (f", which is wrong: true class {name} ({AS_LABELLED})" in shown.text) == wrong
        if output in ("csv", "parquet"):
            assert f"correct: {not wrong}" in shown.text and f"label: {label}" in shown.text
        if output in ("html", "compare"):
            assert LABELS in shown.text
        if output in ("figure", "compact"):
            assert f"True class {name}, as labelled, which nothing checks." in shown.text


@pytest.fixture(scope="module")
def of_latents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of latents, to which `source.json` binds images; pictures of prototypes; a head without names."""
    folder = folder_of(
        tmp_path_factory.mktemp("latents") / "out", report_head(labels=None), "top_k", classes=list("abc")
    )
    record = noted(folder)
    for image in record["images"]:
        image["sha256"] = hashlib.sha256((folder / "images" / image["file"]).read_bytes()).hexdigest()
    latents = load_latents(folder / "latents.safetensors")
    record["image_latents"] = [digest(as_patches(one[None])[0]) for one in latents]
    write(folder, record)
    (folder / "prototypes").mkdir()
    for number in range(report_head().size):
        Image.new("RGB", (9, 9), (0, 0, 20 * number)).save(folder / "prototypes" / f"{number:04d}.png")
    return folder


@pytest.mark.parametrize("output", once(FOUND))
def test_what_binds_an_image_to_latents_is_told_apart(output: str, of_latents: Path) -> None:
    """Nothing does but the word of `source.json`, which names the classes here, too."""
    shown = displayed(output, of_latents, 1)
    assert AS_NOTED in shown.text and PROVED_PICTURE not in shown.text and NAMED_PICTURE not in shown.text
    assert (shown.pixels is not None) == (output in DRAWN)
    if output in ("csv", "parquet"):
        assert "image_verified: False" in shown.text and "class_named_by: source.json" in shown.text
    if output in ("figure", "compact", "show", "notebook"):
        assert OWN_NAMES in shown.text
    if output in ("html", "compact"):
        assert PROTOTYPES in shown.text


def test_patches_lie_where_the_network_says(folder: Path) -> None:
    """Not where the latents beside the certificates do, which nothing binds to a picture."""
    latents = load_latents(folder / "latents.safetensors")
    rows, columns = latents.shape[2:]
    assert rows != columns
    turned = latents.transpose(2, 3).contiguous()
    save_latents(folder / "latents.safetensors", turned)
    record = noted(folder)
    digests = image_digests(turned)
    record |= {"image_latents": digests, "latents_digest": hashlib.sha256("".join(digests).encode()).hexdigest()}
    write(folder, record)
    collection = collect(folder)
    read = collection.items[0].certificate
    assert read is not None and collection.latents is not None
    assert collection.grid_of(read.patches, read.network) == Grid(rows, columns)
    assert collection.grid_of(read.patches, None) == Grid(columns, rows)
    assert collection.grid_of(read.patches, "0" * 64) == Grid(columns, rows), "of another network nothing is known"
    (folder / "network.safetensors").write_bytes(b"no network")
    assert collect(folder).grid_of(read.patches, read.network) == Grid(columns, rows)


def texts(figure: Any) -> str:
    return " ".join(" ".join(text.get_text() for text in figure.findobj(Text)).split())


def test_an_image_that_is_given_is_compared_too(tmp_path: Path) -> None:
    folder = explained_pictures()
    certificate = Certificate.load(folder / "000000.ale.json")
    picture = random_pictures(COUNT)[0]
    upright = picture.permute(1, 2, 0).numpy()
    for given in (place(folder, 0), str(place(folder, 0)), picture, upright, Image.fromarray(upright)):
        assert f"The image is {NAMED_PICTURE}" in texts(verale.plot(certificate, given))
    assert "picture that the certificate names" in str(verale.show(folder / "000000.ale.json", image=picture)).replace(
        PROVED_PICTURE, NAMED_PICTURE
    )
    Image.fromarray(upright).save(tmp_path / "a.bmp")
    for given in (place(folder, 1), tmp_path / "a.bmp", upright[:, ::-1], picture / 255, upright[:, :, 0]):
        assert f"The image is {AS_GIVEN}" in texts(verale.plot(certificate, given))
        shown = verale.show(folder / "000000.ale.json", image=given)
        assert AS_GIVEN in str(shown) and PROVED_PICTURE not in str(shown)
