"""`verale show`: one certificate in words, with its numbers and its verdict."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line, print_outcome
from verale.checker.verdict import printable
from verale.cli import options
from verale.cli.exits import Exit, exits
from verale.cli.shared import certificate_files, print_record
from verale.errors import InputError, UsageError
from verale.files import (
    CERTIFICATE_SUFFIX,
    SentFile,
    certificate_index,
    certificate_name,
    certificates_folder,
    certificates_in,
)
from verale.runs.auditor import AuditOptions
from verale.runs.inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from verale.report.single import Single

__all__ = ["command"]

_LISTED = 3
"""The most images that a message names."""


@click.command(name="show", short_help="Show one certificate in words, and its verdict.")
@click.argument("certificate", metavar="FILE|FOLDER", type=click.Path())
@click.argument("image", metavar="[IMAGE]", required=False)
@options.inputs()
@options.origins
@options.audit("kernel")
@click.option("--all", "whole", is_flag=True, help="Show every statement, class and prototype, however many.")
@options.in_json("one object")
@options.verbose
@exits(verdicts=True, done="proved")
def command(
    certificate: str,
    image: str | None,
    given: Inputs,
    origins: str | None,
    origin_images: str | None,
    audit: AuditOptions,
    whole: bool,
    as_json: bool,
) -> None:
    """Show one certificate in words: the explanation, its numbers, how far other classes stay behind, and the verdict.

    Of a folder, IMAGE says which one: the image's number, or the name of its file.

    The checker proves the certificate now, as verale audit does, with the head and the latents beside it. Its numbers
    are those that are shown: no number of a statement is rounded. Without a head it is NOT AUDITED.
    """
    from verale.cli.inputs import folder_of, inputs_in, print_found
    from verale.report.single import single
    from verale.runs.folder import HEAD

    if (origins is None) != (origin_images is None):
        raise UsageError("--origins and --origin-images belong together: give both, or neither")
    path = _file(certificate, image)
    inputs = inputs_in(folder_of(path), given)
    result = single(path, inputs, audit)
    if origins is not None and origin_images is not None:
        result = _with_origins(result, inputs.head, folder_of(path), origins, origin_images, audit)
    if result.outcome is not None and inputs.head is not None:
        print_found(inputs, given, result.outcome.record["run"]["head"])
    code = Exit.UNUSABLE if result.outcome is None else result.outcome.exit_code
    if as_json:
        record = None if result.outcome is None else result.outcome.record
        lines = [] if result.shown is None else list(result.shown.lines(whole))
        account = None if result.shown is None or not result.shown.points else result.shown.telling.account
        points = None if account is None else asdict(account)
        print_record("shown", {"certificate": path, "lines": lines, "account": points, "audit": record})
        sys.exit(code)
    if result.shown is not None:
        for line in result.shown.lines(whole):
            for part in _wrapped(line):
                print_line(part)
    if result.outcome is None:
        print_line(f"NOT AUDITED: there is no {HEAD} beside {path}, without which nothing can be proved: give --head")
    else:
        print_outcome(result.outcome, as_json=False)
    sys.exit(code)


def _with_origins(
    result: Single, head: str | None, folder: Path, origins: str, images: str, audit: AuditOptions
) -> Single:
    """With what is proved now of the head's prototypes, by the network beside the certificate. Raises InputError."""
    from dataclasses import replace

    from verale.report.origins import told_origins
    from verale.runs.arguments import HeadFile
    from verale.runs.inputs import find_seen

    seen = find_seen(folder)
    if seen is None or head is None:
        raise InputError(folder, "has no network and pictures, or no head, and origins are about them")
    file = HeadFile.of(head)
    if result.shown is None or file.sha256 != result.shown.telling.head:
        return result
    told = told_origins(origins, file, seen[0], images, audit)
    said = {prototype: each.sentence for prototype, each in told.items()}
    return replace(result, shown=replace(result.shown, judged_origins=said))


def _wrapped(line: str) -> Iterator[str]:
    """A line of text as lines of a terminal; piped, it stays one."""
    if not sys.stdout.isatty():
        yield line
        return
    from shutil import get_terminal_size

    line = printable(line)
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    width = max(40, get_terminal_size().columns)
    parts = wrap(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    yield from parts or [""]


def _file(path: str, image: str | None) -> str:
    """The certificate's file. Raises InputError, UsageError: there is none, or it is not said which one."""
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
    from verale.report.single import source_beside
    from verale.runs.folder import SOURCE

    if image.isascii() and image.isdigit() and len(image) <= 15:
        return int(image)
    source = source_beside(folder)
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
    from verale.runs.table import TABLE, read_table

    number = certificate_index(named)
    rows = read_table(SentFile(folder / TABLE), whole=False) if os.path.lexists(folder / TABLE) else []
    if any(row.certificate == named for row in rows):
        return f"there is no such certificate, though {TABLE} lists it: it was removed or renamed"
    reasons = [row.reason for row in rows if row.index == number and row.reason]
    return f"there is no certificate of this image: {reasons[0]}" if reasons else ""
