"""`verale refute`: search for a counterexample to a certificate."""

from __future__ import annotations

import json
import sys
from time import perf_counter

import click

from verale.checker.output import print_line
from verale.cli.shared import head_option, json_option, kernel_option, latents_option, one_certificate, verbose

__all__ = ["command"]


@click.command(name="refute", short_help="Search for a counterexample to a certificate.")
@click.argument("certificate", metavar="FILE", type=click.Path())
@head_option
@latents_option
@click.option("--out", metavar="W", type=click.Path(), help="The file for a witness: latents of one image.")
@click.option("--seconds", default=60.0, show_default=True, metavar="N", help="How long to search.")
@kernel_option("Which checker decides")
@json_option
@verbose
def command(
    certificate: str,
    head: str | None,
    latents: str | None,
    out: str | None,
    seconds: float,
    kernel: str | None,
    as_json: bool,
) -> None:
    """Search for latents that satisfy every statement of a certificate but are classified otherwise.

    Prints one verdict line. The checker verifies a counterexample exactly.

    Exit code: 4 refuted; 11 no counterexample found, which proves nothing; 5 malformed; 6 about another head; 9 a file
    or option that cannot be used; 130 interrupted; 2 unknown option.
    """
    from verale.cli.inputs import inputs_reader
    from verale.runs.refute import refute

    certificate, start = one_certificate(certificate), perf_counter()
    verdict = refute(certificate, *inputs_reader(head, latents)(certificate), out, seconds, kernel)
    record = {"certificate": certificate, "seconds": perf_counter() - start, **verdict.record()}
    print_line(json.dumps(record) if as_json else verdict.line(certificate))
    sys.exit(verdict.exit_code)
