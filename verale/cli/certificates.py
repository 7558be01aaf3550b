"""`verale certificates`: pack many certificates into one Parquet file, and unpack them."""

from __future__ import annotations

import sys

import click

from verale.checker.file_auditor import print_line
from verale.cli import options
from verale.cli.terminal import exits
from verale.runs.listed import certificate_files


@click.group(name="certificates")
def command() -> None:
    """Pack certificates into Parquet, or unpack them."""


@command.command(name="pack", short_help="Write certificates as rows of a Parquet file.")
@options.files()
@options.out("The Parquet file; a path, or a URI such as s3://...", "PARQUET", required=True)
@options.overwrite()
@exits(done="written")
def pack(certificates: tuple[str, ...], out: str, overwrite: bool) -> None:
    """Write certificates as rows of a Parquet file, their bytes in the column `certificate`.

    The certificates are not checked. `verale audit` reads the file as it reads a folder.
    """
    from verale.runs.packing import pack

    print_line(
        f"{pack(certificate_files(certificates), out, certificates, overwrite)} certificates in {out}", sys.stderr
    )


@command.command(name="unpack", short_help="Write the certificates of a Parquet file to files.")
@click.argument("parquet", metavar="PARQUET")
@options.out("The folder for the certificates.", required=True)
@options.overwrite("Replace what an earlier command noted in the folder.")
@exits(done="written")
def unpack(parquet: str, out: str, overwrite: bool) -> None:
    """Write the certificates of a Parquet file, or of a directory of such files, to files, byte for byte.

    A head beside it goes there too. Nothing is written if some name is not that of a certificate file.
    """
    from verale.runs.packing import unpack

    print_line(unpack(parquet, out, overwrite), sys.stderr)
