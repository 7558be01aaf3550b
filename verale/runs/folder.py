"""Who may write into a folder of results, and results that are no run; and files whose names a user gives: they may be
replaced, but not where a command reads them or a folder needs them.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

from verale.errors import CertificateError, InputError, naming, option
from verale.files import (
    CERTIFICATE_SUFFIX,
    LARGEST_LATENTS,
    certificates_folder,
    certificates_in,
    read,
    require_writable,
    write_atomically,
)
from verale.runs.inputs import HEAD, LATENTS, LINK, NETWORK, PICTURES, RUN_FILE, SOURCE, TABLE
from verale.runs.table import csv_table
from verale.runs.written import FILES, HeldFolder, RequiredFile, WrittenFiles, noted_in, overwritten, run_around
from verale.version import __version__

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.runs.listed import StoredBytes
    from verale.search.several import Remember

_OF_RUN = (*(HEAD, LATENTS, LINK, SOURCE, NETWORK, PICTURES, f"{PICTURES}.safetensors"), *(RUN_FILE, TABLE, FILES))


PATIENCE = 10.0
"""The seconds in which another process that writes a few files into a folder is done."""


def certificate_names(directory: Path) -> list[str]:
    """The names of the certificates in a folder."""
    return [path.name for path in certificates_in(directory)]


def pictures_in(directory: Path, needed: Collection[str]) -> list[str]:
    """Files of a folder that an audit would read as pictures of a run, if these are the files that the run needs."""
    if not any(name.startswith(PICTURES) for name in needed):
        return []
    inside = sorted(path for path in (directory / PICTURES).rglob("*") if path.suffix.lower() == ".png")
    names = [path.relative_to(directory).as_posix() for path in inside]
    names += [f"{PICTURES}.safetensors"] if lexists(directory / f"{PICTURES}.safetensors") else []
    return [name for name in names if name not in needed]


@dataclass(frozen=True)
class Journal:
    """A file that notes what each step of a search gives, so that an interrupted one goes on: what is searched, then a
    certificate or null a line. Of what it says nothing is believed that the checker does not prove."""

    written: WrittenFiles
    name: str
    overwrite: bool

    def of(self, **search: object) -> Remember:
        """What remembers the steps of a search. Raises InputError: the file is of another one, or cannot be read."""
        path = self.written.directory / self.name
        heading = f"{json.dumps({'verale': __version__, **search})}\n".encode()
        self.written.require_own([self.name], None)
        data = read(path, "what a search found", LARGEST_LATENTS) if self.written.exists(self.name) else heading
        first, *lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True) or [heading]
        if first != heading:
            if not self.overwrite:
                raise InputError(path, f"is of another search that was interrupted; {overwritten()}")
            lines = []
        self.written.write(self.name, b"".join([heading, *lines]))  # without half a line
        known = iter(lines)

        def remember(step: Callable[[], Certificate | None]) -> Certificate | None:
            from verale.certificate import Certificate

            if (line := next(known, None)) is not None:
                with naming(path, CertificateError):
                    return None if line == b"null\n" else Certificate.from_bytes(line)
            found = step()
            record = None if found is None else json.loads(found.to_bytes())
            self.written.append(self.name, f"{json.dumps(record)}\n".encode())
            return found

        return remember


@dataclass(frozen=True)
class ResultFolder:
    """A folder of results that are no run: certificates with a record, `NAME.json`, a table and a page of them,
    `NAME.csv` and `NAME.html`, and the head. Each file is whole or not there. The record is removed first and written
    last: where it is, all others are there. With `overwrite` what an earlier command noted there is removed."""

    name: str
    directory: Path
    head: bytes
    overwrite: bool = False
    inputs: tuple[Path, ...] = ()
    has_latents: bool = False

    @property
    def _names(self) -> tuple[str, ...]:
        of_name = (f"{self.name}.{kind}" for kind in ("json", "csv", "html"))
        return (*of_name, HEAD, *((LATENTS,) if self.has_latents else ()))

    def require_room(self) -> None:
        """Raise InputError unless `write` can write. Call this before long work."""
        require_writable(self.directory / self._names[0])
        self._kept(WrittenFiles(self.directory), {HEAD: self.head})

    @property
    def _journal(self) -> str:
        return f"{self.name}.found"

    @contextmanager
    def journal(self) -> Iterator[Journal]:
        """Keep out other processes while a search notes here what it finds, and `write` writes that and removes it."""
        with locked(self.directory) as held:
            yield Journal(WrittenFiles(self.directory, held), self._journal, self.overwrite)

    def write(
        self,
        record: Mapping[str, object],
        rows: Iterable[Iterable[object]],
        page: bytes,
        certificates: Iterable[StoredBytes],
        latents: bytes | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Write the record as JSON, the table's rows, the page, certificates, and latents, if any. A `journal` holds
        the folder. Raises InputError: a folder that cannot be written, or that holds other files of these names."""
        contents = (f"{json.dumps(record, indent=1)}\n".encode(), csv_table(rows), page, self.head, latents)
        named = {name: data for name, data in zip(self._names, contents, strict=False) if data is not None}
        files, record_name = {each.name: each.data for each in certificates} | named, self._names[0]
        with self.journal() if journal is None else nullcontext(journal) as held:
            written = held.written
            kept = self._kept(written, files)
            if self._replaces(written):
                written.clear([*kept, self._journal], first=record_name)
            for name in sorted(files, key=lambda name: name == record_name):
                written.write(name, files[name])
            written.remove(self._journal)
            written.settle()

    def _kept(self, written: WrittenFiles, files: Mapping[str, bytes]) -> list[str]:
        """The head and the latents that are there, if the results have the same. Raises InputError: no room."""
        needed = {name: RequiredFile(problem="is there already") for name in self._names}
        for name in {HEAD, LATENTS} & {*files}:
            needed[name] = RequiredFile(partial(written.holds, name, files[name]))
        return written.require_room(needed, certificate_names(written.directory), self._replaces(written), self.inputs)

    def _replaces(self, written: WrittenFiles) -> bool:
        """Whether what is noted goes: with `overwrite`; and where nothing but certificates and files of these names is
        noted, a journal is there and no record that was noted before it. That is what an interruption leaves while
        results are written, up to where the journal goes; an older record is that of results which are whole."""
        noted = [name for name in written.names() if not name.endswith(CERTIFICATE_SUFFIX)]
        if self.overwrite or not written.is_ours(self._journal):
            return self.overwrite
        before = noted[: noted.index(self._journal)]
        has_older = self._names[0] in before and written.exists(self._names[0])
        return not has_older and {*noted} <= {self._journal, *self._names}


def folder_in(directory: Path, name: str) -> Path:
    """A folder of a folder that a user named. Raises InputError: a link, which leads elsewhere, has its name."""
    if (directory / name).is_symlink():
        raise InputError(
            directory / name, "is a link, through which verale neither writes nor removes: name that folder itself"
        )
    return directory / name


def write_beside(directory: Path, files: Mapping[str, bytes], by: str, instead_of: Collection[str] = ()) -> None:
    """Write files of a command into a folder, perhaps that of a run, in their order; those of these names that it wrote
    before go first. Raises InputError: another file is in the way."""
    with locked(directory, PATIENCE) as held:
        written = WrittenFiles(directory, held)
        written.require_own((*instead_of, *files), by)
        for name in instead_of:
            written.remove(name, by)
        for name, data in files.items():
            written.write(name, data, by)


@contextmanager
def locked(directory: Path, patience: float = 0.0) -> Iterator[HeldFolder | None]:
    """Create the folder, and keep out other processes that call this, after waiting for so many seconds. Yields what
    `WrittenFiles` writes into. Raises InputError: it cannot be created, or another process writes into it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(directory, f"cannot be created ({error.strerror}); choose another {option('out')}") from error
    try:
        from fcntl import LOCK_EX, LOCK_NB, flock
    except ModuleNotFoundError:  # pragma: no cover (Windows: no lock)
        yield None
        return
    handle = os.open(directory, os.O_RDONLY)
    last = time.monotonic() + patience
    try:
        while True:
            try:
                flock(handle, LOCK_EX | LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= last:
                    raise InputError(
                        directory, f"another process explains into it; wait, or choose another {option('out')}"
                    ) from None
                time.sleep(0.05)
        held = HeldFolder(directory, handle)
        held.require_there()
        yield held
    finally:
        os.close(handle)


_ANOTHER = "choose another name"


def require_output(
    path: str | Path, inputs: Iterable[str | Path | None] = (), overwrite: bool = True, by: str | None = None
) -> None:
    """Raise InputError unless a command may write a file here, and replace the one that is there, if any may be
    replaced. Call this before the work.

    It may not replace a file that it reads (`inputs`, None is none), whatever the names of that file are, nor a link,
    nor a file that verale wrote into a folder and noted there, but for what the command `by` noted itself, nor give a
    file the name of one of a run's.
    """
    path = Path(path)
    if not overwrite and lexists(path):
        raise InputError(path, f"already exists; choose another name, or say {option('overwrite', True)}")
    for source in (Path(one) for one in inputs if one is not None):
        if path.is_file() and source.exists() and path.samefile(source):
            raise InputError(path, f"is read by this command, and would be replaced; {_ANOTHER}")
        if source.is_dir():
            for folder in {source.resolve(), certificates_folder(source).resolve()}:
                _require_no_part_of_run(path, folder)
    noted = noted_in(path)
    if noted is not None and (by is None or noted[2] != by):
        raise InputError(path, f"is one of the files that verale wrote into {noted[0]}; {_ANOTHER}")
    if (folder_around := run_around(path)) is not None:
        _require_no_part_of_run(path, folder_around)
    require_writable(path)


def write_output(path: str | Path, data: bytes, by: str) -> None:
    """Write a file for which `require_output` found room, and note it where its folder does. Raises InputError."""
    noted = noted_in(Path(path))
    if noted is not None and noted[2] == by:
        with locked(noted[0], PATIENCE) as held:
            WrittenFiles(noted[0], held).note(noted[1], hashlib.sha256(data).hexdigest(), by)
    write_atomically(path, data)


def _require_no_part_of_run(path: Path, folder: Path) -> None:
    real = Path(os.path.realpath(path.parent)) / path.name
    name = real.relative_to(folder).as_posix() if real.is_relative_to(folder) else ""
    is_certificate = "/" not in name and name.endswith(CERTIFICATE_SUFFIX)
    if name in _OF_RUN or name.startswith(f"{PICTURES}/") or is_certificate:
        raise InputError(path, f"would be taken for a file of the run in {folder}; {_ANOTHER}")
