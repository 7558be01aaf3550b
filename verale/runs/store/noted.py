"""What verale wrote into a dataset: a note for each file, written before it, whose name is that of the file and its
SHA-256. Many workers write at once, and not all storage can add to a file. Of a whole dataset `_files.json` says it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from verale.datasets import storage
from verale.datasets.certificates import MANIFEST, SUCCESS
from verale.errors import InputError
from verale.files import LARGEST_LATENTS, remove_empty_folder

__all__ = ["ATTEMPTS", "LISTED", "DatasetFiles", "part_name", "write_noted"]

ATTEMPTS = "_attempts"
"""Notes of workers that begin a part."""
_NOTES, LISTED = "_files", "_files.json"
"""The notes of files, and the list of them in a whole dataset."""
_TYPE = "urn:verale:dataset-files:v1"

_PART = r"part-[0-9]{9,18}-[0-9]{9,18}\.parquet"
_DATA = re.compile(rf"{re.escape(MANIFEST)}|{_PART}")
"""Files that are noted."""
_NOTE = re.compile(rf"{_NOTES}/({_DATA.pattern})\.([0-9a-f]{{64}})")
_ATTEMPT = re.compile(rf"{ATTEMPTS}/[0-9]+-[0-9]+/[0-9a-f]{{32}}")
_TEMPORARY = re.compile(r"(.*/)?\.([^/]+)\.[0-9a-f]{32}")
"""A file that is being written: see `storage.open_output`."""
_SMALL = {SUCCESS: b"", ATTEMPTS: b"-", _NOTES: b""}
"""What the files hold that only say something by being there."""


def part_name(start: int, stop: int) -> str:
    """The name of the part with these rows."""
    return f"part-{start:09d}-{stop:09d}.parquet"


def write_noted(path: str, name: str, data: bytes) -> None:
    """Write a file of a dataset, which is noted first. Raises InputError: a file that is not noted has its name."""
    file, note = storage.join(path, name), storage.join(path, f"{_NOTES}/{name}")
    if storage.exists(file):
        there = hashlib.sha256(storage.read_bytes(file, "a part of a dataset", LARGEST_LATENTS)).hexdigest()
        if not storage.exists(_with_suffix(note, f".{there}")) and there not in DatasetFiles(path).digests[name]:
            raise InputError(file, "was not written by verale, or was changed since: move it away")
    digest = hashlib.sha256(data).hexdigest()
    storage.write_bytes(_with_suffix(note, f".{digest}"), b"")
    storage.write_bytes(file, data)


class DatasetFiles:
    """The files of a dataset, whole or not, and which of them verale wrote.

    Args:
        path: of the dataset, which need not exist.

    Attributes:
        names: of all files at any depth, links and whatever else is no folder, relative to it.
        digests: by name, those that are noted.

    Raises:
        InputError: there is a file or a link of this name.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._local = storage.local_path(path)
        self.names = sorted(self._walked() if self._local is not None else self._listed())
        self.digests: defaultdict[str, set[str]] = defaultdict(set)
        for name in self.names:
            if (match := _NOTE.fullmatch(name)) is not None:
                self.digests[match[1]].add(match[2])
        if LISTED in self.names:
            for name, digests in self._of_list().items():
                self.digests[name].update(digests)

    @property
    def begun(self) -> list[str]:
        """The files that are more than notes of what is about to be written."""
        return [name for name in self.names if not (_NOTE.fullmatch(name) or _is_passing(name))]

    def is_ours(self, name: str) -> bool:
        """Whether verale wrote this file, and it still is as it was then."""
        if self._local is not None and ((self._local / name).is_symlink() or not (self._local / name).is_file()):
            return False
        if _DATA.fullmatch(name):
            return hashlib.sha256(self._read(name)).hexdigest() in self.digests[name]
        if name == SUCCESS or _NOTE.fullmatch(name) or _ATTEMPT.fullmatch(name):
            return self._read(name) == _SMALL[name.split("/")[0]]
        return _is_passing(name) or (name == LISTED and bool(self._of_list()))

    def require_ours(self, names: Iterable[str] | None = None) -> None:
        """Raise InputError for the first of these files, by default of all, that verale did not write as it is."""
        for name in self.names if names is None else names:
            if not self.is_ours(name):
                problem = f"holds {name!r}, which verale did not write, or which was changed since: move it away"
                raise InputError(self.path, f"{problem}, or choose another path")

    def remove(self, names: Iterable[str] | None = None) -> None:
        """Remove those of these files, by default of all, that are ours, and the folders that are empty then. What says
        that the dataset is whole goes first, and last what says which files are ours."""
        ours = [name for name in (self.names if names is None else names) if self.is_ours(name)]
        for name in sorted(ours, key=lambda name: (name != SUCCESS, name == LISTED or bool(_NOTE.fullmatch(name)))):
            self._unlink(name)
        self._remove_empty_folders()

    def finish(self) -> None:
        """Write the list of all that is noted, and remove the notes, those of attempts and temporary files."""
        noted = {name: sorted(self.digests[name]) for name in self.names if _DATA.fullmatch(name)}
        text = json.dumps({"_type": _TYPE, "files": noted}, indent=1)
        storage.write_bytes(storage.join(self.path, LISTED), f"{text}\n".encode())
        self.remove([name for name in self.names if _NOTE.fullmatch(name) or _is_passing(name)])

    def _walked(self) -> list[str]:
        """On this machine, where links are not followed."""
        root = self._local
        if root is None or not os.path.lexists(root):
            return []
        if root.is_symlink() or not root.is_dir():
            what = "a link" if root.is_symlink() else "a file"
            raise InputError(self.path, f"is {what} that verale did not write; move it away, or choose another path")
        names = []
        for folder, inside, files in os.walk(root):
            links = [name for name in inside if (Path(folder) / name).is_symlink()]
            names += [(Path(folder) / name).relative_to(root).as_posix() for name in (*files, *links)]
        return names

    def _listed(self) -> list[str]:
        from pyarrow.fs import FileSelector

        files, root = storage.resolve(self.path)
        if storage.exists(self.path) and not storage.is_folder(self.path):
            raise InputError(self.path, "is a file that verale did not write; move it away, or choose another path")
        inside = files.get_file_info(FileSelector(root, allow_not_found=True, recursive=True))
        return [one.path[len(root) :].lstrip("/") for one in inside if one.type.name != "Directory"]

    def _of_list(self) -> dict[str, list[str]]:
        """What `_files.json` says; nothing where verale did not write it."""
        try:
            record: Any = json.loads(self._read(LISTED))
            files = record["files"] if record["_type"] == _TYPE else {}
            return {name: list(map(str, digests)) for name, digests in files.items() if _DATA.fullmatch(name)}
        except (InputError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return {}

    def _read(self, name: str) -> bytes:
        return storage.read_bytes(storage.join(self.path, name), "a file of a dataset", LARGEST_LATENTS)

    def _unlink(self, name: str) -> None:
        files, inner = storage.resolve(storage.join(self.path, name))
        try:
            files.delete_file(inner)
        except OSError as error:
            raise InputError(storage.join(self.path, name), f"cannot be removed ({error})") from error

    def _remove_empty_folders(self) -> None:
        if self._local is not None:
            for folder, _, _ in os.walk(self._local, topdown=False):
                remove_empty_folder(Path(folder))
            return
        files, root = storage.resolve(self.path)
        if storage.exists(self.path) and not self._listed():
            with suppress(OSError):
                files.delete_dir(root)


def _is_passing(name: str) -> bool:
    """Whether a name is that of an attempt, or of a temporary file of one that verale writes."""
    temporary = _TEMPORARY.fullmatch(name)
    whole = name if temporary is None else f"{temporary[1] or ''}{temporary[2]}"
    if temporary is None:
        return _ATTEMPT.fullmatch(name) is not None
    return whole in (SUCCESS, LISTED) or any(p.fullmatch(whole) for p in (_DATA, _NOTE, _ATTEMPT))


def _with_suffix(path: str, suffix: str) -> str:
    """A path or URI with more at the end of its name, in a chained one of the first part."""
    first, chain, rest = path.partition("::")
    return f"{first}{suffix}{chain}{rest}"
