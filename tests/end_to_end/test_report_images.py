"""Pictures belong to their certificates: by digests, or the report says that only the order speaks for them."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import warnings
from base64 import b64decode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image
from support.commands import in_process as verale
from support.runs import IMAGES, final
from unit.report.test_page import Page

from verale.head import load_labels, load_latents, save_latents

FILES = sorted(IMAGES.glob("*/*.png"))
MIXED = [5, 0, 9, 3, 11, 1, 7, 2, 10, 4, 8, 6]
"""An order of the images in which classes alternate."""
QUICKLY = ("--paradigm", "projection")
BY_ORDER = "matched by order, not verified"
AS_NOTED = "as source.json says, which nothing checks"
GONE = "not shown: the file is gone, or has other bytes now"


@pytest.fixture(scope="module")
def captured(tmp_path_factory) -> Path:
    """A folder with the images, one subfolder a class, and OUT, what `verale explain` made of them."""
    folder = tmp_path_factory.mktemp("captured")
    shutil.copytree(IMAGES, folder / "images")
    with warnings.catch_warnings():
        # thop, which cabrnet imports, compares versions with distutils.
        warnings.filterwarnings("ignore", "distutils Version classes are deprecated", DeprecationWarning)
        import cabrnet.archs.generic.model  # noqa: F401
    arguments = ("--checkpoint-dir", final("protopnet"), "--images", "images", "--out", "OUT", *QUICKLY)
    assert verale("explain", *arguments, cwd=folder).returncode == 0
    return folder


@pytest.fixture
def folder(captured, tmp_path) -> Path:
    """The same, where a test may change it: OUT notes where the images were, so they are looked for in `images`."""
    shutil.copytree(captured, tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def unbound(reordered, tmp_path) -> Path:
    """What `reordered` made, where a test may change it."""
    shutil.copytree(reordered, tmp_path / "unbound")
    return tmp_path / "unbound"


@pytest.fixture(scope="module")
def reordered(captured, tmp_path_factory) -> Path:
    """The same images, explained from latents in another order, by `verale explain --head --latents`."""
    folder = tmp_path_factory.mktemp("reordered") / "here"
    shutil.copytree(captured, folder)
    out = folder / "OUT"
    labels = load_labels(out / "latents.safetensors")
    latents = load_latents(out / "latents.safetensors")[MIXED]
    save_latents(folder / "Z", latents, [labels[index] for index in MIXED])
    save_latents(folder / "unlabelled", latents)
    for name, given in (("OTHER", "Z"), ("UNLABELLED", "unlabelled")):
        head = ("--head", out / "head.safetensors")
        assert verale("explain", *head, "--latents", given, "--out", name, *QUICKLY, cwd=folder).returncode == 0
    (folder / "ordered").mkdir()
    for number, index in enumerate(MIXED):
        shutil.copy(FILES[index], folder / "ordered" / f"{number:02d}.png")
    return folder


def reported(folder: Path, out: str, *options: str) -> tuple[list[dict[str, str]], str]:
    """The table of a report, and what is said on stderr."""
    done = verale("report", out, "-o", "t.csv", "--overwrite", *options, cwd=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "t.csv").open(newline="") as stream:
        return list(csv.DictReader(stream)), done.stderr


def refused(folder: Path, out: str, *options: str) -> str:
    done = verale("report", out, "-o", "r.html", *options, cwd=folder)
    assert (done.returncode, done.stderr.count("\n")) == (9, 1), done.stderr
    assert not (folder / "r.html").exists()
    return done.stderr


def page_of(folder: Path, out: str, *options: str) -> Page:
    assert verale("report", out, "-o", "p.html", "--overwrite", *options, cwd=folder).returncode == 0
    return Page((folder / "p.html").read_bytes())


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def noted(folder: Path) -> list[str]:
    return [image["sha256"] for image in json.loads((folder / "OUT" / "source.json").read_text())["images"]]


def flat(folder: Path) -> None:
    """In one folder, with names in reverse order."""
    (folder / "elsewhere").mkdir()
    for number, file in enumerate(reversed(FILES)):
        shutil.copy(file, folder / "elsewhere" / f"{number:02d}.png")


def exchanged(folder: Path) -> None:
    """Two images with each other's names."""
    shutil.copytree(folder / "images", folder / "elsewhere")
    one, other = (folder / "elsewhere" / FILES[index].relative_to(IMAGES) for index in (0, 1))
    first, second = one.read_bytes(), other.read_bytes()
    one.write_bytes(second)
    other.write_bytes(first)


@pytest.mark.parametrize("moved", [flat, exchanged])
def test_images_that_moved_or_have_other_names_are_known_by_their_bytes(moved, folder) -> None:
    moved(folder)
    rows, said = reported(folder, "OUT", "--images", "elsewhere")
    assert [digest(folder / row["image"]) for row in rows] == noted(folder)
    assert [row["image_is"] for row in rows] == [AS_NOTED] * 12 and "WARNING" not in said


def test_without_latents_and_table_the_digests_still_bind(folder) -> None:
    for name in ("latents.safetensors", "explanations.csv", "run.json"):
        (folder / "OUT" / name).unlink()
    (folder / "OUT" / "000003.ale.json").rename(folder / "OUT" / "000000a.ale.json")
    rows, _ = reported(folder, "OUT", "--images", "images")
    by_name = {Path(row["certificate"]).name: row for row in rows}
    assert digest(folder / by_name["000000a.ale.json"]["image"]) == noted(folder)[3]
    assert {row["image_is"] for row in rows} == {AS_NOTED}


def test_an_image_that_was_replaced_or_removed_is_not_shown(folder) -> None:
    first, second, third = (folder / "images" / FILES[index].relative_to(IMAGES) for index in (0, 1, 2))
    first.write_bytes(second.read_bytes())
    third.unlink()
    rows, said = reported(folder, "OUT", "--images", "images")
    assert [row["image_is"] for row in rows] == [GONE, AS_NOTED, GONE, *[AS_NOTED] * 9]
    assert f"WARNING: 2 of 12 images are {GONE}" in said
    shown = page_of(folder, "OUT", "--images", "images")
    assert [bool(image) for image in shown.images] == [False, True, False, *[True] * 9]
    assert shown.rows["match"] == [GONE, "", GONE, *[""] * 9]


def test_two_equal_images_keep_their_own_names_and_labels(folder) -> None:
    """The same picture in two classes: the network sees no difference, but each has its own true class."""
    shutil.copy(FILES[0], folder / "images" / "3" / "9999.png")
    arguments = ("--checkpoint-dir", final("protopnet"), "--images", "images", "--out", "EQUAL", *QUICKLY)
    assert verale("explain", *arguments, cwd=folder).returncode == 0
    rows, said = reported(folder, "EQUAL", "--allow", "images")
    assert [row["index"] for row in rows] == [str(index) for index in range(13)]
    assert (rows[0]["label"], rows[12]["label"]) == ("0", "3") and "WARNING" not in said
    assert [Path(rows[index]["image"]).name for index in (0, 12)] == ["0000.png", "9999.png"]
    assert rows[0]["latents"] == rows[12]["latents"] and rows[12]["image_is"] == AS_NOTED


def test_images_by_order_are_told_beside_each_picture(unbound) -> None:
    rows, said = reported(unbound, "OTHER", "--images", "ordered")
    assert {row["image_verified"] for row in rows} == {"False"}
    assert f"WARNING: 12 of 12 images are {BY_ORDER}\n" in said
    shown = page_of(unbound, "OTHER", "--images", "ordered")
    assert shown.rows["match"] == [BY_ORDER] * 12 and f"12 images are {BY_ORDER}" in shown.text
    picture = Image.open(BytesIO(b64decode(shown.images[0].partition("base64,")[2])))
    assert picture.convert("RGB").tobytes() == Image.open(FILES[MIXED[0]]).convert("RGB").resize(picture.size).tobytes()
    done = verale("report", "OTHER/000000.ale.json", "--images", "ordered", "-o", "one.svg", cwd=unbound)
    assert f"WARNING: 1 of 1 images are {BY_ORDER}" in done.stderr


def test_a_copy_in_class_folders_is_not_taken_for_the_images_in_their_order(unbound) -> None:
    """Sorted by name these are as many images, but others: a 0 would stand under PROVED, class 3."""
    said = refused(unbound, "OTHER", "--images", "images")
    assert "lies in the folder '0', but the true class of 000000.ale.json is 1" in said
    assert "images are matched by order here" in said
    said = refused(unbound, "UNLABELLED", "--images", "images")
    assert "but the certificate's class of" in said


def test_the_number_of_images_counts_without_latents_too(unbound) -> None:
    next((unbound / "ordered").iterdir()).unlink()
    assert "has 11 images, OTHER/latents.safetensors has the latents of 12" in refused(
        unbound, "OTHER", "--images", "ordered"
    )
    (unbound / "OTHER" / "latents.safetensors").unlink()
    assert "has 11 images, 12 were explained" in refused(unbound, "OTHER", "--images", "ordered")


def test_a_label_that_contradicts_the_table_stops_the_report(folder) -> None:
    path = folder / "OUT" / "source.json"
    source = json.loads(path.read_text())
    source["images"][4]["label"] = 3
    path.write_text(json.dumps(source))
    said = refused(folder, "OUT", "--images", "images")
    assert "has the true class 3 in source.json, but 1 in explanations.csv (000004.ale.json)" in said


def test_an_image_in_the_folder_of_another_class_stops_the_report(folder) -> None:
    moved = folder / "images" / FILES[4].relative_to(IMAGES)
    moved.rename(folder / "images" / "3" / moved.name)
    said = refused(folder, "OUT", "--images", "images")
    assert "lies in the folder '3', but the true class of 000004.ale.json is 1" in said


def test_other_latents_than_those_noted_stop_the_report(unbound) -> None:
    done = verale("report", "OUT", "-o", "r.html", "--latents", "Z", "--images", "images", cwd=unbound)
    warning, error = done.stderr.splitlines()
    assert (
        done.returncode == 9 and "OUT/latents.safetensors has other bytes than Z, which is given and counts" in warning
    )
    assert "source.json: notes other latents than Z holds" in error


def test_a_report_that_nobody_audited_is_written_on_demand_only(folder) -> None:
    (folder / "OUT" / "head.safetensors").unlink()
    assert "has no head, so nothing can be audited: give --head or --log, or say --no-audit" in refused(folder, "OUT")
    _, said = reported(folder, "OUT", "--no-audit")
    assert "12 certificates, not audited" in said
