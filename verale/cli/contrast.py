"""`verale contrast`: why this class and not another one, shown by latents that the other one gets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli import options
from verale.cli.exits import Exit, exits
from verale.cli.shared import one_certificate, print_record
from verale.runs.auditor import PROVING, AuditOptions
from verale.runs.inputs import Inputs

if TYPE_CHECKING:
    from verale.head import Head
    from verale.runs.contrast import Contrast

__all__ = ["command"]

_MOST = 10
"""The most lines of one kind."""


@click.command(name="contrast", short_help="Show what stands between an image and another class.")
@click.argument("certificate", metavar="FILE", type=click.Path())
@click.option("--class", "goal", required=True, metavar="CLASS", help="The class to win: its number or its label.")
@options.inputs()
@options.out("A folder for the witness and what shows that it is one.")
@options.seconds(60.0, "How long to search.")
@click.option("--model", metavar="MODEL", type=click.Path(), help="A whole PrototypeDL model; it draws the witness.")
@options.audit(*PROVING)
@options.in_json()
@options.verbose
@exits(Exit.NOT_FOUND, verdicts=True, done="found")
def command(
    certificate: str,
    goal: str,
    given: Inputs,
    out: str | None,
    seconds: float,
    model: str | None,
    audit: AuditOptions,
    as_json: bool,
) -> None:
    """Find a smallest set of statements of a proved certificate whose release lets class C win.

    A witness shows it: latents that satisfy all other statements and get class C. The checker verifies both exactly.
    """
    from verale.cli.inputs import inputs_reader
    from verale.errors import UsageError
    from verale.runs.contrast import contrast

    if model is not None and out is None:
        raise UsageError("--model draws the witness into a folder: give --out too")
    certificate = one_certificate(certificate)
    head_file, latents_path = inputs_reader(given)(certificate)
    result = contrast(certificate, head_file, goal, latents_path, out, seconds, model, audit)
    loaded = head_file.head
    if as_json:
        print_record("contrast", {"certificate": certificate, **result.record(loaded)})
    else:
        for line in _lines(certificate, result, loaded, out):
            print_line(line)
    sys.exit(0 if result.found is not None else Exit.NOT_FOUND)


def _lines(certificate: str, result: Contrast, head: Head, out: str | None) -> list[str]:
    """The result for people."""
    from verale.certificate.words import about, below
    from verale.head import evaluate
    from verale.runs.contrast import PROOF, REST, WITNESS, value_at

    size, names = result.certificate.size, [f"class {c}" for c in range(head.classes)]
    if head.labels is not None:
        names = [f"{name} ({label})" for name, label in zip(names, head.labels, strict=True)]
    predicted, goal = names[result.certificate.predicted], names[result.goal]
    start = f"{certificate}: why {predicted} and not {goal}?"
    if result.found is None:
        if result.at_least > size:
            return [f"{start} No release lets it win: the checker proves that it loses everywhere"]
        return [f"{start} No set of statements found; at least {result.at_least} of {size} have to be released"]
    found, released = result.found, len(result.found.released)
    smallest = (
        "no smaller set does: proved" if result.is_smallest else f"the smallest found; at least {result.at_least}"
    )
    lines = [f"{start} {released} of {size} statements stand{'s' if released == 1 else ''} in its way ({smallest})"]
    evaluated = evaluate(head, found.witness.image[None])
    for number in found.released[:_MOST]:
        statement = result.certificate.statements[number]
        lines.append(
            f"  released: {': '.join(statement.in_words(head.size))}; at the witness about"
            f" {about(value_at(head, result.certificate, number, evaluated))}"
        )
    if released > _MOST:
        lines.append(f"  and {released - _MOST} more")
    margin = below(found.proof.margin)
    lines.append(
        f"  the witness satisfies the other {size - released} and gets {goal}, at least {margin} ahead, because"
    )
    for statement in found.proof.statements[:_MOST]:
        origin = result.origins.get(getattr(statement, "prototype", -1))
        lines.append(f"    {': '.join(statement.in_words(head.size))}{f' ({origin})' if origin else ''}")
    if found.proof.size > _MOST:
        lines.append(f"    and {found.proof.size - _MOST} more statements")
    for near in result.near:
        name = f"image {near.image}" if near.file is None else near.file
        lines.append(
            f"  patch {near.patch} moved by about {about(near.moved)}; nearest is patch {near.at} of {name}, about"
            f" {about(near.distance)} away"
        )
    if out is not None:
        lines.append(f"  {out}: {WITNESS}, {REST} (which it refutes), {PROOF} (which proves its class)")
    return lines
