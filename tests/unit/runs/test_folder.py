"""A run's folder: what it may hold before a run, and who may write to it. Its resumption is in test_explain.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from verale.errors import InputError
from verale.runs import written as module
from verale.runs.folder import ResultFolder, is_of_run
from verale.runs.inputs import HEAD, TABLE
from verale.runs.run import RunFolder
from verale.runs.table import Explained, read_table
from verale.runs.written import WrittenFiles

RUN = {"head": "a", "images": 2}
FILES = {"rules.json": b"{}\n", "rules.csv": b"", "rules.html": b"page", HEAD: b"h", "000000.ale.json": b"c"}


def write(folder: Path, overwrite: bool = False, **more: bytes) -> None:
    """Write results, which these files are."""
    certificates = {"000000.ale.json": b"c", **{f"{name}.ale.json": data for name, data in more.items()}}
    ResultFolder("rules", folder, b"h", overwrite).write({}, [], b"page", certificates)


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != module.FILES}


def test_names_that_are_taken_for_a_run_s() -> None:
    names = (HEAD, "run.json", "files.json", "pictures", "pictures/a/0.png", "x.ale.json")
    assert all(map(is_of_run, names))
    assert not any(map(is_of_run, ("report.html", "a/x.ale.json", "a/run.json", "log.json", "pictures.png")))


def test_results_are_complete_where_the_first_is(tmp_path, monkeypatch) -> None:
    """An interruption at any file leaves the first one unwritten, and nothing removes a head that is needed again."""
    write(tmp_path, another=b"d")
    with pytest.raises(InputError, match=r"rules\.json: is there already; choose another out, or say overwrite=True"):
        write(tmp_path)
    real, stop = module.write_atomically, {"at": ""}

    def interrupted(path, data, temporary, within) -> object:
        if path.name == stop["at"]:
            raise KeyboardInterrupt
        return real(path, data, temporary, within)

    monkeypatch.setattr(module, "write_atomically", interrupted)
    for stop["at"] in ("000000.ale.json", "rules.csv", "rules.json"):
        with pytest.raises(KeyboardInterrupt):
            write(tmp_path, overwrite=True)
        assert (tmp_path / HEAD).read_bytes() == b"h" and not (tmp_path / "rules.json").exists()
    stop["at"] = ""
    write(tmp_path, overwrite=True)
    assert contents(tmp_path) == FILES


@pytest.mark.parametrize("name", ["rules.json", "mine.ale.json", HEAD, module.FILES])
@pytest.mark.parametrize("overwrite", [False, True])
def test_results_replace_no_file_of_somebody_else(name, overwrite, tmp_path) -> None:
    (tmp_path / name).write_bytes(b"mine")
    for act in (ResultFolder("rules", tmp_path, b"h", overwrite).require_room, lambda: write(tmp_path, overwrite)):
        with pytest.raises(InputError, match=rf"{name}: .*verale did not write it, or it was changed"):
            act()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [(name, b"mine")]


def test_rows_count_once_they_are_in_the_table(tmp_path) -> None:
    def opened(run: dict[str, object] = RUN) -> RunFolder:
        folder = RunFolder(WrittenFiles(tmp_path), run, images=2, batch=1)
        folder.begin()
        return folder

    folder = opened()
    assert folder.rows == []
    folder.add([], [Explained(1, 0, reason="a tie")])
    folder.add([], [Explained(0, 2, reason="a tie")])
    assert [row.index for row in read_table(tmp_path / TABLE)] == [1, 0]
    folder.finish(2)
    assert [row.index for row in read_table(tmp_path / TABLE)] == [0, 1]
    assert [row.index for row in opened().rows] == [0, 1]
    with pytest.raises(InputError, match=r"another run \(head a there, b here\)"):
        opened(RUN | {"head": "b"})
