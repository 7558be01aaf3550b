"""`verale necessity`: which statements of an explanation are needed under any paradigm, shown by witnesses."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli import options
from verale.cli.exits import Exit, exits
from verale.cli.progress import progress
from verale.cli.shared import certificate_files, print_record, require_distinct
from verale.files import CERTIFICATE_SUFFIX
from verale.runs.auditor import PROVING, AuditOptions
from verale.runs.inputs import Inputs

if TYPE_CHECKING:
    from verale.runs.necessity import Necessity

__all__ = ["command"]


@click.command(name="necessity", short_help="Show which statements are needed under any paradigm.")
@click.argument("paths", metavar="FOLDER|FILE...", type=click.Path(), nargs=-1, required=True)
@options.inputs()
@options.out("A folder for the witnesses; one folder a certificate.")
@options.seconds(5.0, "How long to search for each statement.")
@options.audit(*PROVING)
@options.in_json()
@options.verbose
@exits(Exit.NOT_FOUND, verdicts=True, done="every statement of every certificate has a witness")
def command(
    paths: tuple[str, ...],
    given: Inputs,
    out: str | None,
    seconds: float,
    audit: AuditOptions,
    as_json: bool,
) -> None:
    """For each statement of proved certificates, search for latents that satisfy all others and get another class.

    The checker verifies each witness exactly. Where every statement has one, the explanation is minimal under any
    paradigm.
    """
    from verale.certificate.words import percent
    from verale.cli.inputs import inputs_reader
    from verale.runs.folder import folder_in
    from verale.runs.necessity import necessity

    files, find = certificate_files(paths), inputs_reader(given)
    if out is not None:
        require_distinct(files, out)
    witnessed = total = minimal = 0
    with progress("searching", len(files), unit="certificates") as advance:
        for file in files:
            name = Path(file).name.removesuffix(CERTIFICATE_SUFFIX)
            folder = None if out is None else folder_in(Path(out), name) if len(files) > 1 else Path(out)
            result = necessity(file, *find(file), folder, seconds, audit)
            witnessed, total = witnessed + result.witnessed, total + len(result.statements)
            minimal += result.is_minimal
            if as_json:
                print_record("necessity", {"certificate": file, **result.record()})
            for line in () if as_json else _lines(file, result):
                print_line(line)
            advance(1)
    if len(files) > 1 and not as_json:
        share = f", {percent(witnessed, total)}" if total else ""
        print_line(
            f"{len(files)} explanations: {witnessed} of {total} statements have a witness{share}; {minimal}"
            " explanations are minimal under any paradigm"
        )
    sys.exit(0 if minimal == len(files) else Exit.NOT_FOUND)


def _lines(file: str, result: Necessity) -> Iterator[str]:
    """The result for people."""
    verdict = "minimal under any paradigm" if result.is_minimal else "the others are open"
    yield f"{file}: {result.witnessed} of {len(result.statements)} statements have a witness: {verdict}"
    for each in result.statements:
        said = ": ".join(result.certificate.statements[each.number].in_words(result.prototypes))
        outcome = {
            True: f"needed: without it, class {each.rival}",
            False: "not needed: the checker proves the class without it",
            None: "open: no witness found, which proves nothing",
        }[each.needed]
        yield f"  {said}: {outcome}"
