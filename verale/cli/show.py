"""`verale show`: one certificate in words, with its numbers and its verdict."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace

import click

from verale.checker import AuditOptions
from verale.checker.file_auditor import print_outcome
from verale.checker.verdict import UNUSABLE
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record, print_verdict, print_wrapped
from verale.files import folder_of
from verale.runs.inputs import Inputs, find_inputs


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
    origins: tuple[str, str] | None,
    audit: AuditOptions,
    whole: bool,
    as_json: bool,
) -> None:
    """Show one certificate in words: the explanation, its numbers, how far other classes stay behind, and the verdict.

    Of a folder, IMAGE says which one: the image's number, or the name of its file.

    The checker proves the certificate now, as verale audit does, with the head and the latents beside it. Its numbers
    are those that are shown: no number of a statement is rounded. Without a head it is NOT AUDITED.
    """
    from verale.report.single import single
    from verale.report.verdicts import origins_beside
    from verale.runs.inputs import HEAD
    from verale.runs.listed import certificate_of

    path = certificate_of(certificate, image)
    inputs = find_inputs(folder_of(path), given.head, given.latents)
    result = single(path, inputs, audit)
    if origins is not None:
        named = result.shown and result.shown.telling.certificate.head
        told = origins_beside(folder_of(path), result.head, origins, audit, named or "")
        said = {prototype: each.sentence for prototype, each in told.items()}
        result = result if result.shown is None else replace(result, shown=replace(result.shown, judged_origins=said))
    if result.outcome is not None and inputs.head is not None:
        options.print_found(inputs, given, result.outcome.record["run"]["head"])
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
            print_wrapped(line)
    if result.outcome is None:
        print_wrapped(
            f"NOT AUDITED: there is no {HEAD} beside {path}, without which nothing can be proved: give --head"
        )
    elif result.outcome.record["status"] == UNUSABLE:
        print_outcome(result.outcome, as_json=False)
    else:
        print_verdict(result.outcome.line)
    sys.exit(code)
