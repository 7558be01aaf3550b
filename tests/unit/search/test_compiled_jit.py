"""Compilation is announced once, kept where the user can write, and does without a place to keep it."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from filelock import FileLock, Timeout
from numba.core import caching
from support.alone import WITHOUT_TORCH

from verale.search.compiled import jit

PROGRAM = (
    WITHOUT_TORCH
    + """
import logging, sys
logging.basicConfig(level=logging.WARNING)
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part
import program
assert program.twice(3) == program.twice(3) == 6
assert "torch" not in sys.modules
"""
)

MODULE = """
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part
@part
def half(x):
    return x
@entry
def twice(x):
    return half(x) + half(x)
"""


def announcements(folder: Path, cache: Path, module: str = MODULE, **options: str) -> list[str]:
    """The lines about compiling of a process that calls a kernel twice."""
    (folder / "program.py").write_text(module)
    environment = {"XDG_CACHE_HOME": str(cache), "PATH": "", "PYTHONPATH": f"{folder}:{':'.join(sys.path)}", **options}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, env=environment, cwd=folder
    )
    return [line for line in done.stderr.splitlines() if "compiled" in line]


@dataclass(frozen=True)
class Compiled:
    """What a first process has left: where it ran, its cache, and what it said."""

    folder: Path
    cache: Path
    said: list[str]

    def copy(self, to: Path) -> Path:
        """The cache once more, to be changed."""
        return shutil.copytree(self.cache, to / "cache")


OLDER = {"old": "compiled-0123456789abcdef", "used": "compiled-fedcba9876543210", "not ours": "compiled-code"}


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """In the cache lies older machine code, and in the current folder what a stranger tells numba."""
    folder = tmp_path_factory.mktemp("compiled")
    cache = folder / "cache"
    kept = cache / "verale"
    for name in OLDER.values():
        (kept / name).mkdir(parents=True)
        (kept / name / "code").touch()
    for path in (path for name in ("old", "not ours") for path in (kept / OLDER[name] / "code", kept / OLDER[name])):
        os.utime(path, (0, 0))
    options = 'cache_locator_classes: "planted.Locator"\ncache_dir: "."\ndisable_jit: 1\n'
    (folder / ".numba_config.yaml").write_text(options)
    (folder / "planted.py").write_text("import pathlib; pathlib.Path('ran').touch(); Locator = None")
    return Compiled(folder, cache, announcements(folder, cache))


def test_what_is_compiled_is_announced_once_and_kept_wherever_the_sources_are(compiled, tmp_path):
    (line,) = compiled.said
    assert str(compiled.cache) in line
    assert announcements(tmp_path, compiled.cache) == []


def test_what_was_long_not_used_is_removed_when_something_new_is_kept(compiled):
    left = {path.name for path in (compiled.cache / "verale").iterdir()}
    assert {OLDER["used"], OLDER["not ours"]} < left and OLDER["old"] not in left


def test_options_of_numba_are_not_taken_from_the_current_folder(compiled):
    assert len(compiled.said) == 1 and any((compiled.cache / "verale").rglob("*.nbi"))
    assert not (compiled.folder / "ran").exists()


@pytest.mark.parametrize("times", [1, pytest.param(2, marks=pytest.mark.long)])
def test_without_a_place_to_write_it_is_compiled_each_time(times, tmp_path):
    cache = tmp_path / "file"
    cache.write_text("not a folder")
    for _ in range(times):
        (line,) = announcements(tmp_path, cache)
        assert "not kept" in line


class _Planted:
    """Pickled, it writes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self):
        return Path.write_text, (self._path, "ran")


def test_machine_code_that_others_may_have_written_does_not_run(compiled, tmp_path):
    (folder,) = (path.parent for path in compiled.copy(tmp_path).rglob("*twice*.nbi"))
    assert folder.stat().st_mode & 0o777 == 0o700
    indices = list(folder.glob("*.nbi"))
    assert indices
    for index in indices:
        index.write_bytes(pickle.dumps(_Planted(tmp_path / "ran")))
    folder.chmod(0o777)
    (line,) = announcements(tmp_path, tmp_path / "cache")
    assert not (tmp_path / "ran").exists()
    assert f"others may write to {folder}: remove it" in line and "XDG_CACHE_HOME" in line


@pytest.mark.long  # the option in a file is that of `compiled`
def test_no_option_of_numba_chooses_another_cache(tmp_path):
    (line,) = announcements(tmp_path, tmp_path / "cache", NUMBA_CACHE_LOCATOR_CLASSES="InTreeCacheLocator")
    assert str(tmp_path / "cache") in line and any((tmp_path / "cache").rglob("*.nbi"))


@pytest.mark.parametrize("named", ["cache", ""])
def test_a_cache_in_the_current_folder_is_never_taken(named, tmp_path, monkeypatch):
    """It may be a stranger's, and yet belong to the user, who has unpacked it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for a user without a home
    assert "would lie in the current folder" in jit._place.__wrapped__()
    assert list(tmp_path.iterdir()) == []


def test_other_sources_are_compiled_again(compiled, tmp_path):
    assert len(announcements(tmp_path, compiled.copy(tmp_path), MODULE.replace("x\n", "+x\n"))) == 1


def kept_of(function, folder, monkeypatch):
    """The cache of a function, in a folder."""
    monkeypatch.setattr(jit, "_folder", lambda: folder)
    return jit._compiled(function)._cache


def test_one_process_at_a_time_saves_machine_code(tmp_path, monkeypatch):
    def save(cache, types, code):
        with pytest.raises(Timeout):
            FileLock(tmp_path / "saving.lock").acquire(timeout=0)
        saved.append((types, code))

    saved = []
    monkeypatch.setattr(caching.FunctionCache, "save_overload", save)
    kept_of(lambda x: x, tmp_path, monkeypatch).save_overload("types", "code")
    assert saved == [("types", "code")]


def test_what_cannot_be_locked_is_not_saved(tmp_path, monkeypatch):
    def no_lock(path):
        raise NotImplementedError

    monkeypatch.setattr(jit, "FileLock", no_lock)
    kept = kept_of(lambda x: x, tmp_path, monkeypatch)
    kept.save_overload("types", "code")
    assert list(tmp_path.iterdir()) == []


def test_what_was_compiled_beforehand_is_noted_for_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "_folder", lambda: tmp_path)
    assert jit.state() == (False, str(tmp_path))
    jit.note_warm()
    assert jit.state() == (True, str(tmp_path))
    monkeypatch.setattr(jit, "_machine", lambda: "another")
    assert jit.state() == (False, str(tmp_path))


def test_one_process_at_a_time_compiles(tmp_path, monkeypatch):
    monkeypatch.setattr(jit, "_folder", lambda: tmp_path)
    with jit._one_at_a_time(), pytest.raises(Timeout):
        FileLock(tmp_path / "compiling.lock").acquire(timeout=0)
    FileLock(tmp_path / "compiling.lock").acquire(timeout=0)
