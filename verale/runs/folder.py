"""A folder of results: the names of its files, who may write to it, and results that are no run."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from verale.errors import InputError
from verale.files import certificates_in, require_writable, write_atomically
from verale.runs.table import TABLE

__all__ = [
    "HEAD",
    "LATENTS",
    "NETWORK",
    "PICTURES",
    "REMEDY",
    "RUN_FILE",
    "SOURCE",
    "locked",
    "require_free",
    "require_room",
    "write_results",
]

RUN_FILE = "run.json"
"""Which run the folder holds."""

HEAD, LATENTS, SOURCE = "head.safetensors", "latents.safetensors", "source.json"
"""Head and latents, where verale has made them from images, and where they come from (`verale.runs.source`)."""

NETWORK, PICTURES = "network.safetensors", "pictures"
"""The network of a run of pictures; the folder of their PNG files or, with `.safetensors`, the file of their tensor."""

REMEDY = "choose another --out, or say --overwrite"


def require_free(directory: Path, holds: str = "certificates") -> None:
    """Raise InputError if a run's results are in the folder already."""
    if certificates_in(directory) or (directory / TABLE).exists() or (directory / RUN_FILE).exists():
        raise InputError(directory, f"holds {holds} already; {REMEDY}")


def require_room(directory: Path, names: Sequence[str], overwrite: bool = False) -> None:
    """Raise InputError unless files of these names, and certificates, can be written to the folder. What they would
    replace is in their way, unless it may be replaced. Call this before long work, too."""
    require_writable(directory / names[0])
    if overwrite:
        return
    there = [path.name for path in certificates_in(directory)]
    there += [name for name in names if (directory / name).exists()]
    if there:
        raise InputError(directory, f"holds {there[0]} already; {REMEDY}")


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
