"""Certificates, in files or stored otherwise: which an argument means, what a run's own record lists, and what of it is
there.

`explanations.csv` lists the certificates, one line an image, and `run.json` says how many images the run has. Folders
of `verale rules` and `verale attribute` have lists in JSON. Who sends a folder can change them, so an agreement proves
nothing; a difference says that the folder is not what its run left.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from verale.errors import InputError, UsageError, first_line, with_article
from verale.files import (
    CERTIFICATE_SUFFIX,
    SentFile,
    certificate_index,
    certificate_name,
    certificates_folder,
    certificates_in,
    read,
)
from verale.runs.inputs import RUN_FILE, SOURCE, TABLE, images_of_run
from verale.runs.table import Explained, read_table

if TYPE_CHECKING:
    from verale.certificate import Certificate

_log = logging.getLogger(__name__)

UNLISTED = f"has no {TABLE} that lists its certificates: whether there were others is not known"
"""What is said of a folder without a record."""

_LISTS = {"rules.json": "rules", "attribution.json": "explanations"}
"""The other records, and the entry of each that lists the certificates with their SHA-256."""

_NAMED = 3  # the most files or images that a message names


class Stored(Protocol):
    """A certificate that is not a file of its own, such as a row of a dataset."""

    @property
    def name(self) -> str:
        """Its name, for messages and records."""

    def read(self) -> bytes:
        """Its bytes. Raises InputError."""


@dataclass(frozen=True)
class StoredBytes:
    """A certificate whose bytes are at hand; perhaps no file has them."""

    name: str
    data: bytes

    def read(self) -> bytes:
        """The bytes."""
        return self.data

    @classmethod
    def numbered(cls, certificates: Iterable[Certificate]) -> list[StoredBytes]:
        """Certificates, by the names that they get in a folder."""
        return [cls(certificate_name(number), each.to_bytes()) for number, each in enumerate(certificates)]


def name_of(path: str | Stored) -> str:
    """The name of a certificate: its path, or the name under which it is stored."""
    return path if isinstance(path, str) else path.name


@dataclass(frozen=True)
class Listing:
    """What the record of a run lists: of each certificate the SHA-256, where noted, by name; how many images have a
    line; how many the run has, 0 where unknown; and the name of the record."""

    digests: Mapping[str, str | None]
    rows: int
    images: int
    record: str = TABLE

    @classmethod
    def of(cls, folder: Path) -> Listing | None:
        """The record of a folder; None where none names certificates, as the papers' tables do not. Raises
        InputError."""
        if lexists(folder / TABLE):
            return cls.of_rows(read_table(SentFile(folder / TABLE), whole=False), images_of_run(folder))
        for name, entry in _LISTS.items():
            if lexists(path := folder / name):
                try:
                    record = json.loads(read(SentFile(path), "a list of certificates"))
                    digests = {each["certificate"]: each["sha256"] for each in record[entry]}
                    if not all(isinstance(text, str) for pair in digests.items() for text in pair):
                        raise TypeError("names and digests are no texts")
                except (KeyError, TypeError, ValueError, RecursionError) as error:
                    raise InputError(path, f"is not what verale wrote: {first_line(error)}") from error
                return cls(digests, 0, 0, name)
        return None

    @classmethod
    def of_rows(cls, rows: Iterable[Explained], images: int) -> Listing | None:
        """The same of rows that were read."""
        by_index = {row.index: row for row in rows}
        digests = {row.certificate: row.sha256 for row in by_index.values() if row.certificate is not None}
        is_record = digests or any(row.reason is not None for row in by_index.values()) or images
        return cls(digests, len(by_index), images) if is_record else None

    def differences(self, there: Mapping[str, str | None]) -> list[str]:
        """What is missing, more, or another than is listed, one sentence each. `there` are the certificates that lie in
        the folder, by name, with their SHA-256 where it is known."""
        missing = [name for name in self.digests if name not in there]
        more = [name for name in there if name not in self.digests]
        other = [
            name
            for name, digest in there.items()
            if digest is not None and self.digests.get(name) not in (None, digest)
        ]
        unfinished = self.images and self.rows != self.images
        said = [
            f"{self.rows} of {self.images} images are explained so far" if unfinished else "",
            _said(f"lacks %s of the {len(self.digests)} that its {self.record} lists", missing),
            _said(f"holds %s that its {self.record} does not list", more),
            _said(f"holds %s with another SHA-256 than its {self.record} notes", other),
        ]
        return list(filter(None, said))


def differences(
    folder: Path, digests: Mapping[str, str | None] | None = None, listed: Listing | None = None
) -> list[str]:
    """In what a folder of certificates is not what its own record lists, one sentence each; see `Listing.differences`.
    The certificates' digests, by name, and the record are given where they are known."""
    there = {path.name: (digests or {}).get(path.name) for path in certificates_in(folder)}
    try:
        listed = Listing.of(folder) if listed is None else listed
    except InputError as error:
        name = with_article(Path(str(error.path)).name)
        return [f"has {name} that does not list certificates ({error.problem})"]
    if listed is not None:
        return [*listed.differences(there), *_overlooked(folder)]
    if lexists(folder / RUN_FILE):
        return [f"has a {RUN_FILE}, but no {TABLE} that lists its certificates", *_overlooked(folder)]
    return _overlooked(folder)


def rows_of(table: str, whole: bool) -> list[Explained]:
    """The rows of a table, of which there are some; a warning says if its run is not finished. Raises InputError."""
    rows, path = read_table(table, whole=whole), Path(table)
    listed = Listing.of_rows(rows, images_of_run(path.parent)) if path.name == TABLE else None
    for difference in () if listed is None else differences(path.parent, listed=listed):
        _log.warning("%s: %s", path.parent, difference)
    if not rows:
        raise InputError(path, "has no rows; explain some images first")
    return rows


def has_record(folder: Path) -> bool:
    """Whether a folder has what a run writes of what it holds."""
    return any(lexists(folder / name) for name in (TABLE, RUN_FILE, *_LISTS))


def _overlooked(folder: Path) -> list[str]:
    """Files whose names look like those of certificates, and are not."""
    names = sorted(
        path.name
        for path in folder.iterdir()
        if path.name.lower().endswith(CERTIFICATE_SUFFIX) and not path.name.endswith(CERTIFICATE_SUFFIX)
    )
    named = _said(f"holds %s with a name that no command reads: it has to end in {CERTIFICATE_SUFFIX}", names)
    return [named] if named else []


def _said(sentence: str, names: list[str]) -> str:
    """The sentence about certificates of these names; empty without any."""
    if not names:
        return ""
    some = ", ".join(sorted(names)[:_NAMED]) + (", ..." if len(names) > _NAMED else "")
    number = f"{len(names)} certificate{'s' if len(names) > 1 else ''}"
    return f"{sentence % number} ({some})"


def certificate_files(paths: tuple[str, ...], compared: bool = True) -> list[str]:
    """Files as given; for each directory its certificates, sorted. Raises InputError if it has none. `compared`: a
    warning says in what it is not what its run's record lists."""
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
    """The file of a certificate; of a folder, that of an image, by its number or file name, or by the certificate's, or
    None where it has one. Raises InputError: there is none; UsageError: it is not said which one."""
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
    rows = read_table(SentFile(folder / TABLE), whole=False) if lexists(folder / TABLE) else []
    reasons = [row.reason for row in rows if row.index == certificate_index(named) and row.reason]
    why = "no such certificate; give another image"
    if any(row.certificate == named for row in rows):
        why = f"no such certificate, though {TABLE} lists it: it was removed or renamed"
    elif reasons:
        why = f"no certificate of this image: {reasons[0]}"
    raise InputError(folder / named, f"there is {why}")


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
    named = ", ".join(known[number] for number in found[:_NAMED])
    raise InputError(
        folder, f"names {len(found)} images {image!r} ({named}, ...); give one of these names, or a number"
    )


_ORIGINS = b"urn:verale:origins:"
"""How the type of an origins file begins, of every version. Who audits certificates need not load what reads it."""


def is_origins_file(path: str) -> bool:
    """Whether a file says at its beginning that it is one of origins."""
    if path.endswith(CERTIFICATE_SUFFIX) or not Path(path).is_file():
        return False
    try:
        with open(path, "rb") as stream:
            return _ORIGINS in stream.read(4096)
    except OSError:
        return False
