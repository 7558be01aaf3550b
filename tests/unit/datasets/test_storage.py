"""Storage: paths and URIs behave alike; nobody sees half a file."""

from __future__ import annotations

import zipfile

import pytest

from verale.datasets import storage
from verale.errors import InputError


def write(path: str, data: bytes) -> None:
    with storage.open_output(path) as stream:
        stream.write(data)


def read(path: str) -> bytes:
    with storage.open_file(*storage.resolve(path)) as stream:
        return stream.read()


def test_names_join_the_first_part_of_a_chained_uri() -> None:
    assert storage.join("/a", "b") == "/a/b"
    assert storage.join("s3://bucket/a", "b") == "s3://bucket/a/b"
    assert storage.join("zip://a::s3://bucket/x.zip", "b") == "zip://a/b::s3://bucket/x.zip"


@pytest.mark.parametrize("prefix", ["", "file://"])
def test_what_is_written_is_read(prefix, tmp_path) -> None:
    path = f"{prefix}{tmp_path}/new/folder/x"
    assert not storage.exists(path)
    write(path, b"abc")
    assert storage.exists(path)
    assert read(path) == b"abc"


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


def test_files_in_an_archive(tmp_path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("inside/a.txt", "abc")
    path = f"zip://inside::{tmp_path}/x.zip"
    assert read(storage.join(path, "a.txt")) == b"abc"
    with pytest.raises(InputError, match=r"cannot be written .*choose another location"):
        write(storage.join(path, "b.txt"), b"")


def test_what_cannot_be_reached_is_named() -> None:
    with pytest.raises(InputError, match=r"nowhere://a: cannot be reached"):
        storage.resolve("nowhere://a")
