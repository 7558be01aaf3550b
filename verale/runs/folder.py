"""A run's folder: one run's certificates and table, never two's, whatever interrupted it.

`run.json` says which run: everything that its results depend on. A certificate is written under its name only when it
is whole, and counts once the table has its line, which holds its digest. So what is there after an interruption, be it
by Ctrl-C, kill -9 or a full disk, is known, and the rest can be explained as if nothing had happened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from verale.errors import InputError
from verale.files import read, write_atomically
from verale.runs.table import TABLE, Explained, csv_lines, read_table

__all__ = ["RUN_FILE", "SOURCE", "RunFolder", "certificate_name", "locked", "require_free"]

RUN_FILE = "run.json"
SOURCE = "source.json"
"""Where latents that lie in the folder are from (`verale.runs.images`)."""

_REMEDY = "choose another --out, or say --overwrite"


def certificate_name(index: int) -> str:
    """The certificate's file of an image."""
    return f"{index:06d}.ale.json"


def require_free(directory: Path, holds: str = "certificates") -> None:
    """Raise InputError if a run's results are in the folder already."""
    if any(directory.glob("*.ale.json")) or (directory / TABLE).exists() or (directory / RUN_FILE).exists():
        raise InputError(directory, f"holds {holds} already; {_REMEDY}")


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Make the folder, and keep other processes that ask likewise out of it. Raises InputError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(directory, f"cannot be made ({error.strerror}); choose another --out") from error
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ModuleNotFoundError:  # pragma: no cover (Windows: no lock)
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            flock(handle, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            raise InputError(directory, "another process explains into it; wait, or choose another --out") from None
        yield
    finally:
        os.close(handle)


class RunFolder:
    """The folder of a run of `images` images, treated `batch` at a time.

    Args:
        run: what the run's results depend on, as plain data.
        overwrite: whether what is there, of whatever run, is removed.

    Attributes:
        found: what is there of each image whose batch is complete, by index.

    Raises:
        InputError: the folder holds another run's files, or cannot be written.
    """

    def __init__(self, directory: Path, run: dict[str, Any], images: int, batch: int, overwrite: bool = False) -> None:
        self._directory, self._table = directory, directory / TABLE
        if overwrite:
            self._clear()
        elif (directory / RUN_FILE).exists():
            self._require_same(run, images)
        else:
            require_free(directory)
        if not (directory / RUN_FILE).exists():
            write_atomically(directory / RUN_FILE, (json.dumps(run, indent=1) + "\n").encode())
        self.found = self._whole_batches(images, batch)
        self._leave()

    def add(self, certificates: Sequence[tuple[str, bytes]], rows: Sequence[Explained]) -> None:
        """Write a batch's certificates (name, bytes), then its lines, which make them count. Raises InputError."""
        for name, data in certificates:
            write_atomically(self._directory / name, data)
        try:
            with self._table.open("a", encoding="utf-8", newline="") as stream:
                stream.write(csv_lines(rows))
        except OSError as error:
            raise InputError(
                self._table, f"cannot be written ({error.strerror}); make room, and the same command goes on"
            ) from error
        self.found |= {row.index: row for row in rows}

    def finish(self) -> None:
        """Put the lines of the table in order."""
        self._write_table()

    def _clear(self) -> None:
        """Remove what an earlier run left: the table first, so that nothing counts that is gone; `run.json` last."""
        for path in (self._table, *self._directory.glob("*.ale.json"), self._directory / RUN_FILE):
            path.unlink(missing_ok=True)

    def _require_same(self, run: dict[str, Any], images: int) -> None:
        path = self._directory / RUN_FILE
        try:
            there = json.loads(read(path, "the description of a run"))
            different = [key for key in run | there if run.get(key) != there.get(key)]
        except (ValueError, TypeError) as error:
            raise InputError(path, f"is not what verale explain writes ({error}); {_REMEDY}") from error
        if different:
            told = ", ".join(f"{key} {_brief(there.get(key))} there, {_brief(run.get(key))} here" for key in different)
            raise InputError(self._directory, f"holds certificates of another run ({told}); {_REMEDY}")
        own = {certificate_name(index) for index in range(images)}
        foreign = sorted(path.name for path in self._directory.glob("*.ale.json") if path.name not in own)
        if foreign:
            raise InputError(self._directory, f"holds {foreign[0]}, which is not of this run; move it, or {_REMEDY}")

    def _whole_batches(self, images: int, batch: int) -> dict[int, Explained]:
        rows = read_table(self._table, whole=False) if self._table.exists() else []
        there = {row.index: row for row in rows if self._is_there(row)}
        batches = [range(start, min(start + batch, images)) for start in range(0, images, batch)]
        return {index: there[index] for part in batches if all(index in there for index in part) for index in part}

    def _is_there(self, row: Explained) -> bool:
        """Whether the image was explained: its certificate is there with the digest noted, or there is none."""
        if row.certificate is None:
            return row.reason is not None
        if row.certificate != certificate_name(row.index):
            return False
        try:
            data = (self._directory / certificate_name(row.index)).read_bytes()
        except OSError:
            return False
        return hashlib.sha256(data).hexdigest() == row.sha256

    def _leave(self) -> None:
        """Remove certificates that do not count, and what was half-written; leave the lines that count."""
        keep = {row.certificate for row in self.found.values()}
        for path in (*self._directory.glob("*.ale.json"), *self._directory.glob(".*.ale.json.*")):
            if path.name not in keep:
                path.unlink()
        self._write_table()

    def _write_table(self) -> None:
        lines = csv_lines([self.found[index] for index in sorted(self.found)], heading=True).encode()
        if not self._table.exists() or self._table.read_bytes() != lines:
            write_atomically(self._table, lines)


def _brief(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 16 else f"{text[:12]}..."
