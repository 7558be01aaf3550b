"""What verale wrote into a folder: `files.json` notes the name and the SHA-256 of each file before it is written.

A command removes or replaces a file only if it is noted there and still has a noted digest, and is reached without
links. Everything else that stands where a file has to go is somebody else's: it is named, and stays. As a file is noted
first, an interruption at any point, be it kill -9 or a full disk, leaves no file of verale's that is not noted; of a
file that was being written there is at most a temporary one, whose name is the digest that is noted.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from verale.errors import InputError, option
from verale.files import (
    LARGEST_LATENTS,
    append_bytes,
    open_regular,
    read,
    remove_empty_folder,
    remove_file,
    write_atomically,
)

FILES = "files.json"
"""The names and digests of what verale wrote into a folder, one JSON object a line."""


_TYPE = "urn:verale:files:v1"
_HEADING = f'{{"_type": "{_TYPE}"}}\n'.encode()
_KIND = "the names of files that verale wrote"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TEMPORARY = re.compile(r"\.([0-9a-f]{64})\.partial")


def overwritten() -> str:
    """What to do about a file in the way that verale wrote."""
    return f"choose another {option('out')}, or say {option('overwrite', True)}"


def foreign() -> str:
    """What to do about any other file in the way."""
    return f"verale did not write it, or it was changed since: {moved()}"


def moved() -> str:
    """What to do about a file that is to stay."""
    return f"move it away, or choose another {option('out')}"


@dataclass(frozen=True)
class RequiredFile:
    """A file that a run's folder has to hold: whether the one of its name is it, and what is said where it is not."""

    is_there: Callable[[], bool] = lambda: False
    problem: str = "is another file than this run's"


@dataclass(frozen=True)
class HeldFolder:
    """A folder that a command has locked."""

    directory: Path
    descriptor: int

    def require_there(self) -> None:
        """Raise InputError unless it still lies at its path: it was moved or removed, or another one took its place."""
        own = os.fstat(self.descriptor)
        if identity_of(self.directory) == (own.st_dev, own.st_ino):
            return
        if own.st_nlink == 0:
            raise InputError(
                self.directory,
                "was removed while this command wrote into it, and so is what it has written: the same command begins"
                " anew",
            )
        raise InputError(
            self.directory,
            "was moved, or replaced by another folder, while this command wrote into it. What it has written is where"
            f" that folder is now: with that folder as {option('out')}, the same command continues",
        )


@dataclass(frozen=True)
class _Noted:
    """A line of `files.json`: a file, the digest of a version of it, and the command that wrote it, None for the run
    that the folder holds. Where text was added, the file had so many bytes before (`after` which it was added); an
    interruption leaves the beginning of the text."""

    file: str
    sha256: str
    by: str | None = None
    after: int | None = None
    added: str | None = None

    def line(self) -> bytes:
        """The line, with its end."""
        return f"{json.dumps({name: value for name, value in vars(self).items() if value is not None})}\n".encode()

    @classmethod
    def read(cls, line: bytes) -> _Noted:
        """What a line says. Raises ValueError, TypeError, KeyError, AttributeError, RecursionError."""
        record = json.loads(line)
        noted = cls(record["file"], record["sha256"], *(record.get(name) for name in ("by", "after", "added")))
        name, after, by = noted.file, noted.after, noted.by
        is_name = type(name) is str and all(name.split("/")) and not {".", ".."} & {*name.split("/")}
        is_version = _DIGEST.fullmatch(noted.sha256) is not None and isinstance(by, str | None)
        is_size = noted.added is None or (type(after) is int and after >= 0)
        if not (is_name and "\0" not in name and is_version and is_size):
            raise ValueError(line)
        os.fsencode(name)  # raises for a name that no file can have, as the next line for such text
        ("" if noted.added is None else noted.added).encode()
        return noted


class WrittenFiles:
    """The files of a folder that verale wrote there. Only one process at a time may change them (`locked`). All is
    written into `held`, the folder as it was when it was locked, wherever it is by now. Raises InputError: the folder
    has a `files.json` that verale did not write, or that was damaged."""

    def __init__(self, directory: Path, held: HeldFolder | None = None) -> None:
        self.directory = directory
        self._held = held
        self._noted: dict[str, list[_Noted]] = {}
        """By name what is noted of a file by the last command that wrote it, the last version last."""
        self._measured: dict[str, tuple[int, Any]] = {}
        self._is_whole = False
        """Whether `files.json` is there and ends with a whole line, so that lines may be added."""
        self._load()

    def names(self, by: str | None = None) -> list[str]:
        """The files that a command noted."""
        return [name for name, noted in self._noted.items() if noted[0].by == by]

    def require_there(self) -> None:
        """Raise InputError unless the folder that was locked still lies at its path."""
        if self._held is not None:
            self._held.require_there()

    def _within(self, name: str) -> tuple[int, str] | None:
        """The locked folder's descriptor, and a file's name in it; None where it is not locked. Raises InputError."""
        self.require_there()
        return None if self._held is None else (self._held.descriptor, name)

    def stamp(self, name: str) -> tuple[int, ...] | None:
        """What tells, without reading it, that a file is another one, or was changed; None where nothing is there."""
        try:
            return _stamp(os.lstat(self.directory / name))
        except OSError:
            return None

    def has(self, name: str, digest: str) -> bool:
        """Whether a regular file of this name has a digest."""
        return self.exists(name) and self.obstacle(name) is None and self._digest(name) == digest

    def exists(self, name: str) -> bool:
        """Whether anything has this name, be it a link that leads nowhere."""
        return os.path.lexists(self.directory / name)

    def obstacle(self, name: str) -> tuple[object, str] | None:
        """What keeps a regular file from being reached at this name without links, and what it is; None where there is
        a regular file, or nothing."""
        path, parts = self.directory, name.split("/")
        for depth, part in enumerate(parts, 1):
            path /= part
            try:
                mode = os.lstat(path).st_mode
            except FileNotFoundError:
                return None
            except OSError as error:
                return path, f"cannot be looked at ({error.strerror})"
            if stat.S_ISLNK(mode):
                return path, "is a link, through which verale neither writes nor removes"
            if depth < len(parts) and not stat.S_ISDIR(mode):
                return path, "is a file, expected a folder or nothing"
            if depth == len(parts) and not stat.S_ISREG(mode):
                return path, "is a folder, expected a file or nothing" if stat.S_ISDIR(mode) else "is no regular file"
        return None

    def holds(self, name: str, data: bytes) -> bool:
        """Whether the file of this name has these bytes."""
        path = self.directory / name
        with suppress(OSError):
            return os.stat(path).st_size == len(data) and self._digest(name) == hashlib.sha256(data).hexdigest()
        return False

    def is_ours(self, name: str, by: str | None = None) -> bool:
        """Whether a command noted the file of this name, and it still is as that command left it."""
        noted = self._noted.get(name)
        if noted is None or noted[0].by != by or not self.exists(name) or self.obstacle(name) is not None:
            return False
        digest = self._digest(name)
        return digest in {one.sha256 for one in noted} or self._is_growing(name, noted)

    def remedy(self, name: str) -> str:
        """What to do about the file of this name, which is in a run's way."""
        return overwritten() if self.is_ours(name) else foreign()

    def require_room(
        self,
        needed: Mapping[str, RequiredFile],
        strangers: Iterable[str] = (),
        overwrite: bool = False,
        inputs: Iterable[Path] = (),
    ) -> list[str]:
        """Raise InputError unless a run can begin here; nothing is changed. Of the files that the run needs, by name,
        one that is there with the right content is kept; `strangers` are other files of the folder that would be taken
        for the run's. With `overwrite`, what an earlier run noted goes, but for what the run reads (`inputs`). Returns
        the names that are kept."""
        kept = self.require_free(needed, strangers, overwrite)
        if overwrite:
            self._require_removable(set(self.names()) - set(kept), inputs)
        return kept

    def require_free(
        self, needed: Mapping[str, RequiredFile], strangers: Iterable[str] = (), overwrite: bool = False
    ) -> list[str]:
        """The same where nothing else goes than files of these names."""
        kept = []
        for name in [*needed, *strangers]:
            self._require_reachable(name)
            if not self.exists(name):
                continue
            file = needed.get(name, RequiredFile(problem="would be taken for a file of this run"))
            if name in needed and file.is_there():
                kept.append(name)
            elif not (overwrite and self.is_ours(name)):
                raise InputError(self.directory / name, f"{file.problem}; {self.remedy(name)}")
        return kept

    def require_own(self, names: Iterable[str], by: str | None) -> None:
        """Raise InputError for a file that is in a command's way: one that it did not note, or that was changed."""
        for name in names:
            self._require_reachable(name)
            if self.exists(name) and not self.is_ours(name, by):
                raise InputError(self.directory / name, f"is in the way; {foreign()}")

    def require_kept(self, needed: Mapping[str, RequiredFile]) -> None:
        """Raise InputError for a file of a run that goes on which is there, and is another one."""
        for name, file in needed.items():
            if self.exists(name) and not (self.is_ours(name) or file.is_there()):
                raise InputError(self.directory / name, f"{file.problem}; {foreign()}")

    def _require_reachable(self, name: str) -> None:
        """Raise InputError for what keeps a regular file from being reached at this name."""
        obstacle = self.obstacle(name)
        if obstacle is not None:
            raise InputError(obstacle[0], f"{obstacle[1]}; {moved()}")

    def _require_removable(self, names: Collection[str], inputs: Iterable[Path]) -> None:
        """Raise InputError for a file that was changed since it was noted, or that the run reads."""
        there = [name for name in names if self.exists(name)]
        read_now = {identity_of(path) for path in inputs} - {None} if there else set()
        for name in there:
            if not self.is_ours(name):
                raise InputError(self.directory / name, f"was changed since verale wrote it; {moved()}")
            if identity_of(self.directory / name) in read_now:
                problem = (
                    f"is read now, and {option('overwrite', True)} would remove it; choose another {option('out')}"
                )
                raise InputError(self.directory / name, problem)

    def clear(self, keep: Collection[str] = (), first: str | None = None, last: str | None = None) -> None:
        """Remove what the folder's run noted and is as it was, but for some names: `first` first, and `last` last."""
        names = [name for name in self.names() if name not in keep and self.is_ours(name)]
        for name in sorted(names, key=lambda name: (name != first, name == last, name)):
            self._unlink(name)
        self.remove_temporaries()
        self.settle()

    def remove(self, name: str, by: str | None = None) -> None:
        """Remove a file that is noted and as it was. One that is not stays."""
        if self.is_ours(name, by):
            self._unlink(name)

    def write(self, name: str, data: bytes, by: str | None = None) -> tuple[int, ...] | None:
        """Write a file, which is noted first; its stamp, None where none was written or it is not known. One with these
        bytes stays, noted or not. Raises InputError: another file is there that this command did not note, or a link or
        a folder; the folder cannot be written."""
        self._require_reachable(name)
        if self.exists(name):
            if self.holds(name, data):
                return None
            if not self.is_ours(name, by):
                raise InputError(self.directory / name, f"is another file than the one to write; {foreign()}")
        digest = hashlib.sha256(data).hexdigest()
        self.note(name, digest, by)
        self._measured.pop(name, None)
        return self._put(name, data, f".{digest}.partial")

    def note(self, name: str, digest: str, by: str | None = None) -> None:
        """Note a file that is about to be written."""
        noted = self._noted.setdefault(name, [])
        if noted and noted[0].by != by:
            noted.clear()
        if not noted or noted[-1].sha256 != digest:
            self._add(_Noted(name, digest, by))

    def append(self, name: str, text: bytes) -> None:
        """Add text to a file that is noted; text and digest are noted first, whatever interrupts this. Raises
        InputError."""
        size, sha256 = self._measured.get(name) or self._measure(name)
        after = sha256.copy()
        after.update(text)
        noted = self._noted[name]
        noted[-1] = replace(noted[-1], after=None, added=None)
        self._add(_Noted(name, after.hexdigest(), noted[-1].by, size, text.decode()))
        try:
            append_bytes(self.directory / name, text, self._within(name))
        except OSError as error:
            raise _full(self.directory / name, error) from error
        self._measured[name] = size + len(text), after

    def settle(self) -> None:
        """Keep of `files.json` one line for each file that is there as it was noted, sorted by name."""
        settled: dict[str, list[_Noted]] = {}
        for name, noted in sorted(self._noted.items()):
            if self.exists(name) and self.obstacle(name) is None:
                one = len(noted) == 1 and noted[0].added is None
                if one or self.is_ours(name, noted[0].by):
                    settled[name] = noted if one else [_Noted(name, self._digest(name), noted[0].by)]
        self._noted = settled
        lines = self._lines()
        if not self.holds(FILES, lines):
            self._put_lines(lines)

    def remove_temporaries(self) -> None:
        """Remove what an interruption left of files that were being written."""
        folders: dict[Path, set[str]] = {self.directory: set()}
        for name, noted in self._noted.items():
            if self.obstacle(name) is None:
                folders.setdefault((self.directory / name).parent, set()).update(one.sha256 for one in noted)
        for folder, digests in folders.items():
            for path in folder.iterdir() if folder.is_dir() else ():
                match = _TEMPORARY.fullmatch(path.name)
                if match is not None and not path.is_symlink() and path.is_file():
                    begun = folder == self.directory and _HEADING.startswith(
                        read(path, "a temporary file", len(_HEADING))
                    )
                    if match[1] in digests or begun:
                        remove_file(path, self._within(path.relative_to(self.directory).as_posix()))

    def _is_growing(self, name: str, noted: list[_Noted]) -> bool:
        """Whether the file is what an interruption leaves while text is added to it."""
        for one in reversed(noted):
            if one.after is not None and one.added is not None:
                data, size, text = self._read(name), one.after, one.added.encode()
                is_whole = hashlib.sha256(data[:size]).hexdigest() in {each.sha256 for each in noted}
                return len(data) >= size and is_whole and text.startswith(data[size:])
        return False

    def _measure(self, name: str) -> tuple[int, Any]:
        """The size and the running SHA-256 of a file that is ours, and has no other name: text is added in place."""
        if not self.is_ours(name):
            raise InputError(self.directory / name, f"was changed since verale wrote it; {moved()}")
        data = self._read(name)
        sha256 = hashlib.sha256(data)
        if not self._has_one_name(name):
            self._put(name, data, f".{sha256.hexdigest()}.partial")
        self._measured[name] = len(data), sha256
        return self._measured[name]

    def _lines(self) -> bytes:
        return _HEADING + b"".join(one.line() for noted in self._noted.values() for one in noted)

    def _add(self, noted: _Noted) -> None:
        """Note a version of a file, in `files.json` too."""
        self._noted.setdefault(noted.file, []).append(noted)
        if not self._is_whole:
            self._put_lines(self._lines())
            return
        try:
            append_bytes(self.directory / FILES, noted.line(), self._within(FILES))
        except OSError as error:
            self._is_whole = False
            raise _full(self.directory / FILES, error) from error

    def _put_lines(self, lines: bytes) -> None:
        self._put(FILES, lines, f".{hashlib.sha256(lines).hexdigest()}.partial")
        self._is_whole = True

    def _load(self) -> None:
        self._require_reachable(FILES)
        if not self.exists(FILES):
            return
        try:
            self._noted, is_whole = _parsed(self._read(FILES))
        except ValueError as error:
            raise InputError(
                self.directory / FILES, f"does not name files as verale does ({error}); {foreign()}"
            ) from None
        self._is_whole = is_whole and self._has_one_name(FILES)

    def _read(self, name: str) -> bytes:
        return read(self.directory / name, "a file that verale wrote", most=LARGEST_LATENTS)

    def _digest(self, name: str) -> str:
        try:
            with open_regular(self.directory / name) as stream:
                return hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputError(self.directory / name, f"cannot be read ({error.strerror})") from error

    def _has_one_name(self, name: str) -> bool:
        return os.stat(self.directory / name).st_nlink == 1

    def _put(self, name: str, data: bytes, temporary: str) -> tuple[int, ...] | None:
        return _stamp(write_atomically(self.directory / name, data, temporary, self._within(name)))

    def _unlink(self, name: str) -> None:
        """Remove a file, and the folders that are empty then."""
        remove_file(self.directory / name, self._within(name))
        while "/" in name:
            name = name.rpartition("/")[0]
            if not remove_empty_folder(self.directory / name, self._within(name)):
                break


def noted_in(path: Path) -> tuple[Path, str, str | None] | None:
    """The folder that notes a file as written by verale, by `files.json` there or above; the file's name in it; and by
    which command, None for a run. None where nothing notes it."""
    for folder, name in _above(path):
        if (noted := _noted_of(folder).get(name)) is not None:
            return folder, name, noted[0].by
    return None


def run_around(path: Path) -> Path | None:
    """The folder of a run in which a path lies; None if it lies in none."""
    for folder, _ in _above(path):
        if any(noted[0].by is None for noted in _noted_of(folder).values()):
            return folder
    return None


def _above(path: Path) -> Iterator[tuple[Path, str]]:
    """The folders above a path, and its name in each."""
    absolute = Path(os.path.realpath(path.parent)) / path.name
    for folder in absolute.parents:
        yield folder, absolute.relative_to(folder).as_posix()


def _noted_of(folder: Path) -> dict[str, list[_Noted]]:
    """What a folder's `files.json` notes; nothing where there is none, or another file of that name."""
    try:
        if read(folder / FILES, _KIND, len(_HEADING)) != _HEADING:
            return {}
        return _parsed(read(folder / FILES, _KIND, most=LARGEST_LATENTS))[0]
    except (InputError, ValueError):
        return {}


def _parsed(data: bytes) -> tuple[dict[str, list[_Noted]], bool]:
    """What the lines of `files.json` say; and whether the last one is whole. One that is not is left out: its file is
    not written yet. Raises ValueError: no file of verale's, in a few words."""
    if not data.startswith(_HEADING):
        raise ValueError(f"it does not begin with {_HEADING.decode().strip()}")
    *lines, rest = data[len(_HEADING) :].split(b"\n")
    noted: dict[str, list[_Noted]] = {}
    for number, line in enumerate(lines, 2):
        try:
            one = _Noted.read(line)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            raise ValueError(f"line {number} names no file") from None
        versions = noted.setdefault(one.file, [])
        if versions and versions[0].by != one.by:
            versions.clear()
        versions.append(one)
    return noted, not rest


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def identity_of(path: Path) -> tuple[int, int] | None:
    """What tells whether two paths lead to one file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _full(path: object, error: OSError) -> InputError:
    return InputError(path, f"cannot be written ({error.strerror}); free some space, then the same command continues")
