"""What verale wrote into a folder: noted before it is written, and nothing else is ever removed or replaced."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from support.small import small_head, small_latents
from support.trees import OBSTACLES, put, tree

from verale import files as of_files
from verale.errors import InputError
from verale.runs.explain import open_run
from verale.runs.folder import ResultFolder, locked, require_output, write_beside, write_output
from verale.runs.listed import StoredBytes
from verale.runs.options import RunOptions
from verale.runs.written import FILES, RequiredFile, WrittenFiles, noted_in
from verale.search import SearchOptions

HEAD = small_head("euclidean")
LATENTS = small_latents(HEAD, images=2)

pytestmark = pytest.mark.usefixtures("searched_once")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def lines(folder: Path) -> list[dict[str, object]]:
    _, *whole, _ = (folder / FILES).read_text().split("\n")
    return [json.loads(line) for line in whole]


def test_a_file_is_noted_and_replaced_as_long_as_it_is_as_it_was(tmp_path: Path) -> None:
    WrittenFiles(tmp_path).write("a", b"one")
    assert lines(tmp_path) == [{"file": "a", "sha256": sha256(b"one")}]
    files = WrittenFiles(tmp_path)
    files.write("a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two" and files.is_ours("a")
    (tmp_path / "a").write_bytes(b"mine")
    for act in (lambda: files.write("a", b"three"), lambda: files.remove("a"), files.clear):
        try:
            act()
        except InputError as error:
            assert "verale did not write it, or it was changed since" in str(error)
        assert (tmp_path / "a").read_bytes() == b"mine"


def test_the_same_bytes_of_somebody_else_stay_and_are_not_ours(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    files = WrittenFiles(tmp_path)
    files.write("a", b"one")
    assert not files.is_ours("a") and not (tmp_path / FILES).exists()
    files.clear()
    assert (tmp_path / "a").read_bytes() == b"one"


@pytest.mark.parametrize("kind", OBSTACLES)
@pytest.mark.parametrize("place", ["a", "folder/a"])
@pytest.mark.parametrize("noted", [False, True])
def test_nothing_is_written_through_links(kind: str, place: str, noted: bool, tmp_path: Path) -> None:
    """Also where a file with that digest was noted there."""
    out = tmp_path / "out"
    put(kind, out / place.split("/")[0], tmp_path / "outside")
    files = WrittenFiles(out)
    if noted:
        files.note(place, sha256((tmp_path / "outside" / "file").read_bytes() if kind == "a link" else b"mine"))
    is_ours = noted and kind == "a file" and place == "a"
    hindered = kind not in ("a folder",) or place == "a"
    before = tree(tmp_path)
    if hindered and not is_ours:
        with pytest.raises(InputError, match=rf"out/{place.split('/')[0]}: .*move it away"):
            files.write(place, b"new")
        with pytest.raises(InputError, match="move it away"):
            files.require_room(
                {place: RequiredFile(lambda: kind != "a file" and not noted)} if is_ours else {place: RequiredFile()},
                overwrite=True,
            )
    files.remove(place)
    files.remove_temporaries()
    gone = {"out/a"} if is_ours else set()
    assert tree(tmp_path) == {name: what for name, what in before.items() if name not in gone}


def test_what_is_cleared_is_what_a_run_noted(tmp_path: Path) -> None:
    files = WrittenFiles(tmp_path)
    for name in ("a", "deep/er/b", "deep/c", "kept"):
        files.write(name, name.encode())
    files.write("proof", b"of another command", by="gap")
    (tmp_path / "deep" / "notes.txt").write_bytes(b"mine")
    (tmp_path / "deep" / "c").unlink()
    files.clear(keep=["kept"])
    assert sorted(tree(tmp_path)) == ["deep", "deep/notes.txt", FILES, "kept", "proof"]
    assert {line["file"]: line.get("by") for line in lines(tmp_path)} == {"kept": None, "proof": "gap"}


def test_nothing_goes_before_all_is_known_to_be_as_it_was(tmp_path: Path) -> None:
    files = WrittenFiles(tmp_path)
    for name in ("a", "b", "c"):
        files.write(name, b"one")
    needed = {"a": RequiredFile()}
    assert files.require_room(needed, overwrite=True) == []
    with pytest.raises(
        InputError, match="a: is another file than this run's; choose another out, or say overwrite=True"
    ):
        files.require_room(needed)
    with pytest.raises(InputError, match=r"b: is read now, and overwrite=True would remove it"):
        files.require_room(needed, overwrite=True, inputs=[tmp_path / "b"])
    (tmp_path / "other name").hardlink_to(tmp_path / "b")
    with pytest.raises(InputError, match=r"b: is read now"):
        files.require_room(needed, overwrite=True, inputs=[tmp_path / "other name"])
    assert files.require_room({"b": RequiredFile(lambda: True)}, overwrite=True, inputs=[tmp_path / "b"]) == ["b"]
    (tmp_path / "c").write_bytes(b"changed")
    with pytest.raises(InputError, match=r"c: was changed since verale wrote it; .*move it away"):
        files.require_room(needed, overwrite=True)
    with pytest.raises(InputError, match=r"z: would be taken for a file of this run"):
        (tmp_path / "z").write_bytes(b"mine")
        files.require_room(needed, ["z"], overwrite=True)


def test_a_file_to_which_text_is_added_is_ours_at_every_length(tmp_path: Path) -> None:
    files = WrittenFiles(tmp_path)
    files.write("table", b"heading\n")
    files.append("table", "first, \u00e9\n".encode())
    files.append("table", b"second\n")
    whole = (tmp_path / "table").read_bytes()
    assert whole == "heading\nfirst, \u00e9\nsecond\n".encode()
    before = len(whole) - len(b"second\n")
    for length in range(len(whole) + 1):
        (tmp_path / "table").write_bytes(whole[:length])
        assert WrittenFiles(tmp_path).is_ours("table") == (length >= before or whole[:length] == b"heading\n")
    for other in (whole + b"x", whole[:-2], whole[: before - 1] + b"x", whole[:before] + b"x"):
        (tmp_path / "table").write_bytes(other)
        assert WrittenFiles(tmp_path).is_ours("table") == whole.startswith(other)
    (tmp_path / "table").write_bytes(whole)
    files = WrittenFiles(tmp_path)
    files.settle()
    for length in (before, len(whole) - 2):
        (tmp_path / "table").write_bytes(whole[:length])
        assert not WrittenFiles(tmp_path).is_ours("table"), "it was whole when the run ended"


@pytest.mark.parametrize("name", ["table", FILES])
def test_what_has_another_name_is_not_changed_by_what_is_added(name: str, tmp_path: Path) -> None:
    """As a copy by `cp -al` has it."""
    files = WrittenFiles(tmp_path / "out")
    files.write("table", b"heading\n")
    (tmp_path / "copy").hardlink_to(tmp_path / "out" / name)
    copied = (tmp_path / "copy").read_bytes()
    files = WrittenFiles(tmp_path / "out")
    files.append("table", b"first\n")
    files.append("table", b"second\n")
    assert (tmp_path / "copy").read_bytes() == copied
    assert (tmp_path / "out" / "table").read_bytes() == b"heading\nfirst\nsecond\n"
    assert WrittenFiles(tmp_path / "out").is_ours("table")


def test_a_table_that_was_changed_gets_no_text(tmp_path: Path) -> None:
    WrittenFiles(tmp_path).write("table", b"heading\n")
    (tmp_path / "table").write_bytes(b"mine\n")
    with pytest.raises(InputError, match="table: was changed since verale wrote it"):
        WrittenFiles(tmp_path).append("table", b"first\n")
    assert (tmp_path / "table").read_bytes() == b"mine\n"


HEADING = '{"_type": "urn:verale:files:v1"}\n'
NOTE = '{"file": "a", "sha256": "' + "0" * 64 + '"}\n'

NO_TEXTS = ("0", "false", "[]", "{}", '"\\ud800"')

LISTS = {
    "empty": "",
    "an object": "{}",
    "no list": "mine",
    "half a heading": HEADING[:-1],
    "no heading": NOTE,
    "an empty line": HEADING + "\n",
    "a list": HEADING + "[]\n",
    "deep": HEADING + "[" * 100_000 + "\n",
    "a way out": HEADING + NOTE.replace('"a"', '"../a"'),
    "a path from the root": HEADING + NOTE.replace('"a"', '"/a"'),
    "no name": HEADING + NOTE.replace('"a"', '"a//b"'),
    "a null character": HEADING + NOTE.replace('"a"', '"a\\u0000"'),
    "a number": HEADING + NOTE.replace('"a"', "7"),
    "half a digest": HEADING + NOTE.replace("0" * 64, "0" * 32),
    "a numbered command": HEADING + NOTE.replace('"}', '", "by": 7}'),
    "a length below zero": HEADING + NOTE.replace('"}', '", "after": -1, "added": "x"}'),
    "half a character": HEADING + NOTE.replace('"a"', '"\\ud800"'),
    **{f"{text} as text": HEADING + NOTE.replace('"}', f'", "after": 1, "added": {text}}}') for text in NO_TEXTS},
    "a number as text": HEADING + NOTE.replace('"}', '", "after": 1, "added": 7}'),
    "a long number": HEADING + NOTE.replace('"}', f'", "after": {"1" * 5000}, "added": "x"}}'),
    "half a line": HEADING + NOTE.replace('"}', '"') + "\n" + NOTE,
}


@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_names_that_verale_did_not_write_are_refused(text: str, tmp_path: Path) -> None:
    """So `files.json` of somebody else stays, and nobody's list leads out of the folder."""
    (tmp_path / "out").mkdir()
    (tmp_path / "a").write_bytes(b"mine")
    (tmp_path / "out" / FILES).write_text(text)
    with pytest.raises(InputError, match=rf"{FILES}: does not name files as verale does .*move it away") as caught:
        WrittenFiles(tmp_path / "out")
    assert len(str(caught.value)) < 1000
    require_output(tmp_path / "out" / "page.html")


def test_each_command_has_its_own_files(tmp_path: Path) -> None:
    write_beside(tmp_path, {"proof": b"one"}, "gap")
    write_beside(tmp_path, {"proof": b"two"}, "gap")
    with pytest.raises(InputError, match="proof: is in the way; verale did not write it, or it was changed"):
        write_beside(tmp_path, {"proof": b"three"}, "necessity")
    assert (tmp_path / "proof").read_bytes() == b"two"
    with locked(tmp_path), pytest.raises(InputError, match="another process"), pytest.MonkeyPatch.context() as patched:
        patched.setattr("verale.runs.folder.PATIENCE", 0.0)
        write_beside(tmp_path, {"proof": b"four"}, "gap")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A folder of a run, with a file that is no part of it."""
    out = tmp_path / "out"
    with open_run(out, HEAD, LATENTS, SearchOptions("projection")) as opened:
        list(opened)
    (out / "page.html").write_bytes(b"mine")
    return out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("out/explanations.csv", "is one of the files that verale wrote into "),
        ("out/000000.ale.json", "is one of the files that verale wrote into "),
        ("out/files.json", "would be taken for a file of the run in "),
        ("out/000009.ale.json", "would be taken for a file of the run in "),
        ("out/source.json", "would be taken for a file of the run in "),
        ("out/pictures/0.png", "would be taken for a file of the run in "),
        ("link/run.json", "is one of the files that verale wrote into "),
        ("input", "is read by this command"),
        ("same", "is read by this command"),
        ("to_input", "is read by this command"),
        ("to_page", "is a link to out/page.html; name that file itself, or remove the link"),
        ("to_nothing", "is a link to "),
        ("link", "is a folder, expected the name of a file to write"),
    ],
    ids=lambda value: value.partition(" ")[0],
)
def test_an_output_that_would_be_a_loss(name: str, said: str, run: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"mine")
    (tmp_path / "same").hardlink_to(tmp_path / "input")
    (tmp_path / "to_input").symlink_to("input")
    (tmp_path / "to_page").symlink_to("out/page.html")
    (tmp_path / "to_nothing").symlink_to("nowhere")
    (tmp_path / "link").symlink_to("out")
    before = tree(tmp_path)
    with pytest.raises(InputError, match=said):
        require_output(tmp_path / name, [None, tmp_path / "input", "s3://bucket/file"])
    assert tree(tmp_path) == before


def test_an_output_that_is_none(run: Path, tmp_path: Path) -> None:
    (tmp_path / "input").write_bytes(b"mine")
    (tmp_path / "copy").write_bytes(b"mine")
    for path in (run / "page.html", tmp_path / "copy", tmp_path / "new" / "x", run / "deep" / "000000.ale.json"):
        require_output(path, [tmp_path / "input", run])
    with pytest.raises(InputError, match="already exists; choose another name, or say overwrite=True"):
        require_output(run / "page.html", overwrite=False)
    (run / FILES).unlink()
    with pytest.raises(InputError, match="would be taken for a file of the run in"):
        require_output(run / "explanations.csv", [run])


def test_a_command_may_replace_what_it_noted_itself(tmp_path: Path) -> None:
    WrittenFiles(tmp_path).write("report.html", b"one", by="report")
    with pytest.raises(InputError, match="is one of the files that verale wrote"):
        require_output(tmp_path / "report.html")
    require_output(tmp_path / "report.html", by="report")
    write_output(tmp_path / "report.html", b"two", "report")
    assert WrittenFiles(tmp_path).is_ours("report.html", "report")
    assert noted_in(tmp_path / "report.html") == (tmp_path.resolve(), "report.html", "report")
    write_output(tmp_path / "another.html", b"three", "report")
    assert noted_in(tmp_path / "another.html") is None


# Interruptions


STEPS = ("write", "replace", "unlink", "rmdir", "chmod")


class Stopped(BaseException):
    """Replaces SIGKILL: after it, nothing changes any more."""


class System:
    """The module `os`, until one of its steps."""

    def __init__(self, last: int) -> None:
        self.steps, self._last = 0, last

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name) if name not in STEPS else partial(self._step, name)

    def open(self, path: Any, flags: int, *mode: int, dir_fd: int | None = None) -> int:
        opened = partial(self._step, "open") if flags & (os.O_CREAT | os.O_APPEND) else os.open
        return int(opened(path, flags, *mode, dir_fd=dir_fd))

    def _step(self, name: str, *arguments: Any, **options: Any) -> Any:
        self.steps += 1
        if self.steps > self._last:
            if name == "write" and self.steps == self._last + 1:
                handle, data = arguments
                os.write(handle, data[: len(data) // 2])
            raise Stopped
        return getattr(os, name)(*arguments, **options)


@contextmanager
def stopping(after: int) -> Iterator[System]:
    """Let `verale.files` do so many steps. Of a write that comes next, half is done. `steps` counts them."""
    system = System(after)
    with patch.object(of_files, "os", system):
        yield system


def explain(out: Path, scale: float = 1.0, overwrite: bool = False) -> None:
    beside = {"source.json": json.dumps({"scale": scale}).encode(), f"images/{scale}.png": b"drawn"}
    options = SearchOptions("projection")
    with open_run(out, HEAD, LATENTS * scale, options, [0, 1], RunOptions(1, overwrite), beside=beside) as opened:
        list(opened)


def explain_again(out: Path) -> None:
    explain(out, 0.5, overwrite=True)


def results(out: Path) -> None:
    ResultFolder("rules", out, b"h", overwrite=True).write({}, [], b"page", [StoredBytes("0.ale.json", b"c")])


def of_run(out: Path) -> dict[str, object]:
    """What a run left, without what depends on times."""
    noted = {name: what for name, what in tree(out).items() if name not in (FILES, "explanations.csv")}
    return noted | {FILES: sorted(str(line["file"]) for line in lines(out))}


FOREIGN = {"notes.txt": b"mine", "images/mine.png": b"mine", "deep/head.safetensors": b"mine", ".swp": b"mine"}


def with_foreign(out: Path) -> None:
    for name, data in FOREIGN.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_bytes(data)


def require_known(out: Path) -> None:
    """Everything there is somebody else's, and as it was, or noted, or the temporary file of what is noted."""
    files, digests, there = WrittenFiles(out), set(), tree(out)
    assert {name: there[name][1] for name in FOREIGN} == FOREIGN
    for line in lines(out) if (out / FILES).exists() else ():
        digests.add(str(line["sha256"]))
    for name, (kind, data) in there.items():
        if kind == "folder" or name in FOREIGN or name == FILES:
            continue
        last = name.rsplit("/", 1)[-1]
        temporary = last.startswith(".") and last.endswith(".partial")
        begun = isinstance(data, bytes) and (HEADING.encode().startswith(data[: len(HEADING)]))
        assert files.is_ours(name) or (temporary and (last[1:-8] in digests or begun)), name


@pytest.mark.parametrize(
    ("before", "command", "again"),
    [
        pytest.param(None, explain, explain, marks=pytest.mark.long),
        (None, explain, explain_again),
        pytest.param(explain, explain_again, explain_again, marks=pytest.mark.long),
        pytest.param(results, explain_again, explain_again, marks=pytest.mark.long),
        pytest.param(None, results, results, marks=pytest.mark.long),
        (explain, results, results),
    ],
)
def test_an_interruption_at_any_step_loses_nothing_and_is_gone_on_with(
    before: Callable[[Path], None] | None,
    command: Callable[[Path], None],
    again: Callable[[Path], None],
    tmp_path: Path,
) -> None:
    """As by kill -9, between two steps or within a write, and then once more, at the same step of what goes on."""
    begun, whole = tmp_path / "begun", tmp_path / "whole"
    begun.mkdir()
    with_foreign(begun)
    if before is not None:
        before(begun)
    shutil.copytree(begun, whole)
    again(whole)
    expected = of_run(whole)
    with stopping(10**6) as system:
        command(Path(shutil.copytree(begun, tmp_path / "counted")))
    assert system.steps > 10
    for last in range(system.steps):
        out = tmp_path / f"out {last}"
        shutil.copytree(begun, out)
        for _ in range(2):
            with stopping(last), pytest.raises(Stopped):
                (command if _ == 0 else again)(out)
                raise Stopped  # what was left to do the second time may take fewer steps
            require_known(out)
        again(out)
        assert of_run(out) == expected, last
        shutil.rmtree(out)


def test_a_full_disk_within_any_write_is_one_error_and_the_run_goes_on(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    with_foreign(tmp_path / "whole")
    explain(tmp_path / "whole")
    expected = of_run(tmp_path / "whole")
    real, failures = os.write, 0
    for last in range(40):
        out, written = tmp_path / f"out {last}", 0
        out.mkdir()
        with_foreign(out)

        def full(handle: int, data: memoryview, last: int = last) -> int:
            nonlocal written
            written += 1
            if written == last + 1:
                return real(handle, data[: len(data) // 2])
            if written > last + 1:
                raise OSError(28, "No space left on device")
            return real(handle, data)

        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(os, "write", full)
            try:
                explain(out)
            except InputError as error:
                failures += 1
                assert "cannot be written (No space left on device)" in str(error)
        require_known(out)
        explain(out)
        assert of_run(out) == expected
    assert 10 < failures < 40
