"""Files whose names a user gives: they may be replaced, but not where a command reads them or a folder needs them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from os.path import lexists
from pathlib import Path

from verale.errors import InputError, option
from verale.files import certificates_folder, require_writable, write_atomically
from verale.runs.folder import PATIENCE, is_of_run, locked
from verale.runs.written import WrittenFiles, noted_in, run_around

__all__ = ["require_output", "write_output"]

_ANOTHER = "choose another name"


def require_output(
    path: str | Path, inputs: Iterable[str | Path | None] = (), overwrite: bool = True, by: str | None = None
) -> None:
    """Raise InputError unless a command may write a file here, and replace the one that is there.

    It may not replace a file that it reads, whatever the names of that file are, nor a link, nor a file that verale
    wrote into a folder and noted there, nor give a file the name of one of a run's. Call this before the work.

    Args:
        path: the file.
        inputs: the files that the command reads, and the folders of runs; None is none.
        overwrite: whether a file may be replaced at all.
        by: the command, where it may replace what it noted itself.
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
    """Write a file for which `require_output` found room. A folder that notes it as written by this command notes the
    new one. Raises InputError."""
    noted = noted_in(Path(path))
    if noted is not None and noted[2] == by:
        with locked(noted[0], PATIENCE) as held:
            WrittenFiles(noted[0], held).note({noted[1]: hashlib.sha256(data).hexdigest()}, by)
    write_atomically(path, data)


def _require_no_part_of_run(path: Path, folder: Path) -> None:
    real = Path(os.path.realpath(path.parent)) / path.name
    if real.is_relative_to(folder) and is_of_run(real.relative_to(folder).as_posix()):
        raise InputError(path, f"would be taken for a file of the run in {folder}; {_ANOTHER}")
