"""`verale cover`: which images certificates prove."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.checker.verdict import before_colon
from verale.cli import options
from verale.cli.exits import exits
from verale.cli.progress import progress
from verale.cli.shared import certificate_files, print_record
from verale.runs.auditor import PROVING, AuditOptions
from verale.runs.inputs import Inputs

if TYPE_CHECKING:
    from verale.runs.cover import Covered

__all__ = ["command"]


@click.command(name="cover", short_help="Say which images certificates prove.")
@click.argument("certificates", nargs=-1, required=True, metavar="FOLDER|FILE...", type=click.Path())
@options.latents("The latents of the images.", required=True)
@options.inputs("head")
@options.audit(*PROVING)
@options.out("Write a table: a line for each certificate and image.", "CSV")
@options.in_json()
@options.verbose
@exits(verdicts=True, done="every certificate's entailment is proved, whatever it covers")
def command(
    certificates: tuple[str, ...], latents: str, given: Inputs, audit: AuditOptions, out: str | None, as_json: bool
) -> None:
    """Say which images satisfy the statements of certificates, and so have their class by the same proof.

    An image counts if the checker proves the certificate of it: that the statements entail the class, and that they are
    true of the image. Wide statements (verale explain --inflate, verale rules) cover many images, exact ones their own.
    """
    from verale.checker import most_severe
    from verale.cli.inputs import inputs_reader
    from verale.files import write_atomically
    from verale.runs.cover import CoveringAudits, csv_rows
    from verale.runs.outputs import require_output

    files = certificate_files(certificates)
    file = inputs_reader(Inputs(None, latents))(certificates[0])[0] if given.head is None else given.head
    if out is not None:
        require_output(out, [*certificates, *files, latents, file if isinstance(file, str) else file.path])
    covering = CoveringAudits(file, latents, audit)
    covered: list[Covered] = []

    def done() -> str:
        return f"{len(covered)} of {len(files)} certificates are done"

    with progress("covering", len(files), unit="certificates", interrupted=done) as advance:
        for path in files:
            covered.append(covering.of(path))
            if as_json:
                print_record("covered", _record(covered[-1]))
            else:
                print_line(_line(covered[-1], covering.total))
            advance(1)
    if out is not None:
        write_atomically(out, "".join(f"{line}\n" for line in csv_rows(covered, covering)).encode())
    union = {index for each in covered for index in each.images}
    print_line(
        f"{len(union)} of {covering.total} images are covered ({_share(len(union), covering.total)})", sys.stderr
    )
    sys.exit(most_severe([each.verdict.exit_code for each in covered]))


def _line(covered: Covered, total: int) -> str:
    if covered.predicted is None:
        return covered.verdict.line(covered.certificate)
    count = len(covered.images)
    name = before_colon(covered.certificate)
    line = f"{name}: class {covered.predicted}, {count} of {total} images ({_share(count, total)})"
    if covered.correct is not None:
        line += f", {covered.correct} of them of this class as labelled"
    if covered.unproved:
        line += f"; not proved of {len(covered.unproved)} more"
    return line


def _record(covered: Covered) -> dict[str, object]:
    return {
        "certificate": covered.certificate,
        **covered.verdict.record(),
        "covered": len(covered.images),
        "images": list(covered.images),
        "true_classes": covered.labels,
        "unproved": covered.unproved,
    }


def _share(count: int, total: int) -> str:
    from verale.certificate.words import percent

    return percent(count, total) if total else "-"
