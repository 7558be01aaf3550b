"""A run's folder: what it may hold before a run, and who may write to it. Its resumption is in test_explain.py."""

from __future__ import annotations

import pytest

from verale.errors import InputError
from verale.runs import folder as module
from verale.runs.folder import HEAD, RUN_FILE, locked, require_free, write_results
from verale.runs.store.folder import RunFolder
from verale.runs.table import TABLE, Explained, read_table

RUN = {"head": "a", "images": 2}


@pytest.mark.parametrize("name", ["0.ale.json", TABLE, RUN_FILE])
def test_results_of_a_run_are_in_the_way(name, tmp_path) -> None:
    (tmp_path / "head.safetensors").write_bytes(b"")
    require_free(tmp_path)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(InputError, match="holds something already; choose another --out, or say --overwrite"):
        require_free(tmp_path, "something")


def test_a_folder_is_locked_once(tmp_path) -> None:
    again = locked(tmp_path / "new")
    with locked(tmp_path / "new"), pytest.raises(InputError, match="another process explains into it"):
        again.__enter__()
    with locked(tmp_path / "new"):
        pass


def test_results_are_complete_where_the_first_is(tmp_path, monkeypatch) -> None:
    """An interruption at any file leaves the first one unwritten, and nothing removes a head."""
    names = ("index.json", "table.csv", HEAD)
    files = {"index.json": b"{}", HEAD: b"h", "000000.ale.json": b"c", "table.csv": b"t"}
    write_results(tmp_path, names, files | {"000001.ale.json": b"d"})
    with pytest.raises(InputError, match=r"holds 000000\.ale\.json already"):
        write_results(tmp_path, names, files)
    write, stop = module.write_atomically, {"at": ""}

    def interrupted(path, data) -> None:
        if path.name == stop["at"]:
            raise KeyboardInterrupt
        write(path, data)

    monkeypatch.setattr(module, "write_atomically", interrupted)
    for stop["at"] in (HEAD, "000000.ale.json", "table.csv", "index.json"):
        with pytest.raises(KeyboardInterrupt):
            write_results(tmp_path, names, files, overwrite=True)
        assert (tmp_path / HEAD).read_bytes() == b"h" and not (tmp_path / "index.json").exists()
    stop["at"] = ""
    write_results(tmp_path, names, files, overwrite=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_rows_count_once_they_are_in_the_table(tmp_path) -> None:
    folder = RunFolder(tmp_path, RUN, images=2, batch=1)
    assert list(folder.rows()) == []
    folder.add([], [Explained(1, 0, reason="a tie")])
    folder.add([], [Explained(0, 2, reason="a tie")])
    assert [row.index for row in read_table(tmp_path / TABLE)] == [1, 0]
    folder.finish(2)
    assert [row.index for row in read_table(tmp_path / TABLE)] == [0, 1]
    assert [row.index for row in RunFolder(tmp_path, RUN, images=2, batch=1).rows()] == [0, 1]
    with pytest.raises(InputError, match=r"another run \(head a there, b here\)"):
        RunFolder(tmp_path, RUN | {"head": "b"}, images=2, batch=1)
