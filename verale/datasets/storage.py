"""Places: files here, or where fsspec and pyarrow reach: `s3://`, `gs://`, `file://`, `zip://...::...`."""

from __future__ import annotations

import os
import posixpath
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from verale.errors import InputError, first_line

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem

__all__ = [
    "at",
    "beneath",
    "files_under",
    "is_folder",
    "is_there",
    "opened",
    "read_bytes",
    "replaced",
    "stamp",
    "write_bytes",
]


@lru_cache(maxsize=1024)
def at(path: str) -> tuple[FileSystem, str]:
    """The file system of a path or URI, and the path there. Raises InputError: a URI that nothing here reaches."""
    from pyarrow import ArrowInvalid
    from pyarrow.fs import FileSystem, FSSpecHandler, LocalFileSystem, PyFileSystem

    if "://" not in path:
        return LocalFileSystem(), os.path.abspath(path)
    try:
        found: tuple[FileSystem, str] = FileSystem.from_uri(path)
        return found
    except ArrowInvalid:
        pass  # no scheme of pyarrow's; fsspec knows more
    except OSError as error:
        raise InputError(path, f"cannot be reached ({first_line(error)})") from error
    from fsspec.core import url_to_fs

    try:
        files, place = url_to_fs(path)
    except (ValueError, ImportError, OSError) as error:
        raise InputError(path, f"cannot be reached ({first_line(error)})") from error
    return PyFileSystem(FSSpecHandler(files)), place


def beneath(path: str, name: str) -> str:
    """A name inside a directory, given as path or URI; of a chained one (`zip://a::b.zip`) inside its first part."""
    first, chain, rest = path.partition("::")
    return posixpath.join(first, name) + chain + rest


def is_there(path: str) -> bool:
    """Whether there is a file or a directory."""
    return bool(_info(path).type.name != "NotFound")


def is_folder(path: str) -> bool:
    """Whether there is a directory."""
    return bool(_info(path).type.name == "Directory")


def files_under(path: str, suffix: str | tuple[str, ...]) -> list[FileInfo]:
    """The file itself, or those of a directory, at any depth, that end so, by name; not hidden ones, nor `_...`.

    Raises InputError if there is none.
    """
    from pyarrow.fs import FileSelector

    files, place = at(path)
    info = _info(path)
    wanted = ", ".join(f"*{each}" for each in ((suffix,) if isinstance(suffix, str) else suffix))
    if info.type.name == "File":
        return [info]
    if info.type.name == "NotFound":
        raise InputError(path, f"there is no such file or folder; expected {wanted}")
    inside: list[FileInfo] = files.get_file_info(FileSelector(place, recursive=True))
    found = [
        one
        for one in inside
        if one.type.name == "File" and one.path.lower().endswith(suffix) and not _is_hidden(one.path[len(place) :])
    ]
    if not found:
        raise InputError(path, f"holds no {wanted}")
    return sorted(found, key=lambda one: str(one.path))


def opened(path: str) -> NativeFile:
    """A file to read parts of. Raises InputError."""
    files, place = at(path)
    try:
        return files.open_input_file(place)
    except OSError as error:
        raise InputError(path, f"cannot be read ({first_line(error)})") from error


def read_bytes(path: str, kind: str) -> bytes:
    """The bytes of a file. Raises InputError that names it, and what it was to be."""
    try:
        with opened(path) as stream:
            data: bytes = stream.read()
            return data
    except OSError as error:
        raise InputError(path, f"cannot be read ({first_line(error)}); expected {kind}") from error


def write_bytes(path: str, data: bytes) -> None:
    """Write a file, as `replaced`."""
    with replaced(path) as stream:
        stream.write(data)


@contextmanager
def replaced(path: str) -> Iterator[NativeFile]:
    """A file to write, beside its place, which is then moved there; its directory is made. Raises InputError."""
    files, place = at(path)
    folder, name = posixpath.split(place)
    beside = posixpath.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        files.create_dir(folder, recursive=True)
        try:
            with files.open_output_stream(beside) as stream:
                yield stream
            files.move(beside, place)
        except BaseException:
            with suppress(OSError):
                files.delete_file(beside)
            raise
    except (OSError, NotImplementedError) as error:
        raise InputError(path, f"cannot be written ({first_line(error)}); choose a place that can") from error


def stamp(files: list[FileInfo]) -> list[list[object]]:
    """What tells whether files have changed since: names, sizes, times."""
    return [[one.path, one.size, one.mtime_ns] for one in files]


def _info(path: str) -> FileInfo:
    files, place = at(path)
    try:
        return files.get_file_info(place)
    except OSError as error:
        raise InputError(path, f"cannot be reached ({first_line(error)})") from error


def _is_hidden(relative: str) -> bool:
    return any(part.startswith((".", "_")) for part in relative.split("/"))
