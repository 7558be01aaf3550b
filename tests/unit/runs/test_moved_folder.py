"""A run's folder is moved, removed or replaced while the run writes into it: the run ends and says so, loses nothing,
and writes into no other folder."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from support.small import small_head, small_latents

from verale.errors import InputError
from verale.runs import written as module
from verale.runs.explain import open_run
from verale.runs.folder import ResultFolder, locked
from verale.runs.inputs import HEAD as HEAD_FILE
from verale.runs.inputs import TABLE
from verale.runs.options import RunOptions
from verale.runs.table import read_table
from verale.runs.written import HeldFolder, WrittenFiles
from verale.search import SearchOptions

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD, images=6)
OPTIONS = SearchOptions("projection", batch=1)
IMAGES = [f"{index:06d}.ale.json" for index in range(6)]
MOVED = "was moved, or replaced by another folder, while this command wrote into it"
REMOVED = "was removed while this command wrote into it, and so is what it has written: the same command begins anew"

pytestmark = pytest.mark.usefixtures("searched_once")


def run(folder: Path, meanwhile: Callable[[], object] = lambda: None, after: int = 2) -> None:
    """Explain into a folder, in which something happens after so many images."""
    with open_run(folder, HEAD, LATENTS, OPTIONS, how=RunOptions(1)) as opened:
        for index, _ in enumerate(opened, 1):
            if index == after:
                meanwhile()


def certificates(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.ale.json"))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.mark.parametrize("after", [1, 6])
def test_a_run_whose_folder_is_moved_ends_and_goes_on_there(after: int, out: Path, tmp_path: Path) -> None:
    to = tmp_path / "moved"
    with pytest.raises(InputError, match=MOVED):
        run(out, lambda: out.rename(to), after)
    assert not out.exists(), "nothing is written at the old path"
    assert certificates(to) == IMAGES[:after]
    assert [row.index for row in read_table(to / TABLE)] == list(range(after)), "every certificate counts"
    run(to)
    assert certificates(to) == IMAGES and len(read_table(to / TABLE)) == 6


@pytest.mark.parametrize("after", [2, 6])
def test_a_run_whose_folder_is_removed_ends_and_makes_no_other(after: int, out: Path) -> None:
    with pytest.raises(InputError, match=REMOVED):
        run(out, lambda: shutil.rmtree(out), after)
    assert not out.exists()
    run(out)
    assert certificates(out) == IMAGES


def test_two_runs_are_never_in_one_folder(out: Path, tmp_path: Path) -> None:
    """Another run begins at the path, while the first one writes."""
    other = small_head("cosine")

    def replace() -> None:
        out.rename(tmp_path / "moved")
        with open_run(out, other, small_latents(other, images=1), OPTIONS) as opened:
            assert len(list(opened)) == 1

    with pytest.raises(InputError, match=MOVED):
        run(out, replace)
    assert certificates(out) == IMAGES[:1] and len(read_table(out / TABLE)) == 1
    assert certificates(tmp_path / "moved") == IMAGES[:2]


@pytest.mark.parametrize("after", [2, 6])
def test_certificates_that_are_removed_are_missed_and_written_again(after: int, out: Path) -> None:
    removed = rf"lacks 1 of the certificates that this run wrote \({IMAGES[0]}\).*The same command writes them again"
    with pytest.raises(InputError, match=removed):
        run(out, lambda: (out / IMAGES[0]).unlink(), after)
    run(out)
    assert certificates(out) == IMAGES and len(read_table(out / TABLE)) == 6


@pytest.mark.parametrize("after", [2, 6])
def test_a_description_that_is_removed_is_missed_and_written_again(after: int, out: Path) -> None:
    with pytest.raises(InputError, match=r"run\.json: was removed while this command wrote here, and is there again"):
        run(out, lambda: (out / "run.json").unlink(), after)
    run(out)
    assert certificates(out) == IMAGES and len(read_table(out / TABLE)) == 6


@pytest.mark.parametrize("goes_on", [False, True])
@pytest.mark.parametrize("name", ["run.json", IMAGES[0]])
@pytest.mark.parametrize("how", ["another", "changed", "link"])
def test_files_that_are_replaced_are_missed_and_stay(how: str, name: str, goes_on: bool, out: Path) -> None:
    if goes_on:
        with pytest.raises(KeyboardInterrupt):
            run(out, interrupt, 1)
    file, whole = out / name, b""

    def replace() -> None:
        nonlocal whole
        whole = file.read_bytes()
        if how != "changed":
            file.unlink()
        if how == "link":
            (out.parent / "elsewhere").write_bytes(whole)
            file.symlink_to(out.parent / "elsewhere")
        else:
            file.write_bytes(b"{}")

    with pytest.raises(InputError, match=f"{name}: (was replaced while|is not as this run left it)"):
        run(out, replace, 3)
    assert file.is_symlink() if how == "link" else file.read_bytes() == b"{}", "it is somebody else's"
    file.unlink()
    if name == "run.json":
        file.write_bytes(whole)
    run(out)
    assert certificates(out) == IMAGES and len(read_table(out / TABLE)) == 6


def interrupt() -> None:
    raise KeyboardInterrupt


def test_what_is_written_goes_where_the_lock_is(out: Path, tmp_path: Path) -> None:
    """Also where the folder is moved between the last look and the writing."""
    with locked(out) as held, patch.object(HeldFolder, "require_there"):
        written = WrittenFiles(out, held)
        written.write("a", b"1")
        written.write("deep/er/b", b"2")
        out.rename(tmp_path / "moved")
        out.mkdir()
        written.write("c", b"3")
        written.write("deep/er/d", b"4")
        written.note({"e": "0" * 64})
        written._unlink("a")
        assert list(out.iterdir()) == []
    moved = tmp_path / "moved"
    assert {path.relative_to(moved).as_posix() for path in moved.rglob("*") if path.is_file()} == {
        *("files.json", "c", "deep/er/b", "deep/er/d")
    }
    assert b'"e"' in (moved / "files.json").read_bytes()


def test_a_folder_that_is_replaced_before_it_is_locked_is_not_locked(out: Path, tmp_path: Path) -> None:
    opened = os.open

    def moving(path: object, *rest: object, **options: object) -> int:
        handle = opened(path, *rest, **options)  # type: ignore[arg-type]
        if path == out and not (tmp_path / "moved").exists():
            out.rename(tmp_path / "moved")
            out.mkdir()
        return handle

    with patch("os.open", moving), pytest.raises(InputError, match=MOVED), locked(out):
        pass
    assert list(out.iterdir()) == list((tmp_path / "moved").iterdir()) == []


FILES = {"rules.json": b"{}\n", "rules.csv": b"", "rules.html": b"page", HEAD_FILE: b"h", "000000.ale.json": b"c"}


def write(folder: Path, overwrite: bool = False, **more: bytes) -> None:
    """Write results, which these files are."""
    certificates = {"000000.ale.json": b"c", **{f"{name}.ale.json": data for name, data in more.items()}}
    ResultFolder("rules", folder, b"h", overwrite).write({}, [], b"page", certificates)


@pytest.mark.parametrize("name", ["rules.json", "mine.ale.json", HEAD_FILE, module.FILES])
@pytest.mark.parametrize("overwrite", [False, True])
def test_results_replace_no_file_of_somebody_else(name, overwrite, tmp_path) -> None:
    (tmp_path / name).write_bytes(b"mine")
    for act in (ResultFolder("rules", tmp_path, b"h", overwrite).require_room, lambda: write(tmp_path, overwrite)):
        with pytest.raises(InputError, match=rf"{name}: .*verale did not write it, or it was changed"):
            act()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"mine")]
