"""What a run's own record lists, and what of it lies in the folder.

`explanations.csv` lists the certificates, one line an image, and `run.json` says how many images the run has. Folders
of `verale rules` and `verale attribute` have lists in JSON. Who sends a folder can change them, so an agreement proves
nothing; a difference says that the folder is not what its run left.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from os.path import lexists
from pathlib import Path

from verale.errors import InputError, first_line, with_article
from verale.files import CERTIFICATE_SUFFIX, SentFile, certificates_in, read
from verale.runs.folder import RUN_FILE
from verale.runs.inputs import images_of_run
from verale.runs.table import TABLE, Explained, read_table

__all__ = ["UNLISTED", "Listing", "differences", "has_record", "rows_of"]

_log = logging.getLogger(__name__)

UNLISTED = f"has no {TABLE} that lists its certificates: whether there were others is not known"
"""What is said of a folder without a record."""

_LISTS = {"rules.json": "rules", "attribution.json": "explanations"}
"""The other records, and the entry of each that lists the certificates with their SHA-256."""

_NAMED = 3
"""The most files that a message names."""


@dataclass(frozen=True)
class Listing:
    """What the record of a run lists.

    Attributes:
        digests: of each certificate the SHA-256 that is noted, by its name; None where none is.
        rows: how many images have a line.
        images: how many the run has; 0 where that is not known.
        record: the name of the file that lists them.
    """

    digests: Mapping[str, str | None]
    rows: int
    images: int
    record: str = TABLE

    @classmethod
    def of(cls, folder: Path) -> Listing | None:
        """The record of a folder; None where it has none, or its table names no certificates, as the papers' do not.

        Raises:
            InputError: a table that cannot be read.
        """
        if lexists(folder / TABLE):
            return cls.of_rows(read_table(SentFile(folder / TABLE), whole=False), images_of_run(folder))
        for name, entry in _LISTS.items():
            if lexists(folder / name):
                return cls(_digests(SentFile(folder / name), entry), 0, 0, name)
        return None

    @classmethod
    def of_rows(cls, rows: Iterable[Explained], images: int) -> Listing | None:
        """The same of rows that were read."""
        by_index = {row.index: row for row in rows}
        digests = {row.certificate: row.sha256 for row in by_index.values() if row.certificate is not None}
        is_record = digests or any(row.reason is not None for row in by_index.values()) or images
        return cls(digests, len(by_index), images) if is_record else None

    def differences(self, there: Mapping[str, str | None]) -> list[str]:
        """What is missing, more, or another than is listed, one sentence each.

        Args:
            there: the certificates that lie in the folder, by name, with their SHA-256 where it is known.
        """
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

    Args:
        folder: where the certificates lie.
        digests: of certificates, by name, where they are known.
        listed: the record, where it was read.
    """
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
    """The rows of a table, of which there are some; a warning says if its run is not finished.

    Args:
        table: its path.
        whole: whether it is complete, as for `verale.runs.table.read_table`.

    Raises:
        InputError: a table that cannot be read, or has no rows; the message names file, line and column.
    """
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


def _digests(path: str, entry: str) -> dict[str, str | None]:
    """The SHA-256 of each certificate that a list in JSON has, by name. Raises InputError."""
    try:
        listed = {
            each["certificate"]: each["sha256"] for each in json.loads(read(path, "a list of certificates"))[entry]
        }
        if not all(isinstance(text, str) for pair in listed.items() for text in pair):
            raise TypeError("names and digests are no texts")
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(path, f"is not what verale wrote: {first_line(error)}") from error
    return listed


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
