"""`verale refute`: search for a counterexample to a certificate."""

from __future__ import annotations

import sys
from time import perf_counter

import click

from verale.cli import options
from verale.cli.exits import Exit, exits
from verale.cli.shared import one_certificate, print_record
from verale.cli.terminal import print_verdict
from verale.runs.auditor import PROVING, AuditOptions
from verale.runs.inputs import Inputs

__all__ = ["command"]


@click.command(name="refute", short_help="Search for a counterexample to a certificate.")
@click.argument("certificate", metavar="FILE", type=click.Path())
@options.inputs()
@options.out("The file for a witness: latents of one image.", "FILE")
@options.seconds(60.0, "How long to search.")
@options.audit(*PROVING)
@options.in_json()
@options.verbose
@exits(Exit.REFUTED, Exit.MALFORMED, Exit.SUBJECT, Exit.NOT_FOUND, done="never")
def command(
    certificate: str,
    given: Inputs,
    out: str | None,
    seconds: float,
    audit: AuditOptions,
    as_json: bool,
) -> None:
    """Search for latents that satisfy every statement of a certificate but are classified otherwise.

    Prints one verdict line. The checker verifies a counterexample exactly.
    """
    from verale.cli.inputs import inputs_reader
    from verale.runs.refute import refute

    certificate, start = one_certificate(certificate), perf_counter()
    verdict = refute(certificate, *inputs_reader(given)(certificate), out, seconds, audit)
    if as_json:
        record = {"certificate": certificate, "seconds": perf_counter() - start, **verdict.record()}
        print_record("refutation", record)
    else:
        print_verdict(verdict.line(certificate))
    sys.exit(verdict.exit_code)
