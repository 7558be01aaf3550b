"""Which certificates an argument means: a file, all of a folder, or that of an image by its number or its name."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from verale.errors import InputError, UsageError
from verale.files import (
    CERTIFICATE_SUFFIX,
    SentFile,
    certificate_index,
    certificate_name,
    certificates_folder,
    certificates_in,
)
from verale.runs.folder import SOURCE
from verale.runs.listed import differences
from verale.runs.table import TABLE, read_table

__all__ = ["certificate_files", "certificate_of", "one_certificate", "require_distinct"]

_log = logging.getLogger(__name__)

_LISTED = 3
"""The most images that a message names."""


def certificate_files(paths: tuple[str, ...], compared: bool = True) -> list[str]:
    """Files as given; for each directory its certificates, sorted. Raises InputError if it has none.

    Args:
        paths: files and directories.
        compared: whether a warning says in what a directory is not what its run's record lists.
    """
    files: list[str] = []
    for path in map(Path, paths):
        folder = certificates_folder(path) if path.is_dir() else None
        inside = [path] if folder is None else certificates_in(folder)
        if not inside:
            why = f": its {TABLE} says why" if os.path.lexists(path / TABLE) else ""
            raise InputError(path, f"holds no *{CERTIFICATE_SUFFIX}{why}")
        files += map(str if folder is None else SentFile, inside)
        for difference in differences(folder) if compared and folder is not None else ():
            _log.warning("%s %s", folder, difference)
    return files


def require_distinct(files: Sequence[str], out: str) -> None:
    """Raise InputError for two certificates of one name, since what is written of them to `out` has their names."""
    seen: dict[str, str] = {}
    for file in files:
        name = Path(file).name
        if name in seen and Path(seen[name]).resolve() != Path(file).resolve():
            raise InputError(
                file, f"has the name of {seen[name]}, and {out} would get a file of both; take another folder"
            )
        seen[name] = file


def one_certificate(path: str) -> str:
    """The file of a command that takes one. Raises InputError, which names one, for a folder of certificates."""
    inside = certificate_files((path,))
    if not Path(path).is_dir():
        return path
    raise InputError(path, f"is a folder, expected one certificate, such as {inside[0]}")


def certificate_of(path: str, image: str | None) -> str:
    """The file of a certificate.

    Args:
        path: the file, or a folder.
        image: which of a folder: an image's number, the name of its file or of its certificate; None where it has one.

    Raises:
        InputError: there is none.
        UsageError: it is not said which one is meant, or of a file.
    """
    if not Path(path).is_dir():
        if not os.path.lexists(path):
            raise InputError(path, "there is no such file or folder; expected certificates")
        if image is not None:
            raise UsageError(f"{path} is a file: leave out {image}, which says which certificate of a folder is meant")
        return path
    if image is None:
        files = certificate_files((path,))
        if len(files) == 1:
            return files[0]
        number = certificate_index(Path(files[0]).name) or 0
        raise UsageError(
            f"{path} holds {len(files)} certificates: say which one, by its image's number or file name, such as"
            f" verale show {path} {number}"
        )
    folder = certificates_folder(Path(path))
    named = image if image.endswith(CERTIFICATE_SUFFIX) else certificate_name(_number(folder, image))
    if folder / named in certificates_in(folder):
        return SentFile(folder / named)
    raise InputError(folder / named, _reason(folder, named) or "there is no such certificate; give another image")


def _number(folder: Path, image: str) -> int:
    """The number of an image among the latents. Raises InputError: no image has that name, or several."""
    if image.isascii() and image.isdigit() and len(image) <= 15:
        return int(image)
    from verale.runs.source import load_source

    source = load_source(folder / SOURCE).within(folder)
    known = [str(file.relative_to(source.folder)) if source.folder else file.name for file in source.files]
    found = [number for number, name in enumerate(known) if image in (name, Path(name).name)]
    whole = [number for number in found if known[number] == image]
    if len(found) == 1 or len(whole) == 1:
        return (whole or found)[0]
    if not found:
        what = "names no image" if known else f"has no {SOURCE} that names images, so none is"
        raise InputError(folder, f"{what} {image!r}; give the image's number")
    named = ", ".join(known[number] for number in found[:_LISTED])
    raise InputError(
        folder, f"names {len(found)} images {image!r} ({named}, ...); give one of these names, or a number"
    )


def _reason(folder: Path, named: str) -> str:
    """Why an image has no certificate, if the table says so."""
    number = certificate_index(named)
    rows = read_table(SentFile(folder / TABLE), whole=False) if os.path.lexists(folder / TABLE) else []
    if any(row.certificate == named for row in rows):
        return f"there is no such certificate, though {TABLE} lists it: it was removed or renamed"
    reasons = [row.reason for row in rows if row.index == number and row.reason]
    return f"there is no certificate of this image: {reasons[0]}" if reasons else ""
