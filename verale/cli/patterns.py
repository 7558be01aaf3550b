"""What holds of several explanations or images: `verale attribute`, `cover`, `rules`."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker import AuditOptions
from verale.checker.verdict import before_colon, print_line
from verale.cli import options
from verale.cli.terminal import exits, print_record, progress
from verale.paradigms import PARADIGMS
from verale.runs.inputs import Inputs
from verale.runs.listed import StoredBytes, certificate_files
from verale.runs.options import PROVING, RunOptions

if TYPE_CHECKING:
    from verale.runs.attribute import Attribution
    from verale.runs.audit_log import AuditLog
    from verale.runs.rules import Covered

_OF_ATTRIBUTE = tuple(name for name, each in PARADIGMS.items() if each.several)
_SPATIAL = tuple(name for name in _OF_ATTRIBUTE if PARADIGMS[name].spatial)

_JOBS = "Processes that audit; 1, or with ray one for each core."

_MOST = 10
"""The most prototypes, and patches, that are printed for people."""


def _log(path: str | None, inputs: Iterable[str | Path]) -> AuditLog | None:
    """The audit log of a path. Raises InputError."""
    if path is None:
        return None
    from verale.runs.audit_log import AuditLog

    return AuditLog(path, inputs)


def _unfinished(out: str) -> str:
    return f"{out} has no results yet, but what was found so far; the same command goes on from there"


@click.command(name="attribute", short_help="Find several explanations of an image and count what is in them.")
@options.head("The head file.", required=True)
@options.latents("The images' latents.", required=True)
@click.option("--image", default=0, show_default=True, metavar="NUMBER", help="The image's number in the latents.")
@options.out("The folder for the explanations.", required=True)
@click.option("--count", default=20, show_default=True, metavar="NUMBER", help="The most explanations.")
@options.named(
    "--paradigm",
    f"{', '.join(_OF_ATTRIBUTE)}; patches are counted under {' and '.join(_SPATIAL)}.",
    *_OF_ATTRIBUTE,
    default="top_k",
    show_default=True,
)
@click.option("--seed", default=0, show_default=True, metavar="NUMBER", help="The same seed, the same explanations.")
@options.prototype_pictures()
@options.overwrite("Remove what an earlier command noted in the folder.")
@options.audit(*PROVING)
@options.run("jobs", "engine", "address", jobs=_JOBS)
@options.in_json("one object")
@options.verbose
@exits(verdicts=True, done="the checker has proved every explanation")
def attribute(
    head: str,
    latents: str,
    image: int,
    out: str,
    count: int,
    paradigm: str,
    seed: int,
    prototype_pictures: str | None,
    overwrite: bool,
    audit: AuditOptions,
    run: RunOptions,
    as_json: bool,
) -> None:
    """Find different explanations of one image, from which nothing can be dropped by the reference ranges, and count
    what stands in them.

    The share of a prototype or a patch is the share of these explanations that state something about it. They are a
    sample of all explanations, and a share is not a probability. Writes a certificate for each, the head, the latents,
    attribution.csv, attribution.json and attribution.html. `verale audit FOLDER --minimality` proves them again. After
    an interruption the same command goes on.
    """
    from verale.head import latents_file
    from verale.report.static_pages import attribution_page, pictures_of
    from verale.runs.arguments import HeadFile
    from verale.runs.attribute import attribute
    from verale.runs.folder import ResultFolder

    file, inputs = HeadFile.of(head), (Path(head), Path(latents))
    folder = ResultFolder("attribution", Path(out), file.data, overwrite, inputs, has_latents=True)
    folder.require_room()
    shown = pictures_of(latents, prototype_pictures)
    with (
        progress("explaining", count, unit="explanations", interrupted=lambda: _unfinished(out)) as advance,
        folder.journal() as journal,
    ):
        found = attribute(file, latents, image, count, paradigm, seed, advance, audit, run, journal)
        page, certificates = attribution_page(found, file.head, shown), StoredBytes.numbered(found.certificates)
        folder.write(found.record(), found.rows(), page, certificates, latents_file(found.latents), journal)
    if as_json:
        print_record("attribution", found.record())
    else:
        _attribute_print(found)
    print_line(f"the explanations are in {folder.directory}", sys.stderr)
    sys.exit(found.exit_code)


def _attribute_print(found: Attribution) -> None:
    from verale.certificate.words import part_of

    total = len(found.explanations)
    proved = sum(each.status == "PROVED" for each in found.explanations)
    sizes = sorted(each.size for each in found.explanations)
    print_line(
        f"image {found.image}: class {found.name}, {total} different explanation{'' if total == 1 else 's'} under"
        f" {found.paradigm} in {found.orders} orders, {sizes[0]} to {sizes[-1]} statements, {proved} of them PROVED"
    )
    if not found.complete:
        print_line("fewer than asked for: the last orders gave nothing new")
    for kind in ("prototype", "patch", "ceiling", "floor"):
        shares = found.of(kind)
        for each in shares[:_MOST]:
            subject = kind if each.number is None else f"{kind} {each.number}"
            line = f"{subject}: in {part_of(each.count, total)}"
            print_line(f"{line}, {each.statements:.1f} statements" if found.of("patch") else line)
        if len(shares) > _MOST:
            print_line(f"{len(shares) - _MOST} more of this kind")


@click.command(name="cover", short_help="Say which images certificates prove.")
@options.files()
@options.latents("The latents of the images.", required=True)
@options.inputs("head")
@options.audit(*PROVING)
@options.run("jobs", "engine", "address", jobs=_JOBS)
@options.log()
@options.out("Write a table: a line for each certificate and image.", "CSV")
@options.in_json()
@options.verbose
@exits(verdicts=True, done="every certificate's entailment is proved, whatever it covers")
def cover(
    certificates: tuple[str, ...],
    latents: str,
    given: Inputs,
    audit: AuditOptions,
    run: RunOptions,
    log: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Say which images satisfy the statements of certificates, and so have their class by the same proof.

    An image counts if the checker proves the certificate of it: that the statements entail the class, and that they are
    true of the image. Wide statements (verale explain --inflate, verale rules) cover many images, exact ones their own.
    """
    from verale.checker import most_severe
    from verale.files import write_atomically
    from verale.runs.folder import require_output
    from verale.runs.rules import CoveringAudits
    from verale.runs.table import csv_table

    files = certificate_files(certificates)
    file = options.inputs_reader(Inputs(None, latents))(certificates[0])[0] if given.head is None else given.head
    read = [*certificates, *files, latents, file if isinstance(file, str) else file.path]
    if out is not None:
        require_output(out, read)
    covering = CoveringAudits(file, latents, audit, run, _log(log, read))
    covered: list[Covered] = []

    def done() -> str:
        rest = "" if log is None else f"; {log} has the verdicts so far, and the same command goes on from there"
        return f"{len(covered)} of {len(files)} certificates are done{rest}"

    with progress("covering", len(files), unit="certificates", interrupted=done) as advance:
        for each in covering.of(files):
            covered.append(each)
            if as_json:
                record = {name: value for name, value in each.outcome.record.items() if name != "_type"}
                about = {"images": list(each.images), "true_classes": each.labels, "unproved": each.unproved}
                print_record("covered", {**record, "covered": len(each.images), **about})
            else:
                print_line(_cover_line(each, covering.total))
            advance(1)
    if out is not None:
        rows: list[tuple[object, ...]] = [("Certificate", "Pred Label", "Idx", "True Label")]
        for each in covered:
            rows += [(each.certificate, each.predicted, index, covering.label(index)) for index in each.images]
        write_atomically(out, csv_table(rows))
    union = {index for each in covered for index in each.images}
    print_line(
        f"{len(union)} of {covering.total} images are covered ({_cover_share(len(union), covering.total)})", sys.stderr
    )
    sys.exit(most_severe([each.outcome.exit_code for each in covered]))


def _cover_line(covered: Covered, total: int) -> str:
    if covered.predicted is None:
        return covered.outcome.line
    count = len(covered.images)
    name = before_colon(covered.certificate)
    line = f"{name}: class {covered.predicted}, {count} of {total} images ({_cover_share(count, total)})"
    if covered.correct is not None:
        line += f", {covered.correct} of them of this class as labelled"
    if covered.unproved:
        line += f"; not proved of {len(covered.unproved)} more"
    return line


def _cover_share(count: int, total: int) -> str:
    from verale.certificate.words import percent

    return percent(count, total) if total else "-"


_OF_RULES = tuple(name for name, each in PARADIGMS.items() if each.priced)


@click.command(name="rules", short_help="Fit certified rules to a data set.")
@options.head("The head file.", required=True)
@options.latents("The latents that rules are fitted to.", required=True)
@options.path("--held-out", "LATENTS", "Other latents, on which they are measured too.")
@options.out("The folder for the rules.", required=True)
@click.option("--count", default=10, show_default=True, metavar="NUMBER", help="The most rules.")
@options.named(
    "--paradigm", f"{', '.join(_OF_RULES)}; by default joint where the head has it, otherwise top_k.", *_OF_RULES
)
@options.prototype_pictures()
@options.overwrite("Remove what an earlier command noted in the folder.")
@options.audit(*PROVING)
@options.run("jobs", "engine", "address", jobs=_JOBS)
@options.log()
@options.in_json("one object")
@options.verbose
@exits(verdicts=True, done="the checker has proved every rule")
def rules(
    head: str,
    latents: str,
    held_out: str | None,
    out: str,
    count: int,
    paradigm: str | None,
    prototype_pictures: str | None,
    overwrite: bool,
    audit: AuditOptions,
    run: RunOptions,
    log: str | None,
    as_json: bool,
) -> None:
    """Fit a list of rules: each proves one class of every image that satisfies its statements.

    The first rule covers most images, each further one most of those that are left. Writes a certificate for each
    rule, which names no image, the head, rules.csv, rules.json and rules.html. `verale audit FOLDER
    --entailment-only` proves them again, `verale cover FOLDER --latents LATENTS` says which images they prove. After an
    interruption the same command goes on.
    """
    from verale.report.static_pages import pictures_of, rules_page
    from verale.runs.arguments import HeadFile
    from verale.runs.folder import ResultFolder
    from verale.runs.rules import fit_rules

    file, inputs = HeadFile.of(head), tuple(Path(given) for given in (head, latents, held_out) if given is not None)
    folder = ResultFolder("rules", Path(out), file.data, overwrite, inputs)
    folder.require_room()
    shown, audit_log = pictures_of(latents, prototype_pictures), _log(log, [*inputs, out])
    with (
        progress("fitting", count, unit="rules", interrupted=lambda: _unfinished(out)) as advance,
        folder.journal() as journal,
    ):
        rules = fit_rules(file, latents, held_out, count, paradigm, advance, audit, run, audit_log, journal)
        page, certificates = rules_page(rules, shown), StoredBytes.numbered(rules.certificates)
        folder.write(rules.record(), rules.rows(), page, certificates, journal=journal)
    if as_json:
        print_record("rules", rules.record())
    else:
        for number, rule in enumerate(rules.rules):
            seen = f"covers {rule.fitted.images}"
            if rule.held_out is not None:
                seen += f", held out {rule.held_out.images}"
            print_line(f"{rule.status} {number}. {rule.words}: class {rule.name} ({seen})")
        for name, each in (("fitted", rules.fitted), ("held out", rules.held_out)):
            if each is None:
                continue
            share = _cover_share(each.covered, each.images)
            line = f"{name}: {each.covered} of {each.images} images are covered ({share})"
            if each.correct is not None and each.head_correct is not None:
                line += f", {each.correct} of them correctly as labelled"
                line += f"; the head classifies {each.head_correct} of all correctly"
            print_line(line)
    print_line(f"{len(rules.rules)} rules are in {folder.directory}", sys.stderr)
    sys.exit(rules.exit_code)
