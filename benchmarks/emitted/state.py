"""The state of a run: a file of JSON lines, first what all cases depend on, then a line for each case in order."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from verale.checker.file_auditor import checker_digest

__all__ = ["StateError", "depends_on", "opened"]

_ROOT = Path(__file__).resolve().parents[2]
_SEARCH = ("bounds", "certificate", "head", "rounding", "search", "paradigms.py", "files.py", "errors.py")
_CASES = ("soundness/combinations.py",)


class StateError(Exception):
    """The file is no state of this run."""


def depends_on(images: int) -> dict[str, Any]:
    """What the outcome of a case depends on: the sources of search, checker and cases, and versions."""
    package, own = _ROOT / "verale", Path(__file__).parent
    return {
        "search": _digest(package, [package / name for name in _SEARCH]),
        "checker": checker_digest(),
        "cases": _digest(_ROOT, [*(package / name for name in _CASES), own / "case.py"]),
        "images": images,
        "python": platform.python_version(),
        **{name: version(name) for name in ("torch", "python-flint", "mpmath")},
    }


def _digest(root: Path, sources: list[Path]) -> str:
    """SHA-256 of what `sha256sum` prints for the Python files among or under some paths, sorted by path."""
    files = [file for source in sources for file in (source.rglob("*.py") if source.is_dir() else [source])]
    named = sorted((file.relative_to(root).as_posix(), file.read_bytes()) for file in files)
    listed = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in named)
    return hashlib.sha256(listed.encode()).hexdigest()


@contextmanager
def opened(path: Path, header: dict[str, Any]) -> Iterator[tuple[list[dict[str, Any]], IO[bytes]]]:
    """The records of a state, and the file to append others to; a new file where there is none.

    A last line without its end was being written when a run was stopped: it is cut off.

    Raises:
        StateError: the state is of other sources, versions or images, or it is not a state.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        file.seek(0)
        data = file.read()
        whole = data.rfind(b"\n") + 1
        lines = _checked(path, data[:whole], header) if whole else []
        if not whole and not _line(header).startswith(data):
            raise StateError(f"{path} is not a state of this run: choose another --out")
        file.truncate(whole)
        if not whole:
            append(file, header)
        yield lines[1:], file


def _checked(path: Path, data: bytes, header: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of a state. Raises StateError."""
    try:
        first, *records = [dict(json.loads(line)) for line in data.splitlines()]
        numbers = [record["case"] for record in records]
    except (ValueError, TypeError, KeyError) as error:
        raise StateError(f"{path} is not a state of this run ({error}): choose another --out") from error
    if first != header:
        other = [name for name in header if first.get(name) != header[name]]
        raise StateError(
            f"{path} is of another {', '.join(other)}: its cases and new ones are not one run; choose another --out, or"
            " remove it to start again"
        )
    if numbers != list(range(len(numbers))):
        raise StateError(f"{path} does not have one line for each case in order: choose another --out")
    return [first, *records]


def append(file: IO[bytes], record: dict[str, Any]) -> None:
    """Write one line, whole, to the disk."""
    file.write(_line(record))
    os.fsync(file.fileno())


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"
