"""Files: read with a clear error, written beside their place and then renamed."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from verale.errors import InputError

__all__ = ["read", "require_writable", "write_atomically"]


def read(path: str | Path, kind: str, limit: int = -1) -> bytes:
    """The bytes of a file, or the first `limit` of them. Raises InputError that names the file, what it was to be, and
    the remedy."""
    try:
        with Path(path).open("rb") as stream:
            return stream.read(limit)
    except FileNotFoundError:
        raise InputError(path, f"there is no such file; expected {kind}") from None
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror}); expected {kind}") from error


def require_writable(path: str | Path) -> None:
    """Raise InputError unless a file can be written there: to be asked before the work, not after it."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise InputError(path, "is a folder, expected the name of a file to write")
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise _unwritable(path, error) from error


def write_atomically(path: str | Path, data: bytes) -> None:
    """Write a file so that nobody ever sees half of it, not even after a crash. Raises InputError."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            os.chmod(beside, 0o644)
            os.replace(beside, path)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> InputError:
    return InputError(path, f"cannot be written ({error.strerror}); choose a folder that can")
