"""`verale rules`: a list of certified rules that cover a data set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli import options
from verale.cli.exits import exits
from verale.cli.progress import progress
from verale.cli.shared import print_record
from verale.paradigms import PARADIGMS
from verale.runs.auditor import PROVING, AuditOptions

if TYPE_CHECKING:
    from verale.runs.rules import RuleList, RuleSet

__all__ = ["command"]

_NAMES = tuple(name for name, each in PARADIGMS.items() if each.priced)


@click.command(name="rules", short_help="Fit certified rules to a data set.")
@options.head("The head file.", required=True)
@options.latents("The latents that rules are fitted to.", required=True)
@click.option("--held-out", metavar="LATENTS", type=click.Path(), help="Other latents, on which they are measured too.")
@options.out("The folder for the rules.", required=True)
@click.option("--count", default=10, show_default=True, metavar="NUMBER", help="The most rules.")
@options.named("--paradigm", f"{', '.join(_NAMES)}; by default joint where the head has it, otherwise top_k.", *_NAMES)
@options.prototype_pictures()
@options.overwrite("Remove what an earlier command noted in the folder.")
@options.audit(*PROVING)
@options.in_json("one object")
@options.verbose
@exits(verdicts=True, done="the checker has proved every rule")
def command(
    head: str,
    latents: str,
    held_out: str | None,
    out: str,
    count: int,
    paradigm: str | None,
    prototype_pictures: str | None,
    overwrite: bool,
    audit: AuditOptions,
    as_json: bool,
) -> None:
    """Fit a list of rules: each proves one class of every image that satisfies its statements.

    The first rule covers most images, each further one most of those that are left. Writes a certificate for each
    rule, which names no image, the head, rules.csv, rules.json and rules.html. `verale audit FOLDER
    --entailment-only` proves them again, `verale cover FOLDER --latents LATENTS` says which images they prove.
    """
    from verale.report.rules_page import page, pictures_beside, pictures_in
    from verale.runs.arguments import HeadFile
    from verale.runs.folder import HEAD, require_room, write_results
    from verale.runs.rules import RULES, fit_rules

    directory, file = Path(out), HeadFile.of(head)
    inputs = [Path(given) for given in (head, latents, held_out) if given is not None]
    require_room(directory, RULES, {HEAD: file.data}, overwrite, inputs)
    shown = pictures_beside(latents) if prototype_pictures is None else pictures_in(Path(prototype_pictures))
    unwritten = f"nothing is written to {directory}"
    with progress("fitting", count, unit="rules", interrupted=lambda: unwritten) as advance:
        rules = fit_rules(file, latents, held_out, count, paradigm, advance, audit)
    write_results(directory, RULES, rules.files(file, page(rules, shown)), overwrite, inputs)
    if as_json:
        print_record("rules", rules.record())
    else:
        _print(rules)
    print_line(f"{len(rules.rules)} rules are in {directory}", sys.stderr)
    sys.exit(rules.exit_code)


def _print(rules: RuleList) -> None:
    for number, rule in enumerate(rules.rules):
        seen = f"covers {rule.fitted.images}"
        if rule.held_out is not None:
            seen += f", held out {rule.held_out.images}"
        print_line(f"{rule.status} {number}. {rule.words}: class {rule.name} ({seen})")
    print_line(f"fitted: {_set(rules.fitted)}")
    if rules.held_out is not None:
        print_line(f"held out: {_set(rules.held_out)}")


def _set(each: RuleSet) -> str:
    from verale.certificate.words import percent

    line = f"{each.covered} of {each.images} images are covered ({percent(each.covered, each.images)})"
    if each.correct is None or each.head_correct is None:
        return line
    line = f"{line}, {each.correct} of them correctly as labelled"
    return f"{line}; the head classifies {each.head_correct} of all correctly"
