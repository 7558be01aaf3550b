"""A run's folder: the certificates and the table of one run, never of two, whatever interrupted it.

`run.json` says which run it is: everything that the results depend on. A certificate gets its name only when it is
complete, and counts once the table has its line, which holds its digest. So after an interruption, be it Ctrl-C,
kill -9 or a full disk, it is known what is there, and the rest can be explained as if nothing had happened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from verale.certificate import Certificate
from verale.errors import CertificateError, InputError
from verale.files import CERTIFICATE_SUFFIX, LARGEST_LATENTS, certificate_name, certificates_in, read, write_atomically
from verale.runs.folder import HEAD, LATENTS, REMEDY, RUN_FILE, require_free
from verale.runs.rows import reach_of
from verale.runs.run import Range, Store, cut
from verale.runs.table import TABLE, Explained, csv_lines, read_table

__all__ = ["RunFolder"]


class RunFolder(Store):
    """The folder of a run of `images` images, explained `batch` at a time.

    Args:
        directory: the folder.
        run: what the run's results depend on, as plain data.
        images, batch: how many images the run has, and how many a batch.
        overwrite: whether to remove what the folder holds, of whatever run.
        prototypes: P of the head, for rows of older versions, which do not say how much statements bound.

    Attributes:
        by_index: the rows of images whose batch is complete.

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
        self.by_index = self._complete_batches(images, batch)
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
        self.by_index |= {row.index: row for row in rows}

    @property
    def place(self) -> str:
        return str(self._directory)

    @property
    def table(self) -> str:
        return str(self._table)

    @property
    def done(self) -> list[Range]:
        return [(index, index + 1) for index in sorted(self.by_index)]

    def rows(self) -> Iterator[Explained]:
        return (self.by_index[index] for index in sorted(self.by_index))

    def path(self, certificate: str) -> str:
        return str(self._directory / certificate)

    def certificates(self) -> Iterator[bytes]:
        return (read(path, "a certificate") for path in certificates_in(self._directory))

    def finish(self, total: int) -> None:
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
            raise InputError(path, f"is not what verale explain writes ({error}); {REMEDY}") from error
        if different:
            both = ", ".join(f"{key} {_brief(there.get(key))} there, {_brief(run.get(key))} here" for key in different)
            raise InputError(self._directory, f"holds certificates of another run ({both}); {REMEDY}")
        own = {certificate_name(index) for index in range(images)}
        foreign = [path.name for path in certificates_in(self._directory) if path.name not in own]
        if foreign:
            raise InputError(self._directory, f"holds {foreign[0]}, which is not of this run; move it, or {REMEDY}")

    def _complete_batches(self, images: int, batch: int) -> dict[int, Explained]:
        rows = read_table(self._table, whole=False) if self._table.exists() else []
        usable = {row.index: row for row in map(self._usable, rows) if row is not None}
        batches = [range(*part) for part in cut([(0, images)], batch)]
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
        keep = {row.certificate for row in self.by_index.values()}
        patterns = (f".*{CERTIFICATE_SUFFIX}.*", f".{HEAD}.*", f".{LATENTS}.*")
        temporary = (path for pattern in patterns for path in self._directory.glob(pattern))
        for path in (*certificates_in(self._directory), *temporary):
            if path.name not in keep:
                path.unlink()
        self._write_table()

    def _write_table(self) -> None:
        lines = csv_lines(self.rows(), heading=True).encode()
        if not self._table.exists() or read(self._table, "a table (explanations.csv)", most=LARGEST_LATENTS) != lines:
            write_atomically(self._table, lines)


def _brief(value: object) -> str:
    text = "nothing" if value is None else str(value)
    return text if len(text) <= 16 else f"{text[:12]}..."
