"""One reader: what explains, what reports and what audits take the same files, and refuse the others with one sentence.

A strange file (`support.strange`) takes the place of a head, of latents, a network or a picture, in turn.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest
from support.commands import in_process
from support.networks import hostile_networks
from support.reporting import folder_of
from support.seen import explain_pictures, write_pictures
from support.strange import Strange, of_description, of_png, of_tensors

from verale.checker import CheckerError
from verale.checker.certificate import read_certificate
from verale.checker.file_auditor import FileAuditor
from verale.cli.head import show as show_head
from verale.cli.network import show as show_network
from verale.errors import InputError
from verale.head import Head, load_labelled
from verale.report.collect import _load_latents
from verale.report.page_check import SeenInPage
from verale.runs.explained_run import HeadOfRun
from verale.runs.seen import SeenPictures


class Folders(NamedTuple):
    """What is valid: certificates of latents, with their head and images; a head, a network and pictures, and
    certificates of them in `out`."""

    latents: Path
    pictured: Path


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    folder = tmp_path_factory.mktemp("valid")
    folder_of(folder / "latents")
    (folder / "pictured").mkdir()
    pictured = write_pictures(folder / "pictured")
    assert explain_pictures(pictured).returncode == 0
    return Folders(folder / "latents", pictured)


Reading = Callable[[Folders, Path], object]
"""Reads a strange file beside what is valid."""


def audited(folders: Folders, **files: Path) -> FileAuditor:
    given = {"head": folders.pictured / "h"} | files
    return FileAuditor(**{"latents": None} | {name: str(path) for name, path in given.items()}, kernel="arb")


def run_folder(network: Path, pictures: Path) -> Path:
    """A folder as a run has it, beside what it is made of."""
    folder = pictures.parent / "folder"
    is_png = pictures.suffix == ".png"
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    shutil.copy(network, folder / "network.safetensors")
    shutil.copy(pictures, folder / ("pictures/p.png" if is_png else "pictures.safetensors"))
    if not is_png:
        (folder / "pictures").rmdir()
    return folder


def seen_in(folders: Folders, path: Path) -> Path:
    """The pictures of a run's folder, a strange file among them."""
    folder = run_folder(folders.pictured / "n", path)
    return folder / ("pictures" if path.suffix == ".png" else "pictures.safetensors")


PICTURES: dict[str, Reading] = {
    "explain": lambda folders, path: SeenPictures.load(folders.pictured / "n", seen_in(folders, path)),
    "audit": lambda folders, path: audited(folders, network=folders.pictured / "n", pictures=seen_in(folders, path)),
    "report": lambda folders, path: SeenInPage.beside(run_folder(folders.pictured / "n", path), []),
}


READINGS: dict[str, dict[str, Reading]] = {
    "head": {
        "explain": lambda folders, path: Head.load(path),
        "audit": lambda folders, path: audited(folders, head=path),
        "report": lambda folders, path: HeadOfRun.of(str(path)),
        "head show": lambda folders, path: show_head.callback(str(path), as_json=False),  # type: ignore[misc]
    },
    "latents": {
        "explain": lambda folders, path: load_labelled(path),
        "audit": lambda folders, path: audited(folders, head=folders.latents / "head.safetensors", latents=path),
        "report": lambda folders, path: _load_latents(path),
    },
    "network": {
        "explain": lambda folders, path: SeenPictures.load(path, folders.pictured / "p.safetensors"),
        "audit": lambda folders, path: audited(folders, network=path, pictures=folders.pictured / "p.safetensors"),
        "report": lambda folders, path: SeenInPage.beside(
            run_folder(path, Path(shutil.copy(folders.pictured / "p.safetensors", path.parent))), []
        ),
        "network show": lambda folders, path: show_network.callback(str(path), as_json=False),  # type: ignore[misc]
    },
    "picture": PICTURES,
    "pictures": PICTURES,
}
"""For each kind of file who reads it, and how."""


def strange(kind: str, folders: Folders) -> Iterator[Strange]:
    match kind:
        case "head":
            data = (folders.latents / "head.safetensors").read_bytes()
            yield from of_tensors(data, "prototypes")
            yield from of_description(data, "verale.head")
        case "latents":
            yield from of_tensors((folders.latents / "latents.safetensors").read_bytes(), "latents")
        case "network":
            data = (folders.pictured / "n").read_bytes()
            yield from of_tensors(data, "first.weight")
            yield from of_description(data, "verale.network")
            yield from ((name, other, True) for name, other in hostile_networks().items())
        case "picture":
            yield from of_png((folders.pictured / "p" / "class 0" / "0.png").read_bytes())
        case _:
            yield from of_tensors((folders.pictured / "p.safetensors").read_bytes(), "pictures", floats=False)


READERS = ("head", "latents", "network", "PNG", "pictures")


def answer(reading: Reading, folders: Folders, path: Path) -> str | None:
    """What is wrong with a file, in the reader's own sentence, from `head file: ` and the like on; None if it is
    read."""
    try:
        reading(folders, path)
    except (CheckerError, InputError) as error:
        message = str(error)
        said = message.rpartition(".safetensors: " if ".safetensors: " in message else ".png: ")[2]
        said = said.replace(f"{path}: ", "")
        return said[min((at for each in READERS if (at := said.find(f"{each} file: ")) >= 0), default=0) :]
    return None


@pytest.mark.parametrize("kind", READINGS)
def test_everyone_gives_the_same_answer(kind: str, valid: Folders, tmp_path: Path, capsys) -> None:
    wrong, seen = [], {False: 0, True: 0}
    for number, (name, data, refused) in enumerate(strange(kind, valid)):
        path = tmp_path / str(number) / ("p.png" if kind == "picture" else "strange")
        path.parent.mkdir()
        path.write_bytes(data)
        answers = {reader: answer(reading, valid, path) for reader, reading in READINGS[kind].items()}
        if len(set(answers.values())) != 1 or refused != (answers["audit"] is not None):
            wrong.append((name, refused, answers))
        seen[refused] += 1
        shutil.rmtree(path.parent)
    assert wrong == []
    assert seen[False] >= 3 and seen[True] >= 30


@pytest.fixture
def pictured(valid: Folders, tmp_path: Path) -> Path:
    """A copy of what is valid of pictures."""
    shutil.copytree(valid.pictured, tmp_path / "pictured")
    return tmp_path / "pictured"


def a_strange_png(data: bytes) -> bytes:
    """One that Pillow takes, and the checker does not."""
    return data + b"behind the end"


def test_a_picture_that_cannot_be_used_is_named_and_the_others_are_explained(pictured: Path) -> None:
    first, second = sorted((pictured / "p").rglob("*.png"))[:2]
    first.write_bytes(a_strange_png(first.read_bytes()))
    (first.parent / "pipe.png").symlink_to("nowhere")
    second.rename(second.with_suffix(".jpg"))
    done = explain_pictures(pictured, out="new")
    assert done.returncode == 9
    assert f"error: {first}: PNG file: something follows its chunk IEND" in done.stderr
    assert f"error: {first.parent / 'pipe.png'}: there is no such file" in done.stderr
    assert f"error: {second.with_suffix('.jpg')}: expected the suffix .png" in done.stderr
    assert "3 of 5 pictures are left out" in done.stderr and "2 of 2 images have a certificate" in done.stderr
    new = pictured / "new"
    assert len(list(new.glob("*.ale.json"))) == 2
    assert sorted(path.name for path in (new / "pictures").rglob("*.*")) == ["1.png", "2.png"]
    audited = in_process("audit", new, "--kernel", "arb")
    assert audited.returncode == 0 and audited.stdout.count("entailment+picture (real arithmetic) proved") == 2
    again = explain_pictures(pictured, out="new")
    assert again.returncode == 9 and "nothing is left to do" in again.stderr
    reported = in_process("report", new, "-o", pictured / "page.html")
    assert reported.returncode == 0, reported.stderr


def test_classes_are_those_of_all_folders(pictured: Path) -> None:
    """Though the only picture of a class cannot be used."""
    only = pictured / "p" / "class 2" / "2.png"
    only.write_bytes(a_strange_png(only.read_bytes()))
    seen = SeenPictures.load(pictured / "n", pictured / "p")
    head = Head.load(pictured / "h")
    assert seen.labels(head) == [0, 0, 1] and seen.classes_of(head).names == ["class 0", "class 1", "class 2"]


def test_a_damaged_picture_costs_its_own_certificate_alone(pictured: Path) -> None:
    out = pictured / "out"
    bad = sorted((out / "pictures").rglob("*.png"))[1]
    bad.write_bytes(a_strange_png(bad.read_bytes()))
    audited = in_process("audit", out, "--kernel", "arb")
    assert audited.returncode == 9 and [line.split()[0] for line in audited.stdout.splitlines()] == ["PROVED"] * 3
    expected = (
        f"{bad}: PNG file: something follows its chunk IEND, expected the end of the file; no picture that can be"
    )
    assert expected in audited.stderr and "000001.ale.json" in audited.stderr
    several = in_process("audit", out, "--kernel", "arb", "--jobs", "1", "--json")
    assert several.returncode == 9 and several.stdout.count('"status": "PROVED"') == 3
    shown = in_process("show", out / "000001.ale.json", "--kernel", "arb")
    assert shown.returncode == 9 and "PNG file: something follows" in shown.stdout + shown.stderr
    reported = in_process("report", out, "-o", pictured / "page.html", "--provable", "--kernel", "arb")
    assert reported.returncode == 9 and all(each in reported.stderr for each in ("3 PROVED", "1 UNUSABLE"))
    seen = SeenInPage.beside(out, [])
    certificates = [read_certificate((out / f"00000{number}.ale.json").read_bytes()) for number in range(4)]
    questions = [seen.question(each, b"") for each in certificates]  # type: ignore[union-attr]
    assert [missing == "" for _, missing in questions] == [True, False, True, True]
    assert "written without the picture: " in questions[1][1] and f"{bad}: PNG file: something" in questions[1][1]


def test_a_head_that_cannot_be_used_costs_its_own_folder_alone(valid: Folders, tmp_path: Path) -> None:
    for name in "abc":
        shutil.copytree(valid.latents, tmp_path / name)
    log = tmp_path / "log"
    command = ("audit", *(tmp_path / name for name in "abc"), "--kernel", "arb", "--log", log)
    assert in_process(*command).returncode == 0
    whole = log.read_bytes()
    head = tmp_path / "b" / "head.safetensors"
    head.write_bytes(head.read_bytes() + b"a tail")
    done = in_process(*command)
    assert done.returncode == 9 and done.stdout.count("PROVED") == 8
    assert f"error: {head}: head file: the tensors end at byte" in done.stderr
    assert log.read_bytes() == whole  # what it says of b is still true of what was audited then


def test_heads_networks_and_runs_are_read_without_torch(valid: Folders) -> None:
    head, network = valid.latents / "head.safetensors", valid.pictured / "n"
    with patch.dict(sys.modules, dict.fromkeys(("torch", "numpy", "safetensors"))):
        for command in (("head", "show", head), ("network", "show", network), ("compare", *[valid.latents] * 2)):
            done = in_process(*command)
            assert done.returncode == 0 and "sha256" in done.stdout + done.stderr, done.stderr
