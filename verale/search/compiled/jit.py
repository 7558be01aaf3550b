"""Compilation: kernels become machine code when they are first called, and are kept where the user can write."""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import event

__all__ = ["entry", "part"]

_log = logging.getLogger(__name__)

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
    return cast(F, compiled)


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
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError:
        return None


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
