"""A run's folder: the certificates and the table of one run, never of two, whatever interrupted it.

`run.json` says which run it is: everything that the results depend on. A certificate gets its name only when it is
complete, and counts once the table has its line, which holds its digest. So after an interruption, be it Ctrl-C,
kill -9 or a full disk, it is known what is there, and the rest can be explained as if nothing had happened.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from verale.certificate import Certificate
from verale.errors import CertificateError, InputError
from verale.files import (
    CERTIFICATE_SUFFIX,
    LARGEST_LATENTS,
    certificate_name,
    certificates_in,
    read,
    require_writable,
    write_atomically,
)
from verale.runs.rows import reach_of
from verale.runs.table import TABLE, Explained, csv_lines, read_table

__all__ = [
    "HEAD",
    "LATENTS",
    "RUN_FILE",
    "SOURCE",
    "RunFolder",
    "locked",
    "require_free",
    "require_room",
    "write_results",
]

RUN_FILE = "run.json"
"""Which run the folder holds."""

HEAD, LATENTS, SOURCE = "head.safetensors", "latents.safetensors", "source.json"
"""Head and latents, where verale has made them from images, and where they come from (`verale.runs.source`)."""

_REMEDY = "choose another --out, or say --overwrite"


def require_free(directory: Path, holds: str = "certificates") -> None:
    """Raise InputError if a run's results are in the folder already."""
    if certificates_in(directory) or (directory / TABLE).exists() or (directory / RUN_FILE).exists():
        raise InputError(directory, f"holds {holds} already; {_REMEDY}")


def require_room(directory: Path, names: Sequence[str], overwrite: bool = False) -> None:
    """Raise InputError unless files of these names, and certificates, can be written to the folder. What they would
    replace is in their way, unless it may be replaced. Call this before long work, too."""
    require_writable(directory / names[0])
    if overwrite:
        return
    there = [path.name for path in certificates_in(directory)]
    there += [name for name in names if (directory / name).exists()]
    if there:
        raise InputError(directory, f"holds {there[0]} already; {_REMEDY}")


def write_results(directory: Path, names: Sequence[str], files: Mapping[str, bytes], overwrite: bool = False) -> None:
    """Write results that are no run: certificates, and files of certain names. Each file is whole or not there.

    The first of the names is removed first and written last: where it is, all the others are there too.

    Args:
        directory: the folder.
        names: of the files beside the certificates.
        files: by name, their bytes and those of the certificates.
        overwrite: whether to remove other results that are there.

    Raises:
        InputError: a folder that cannot be written, or that holds results already.
    """
    with locked(directory):
        require_room(directory, names, overwrite)
        own = [directory / name for name in names if name not in (HEAD, LATENTS)]  # those may be what was read
        for path in (*own[:1], *certificates_in(directory), *own[1:]):
            path.unlink(missing_ok=True)
        for name in sorted(files, key=lambda name: name == names[0]):
            write_atomically(directory / name, files[name])


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Create the folder, and keep out other processes that call this. Raises InputError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(directory, f"cannot be created ({error.strerror}); choose another --out") from error
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
    """The folder of a run of `images` images, explained `batch` at a time.

    Args:
        directory: the folder.
        run: what the run's results depend on, as plain data.
        images, batch: how many images the run has, and how many a batch.
        overwrite: whether to remove what the folder holds, of whatever run.
        prototypes: P of the head, for rows of older versions, which do not say how much statements bound.

    Attributes:
        rows: by index, the rows of images whose batch is complete.

    Raises:
        InputError: the folder holds another run's files, or cannot be written.
    """

    def __init__(
        self,
        directory: Path,
        run: dict[str, Any],
        images: int,
        batch: int,
        overwrite: bool = False,
        prototypes: int | None = None,
    ) -> None:
        self._directory, self._table, self._prototypes = directory, directory / TABLE, prototypes
        if overwrite:
            self._clear()
        elif (directory / RUN_FILE).exists():
            self._require_same(run, images)
        else:
            require_free(directory)
        if not (directory / RUN_FILE).exists():
            write_atomically(directory / RUN_FILE, (json.dumps(run, indent=1) + "\n").encode())
        self.rows = self._complete_batches(images, batch)
        self._remove_incomplete()

    def add(self, certificates: Sequence[tuple[str, bytes]], rows: Sequence[Explained]) -> None:
        """Write a batch's certificates (name, bytes), then its rows, which make them count. Raises InputError."""
        for name, data in certificates:
            write_atomically(self._directory / name, data)
        try:
            with self._table.open("a", encoding="utf-8", newline="") as stream:
                stream.write(csv_lines(rows))
        except OSError as error:
            raise InputError(
                self._table, f"cannot be written ({error.strerror}); free some space, then the same command continues"
            ) from error
        self.rows |= {row.index: row for row in rows}

    def finish(self) -> None:
        """Sort the rows of the table."""
        self._write_table()

    def _clear(self) -> None:
        """Remove an earlier run: the table first, so that no row outlives its certificate; `run.json` last."""
        for path in (self._table, *certificates_in(self._directory), self._directory / RUN_FILE):
            path.unlink(missing_ok=True)

    def _require_same(self, run: dict[str, Any], images: int) -> None:
        path = self._directory / RUN_FILE
        try:
            there = json.loads(read(path, "the description of a run"))
            different = [key for key in run | there if run.get(key) != there.get(key)]
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(path, f"is not what verale explain writes ({error}); {_REMEDY}") from error
        if different:
            both = ", ".join(f"{key} {_brief(there.get(key))} there, {_brief(run.get(key))} here" for key in different)
            raise InputError(self._directory, f"holds certificates of another run ({both}); {_REMEDY}")
        own = {certificate_name(index) for index in range(images)}
        foreign = [path.name for path in certificates_in(self._directory) if path.name not in own]
        if foreign:
            raise InputError(self._directory, f"holds {foreign[0]}, which is not of this run; move it, or {_REMEDY}")

    def _complete_batches(self, images: int, batch: int) -> dict[int, Explained]:
        rows = read_table(self._table, whole=False) if self._table.exists() else []
        usable = {row.index: row for row in map(self._usable, rows) if row is not None}
        batches = [range(start, min(start + batch, images)) for start in range(0, images, batch)]
        return {index: usable[index] for part in batches if all(index in usable for index in part) for index in part}

    def _usable(self, row: Explained) -> Explained | None:
        """The row if its image is explained: its certificate has the digest noted, or a reason says why it has none."""
        if row.certificate is None:
            return None if row.reason is None else row
        if row.certificate != certificate_name(row.index):
            return None
        try:
            data = read(self._directory / row.certificate, "a certificate")
            if hashlib.sha256(data).hexdigest() != row.sha256:
                return None
            if row.prototypes is None and self._prototypes is not None:
                row = replace(row, **reach_of(Certificate.from_bytes(data), self._prototypes))
        except (InputError, CertificateError):
            return None
        return row

    def _remove_incomplete(self) -> None:
        """Remove certificates that do not count, temporary files, and rows of both."""
        keep = {row.certificate for row in self.rows.values()}
        patterns = (f".*{CERTIFICATE_SUFFIX}.*", f".{HEAD}.*", f".{LATENTS}.*")
        temporary = (path for pattern in patterns for path in self._directory.glob(pattern))
        for path in (*certificates_in(self._directory), *temporary):
            if path.name not in keep:
                path.unlink()
        self._write_table()

    def _write_table(self) -> None:
        lines = csv_lines([self.rows[index] for index in sorted(self.rows)], heading=True).encode()
        if not self._table.exists() or read(self._table, "a table (explanations.csv)", most=LARGEST_LATENTS) != lines:
            write_atomically(self._table, lines)


def _brief(value: Any) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 16 else f"{text[:12]}..."
