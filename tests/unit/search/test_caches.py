"""Folders of machine code: nobody but the user can have written what lies in them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from verale.search.caches import OpenToOthersError, own_folder, require_own_files


def give_away(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file belong to somebody else; without root's rights, all files."""
    if os.geteuid() == 0:
        os.chown(path, 12345, -1)
    else:
        other = os.geteuid() + 1
        monkeypatch.setattr(os, "geteuid", lambda: other)


def test_what_is_created_is_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        made = own_folder(tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert made == (tmp_path / "a" / "b").resolve()
    assert [stat.S_IMODE(each.stat().st_mode) for each in (made.parent, made)] == [0o700, 0o700]
    assert own_folder(made) == made


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
@pytest.mark.parametrize("at", ["", "a", "a/b"])
def test_a_folder_that_others_may_write_to_is_refused_wherever_it_stands(at: str, mode: int, tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / at).chmod(mode)
    with pytest.raises(OpenToOthersError, match=f"others may write to {tmp_path / at}: "):
        own_folder(tmp_path / "a" / "b")


def test_nothing_is_created_in_a_folder_that_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(OpenToOthersError, match=f"chmod go-w {tmp_path}$"):
        own_folder(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_in_a_sticky_folder_what_is_the_users_stays_the_users(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert own_folder(tmp_path / "a")
    with pytest.raises(OpenToOthersError, match="remove it"):
        own_folder(tmp_path)  # here others could place files


@pytest.mark.parametrize("at", ["a", "a/b"])
def test_a_folder_of_somebody_else_is_refused(at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    give_away(tmp_path / at, monkeypatch)
    with pytest.raises(OpenToOthersError, match="belongs to another user"):
        own_folder(tmp_path / "a" / "b")


def test_a_link_is_followed_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    (tmp_path / "own").mkdir()
    for name in ("open", "own"):
        (tmp_path / f"to-{name}").symlink_to(name)
    with pytest.raises(OpenToOthersError, match=f"others may write to {tmp_path}/open"):
        own_folder(tmp_path / "to-open" / "a")
    assert own_folder(tmp_path / "to-own" / "a") == (tmp_path / "own" / "a").resolve()


def test_files_that_others_may_have_written_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "code").touch()
    require_own_files(tmp_path)
    (tmp_path / "code").chmod(0o666)
    tmp_path.chmod(0o700)
    require_own_files(tmp_path)  # nobody else reaches it
    tmp_path.chmod(0o755)
    with pytest.raises(OpenToOthersError, match=f"written {tmp_path}/code: remove {tmp_path}$"):
        require_own_files(tmp_path)
    (tmp_path / "code").unlink()
    (tmp_path / "link").symlink_to("elsewhere")
    tmp_path.chmod(0o700)
    with pytest.raises(OpenToOthersError, match="link"):
        require_own_files(tmp_path)
    (tmp_path / "link").unlink()
    (tmp_path / "foreign").touch()
    give_away(tmp_path / "foreign", monkeypatch)
    with pytest.raises(OpenToOthersError, match="foreign"):
        require_own_files(tmp_path)
