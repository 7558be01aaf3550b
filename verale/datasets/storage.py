"""Storage: files by path or URI, on this machine or wherever fsspec and pyarrow reach (`s3://`, `zip://...::...`)."""

from __future__ import annotations

import os
import posixpath
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from verale.errors import InputError, first_line
from verale.files import SentFile, open_regular

if TYPE_CHECKING:
    from pyarrow import NativeFile
    from pyarrow.fs import FileInfo, FileSystem


def resolve(path: str) -> tuple[FileSystem, str]:
    """The file system of a path or URI, and the path in it; of a `SentFile` one. Raises InputError: no file system
    serves the URI."""
    from pyarrow.fs import LocalFileSystem

    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(path, "is not UTF-8, which the name of a Parquet file or a URI must be; rename it") from None
    if "://" in path:
        return _resolve_uri(path)
    inner = os.path.abspath(path)
    return LocalFileSystem(), SentFile(inner, path.folder.absolute()) if isinstance(path, SentFile) else inner


@lru_cache(maxsize=1024)
def _resolve_uri(path: str) -> tuple[FileSystem, str]:
    """The same for a URI, which means the same wherever the process is."""
    from pyarrow import ArrowInvalid
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    try:
        with suppress(ArrowInvalid):  # pyarrow does not know the scheme; fsspec knows more of them
            resolved: tuple[FileSystem, str] = FileSystem.from_uri(path)
            return resolved
        from fsspec.core import url_to_fs

        files, inner = url_to_fs(path)
    except (ValueError, ImportError, OSError) as error:
        raise InputError(path, f"cannot be reached ({first_line(error)})") from error
    return PyFileSystem(FSSpecHandler(files)), inner


def info_of(path: str) -> FileInfo:
    """What a path is: a file, a directory or nothing. Raises InputError."""
    files, inner = resolve(path)
    try:
        return files.get_file_info(inner)
    except OSError as error:
        raise InputError(path, f"cannot be reached ({first_line(error)})") from error


def files_under(path: str) -> list[FileInfo]:
    """A file itself, or the Parquet files in a directory, at any depth, sorted by path, but for those in whose paths a
    name begins with `.` or `_`. Raises InputError: there is none."""
    from pyarrow.fs import FileSelector

    files, root = resolve(path)
    info = info_of(path)
    if info.type.name in ("File", "Unknown"):  # unknown are pipes, sockets and devices, to be refused when opened
        return [info]
    if info.type.name == "NotFound":
        raise InputError(path, "there is no such file or folder; expected *.parquet")
    inside: list[FileInfo] = files.get_file_info(FileSelector(root, recursive=True))
    try:
        matches = [
            one
            for one in inside
            if one.type.name in ("File", "Unknown")
            and one.path.lower().endswith(".parquet")
            and not any(part.startswith((".", "_")) for part in one.path[len(root) :].split("/"))
        ]
    except UnicodeDecodeError:
        raise InputError(path, "holds a file whose name is not UTF-8; rename it") from None
    if not matches:
        raise InputError(path, "holds no *.parquet")
    return sorted(matches, key=lambda one: str(one.path))


def open_file(files: FileSystem, inner: str) -> NativeFile:
    """A file of a file system opened for reading; on this machine only a regular one. Raises OSError."""
    from pyarrow import PythonFile
    from pyarrow.fs import LocalFileSystem

    if isinstance(files, LocalFileSystem):
        return PythonFile(open_regular(inner), mode="r")
    return files.open_input_file(inner)


def reason(error: Exception) -> str:
    """Why a file cannot be read, on one line: the system's reason where it gives one."""
    return getattr(error, "strerror", None) or first_line(error)


@contextmanager
def open_output(path: str) -> Iterator[NativeFile]:
    """A temporary file to write, renamed to `path` at the end; its directory is created. Raises InputError."""
    files, inner = resolve(path)
    folder, name = posixpath.split(inner)
    temporary = posixpath.join(folder, f".{name}.{uuid.uuid4().hex}")
    try:
        files.create_dir(folder, recursive=True)
        try:
            with files.open_output_stream(temporary) as stream:
                yield stream
            files.move(temporary, inner)
        except BaseException:
            with suppress(OSError):
                files.delete_file(temporary)
            raise
    except (OSError, NotImplementedError) as error:
        raise InputError(path, f"cannot be written ({first_line(error)}); choose another location") from error
