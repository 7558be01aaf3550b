"""A dataset in Parquet while it is being written, in parts named by their rows, so that each part is written once."""

from __future__ import annotations

import json
import logging
import posixpath
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from platform import node
from typing import Any

from verale.datasets import storage
from verale.datasets.certificates import MANIFEST, SUCCESS, ParquetRows, packed_certificates
from verale.errors import InputError, option
from verale.runs.run import Range, Store
from verale.runs.store.noted import ATTEMPTS, LISTED, DatasetFiles, part_name, write_noted
from verale.runs.table import Explained
from verale.runs.written import identity_of

__all__ = ["ExplainedDataset", "StagedDataset"]

_log = logging.getLogger(__name__)

_PART = re.compile(r"part-([0-9]{9,18})-([0-9]{9,18})\.parquet")


@dataclass(frozen=True)
class StagedDataset:
    """The dataset PATH, which is PATH.partial until `publish`.

    A part is a file that gets its name only when it is complete, and its name says which rows it holds. So writing a
    part twice changes nothing, and a killed worker leaves no half of one.

    Attributes:
        path: where the dataset will be.
        place: the machine, device and number of the folder that the run began in, where that is on a disk. Workers of
            this machine write into no other; what a shared disk calls it on another one is not known.
    """

    path: str
    place: tuple[str, int, int] | None = None

    @property
    def partial(self) -> str:
        """Where it is until it is published."""
        first, chain, rest = self.path.partition("::")
        return f"{first.rstrip('/')}.partial{chain}{rest}"

    def require_free(self, overwrite: bool) -> None:
        """Raise InputError if the dataset exists and may not be replaced, or is not as verale wrote it. Call this
        before Ray is started."""
        there = DatasetFiles(self.path)
        if not there.names and not storage.exists(self.path):
            return
        if not overwrite:
            raise InputError(self.path, f"already exists; choose another path, or say {option('overwrite', True)}")
        there.require_ours()

    @classmethod
    def begin(cls, path: str, manifest: Mapping[str, object], overwrite: bool = False) -> StagedDataset:
        """Begin a dataset, or continue one that was begun with the same manifest.

        Args:
            path: where the dataset will be.
            manifest: everything that its rows depend on, as plain data.
            overwrite: whether a finished dataset may be replaced, and one begun with another manifest removed.

        Raises:
            InputError: the dataset exists, or was begun with another manifest, or holds what verale did not write.
        """
        staged = cls(path)
        staged.require_free(overwrite)
        current = json.loads(json.dumps(manifest))
        there = DatasetFiles(staged.partial)
        begun = _manifest(storage.join(staged.partial, MANIFEST))
        if there.begun and begun != current:
            different = sorted(key for key in {*current, *begun} if begun.get(key) != current.get(key))
            if not overwrite:
                raise InputError(
                    staged.partial,
                    f"was begun with another {', '.join(different)}; remove it, choose another path, or say"
                    f" {option('overwrite', True)}",
                )
            there.require_ours()
            there.remove()
        there.remove(name for name in there.names if name.startswith(f"{ATTEMPTS}/"))  # they count within one run
        write_noted(staged.partial, MANIFEST, (json.dumps(current, indent=1) + "\n").encode())
        local = storage.local_path(staged.partial)
        identity = None if local is None else identity_of(local)
        return staged if identity is None else replace(staged, place=(node(), *identity))

    def require_there(self) -> None:
        """Raise InputError unless the folder that the run began in still lies at its path."""
        if self.place is None or self.place[0] != node():
            return
        local = storage.local_path(self.partial)
        if local is None or identity_of(local) != self.place[1:]:
            raise InputError(
                self.partial,
                "was moved, removed or replaced by another folder while workers wrote into it. What they have written"
                " is where that folder is now, if it is anywhere: move it back, and the same command continues",
            )

    def manifest(self) -> Mapping[str, Any]:
        """What its rows depend on, while it is being written."""
        return _manifest(storage.join(self.partial, MANIFEST))

    def ranges(self) -> list[Range]:
        """The row ranges of the parts that are written, sorted.

        Raises:
            InputError: something else lies beside them. It would be published with them, as if verale had written it.
        """
        found = []
        for name in DatasetFiles(self.partial).begun:
            if name in (MANIFEST, SUCCESS, LISTED):
                continue
            match = _PART.fullmatch(name)
            start, stop = (int(match[1]), int(match[2])) if match else (0, 0)
            if name != part_name(start, stop):
                raise InputError(self.partial, f"holds {name!r}, which is not a part of this dataset; move it away")
            found.append((start, stop))
        return sorted(found)

    def keep(self, total: int, is_true: Callable[[int, int], bool]) -> list[Range]:
        """The parts of an interrupted run that still count; the others are removed, so that their rows are done again.

        Args:
            total: how many rows the dataset will have.
            is_true: whether the part with these rows still says what is true of its sources.

        Raises:
            InputError: a part is not as verale wrote it. It stays.
        """
        kept, reached = [], 0
        ranges, there = self.ranges(), DatasetFiles(self.partial)
        there.require_ours(part_name(*each) for each in ranges)
        for start, stop in ranges:
            if reached <= start <= stop <= total and (start < stop or not total) and is_true(start, stop):
                kept.append((start, stop))
                reached = stop
            else:
                _log.warning("%s: rows %d to %d have changed, and are done again", self.partial, start, stop - 1)
                there.remove([part_name(start, stop)])
        return kept

    def write(self, start: int, stop: int, parquet: bytes) -> None:
        """Write the part with these rows. Raises InputError, perhaps after it is written: see `require_there`."""
        self.require_there()
        write_noted(self.partial, part_name(start, stop), parquet)
        self.require_there()

    def read(self, start: int, stop: int, columns: tuple[str, ...]) -> list[dict[str, Any]]:
        """The rows of the part with these rows, in those of the columns that exist. Raises InputError."""
        rows = ParquetRows.open(self._part(start, stop), columns[0])
        if not len(rows):
            return []
        found: list[dict[str, Any]] = rows.take(0, len(rows), columns).to_pylist()
        return found

    def discard(self) -> None:
        """Remove everything that is written: it is known to be wrong."""
        self.require_there()
        DatasetFiles(self.partial).remove()

    def attempt(self, start: int, stop: int) -> int:
        """Note that work on these rows begins; return how often it has begun in this run, this time included."""
        from pyarrow.fs import FileSelector

        self.require_there()
        folder = storage.join(self.partial, f"{ATTEMPTS}/{start}-{stop}")
        storage.write_bytes(storage.join(folder, uuid.uuid4().hex), b"-")
        files, inner = storage.resolve(folder)
        return len(files.get_file_info(FileSelector(inner)))

    def attempts(self) -> int:
        """How often work on any rows has begun in this run."""
        from pyarrow.fs import FileSelector

        files, inner = storage.resolve(storage.join(self.partial, ATTEMPTS))
        selected = FileSelector(inner, allow_not_found=True, recursive=True)
        return sum(info.is_file for info in files.get_file_info(selected))

    def publish(self, total: int) -> None:
        """Move the complete dataset to its path. Raises InputError: parts are missing, or overlap, or it is gone."""
        self.require_there()
        reached = 0
        for start, stop in self.ranges():
            if start != reached:
                break
            reached = stop
        if reached != total:
            raise InputError(
                self.partial,
                f"has no part that begins with row {reached} of {total}: can every worker see this path? If so, run"
                " again, or remove it",
            )
        DatasetFiles(self.partial).finish()
        _move(self.partial, self.path)

    def _part(self, start: int, stop: int) -> str:
        return storage.join(self.partial, part_name(start, stop))


@dataclass(frozen=True)
class ExplainedDataset(Store):
    """Certificates and what is known of their images, as the rows of a dataset.

    Attributes:
        staged: the dataset.
    """

    staged: StagedDataset

    @property
    def place(self) -> str:
        return self.staged.path

    @property
    def unfinished(self) -> str:
        return self.staged.partial

    @property
    def done(self) -> list[Range]:
        return self.staged.ranges()

    def rows(self) -> Iterator[Explained]:
        names = ("index", *(field.name for field in fields(Explained) if field.name not in ("index", "certificate")))
        for start, stop in self.done:
            for row in self.staged.read(start, stop, (*names, "name")):
                name = row.pop("name")
                yield Explained(**row, certificate=None if row["sha256"] is None else name)

    def path(self, certificate: str) -> str:
        return storage.join(self.place, certificate)

    def certificates(self) -> Iterator[bytes]:
        return (one.read() for one in packed_certificates(self.place)[0])

    def finish(self, total: int) -> None:
        self.staged.publish(total)


def _manifest(file: str) -> dict[str, object]:
    """A dataset's manifest; empty if there is none, or something else."""
    if not storage.exists(file):
        return {}
    try:
        found = json.loads(storage.read_bytes(file, "a manifest by verale"))
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _move(source: str, to: str) -> None:
    """Move a dataset to where perhaps another one of verale's is: on a disk in one step; where only files can be moved,
    `_SUCCESS` is written last."""
    there = DatasetFiles(to)
    there.require_ours()
    local = storage.local_path(source), storage.local_path(to)
    if local[0] is not None and local[1] is not None:
        storage.write_bytes(storage.join(source, SUCCESS), b"")
        there.remove()
        local[0].rename(local[1])
        return
    there.remove()
    files, target = storage.resolve(to)
    _, folder = storage.resolve(source)
    files.create_dir(target, recursive=True)
    moved = DatasetFiles(source).names
    for name in sorted(moved, key=lambda name: name != MANIFEST):  # the manifest first: unfinished
        files.move(posixpath.join(folder, name), posixpath.join(target, name))
    storage.write_bytes(storage.join(to, SUCCESS), b"")
    DatasetFiles(source).remove()
