"""`verale refute`: search a counterexample to a certificate."""

from __future__ import annotations

import json
import sys
from time import perf_counter

import click

from verale.cli import verbose

__all__ = ["command"]


@click.command(name="refute", short_help="Search a counterexample to a certificate.")
@click.argument("certificate", metavar="CERT", type=click.Path())
@click.option("--head", required=True, metavar="H", type=click.Path(), help="The head file that it speaks of.")
@click.option("--latents", metavar="Z", type=click.Path(), help="The image's latents, to start from.")
@click.option("--out", metavar="W", type=click.Path(), help="Where a witness goes: a latents file of one image.")
@click.option("--seconds", default=60.0, show_default=True, metavar="N", help="When to stop searching.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a line for people.")
@verbose
def command(certificate: str, head: str, latents: str | None, out: str | None, seconds: float, as_json: bool) -> None:
    """Search latents that satisfy every statement of a certificate and are classified otherwise.

    One verdict line on stdout. What is found, the checker verifies exactly. Exit code: 4 refuted; 11 no counterexample
    found, which proves nothing; 5 malformed; 6 another head's; 9 a file or option that cannot be used; 130 interrupted;
    2 an option that there is not.
    """
    from verale.runs.refute import refute

    start = perf_counter()
    verdict = refute(certificate, head, latents, out, seconds)
    record = {"certificate": certificate, "seconds": perf_counter() - start, **verdict.record()}
    click.echo(json.dumps(record) if as_json else verdict.line(certificate))
    sys.exit(verdict.exit_code)
