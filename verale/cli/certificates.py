"""`verale certificates`: pack many certificates into one Parquet file, and unpack them."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli.shared import certificate_files
from verale.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["command"]


@click.group(name="certificates")
def command() -> None:
    """Pack certificates into Parquet, or unpack them."""


@command.command(name="pack")
@click.argument("certificates", nargs=-1, required=True, metavar="DIR|FILE...", type=click.Path())
@click.option("--out", required=True, metavar="P", help="The Parquet file; a path, or a URI such as s3://...")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
def pack(certificates: tuple[str, ...], out: str, overwrite: bool) -> None:
    """Write certificates as rows of a Parquet file, their bytes in the column `certificate`.

    The certificates are not checked. `verale audit` reads the file as it reads a folder.

    Exit code: 0 written; 9 a file that cannot be used; 130 interrupted; 2 unknown option.
    """
    from verale.checker.certificate import LARGEST
    from verale.datasets import storage
    from verale.datasets.certificates import row_of, write_rows
    from verale.files import read

    files = certificate_files(certificates)
    names = [Path(file).name for file in files]
    times = Counter(names)
    for file, name in zip(files, names, strict=True):
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(file, "has a name that is not UTF-8, as names in Parquet must be; rename it") from None
        if times[name] > 1:
            raise InputError(file, f"is not the only {name}; names in a Parquet file must be unique")
    if storage.exists(out) and not overwrite:
        raise InputError(out, "already exists; choose another --out, or say --overwrite")
    rows = (row_of(name, read(file, "a certificate", LARGEST + 1)) for file, name in zip(files, names, strict=True))
    print_line(f"{write_rows(out, rows)} certificates in {out}", sys.stderr)


@command.command(name="unpack")
@click.argument("parquet", metavar="P")
@click.option("--out", required=True, metavar="DIR", type=click.Path(), help="The folder for the certificates.")
@click.option("--overwrite", is_flag=True, help="Replace existing certificates.")
def unpack(parquet: str, out: str, overwrite: bool) -> None:
    """Write the certificates of a Parquet file, or of a directory of such files, to files, byte for byte.

    If it has latents, they go to latents.safetensors. A head beside it goes there too, and so does source.json, with
    the images that the rows name. Then DIR is a folder as `verale explain` writes it.

    Exit code: 0 written; 9 a file that cannot be used; 130 interrupted; 2 unknown option.
    """
    from verale.cli.inputs import folder_of
    from verale.datasets.certificates import packed_certificates
    from verale.datasets.latents import latents_in
    from verale.files import read, write_atomically
    from verale.runs.folder import HEAD, LATENTS, SOURCE

    packed, without = packed_certificates(parquet)
    if not packed:
        raise InputError(parquet, f"holds no certificate in {without} rows")
    directory = Path(out)
    seen: set[str] = set()
    for one in packed:
        if one.short in seen:
            raise InputError(parquet, f"has several certificates called {one.short!r}, which would replace each other")
        seen.add(one.short)
        if not one.is_plain:
            raise InputError(parquet, f"has a certificate called {one.short!r}, which is not the plain name of a file")
        if not overwrite and (directory / one.short).exists():
            raise InputError(directory / one.short, "already exists; choose another --out, or say --overwrite")
    head = None if "://" in parquet else folder_of(parquet) / HEAD
    if head is not None and head.is_file():
        _require_replaceable(directory / HEAD, head, overwrite)
    for one in packed:
        write_atomically(directory / one.short, one.read())
    rest = f"; {without} rows have none" if without else ""
    if head is not None and head.is_file():
        write_atomically(directory / HEAD, read(head, "a head file (safetensors)"))
        rest += f"; their head in {HEAD}"
    if (latents := latents_in(parquet)) is not None:
        from verale.head import save_latents

        save_latents(directory / LATENTS, latents)
        rest += f"; their latents in {LATENTS}"
        if head is not None and head.with_name(SOURCE).is_file():
            _unpack_source(head, parquet, latents, directory / SOURCE)
    print_line(f"{len(packed)} certificates in {directory}{rest}", sys.stderr)


def _require_replaceable(path: Path, head: Path, overwrite: bool) -> None:
    from verale.files import read

    if not overwrite and path.exists() and path.read_bytes() != read(head, "a head file (safetensors)"):
        raise InputError(path, f"is another head than {head}; choose another --out, or say --overwrite")


def _unpack_source(head: Path, parquet: str, latents: Tensor, to: Path) -> None:
    """Write source.json with the images that the rows name, bound to their latents by digest."""
    from verale.datasets.latents import images_in
    from verale.files import write_atomically
    from verale.head import as_patches, digest, digest_of_all
    from verale.runs.folder import SOURCE
    from verale.runs.inputs import sha256_of
    from verale.runs.source import SourceFile

    images = images_in(parquet)
    if images is None:
        return
    patches = as_patches(latents)
    source = SourceFile.read(head.with_name(SOURCE), "remove it").noting(
        images=[{"file": file, "label": label, "sha256": sha256} for file, label, sha256 in images],
        head_sha256=sha256_of(head) if head.is_file() else None,
        latents_digest=digest_of_all(patches),
        image_latents=list(map(digest, patches)),
    )
    write_atomically(to, source.to_bytes())
