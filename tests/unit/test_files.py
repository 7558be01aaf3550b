"""Files: reading names what was expected; writing leaves either the old file or the new one."""

from __future__ import annotations

import os
import socket

import pytest

from verale.checker.file_auditor import file_digest
from verale.errors import InputError
from verale.files import (
    append_bytes,
    certificate_index,
    certificate_name,
    certificates_in,
    is_certificate_name,
    open_regular,
    read,
    remove_empty_folder,
    remove_file,
    require_writable,
    write_atomically,
)


def test_certificates_are_named_by_index(tmp_path) -> None:
    assert [certificate_name(index) for index in (0, 1234567)] == ["000000.ale.json", "1234567.ale.json"]
    assert [certificate_index(certificate_name(index)) for index in (0, 42, 1234567)] == [0, 42, 1234567]
    for name in ("a.ale.json", "-1.ale.json", "1.5.ale.json", "\u0663.ale.json", "9" * 16 + ".ale.json", ".ale.json"):
        assert certificate_index(name) is None
    for name in ("b.ale.json", "a.ale.json", ".a.ale.json.tmp", "c.json"):
        (tmp_path / name).write_bytes(b"")
    assert certificates_in(tmp_path) == [tmp_path / "a.ale.json", tmp_path / "b.ale.json"]


def test_a_file_is_read_up_to_a_limit(tmp_path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    assert read(tmp_path / "x", "text") == b"abc"
    assert read(tmp_path / "x", "text", 2) == b"ab"
    with pytest.raises(InputError, match="nowhere: there is no such file; expected text"):
        read(tmp_path / "nowhere", "text")
    with pytest.raises(InputError, match=r"cannot be read \(Is a directory\); expected text"):
        read(tmp_path, "text")


@pytest.mark.parametrize("what", ["pipe", "socket", "device"])
def test_only_regular_files_are_read_and_replaced(tmp_path, monkeypatch, what) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "x.ale.json"
    with socket.socket(socket.AF_UNIX) as served:
        match what:
            case "pipe":
                os.mkfifo(path)
            case "socket":
                served.bind(path.name)
            case "device":
                path.symlink_to("/dev/zero")
        assert certificates_in(tmp_path) == [path]
        reason = "No such device" if what == "socket" else "it is a pipe, socket or device; write its content to"
        with pytest.raises(InputError, match=rf"x.ale.json: cannot be read \({reason}"):
            read(path, "text")
        assert file_digest(str(path)) is None
        for write in (require_writable, lambda path: write_atomically(path, b"")):
            with pytest.raises(InputError, match="is a pipe, socket or device, expected the name of a file to write"):
                write(path)
    assert path.exists() and not path.is_file()


def test_a_link_is_neither_written_through_nor_replaced(tmp_path) -> None:
    (tmp_path / "x").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("x")
    (tmp_path / "dangling").symlink_to("nowhere")
    for name, target in (("link", "x"), ("dangling", "nowhere")):
        for write in (require_writable, lambda path: write_atomically(path, b"new")):
            with pytest.raises(InputError, match=f"{name}: is a link to {target}; name that file itself, or remove"):
                write(tmp_path / name)
        with pytest.raises(OSError, match=r"symbolic links|No such file"):
            append_bytes(tmp_path / name, b"new")
        assert os.readlink(tmp_path / name) == target
    assert (tmp_path / "x").read_bytes() == b"abc" and not (tmp_path / "nowhere").exists()
    remove_file(tmp_path / "link")
    assert (tmp_path / "x").read_bytes() == b"abc"


def test_a_temporary_file_of_a_known_name_is_the_beginning_of_its_data_or_in_the_way(tmp_path) -> None:
    (tmp_path / "begun").write_bytes(b"ne")
    write_atomically(tmp_path / "x", b"new", "begun")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", b"new")]
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "link").symlink_to("x")
    for name in ("mine", "link"):
        with pytest.raises(InputError, match=f"{name}: is in the way of x; move it away"):
            write_atomically(tmp_path / "x", b"newer", name)
    assert (tmp_path / "mine").read_bytes() == b"mine" and (tmp_path / "x").read_bytes() == b"new"


def test_a_folder_is_removed_only_if_it_is_empty(tmp_path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    assert not remove_empty_folder(tmp_path / "a") and remove_empty_folder(tmp_path / "a" / "b")
    with pytest.raises(InputError, match=r"b: cannot be removed \(No such file"):
        remove_file(tmp_path / "a" / "b")


def test_a_refused_file_is_closed(tmp_path) -> None:
    os.mkfifo(tmp_path / "x")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(OSError, match="it is a pipe"):
            open_regular(tmp_path / "x")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_write_that_fails_changes_nothing(tmp_path, monkeypatch) -> None:
    write_atomically(tmp_path / "new" / "x", b"before")

    def full(*arguments: object, **options: object) -> None:
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


@pytest.mark.parametrize("device", ["CON", "con", "Prn", "AUX", "NUL", "COM1", "lpt9", "COM\u00b9", "NUL .x", "CONIN$"])
def test_no_certificate_has_the_name_of_a_device(device: str) -> None:
    assert not is_certificate_name(f"{device}.ale.json")
    for name in (f"x{device}", f"_{device}", "console", "com10", "nul-1", "x.con"):
        assert is_certificate_name(f"{name}.ale.json")
