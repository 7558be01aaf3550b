"""Files: reading names what was expected; writing leaves either the old file or the new one."""

from __future__ import annotations

import os

import pytest

from verale.errors import InputError
from verale.files import certificate_index, certificate_name, certificates_in, read, require_writable, write_atomically


def test_certificates_are_named_by_index(tmp_path) -> None:
    assert [certificate_name(index) for index in (0, 1234567)] == ["000000.ale.json", "1234567.ale.json"]
    for name in ("b.ale.json", "a.ale.json", ".a.ale.json.tmp", "c.json"):
        (tmp_path / name).write_bytes(b"")
    assert certificates_in(tmp_path) == [tmp_path / "a.ale.json", tmp_path / "b.ale.json"]


def test_an_index_is_read_from_a_name_that_is_a_number() -> None:
    assert [certificate_index(certificate_name(index)) for index in (0, 42, 1234567)] == [0, 42, 1234567]
    for name in ("a.ale.json", "-1.ale.json", "1.5.ale.json", "\u0663.ale.json", "9" * 16 + ".ale.json", ".ale.json"):
        assert certificate_index(name) is None


def test_a_file_is_read_up_to_a_limit(tmp_path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert read(tmp_path / "x", "text") == b"abc"
    assert read(tmp_path / "x", "text", 2) == b"ab"
    with pytest.raises(InputError, match="nowhere: there is no such file; expected text"):
        read(tmp_path / "nowhere", "text")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\); expected text"):
        read(tmp_path, "text")


def test_a_write_that_fails_changes_nothing(tmp_path, monkeypatch) -> None:
    write_atomically(tmp_path / "new" / "x", b"before")

    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(InputError, match=r"x: cannot be written \(No space left on device\)"):
        write_atomically(tmp_path / "new" / "x", b"after")
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["x"]
    assert (tmp_path / "new" / "x").read_bytes() == b"before"


def test_whether_a_file_can_be_written_is_known_before(tmp_path) -> None:
    require_writable(tmp_path / "new" / "x")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(InputError, match="is a folder, expected the name of a file to write"):
        require_writable(tmp_path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="cannot be written"):
        require_writable(tmp_path / "file" / "x")
