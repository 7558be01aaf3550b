"""A run's folder: what it may hold before a run, and who may write to it. Its resumption is in test_explain.py."""

from __future__ import annotations

import pytest

from verale.errors import InputError
from verale.runs import written as module
from verale.runs.folder import is_of_run, require_room, write_results
from verale.runs.inputs import HEAD, TABLE
from verale.runs.run import RunFolder
from verale.runs.table import Explained, read_table
from verale.runs.written import WrittenFiles

RUN = {"head": "a", "images": 2}
NAMES = ("index.json", "table.csv", HEAD)
FILES = {"index.json": b"{}", HEAD: b"h", "000000.ale.json": b"c", "table.csv": b"t"}


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != module.FILES}


def test_names_that_are_taken_for_a_run_s() -> None:
    names = (HEAD, "run.json", "files.json", "pictures", "pictures/a/0.png", "x.ale.json")
    assert all(map(is_of_run, names))
    assert not any(map(is_of_run, ("report.html", "a/x.ale.json", "a/run.json", "log.json", "pictures.png")))


def test_results_are_complete_where_the_first_is(tmp_path, monkeypatch) -> None:
    """An interruption at any file leaves the first one unwritten, and nothing removes a head that is needed again."""
    write_results(tmp_path, NAMES, FILES | {"000001.ale.json": b"d"})
    with pytest.raises(InputError, match=r"index\.json: is there already; choose another out, or say overwrite=True"):
        write_results(tmp_path, NAMES, FILES)
    write, stop = module.write_atomically, {"at": ""}

    def interrupted(path, data, temporary, within) -> object:
        if path.name == stop["at"]:
            raise KeyboardInterrupt
        return write(path, data, temporary, within)

    monkeypatch.setattr(module, "write_atomically", interrupted)
    for stop["at"] in ("000000.ale.json", "table.csv", "index.json"):
        with pytest.raises(KeyboardInterrupt):
            write_results(tmp_path, NAMES, FILES, overwrite=True)
        assert (tmp_path / HEAD).read_bytes() == b"h" and not (tmp_path / "index.json").exists()
    stop["at"] = ""
    write_results(tmp_path, NAMES, FILES, overwrite=True)
    assert contents(tmp_path) == FILES


@pytest.mark.parametrize("name", ["index.json", "mine.ale.json", HEAD, module.FILES])
@pytest.mark.parametrize("overwrite", [False, True])
def test_results_replace_no_file_of_somebody_else(name, overwrite, tmp_path) -> None:
    (tmp_path / name).write_bytes(b"mine")
    for write in (require_room, write_results):
        with pytest.raises(InputError, match=rf"{name}: .*verale did not write it, or it was changed"):
            write(tmp_path, NAMES, FILES, overwrite)
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
