"""Compilation: kernels become machine code when they are first called, and are kept where the user can write."""

from __future__ import annotations

import gc
import hashlib
import logging
import os
import platform
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

from filelock import FileLock

from verale.search.caches import OpenToOthersError, own_folder, require_own_files
from verale.search.compiled.bundles import bundled
from verale.search.compiled.parts import OPTIONS, Compiler
from verale.search.compiled.settings import import_numba

numba = import_numba()

from numba.core import caching, codegen, config, event  # noqa: E402

__all__ = ["entry", "note_warm", "state"]

_settings: Any = config
_settings.CACHE_LOCATOR_CLASSES = ""  # a variable of numba's would take the place of the cache below

_log = logging.getLogger(__name__)

_OURS = re.compile(r"compiled-[0-9a-f]{16}")
_KEPT_SECONDS = 30 * 24 * 3600
_WARM = "warm"
_WAIT = 120.0
"""Seconds; compiling takes a small part of it."""
_REMEDY = "name a folder that is yours alone in XDG_CACHE_HOME"

F = TypeVar("F", bound=Callable[..., Any])


def entry(function: F) -> F:
    """A function that Python calls; when a process first has to compile something for one, it says so."""
    compiled: Any = _compiled(function)

    def call(*arguments: Any) -> Any:
        if not hasattr(compiled, "signatures"):  # numba may be told not to compile
            return compiled(*arguments)
        arguments = tuple(map(bundled, arguments))
        if compiled.signatures:
            return compiled(*arguments)
        with event.install_listener("numba:compile", _Announcement()), _without_collection(), _one_at_a_time():
            return compiled(*arguments)

    return cast(F, call)


def _compiled(function: F) -> F:
    """A function that is compiled when it is first called, or read from the cache."""
    compiled: Any = numba.jit(**OPTIONS, no_cfunc_wrapper=True, pipeline_class=Compiler)(function)
    kept: Any = _Kept
    if _folder() is not None:
        compiled._cache = kept(function)
    return cast(F, compiled)


@contextmanager
def _one_at_a_time() -> Iterator[None]:
    """Of the processes that use one cache, one compiles at a time: the others wait, and then read what it has kept; not
    for ever, since one that is stopped may hold the lock."""
    lock = None if _folder() is None else FileLock(str(_folder()) + "/compiling.lock")
    with suppress(OSError, NotImplementedError):  # what cannot be locked is compiled by each
        if lock is not None:
            lock.acquire(timeout=_WAIT)
    try:
        yield
    finally:
        if lock is not None:
            lock.release()


@contextmanager
def _without_collection() -> Iterator[None]:
    """Nothing of what is made while compiling can be collected: looking for it again and again takes time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _Place(caching._CacheLocator):
    """Where numba looks for a function's machine code: in one folder, wherever the sources are.

    Workers on a cluster have them somewhere else in each session.
    """

    def __init__(self, function: Any, path: str) -> None:
        self._py_file, self._lineno = path, function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Place:
        return cls(py_func, py_file)

    def get_cache_path(self) -> str:
        return str(_folder())

    def get_source_stamp(self) -> str:
        return hashlib.sha256(Path(self._py_file).read_bytes()).hexdigest()

    def get_disambiguator(self) -> str:
        return str(self._lineno)


class _Code(caching.CompileResultCacheImpl):
    _locator_classes: list[Any] = [_Place]  # noqa: RUF012, numba's own is one


class _Kept(caching.FunctionCache):
    """Machine code of a function. One process at a time saves some.

    numba numbers what it saves for a function, by the arguments' types, and reads the list of numbers before it writes
    it. Two processes that do so at once may give one number to machine code for different types. What cannot be locked
    is not saved.
    """

    _impl_class = _Code

    def save_overload(self, sig: Any, data: Any) -> None:
        save: Any = super().save_overload
        with suppress(OSError, NotImplementedError), FileLock(Path(self.cache_path) / "saving.lock"):
            save(sig, data)


def _folder() -> Path | None:
    """Where machine code is kept; None if it is not."""
    place = _place()
    return place if isinstance(place, Path) else None


def note_warm() -> None:
    """Note in the cache that it has all that any head needs."""
    folder = _folder()
    if folder is not None:
        (folder / _WARM).write_text(_machine())


def state() -> tuple[bool, str]:
    """Whether the cache has all that any head needs on this machine; where it is, or why there is none."""
    folder = _folder()
    if folder is None:
        return False, f"not kept: {_place()}"
    noted = folder / _WARM
    return noted.exists() and noted.read_text() == _machine(), str(folder)


def _machine() -> str:
    """What machine code depends on, besides the sources."""
    return " ".join((numba.__version__, platform.python_version(), codegen.ll.get_host_cpu_name()))


@cache
def _place() -> Path | str:
    """Where machine code is kept, or why it is not: nothing can be written there, or others may write there too.

    It has the sources' digest in its name: numba does not see it when a function that another one calls changes.
    """
    sources = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(path.read_bytes())
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = Path(caches) / "verale" / f"compiled-{sources.hexdigest()[:16]}"
    try:
        is_new = not folder.exists()
        folder = own_folder(folder)
        require_own_files(folder)
        with tempfile.TemporaryFile(dir=folder):
            pass
        if is_new:
            _remove_older(folder)
        return folder
    except OpenToOthersError as error:
        return f"{error}; or {_REMEDY}"
    except OSError:
        return f"no cache can be written, so every process compiles anew; {_REMEDY}"


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
            place = _place()
            kept = f"kept in {place}" if isinstance(place, Path) else f"not kept: {place}"
            _log.warning("the search is compiled, which may take a minute; it is %s", kept)

    def on_end(self, event: Any) -> None:
        pass
