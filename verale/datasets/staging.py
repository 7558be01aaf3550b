"""A dataset while it is made, beside its place: parts named by the rows they hold, so that each is written once."""

from __future__ import annotations

import json
import posixpath
import shutil
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verale.datasets import storage
from verale.datasets.certificates import MANIFEST, SUCCESS, Rows
from verale.errors import InputError

__all__ = ["Staged"]

_ATTEMPTS = "_attempts"


@dataclass(frozen=True)
class Staged:
    """The dataset PATH, in PATH.partial until `publish`.

    A part is a file that is written beside its place and then moved, and its name tells its rows: writing one twice
    changes nothing, and what a killed worker had not moved is not there.

    Attributes:
        path: where the dataset will be.
    """

    path: str

    @property
    def partial(self) -> str:
        """Where it is until then."""
        first, chain, rest = self.path.partition("::")
        return f"{first.rstrip('/')}.partial{chain}{rest}"

    def require_free(self, overwrite: bool) -> None:
        """Raise InputError if the dataset is there and may not be replaced: to be asked before Ray is started."""
        if not overwrite and storage.is_there(self.path):
            raise InputError(self.path, "is there already; choose another place, or say --overwrite")

    @classmethod
    def begin(cls, path: str, manifest: Mapping[str, Any], overwrite: bool = False) -> Staged:
        """Begin the dataset, or go on with one of the same manifest.

        Args:
            manifest: everything that its rows depend on, as plain data.
            overwrite: whether a finished dataset may be replaced and one begun otherwise thrown away.

        Raises:
            InputError: the dataset is there, or was begun with another manifest.
        """
        staged = cls(path)
        staged.require_free(overwrite)
        noted = json.loads(json.dumps(manifest))
        own = storage.beneath(staged.partial, MANIFEST)
        if storage.is_there(staged.partial):
            begun = json.loads(storage.read_bytes(own, "what verale began")) if storage.is_there(own) else None
            if begun != noted:
                differs = sorted(key for key in {*noted, *(begun or noted)} if (begun or {}).get(key) != noted.get(key))
                if not overwrite:
                    other = ", ".join(differs)
                    raise InputError(
                        staged.partial,
                        f"was begun with another {other}; remove it, choose another place, or say --overwrite",
                    )
                _delete(staged.partial)
        storage.write_bytes(own, (json.dumps(noted, indent=1) + "\n").encode())
        _delete(storage.beneath(staged.partial, _ATTEMPTS))  # an interrupted run's say nothing of this one's
        return staged

    def ranges(self) -> list[tuple[int, int]]:
        """The rows that are there, part by part, in order."""
        from pyarrow.fs import FileSelector

        files, place = storage.at(self.partial)
        names = [posixpath.basename(one.path) for one in files.get_file_info(FileSelector(place))]
        found = [name.removesuffix(".parquet").split("-")[1:] for name in names if name.startswith("part-")]
        return sorted((int(start), int(stop)) for start, stop in found)

    def write(self, start: int, stop: int, parquet: bytes) -> None:
        """Write the part of these rows."""
        storage.write_bytes(self._part(start, stop), parquet)

    def read(self, start: int, stop: int, column: str) -> list[Any]:
        """A column of the part of these rows."""
        return list(Rows.open(self._part(start, stop), column).take(0, stop - start, (column,))[column].to_pylist())

    def attempt(self, start: int, stop: int) -> int:
        """Note that these rows are begun; how often they have been in this run, this time included."""
        from pyarrow.fs import FileSelector

        folder = storage.beneath(self.partial, f"{_ATTEMPTS}/{start}-{stop}")
        storage.write_bytes(storage.beneath(folder, uuid.uuid4().hex), b"-")
        files, place = storage.at(folder)
        return len(files.get_file_info(FileSelector(place)))

    def publish(self, total: int) -> None:
        """Put the dataset in its place, whole. Raises InputError: parts that are not there, or overlap."""
        from pyarrow.fs import FileSelector

        reached = 0
        for start, stop in self.ranges():
            if start != reached:
                break
            reached = stop
        if reached != total:
            raise InputError(
                self.partial,
                f"has no part that begins with row {reached} of {total}: does every worker see this place? Otherwise"
                " run again, or remove it",
            )
        _delete(storage.beneath(self.partial, _ATTEMPTS))
        files, place = storage.at(self.partial)
        for one in files.get_file_info(FileSelector(place)):
            if posixpath.basename(one.path).startswith("."):  # what a worker was writing when it died
                files.delete_file(one.path)
        _move(self.partial, self.path)

    def _part(self, start: int, stop: int) -> str:
        return storage.beneath(self.partial, f"part-{start:09d}-{stop:09d}.parquet")


def _delete(path: str) -> None:
    files, place = storage.at(path)
    if storage.is_there(path):
        try:
            files.delete_dir(place)
        except OSError as error:
            raise InputError(path, f"cannot be removed ({error})") from error


def _move(source: str, to: str) -> None:
    """A directory to its place, in one step on a disk; where only files can be moved, `_SUCCESS` comes last."""
    from pyarrow.fs import FileSelector, LocalFileSystem

    files, place = storage.at(source)
    if isinstance(files, LocalFileSystem):
        storage.write_bytes(storage.beneath(source, SUCCESS), b"")
        end = Path(storage.at(to)[1])
        if end.is_dir():
            shutil.rmtree(end)
        elif end.exists():
            end.unlink()
        Path(place).rename(end)
        return
    if storage.is_there(to):
        _delete(to)
    end_place = storage.at(to)[1]
    inside = [one.path for one in files.get_file_info(FileSelector(place)) if one.type.name == "File"]
    files.create_dir(end_place, recursive=True)
    for path in sorted(inside, key=lambda path: posixpath.basename(path) != MANIFEST):  # the manifest first: unfinished
        files.move(path, posixpath.join(end_place, posixpath.basename(path)))
    storage.write_bytes(storage.beneath(to, SUCCESS), b"")
    _delete(source)
