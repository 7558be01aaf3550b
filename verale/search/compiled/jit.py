"""Compilation: kernels become machine code when they are first called, and are kept where the user can write."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from filelock import FileLock
from numba.core import event

__all__ = ["entry", "part"]

_log = logging.getLogger(__name__)

_OURS = re.compile(r"compiled-[0-9a-f]{16}")
_KEPT_SECONDS = 30 * 24 * 3600

F = TypeVar("F", bound=Callable[..., Any])


def part(function: F) -> F:
    """A function that entries call."""
    return _compiled(function)


def entry(function: F) -> F:
    """A function that Python calls; when a process first has to compile something for one, it says so."""
    compiled: Any = _compiled(function)

    def call(*arguments: Any) -> Any:
        if getattr(compiled, "signatures", True):  # numba may be told not to compile
            return compiled(*arguments)
        with event.install_listener("numba:compile", _Announcement()):
            return compiled(*arguments)

    return cast(F, call)


def _compiled(function: F) -> F:
    """A function that is compiled when it is first called, or read from the cache.

    Without `fastmath`, so that the same numbers come out on every processor.
    """
    settings: Any = numba.config
    folder, before = _folder(), settings.CACHE_DIR
    settings.CACHE_DIR = "" if folder is None else str(folder)
    try:
        compiled: Any = numba.njit(error_model="numpy", nogil=True, cache=folder is not None)(function)
    finally:
        settings.CACHE_DIR = before
    if folder is not None:
        _save_alone(compiled._cache, folder)
    return cast(F, compiled)


def _save_alone(cache: Any, folder: Path) -> None:
    """Let one process at a time save machine code in a folder.

    numba numbers what it saves for a function, by the arguments' types, and reads the list of numbers before it writes
    it. Two processes that do so at once may give one number to machine code for different types. What cannot be locked
    is not saved.
    """
    save = cache.save_overload

    def save_overload(*given: Any) -> None:
        with suppress(OSError, NotImplementedError), FileLock(folder / "saving.lock"):
            save(*given)

    cache.save_overload = save_overload


@cache
def _folder() -> Path | None:
    """Where machine code is kept; None if nothing can be written there.

    It has the sources' digest in its name: numba does not see it when a function that another one calls changes.
    """
    sources = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(path.read_bytes())
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(caches) / "verale" / f"compiled-{sources.hexdigest()[:16]}"
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if is_new:
            _remove_older(folder)
        return folder
    except OSError:
        return None


def _remove_older(folder: Path) -> None:
    """Remove the machine code of earlier sources beside a new folder, unless it was used within a month: another
    environment may have another version of verale."""
    with suppress(OSError):  # another process may do the same
        for other in folder.parent.iterdir():
            if _OURS.fullmatch(other.name) and other != folder and not other.is_symlink():
                files = [path for path in other.rglob("*") if path.is_file()]  # looking into a folder uses it
                used = max((path.stat().st_atime for path in files), default=other.stat().st_mtime)
                if used < time.time() - _KEPT_SECONDS:
                    shutil.rmtree(other, ignore_errors=True)


class _Announcement(event.Listener):
    """Says once in a process that something is compiled."""

    said = False

    def on_start(self, event: Any) -> None:
        if not _Announcement.said:
            _Announcement.said = True
            folder = _folder()
            kept = "not kept: no cache can be written" if folder is None else f"kept in {folder}"
            _log.warning("the search is compiled, which may take a minute; it is %s", kept)

    def on_end(self, event: Any) -> None:
        pass
