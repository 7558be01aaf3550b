"""Caches: folders of machine code, which runs whatever was written there. So nobody else may write there."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from verale.errors import VeraleError

__all__ = ["OpenToOthersError", "own_folder", "require_own_files"]


class OpenToOthersError(VeraleError):
    """A folder whose content somebody else may have written."""


def own_folder(path: str | Path) -> Path:
    """A folder with links followed, in which nobody but this user and root can place or replace anything.

    What does not exist is created with mode 0700. The folder and those above it belong to this user or to root, and
    nobody else may write to them. Those above may be sticky instead, as /tmp is: there nobody renames what others own.

    Raises:
        OpenToOthersError: somebody else can, or the path is relative; it names the folder.
        OSError: the folder cannot be created.
    """
    if not os.path.isabs(path):  # such as that of a user without a home
        raise OpenToOthersError(f"{path} would lie in the current folder, which may be a stranger's")
    folder = Path(os.path.realpath(path))
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    for each in (*folder.parents, folder):
        if each not in missing:
            _require_own(each, each == folder)
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
        _require_own(each, each == folder)  # in a sticky folder somebody else may have been first
    return folder


def require_own_files(folder: Path) -> None:
    """Raise OpenToOthersError unless all that lies in a folder are files that only this user or root can have written.

    An older version, or a user, may have let others write to the folder.
    """
    others_enter = bool(folder.stat().st_mode & 0o011)
    for each in folder.iterdir():
        status = each.lstat()
        written = others_enter and status.st_mode & 0o022
        if not stat.S_ISREG(status.st_mode) or not _is_own(status) or written:
            raise OpenToOthersError(f"somebody else may have written {each}: remove {folder}")


def _require_own(folder: Path, is_last: bool) -> None:
    status = folder.lstat()
    if not _is_own(status):
        raise OpenToOthersError(f"{folder} belongs to another user")
    shared = status.st_mode & 0o022 and not (status.st_mode & stat.S_ISVTX and not is_last)
    if shared and hasattr(os, "geteuid"):
        raise OpenToOthersError(f"others may write to {folder}: {'remove it' if is_last else f'chmod go-w {folder}'}")


def _is_own(status: os.stat_result) -> bool:
    """Whether something belongs to this user or to root. On Windows, where modes say nothing of others, all does: the
    folders of a user's profile are the user's."""
    return not hasattr(os, "geteuid") or status.st_uid in (os.geteuid(), 0)
