"""No command removes or replaces a file that verale did not write there: what is in its way is named, and stays."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from PIL import Image
from support.boxes import save_coordinates
from support.commands import in_process
from support.own_network import OwnNetwork, own_images
from support.prototypedl import SIDE, save_whole, small
from support.seen import COUNT, write_pictures
from support.small import small_head, small_latents
from support.trees import OBSTACLES, put, tree

import verale
from verale.errors import InputError
from verale.head import save_latents

Command = Callable[[Path, bool], str]
"""A command that writes into a folder, perhaps with --overwrite; what it prints on stderr, empty where it is done."""


def run(*arguments: object, done: tuple[int, ...] = (0,)) -> str:
    result = in_process(*arguments)
    assert result.returncode in (9, *done), result.stderr
    assert result.returncode != 9 or result.stderr.count("error: ") == 1
    return result.stderr.splitlines()[-1] if result.returncode == 9 else ""


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What all commands read."""
    folder = write_pictures(tmp_path_factory.mktemp("given"))
    head = replace(small_head("euclidean", 1, prototypes=6), labels=("a", "b", "c"))
    head.save(folder / "head")
    save_latents(folder / "latents", small_latents(head, images=2, patches=4), [0, 1])
    explained = ("--head", folder / "head", "--latents", folder / "latents", "--paradigm", "top_k")
    assert in_process("explain", *explained, "--out", folder / "run").returncode == 0
    assert in_process("certificates", "pack", folder / "run", "--out", folder / "packed.parquet").returncode == 0
    (folder / "two").mkdir()
    for path, name in zip(
        save_coordinates(folder / "two", 2, (1.5, 0.0)),
        ("000000.ale.json", "head.safetensors", "latents.safetensors"),
        strict=True,
    ):
        path.rename(folder / "two" / name)
    save_whole(small(), folder / "model.pth")
    (folder / "digits").mkdir()
    for number in range(2):
        Image.new("L", (SIDE, SIDE), 50 * number).save(folder / "digits" / f"{number}.png")
    return folder


def commands(given: Path) -> dict[str, Command]:
    explain = ("explain", "--head", given / "head", "--latents", given / "latents", "--jobs", 1)
    seen = ("explain", "--head", given / "h", "--network", given / "n", "--paradigm", "top_k", "--jobs", 1, "--images")
    fit = ("rules", "--head", given / "head", "--latents", given / "latents", "--count", 1)
    count = ("attribute", "--head", given / "head", "--latents", given / "latents", "--count", 1)
    two = given / "two" / "000000.ale.json"

    def with_overwrite(*arguments: object) -> Command:
        return lambda out, overwrite: run(*arguments, "--out", out, *(("--overwrite",) if overwrite else ()))

    def without(*arguments: object, option: str = "--out", done: tuple[int, ...] = (0,)) -> Command:
        return lambda out, overwrite: run(*arguments, option, out, done=done)

    def of_module(out: Path, overwrite: bool) -> str:
        try:
            verale.explain_model(
                OwnNetwork(), "add_on_layers", own_images(2), arch="protopnet", out=out, overwrite=overwrite, jobs=1
            )
        except InputError as error:
            return str(error)
        return ""

    return {
        "explain": with_overwrite(*explain, "--paradigm", "top_k"),
        "explain pictures": with_overwrite(*seen, given / "p"),
        "explain a tensor of pictures": with_overwrite(*seen, given / "p.safetensors"),
        "explain_model": of_module,
        "rules": with_overwrite(*fit),
        "attribute": with_overwrite(*count),
        "unpack": with_overwrite("certificates", "unpack", given / "packed.parquet"),
        "vnnlib": with_overwrite("export", "vnnlib", given / "run"),
        "contrast": without("contrast", two, "--class", 1),
        "necessity": without("necessity", two, done=(0, 11)),
        "gap": without("gap", two),
        "latents": without(
            "latents", given / "model.pth", "--arch", "prototypedl", "--images", given / "digits", "-o", given / "z",
            option="--prototype-pictures",
        ),
    }  # fmt: skip


NAMES = [*commands(Path())]
FOREIGN = (
    "notes.txt",
    "report.html",
    ".notes.swp",
    "deep/head.safetensors",
    "deep/000000.ale.json",
    "pictures/notes.txt",
)
"""What is in nobody's way."""


def with_foreign(out: Path) -> dict[str, tuple[str, object]]:
    for name in FOREIGN:
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(b"mine")
    return dict.fromkeys(FOREIGN, ("file", b"mine"))


@pytest.fixture(scope="module")
def free(given: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """What a command writes where nothing is in its way, once for all tests."""

    @cache
    def folder_of(name: str) -> Path:
        out = tmp_path_factory.mktemp("free") / "out"
        assert commands(given)[name](out, False) == ""
        return out

    return folder_of


@pytest.mark.parametrize("name", NAMES)
def test_whatever_is_in_a_command_s_way_is_named_and_stays(name, given: Path, free, tmp_path: Path) -> None:
    """For every file that the command writes; all commands together meet all that may have its name, both ways."""
    command = commands(given)[name]
    written = [each for each, (kind, _) in tree(free(name)).items() if kind == "file"]
    assert len(written) >= 2 and "files.json" in written
    for number, each in enumerate(written, NAMES.index(name)):
        kind, overwrite = OBSTACLES[number % len(OBSTACLES)], number // 2 % 2 == 0
        folder = tmp_path / f"{number}"
        with_foreign(folder / "out")
        put(kind, folder / "out" / each, folder / "outside")
        before = tree(folder)
        said = command(folder / "out", overwrite)
        assert f"{folder / 'out' / each}: " in said, (each, kind, said)
        assert tree(folder) == before, (each, kind)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_above_that_leads_elsewhere_is_named_too(name, given: Path, free, tmp_path: Path) -> None:
    command = commands(given)[name]
    for each, (kind, _) in tree(free(name)).items():
        if kind == "folder":
            folder = tmp_path / "to"
            shutil.copytree(free(name) / each, folder / "outside")
            (folder / "out" / each).parent.mkdir(parents=True)
            (folder / "out" / each).symlink_to(folder / "outside")
            before = tree(folder)
            assert f"{folder / 'out' / each}: is a link" in command(folder / "out", True)
            assert tree(folder) == before
            shutil.rmtree(folder)


@pytest.mark.parametrize("name", NAMES)
def test_a_command_replaces_what_it_wrote_and_nothing_else(name: str, given: Path, free, tmp_path: Path) -> None:
    command, out = commands(given)[name], shutil.copytree(free(name), tmp_path / "out")
    written = {each for each, (kind, _) in tree(out).items() if kind == "file"}
    foreign = with_foreign(out)
    assert command(out, True) == ""
    now = tree(out)
    assert {each for each, (kind, _) in now.items() if kind == "file" and each not in foreign} == written
    assert {each: now[each] for each in foreign} == foreign
    changed = sorted(written - {"files.json", "explanations.csv"})[-1]
    (out / changed).write_bytes(b"changed")
    before = tree(out)
    said = command(out, True)
    assert f"{out / changed}: " in said and "verale did not write it, or it was changed since" in said
    assert tree(out) == before


@pytest.mark.parametrize("name", ["head.safetensors", "latents.safetensors"])
def test_what_was_captured_and_changed_stays(name: str, given: Path, free, tmp_path: Path) -> None:
    explain_model = commands(given)["explain_model"]
    shutil.copytree(free("explain_model"), tmp_path, dirs_exist_ok=True)
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[:-8])
    before = tree(tmp_path)
    for overwrite in (False, True):
        assert f"{tmp_path / name}: " in explain_model(tmp_path, overwrite)
        assert tree(tmp_path) == before
    (tmp_path / name).unlink()
    assert explain_model(tmp_path, False) == "" and (tmp_path / name).read_bytes() == data


def test_runs_of_several_commands_replace_each_other_only_if_that_is_said(given: Path, free, tmp_path: Path) -> None:
    out = tmp_path / "out"
    foreign = with_foreign(out)
    made = commands(given)
    previous: set[str] = set()
    for name in ("explain pictures", "explain", "rules", "explain a tensor of pictures", "attribute", "explain_model"):
        if previous:
            before = tree(out)
            said = ("out", "overwrite=True") if name == "explain_model" else ("--out", "--overwrite")
            assert "choose another {}, or say {}".format(*said) in made[name](out, False), name
            assert tree(out) == before
        assert made[name](out, True) == ""
        now = {each for each, (kind, _) in tree(out).items() if kind == "file" and each not in foreign}
        previous = {each for each, (kind, _) in tree(free(name)).items() if kind == "file"}
        assert now == previous, "nothing is left of the run before"
        assert {each: tree(out)[each] for each in foreign} == foreign


def test_a_folder_without_pictures_is_not_taken_for_theirs(given: Path, free, tmp_path: Path) -> None:
    with_foreign(shutil.copytree(free("explain pictures"), tmp_path / "out"))
    assert commands(given)["explain a tensor of pictures"](tmp_path / "out", True) == ""
    audited = in_process("audit", tmp_path / "out", "--kernel", "arb")
    assert audited.returncode == 0 and audited.stdout.count("entailment+picture (real arithmetic) proved") == COUNT, (
        audited.stderr
    )


def test_what_a_command_wrote_beside_a_run_stays(given: Path, free, tmp_path: Path) -> None:
    out, made = shutil.copytree(free("explain"), tmp_path / "out"), commands(given)
    before = set(tree(out))
    assert run("gap", out, "--out", out) == "" and run("report", out) == ""
    beside = {each: what for each, what in tree(out).items() if each not in before}
    assert sorted(beside) == ["000000.least.json", "000001.least.json", "report.html"]
    assert made["rules"](out, True) == ""
    assert {each: tree(out)[each] for each in beside} == beside
    assert "000000.least.json: is in the way; verale did not write" not in run("gap", out, "--out", out)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("head.safetensors", "a file"),
        ("network.safetensors", "a hard link"),
        ("latents.safetensors", "a link"),
        ("report.html", "a file"),
        ("files.json", "a file"),
        ("certificates", "a link to a folder"),
        ("certificates/000003.ale.json", "a file"),
        ("certificates/source.json", "a file"),
        ("certificates/pictures/0", "a link to a folder"),
    ],
)
def test_a_demo_replaces_nothing_either(name: str, kind: str, tmp_path: Path) -> None:
    put(kind, tmp_path / "demo" / name, tmp_path / "outside")
    before, more = tree(tmp_path), ("--overwrite",) if "certificates" in name else ()
    assert f"{tmp_path / 'demo' / name}: " in run("demo", "--out", tmp_path / "demo", *more)
    assert tree(tmp_path) == before


# The folder of the inputs


def test_pictures_of_an_earlier_run_and_others(given: Path, free, tmp_path: Path) -> None:
    """--overwrite removed every PNG file below OUT/pictures, its own inputs among them, and through links."""
    out = shutil.copytree(free("explain pictures"), tmp_path / "out")
    seen = ("explain", "--head", given / "h", "--network", given / "n", "--paradigm", "top_k", "--jobs", 1)
    picture = (given / "p" / "class 0" / "0.png").read_bytes()
    for name in ("mine.png", "class 0/mine.PNG", "deep/er/mine.png"):
        (out / "pictures" / name).parent.mkdir(parents=True, exist_ok=True)
        (out / "pictures" / name).write_bytes(picture)
        before = tree(tmp_path)
        said = run(*seen, "--images", given / "p", "--out", out, "--overwrite")
        assert f"{out / 'pictures' / name}: would be taken for a file of this run; verale did not write it" in said
        assert tree(tmp_path) == before
        (out / "pictures" / name).unlink()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "mine.png").write_bytes(picture)
    (out / "pictures" / "to").symlink_to(tmp_path / "outside")
    assert run(*seen, "--images", given / "p", "--out", out, "--overwrite") == ""
    assert (tmp_path / "outside" / "mine.png").read_bytes() == picture, "an audit does not look there"
    (out / "pictures" / "to").unlink()
    within = out / "pictures" / "class 0"
    before = tree(tmp_path)
    said = run(*seen, "--images", within, "--out", out, "--overwrite")
    assert "is read now, and --overwrite would remove it; choose another --out" in said
    assert tree(tmp_path) == before
    assert run(*seen, "--images", out / "pictures", "--out", out, "--overwrite") == "", "its own pictures, as they are"
    assert (out / "pictures" / "class 0" / "0.png").read_bytes() == picture


@pytest.mark.parametrize("what", ["a link", "the folder itself"])
def test_pictures_that_lie_where_they_go(what: str, given: Path, tmp_path: Path) -> None:
    out, real = tmp_path / "out", tmp_path / "out" / "pictures"
    out.mkdir()
    if what == "a link":
        real = tmp_path / "real"
        (out / "pictures").symlink_to(real)
    shutil.copytree(given / "p", real)
    before = tree(tmp_path)
    seen = ("explain", "--head", given / "h", "--network", given / "n", "--paradigm", "top_k", "--images", real)
    for more in ((), ("--overwrite",)):
        said = run(*seen, "--out", out, *more)
        assert (said == "") == (what == "the folder itself"), said
        assert what != "a link" or f"{out / 'pictures'}: is a link, through which verale neither writes" in said
        now = tree(tmp_path)
        assert {name: now[name] for name in before} == before
    if what == "the folder itself":
        shutil.copy(real / "class 1" / "1.png", tmp_path / "another.png")
        assert "pictures" in run(*seen[:-1], tmp_path / "another.png", "--out", out, "--overwrite"), "they stay"
        now = tree(tmp_path)
        assert {name: now[name] for name in before} == before


def test_pictures_are_not_copied_among_themselves(given: Path, tmp_path: Path) -> None:
    """They would be other pictures the next time."""
    for number in range(3):
        shutil.copy(given / "p" / f"class {number}" / f"{number}.png", tmp_path)
    before = tree(tmp_path)
    said = run("explain", "--head", given / "h", "--network", given / "n", "--images", tmp_path, "--out", tmp_path)
    assert f"{tmp_path}: lies in {tmp_path}, which would get copies of its pictures: choose another" in said
    assert tree(tmp_path) == before


# Files whose names a user gives


@pytest.fixture
def own(given: Path, tmp_path: Path) -> Path:
    """A copy of what commands read, in the current folder of each."""
    shutil.copytree(given, tmp_path / "own")
    (tmp_path / "own" / "page.html").write_bytes(b"mine")
    (tmp_path / "own" / "to_page.html").symlink_to("page.html")
    (tmp_path / "own" / "same.html").hardlink_to(tmp_path / "own" / "run" / "000000.ale.json")
    torch.save({"w": torch.zeros(2)}, tmp_path / "own" / "state.pth")
    return tmp_path / "own"


OUTPUTS = {
    "report run --overwrite --format html -o": ("run/head.safetensors", "run/000009.ale.json", "to_page.html"),
    "report two --overwrite --format csv -o": ("two/latents.safetensors",),
    "report run --head head --overwrite --format html -o": ("head",),
    "report run/000000.ale.json --overwrite -o": ("same.html",),
    "compare run run --overwrite -o": ("run/explanations.csv",),
    "refute two/000000.ale.json --seconds 0 --out": ("two/latents.safetensors", "two/000000.ale.json"),
    "refute run/000000.ale.json --out": ("run/latents.safetensors",),
    "cover run --latents latents --out": ("latents", "run/run.json"),
    "head import --arch protopnet state.pth -o": ("state.pth",),
    "network export model.pth -o": ("model.pth",),
    "latents model.pth --arch prototypedl --images digits -o": ("digits/0.png", "model.pth"),
    "certificates pack run --overwrite --out": ("run/files.json",),
    "certificates pack two --overwrite --out": ("two/000000.ale.json",),
    "audit two --log": ("two/000000.ale.json", "two/head.safetensors", "run/source.json", "to_page.html"),
    "audit two --attest": ("two/head.safetensors", "to_page.html", "run/000009.ale.json"),
    "export rocq two --overwrite -o": ("to_page.v",),
}
"""What a command would have to replace, or write through a link."""


@pytest.mark.parametrize(
    "command", [f"{command} {output}" for command in OUTPUTS for output in OUTPUTS[command]], ids="{}-".format
)
def test_no_output_replaces_what_is_needed(command: str, own: Path) -> None:
    arguments = command.split()
    (named,) = (value for option, value in pairwise(arguments) if option in ("-o", "--out", "--log", "--attest"))
    (own / "to_page.v").symlink_to("page.html")
    before = tree(own)
    done = in_process(*arguments, cwd=own)
    assert done.returncode == 9 and f"error: {named}: " in done.stderr, done.stderr
    assert done.stderr.count("error: ") == 1 and done.stdout == ""
    assert tree(own) == before


def test_two_certificates_of_one_name_do_not_replace_each_other(own: Path) -> None:
    shutil.copytree(own / "two", own / "other")
    for command in (("gap",), ("necessity",), ("export", "vnnlib")):
        done = in_process(*command, "two", "other", "--out", "OUT", cwd=own)
        assert done.returncode == 9 and "other/000000.ale.json: has the name of two/000000.ale.json" in done.stderr
        assert not (own / "OUT").exists()
