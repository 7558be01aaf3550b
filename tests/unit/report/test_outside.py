"""`source.json` may name any file of the reader's machine: none outside of its folder is read unless he says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from support.commands import in_process
from support.opening import opening
from support.pages import Page
from support.reporting import folder_of

from verale.report.images import OUTSIDE
from verale.runs.source import allowing

GREY = 1
"""The green of the private picture, which no other has."""


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A folder of the reader's own, with pictures that have the names of the four images."""
    (tmp_path / "private" / "deep").mkdir(parents=True)
    for name in ("0.png", "1.png", "2.png", "3.png", "deep/0.png"):
        Image.new("RGB", (30, 20), (200, GREY, 0)).save(tmp_path / "private" / name)
    return tmp_path / "private"


def rewritten(folder: Path, **changes: Any) -> None:
    source = folder / "source.json"
    source.write_text(json.dumps(json.loads(source.read_text()) | changes))


def absolute(folder: Path, private: Path) -> None:
    rewritten(folder, images_folder=str(private))


def relative(folder: Path, private: Path) -> None:
    rewritten(folder, images_folder="../private")


def linked_folder(folder: Path, private: Path) -> None:
    (folder / "inside").symlink_to(private)
    rewritten(folder, images_folder="inside")


def linked_files(folder: Path, private: Path) -> None:
    for name in ("0.png", "1.png", "2.png", "3.png"):
        (folder / "images" / name).unlink()
        (folder / "images" / name).symlink_to(private / name)


def by_digest(folder: Path, private: Path) -> None:
    """Every image is gone, and whatever lies in the folder is looked through for its bytes."""
    rewritten(folder, images=[{"file": f"{n}.jpg", "label": None, "sha256": "0" * 64} for n in range(4)])
    (folder / "images" / "a").symlink_to(private)
    (folder / "images" / "b.png").symlink_to(private / "0.png")


def prototype(folder: Path, private: Path) -> None:
    origin = {"prototype": 0, "image": 7, "file": str(private / "0.png"), "row": 1, "column": 2}
    rewritten(folder, prototypes=[origin])


def pictures(folder: Path, private: Path) -> None:
    (folder / "prototypes").symlink_to(private)


ATTACKS = {
    each.__name__: each for each in (absolute, relative, linked_folder, linked_files, by_digest, prototype, pictures)
}


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """The real paths of all files that are opened."""
    with opening() as paths:
        yield paths


DRAWN = ("absolute", "by_digest")
"""Pictures and tables find images as a page does: a short run makes them after these attacks."""


@pytest.mark.parametrize(
    ("attack", "kind"),
    [
        pytest.param(attack, kind, marks=[pytest.mark.long] * (kind != "html" and attack not in DRAWN))
        for attack in ATTACKS
        for kind in ("html", "png", "csv")
    ],
)
def test_nothing_outside_is_read_or_shown(attack, kind, private, tmp_path, opened) -> None:
    folder = folder_of(tmp_path / "out", names=[f"{n}.png" for n in range(4)])
    ATTACKS[attack](folder, private)
    given = folder / "000000.ale.json" if kind == "png" else folder
    done = in_process("report", given, "-o", tmp_path / f"r.{kind}")
    assert done.returncode == 0, done.stderr
    assert str(folder / "head.safetensors") in opened and not [path for path in opened if str(private) in path]
    if attack != "by_digest":  # what is noted lies in the folder, and is gone
        assert f"outside of {folder}, in {private}, are not shown" in done.stderr
        assert f"say --allow {private}" in done.stderr
    if kind != "html":
        return
    if attack == "absolute":
        page = Page((tmp_path / "r.html").read_bytes())
        assert "outside of the folder are not shown (--allow)" in page.text and str(private) not in page.everything
        assert page.rows["match"] == [OUTSIDE] * 4
    done = in_process("report", folder, "-o", tmp_path / "allowed.html", "--allow", private)
    assert done.returncode == 0 and "--allow" not in done.stderr
    assert str(private / "0.png") in opened, "what the user allows is shown"


def test_a_folder_that_is_given_is_shown_but_not_what_its_links_lead_to(private, tmp_path, opened) -> None:
    folder = folder_of(tmp_path / "out")
    absolute(folder, private)
    (private / "1.png").unlink()
    (private / "1.png").symlink_to(folder.parent / "secret.png")
    Image.new("RGB", (30, 20)).save(folder.parent / "secret.png")
    done = in_process("report", folder, "-o", tmp_path / "r.html", "--images", private)
    assert done.returncode == 0 and f"in {folder.parent}, are not shown" in done.stderr
    assert str(private / "0.png") in opened and str(folder.parent / "secret.png") not in opened


def test_a_circle_of_links_is_outside(tmp_path) -> None:
    folder = folder_of(tmp_path / "out")
    (folder / "images" / "0.png").unlink()
    (folder / "images" / "0.png").symlink_to("0.png")
    done = in_process("report", folder, "-o", tmp_path / "r.html")
    assert done.returncode == 0 and "Traceback" not in done.stderr


def test_a_folder_is_named_that_holds_nothing_else(private, tmp_path) -> None:
    """Otherwise the user would admit files that no one asked for."""
    folder, train = folder_of(tmp_path / "out"), tmp_path / "train set"
    assert allowing(folder) == allowing(tmp_path / "nowhere") == ""
    origins = [{"prototype": n, "image": n, "file": str(train / f"{n}/0.png"), "row": 0, "column": 0} for n in range(3)]
    all_three = "".join(f" --allow '{train}/{n}'" for n in range(3))
    rewritten(folder, prototypes=origins)
    assert allowing(folder) == all_three, "there is no such folder"
    for n in range(3):
        (train / str(n)).mkdir(parents=True)
    assert allowing(folder) == f" --allow '{train}'"
    rewritten(folder, prototypes=origins[:2])
    assert allowing(folder) == all_three[: -len(f" --allow '{train}/2'")]
    rewritten(folder, prototypes=origins)
    (train / "private.txt").touch()
    assert allowing(folder) == all_three
    done = in_process("report", folder, "-o", tmp_path / "r.html")
    assert f"say --allow '{train}/0' --allow '{train}/1' --allow '{train}/2'" in done.stderr.replace("\n", " ")
    rewritten(folder, prototypes=None, images_folder="/a folder; rm")
    assert allowing(folder) == " --allow '/a folder; rm'"
