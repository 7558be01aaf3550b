"""Certificates in Parquet: many as rows of one file, and back again, byte for byte."""

from __future__ import annotations

import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import normalize

from verale.checker.certificate import LARGEST
from verale.datasets import storage
from verale.datasets.rows import packed_certificates, row_of, write_rows
from verale.errors import InputError
from verale.files import CERTIFICATE_SUFFIX, SentFile, folder_of, is_certificate_name, read
from verale.runs.arguments import HeadFile
from verale.runs.folder import PATIENCE, locked, require_output
from verale.runs.inputs import HEAD
from verale.runs.written import RequiredFile, WrittenFiles, overwritten

if TYPE_CHECKING:
    from verale.datasets.rows import PackedCertificate

_FORM = f"expected the plain name of a file, short and printable, that ends in {CERTIFICATE_SUFFIX}"


def pack(files: Sequence[str], out: str, inputs: Sequence[str], overwrite: bool) -> int:
    """Write certificates as rows of a Parquet file; return how many. Raises InputError."""
    names = [Path(file).name for file in files]
    times = Counter(map(_alike, names))
    for file, name in zip(files, names, strict=True):
        if not is_certificate_name(name) and lexists(file):
            raise InputError(file, f"has a name that nobody can unpack: {_FORM}; rename it")
        if times[_alike(name)] > 1:
            raise InputError(file, f"is not the only {name}; names in a Parquet file must be unique")
    if not overwrite and storage.info_of(out).type.name != "NotFound":
        raise InputError(out, f"already exists; {overwritten()}")
    if "://" not in out:
        require_output(out, [*inputs, *files])
    rows = (row_of(name, read(file, "a certificate", LARGEST + 1)) for file, name in zip(files, names, strict=True))
    return write_rows(out, rows)


def unpack(parquet: str, out: str, overwrite: bool) -> str:
    """Write the certificates of a Parquet file to files, with the head beside it; return what was written, in words.
    Raises InputError."""
    packed, without = packed_certificates(parquet)
    if not packed:
        raise InputError(parquet, f"holds no certificate in {without} rows")
    seen: dict[str, str] = {}
    for name in (one.short for one in packed):
        if not is_certificate_name(name):
            raise InputError(parquet, f"has a certificate called {reprlib.repr(name)}, {_FORM}; rename it there")
        if (alike := _alike(name)) in seen:
            both = repr(name) if seen[alike] == name else f"{seen[alike]!r} and {name!r}"
            raise InputError(parquet, f"has several certificates called {both}, which would replace each other")
        seen[alike] = name
    directory, beside = Path(out), {}
    if "://" not in parquet and (head := folder_of(parquet) / HEAD).is_file():
        beside[HEAD] = HeadFile.of(SentFile(head)).data
    _require_room(WrittenFiles(directory), packed, beside, overwrite)
    with locked(directory, PATIENCE) as held:
        written = WrittenFiles(directory, held)
        _require_room(written, packed, beside, overwrite)
        for one in packed:
            written.write(one.short, one.read())
        for name, data in beside.items():
            written.write(name, data)
    rest = f"; {without} rows have none" if without else ""
    rest += "".join(f"; their head in {name}" for name in beside)
    return f"{len(packed)} certificates in {directory}{rest}"


def _alike(name: str) -> str:
    """The same for names that some file systems take for one: they ignore case, or how letters are composed."""
    return normalize("NFKC", name).casefold()


def _require_room(
    written: WrittenFiles, packed: list[PackedCertificate], beside: Mapping[str, bytes], overwrite: bool
) -> None:
    """Raise InputError for a file that is in the way of one to write."""

    def is_there(one: PackedCertificate) -> bool:
        return overwrite and written.holds(one.short, one.read())

    needed = {one.short: RequiredFile(partial(is_there, one), "already exists") for one in packed}
    for name, data in beside.items():
        needed[name] = RequiredFile(partial(written.holds, name, data), "already exists")
    written.require_free(needed, overwrite=overwrite)
