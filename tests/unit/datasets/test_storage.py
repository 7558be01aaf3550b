"""Storage: paths and URIs behave alike; nobody sees half a file."""

from __future__ import annotations

import pytest

from verale.datasets import storage
from verale.errors import InputError


def write(path: str, data: bytes) -> None:
    with storage.open_output(path) as stream:
        stream.write(data)


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path) -> None:
    write(str(tmp_path / "x"), b"before")
    with pytest.raises(ZeroDivisionError), storage.open_output(str(tmp_path / "x")) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"before"


def test_files_are_listed_by_path_without_hidden_ones(tmp_path) -> None:
    for name in ("b.PARQUET", "a/z.parquet", "a/.hidden.parquet", "_attempts/c.parquet", "a/text.txt"):
        write(str(tmp_path / name), b"")
    listed = storage.files_under(str(tmp_path))
    assert [info.path.removeprefix(f"{tmp_path}/") for info in listed] == ["a/z.parquet", "b.PARQUET"]
    (single,) = storage.files_under(str(tmp_path / "a" / "text.txt"))
    assert single.path.endswith("text.txt"), "a file that is named is taken whatever its suffix"
    (tmp_path / "none").mkdir()
    with pytest.raises(InputError, match=r"holds no \*\.parquet"):
        storage.files_under(str(tmp_path / "none"))
    with pytest.raises(InputError, match=r"there is no such file or folder; expected \*\.parquet"):
        storage.files_under(str(tmp_path / "nowhere"))
