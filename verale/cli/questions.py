"""What is asked of certificates beside proving them again: `verale refute`, `contrast`, `necessity`, `gap`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from verale.checker import AuditOptions
from verale.checker.options import in_words
from verale.checker.verdict import before_colon, print_line
from verale.cli import options
from verale.cli.terminal import Exit, exits, print_record, print_verdict, progress
from verale.files import CERTIFICATE_SUFFIX, require_writable
from verale.runs.inputs import Inputs
from verale.runs.listed import certificate_files, one_certificate, require_distinct
from verale.runs.options import PROVING

if TYPE_CHECKING:
    from verale.head import Head
    from verale.runs.arguments import HeadFile
    from verale.runs.contrast import Contrast
    from verale.runs.necessity import Gap, Necessity


@dataclass(frozen=True)
class _Question:
    """The values of the options that all questions take."""

    paths: tuple[str, ...]
    given: Inputs
    out: str | None
    seconds: float
    audit: AuditOptions
    as_json: bool

    @property
    def find(self) -> Callable[[str], tuple[HeadFile, str | None]]:
        """What finds head and latents of a certificate."""
        return options.inputs_reader(self.given)

    def answer(self, kind: str, certificate: str, record: Mapping[str, object], lines: Iterable[str]) -> None:
        """Print what is answered about a certificate."""
        if self.as_json:
            print_record(kind, {"certificate": certificate, **record})
        else:
            for line in lines:
                print_line(line)


def _question(
    name: str, short: str, *ends: Exit, out: str, seconds: float = 60.0, search: str = "", several: bool = False,
    done: str = "done", **helps: str,
) -> options.Option:  # fmt: skip
    """A command that asks; its first parameter is the question.

    Args:
        name: of the command.
        short: its short help.
        ends: its exit codes, beside those of verdicts.
        out: what is written, and where.
        seconds: how long it searches by default.
        search: for what.
        several: whether it is about any number of certificates, not one.
        done: what exit code 0 means.
        helps: other helps for options of the audit.
    """

    def add(command: Callable[..., None]) -> Callable[..., Any]:
        @click.command(name=name, short_help=short)
        @(options.files(name="paths") if several else click.argument("paths", metavar="FILE", type=click.Path()))
        @options.inputs()
        @options.out(out, "FILE" if out.startswith("The file") else "FOLDER")
        @click.option(
            "--seconds", default=seconds, show_default=True, metavar="SECONDS", help=f"How long to search{search}."
        )
        @options.audit(*PROVING, **helps)
        @options.in_json()
        @options.verbose
        @exits(*ends, verdicts=Exit.REFUTED not in ends, done=done)
        @wraps(command)
        def asked(paths: Any, given: Any, out: Any, seconds: Any, audit: Any, as_json: Any, **others: Any) -> None:
            paths = paths if several else (paths,)
            command(_Question(paths, given, out, seconds, audit, as_json), **others)

        return asked

    return add


@_question(
    "refute",
    "Search for a counterexample to a certificate.",
    *(Exit.REFUTED, Exit.MALFORMED, Exit.SUBJECT, Exit.NOT_FOUND),
    out="The file for a witness: latents of one image.",
    done="never",
)
def refute(question: _Question) -> None:
    """Search for latents that satisfy every statement of a certificate but are classified otherwise.

    Prints one verdict line. The checker verifies a counterexample exactly.
    """
    from verale.runs.refute import refute

    certificate, start = one_certificate(*question.paths), perf_counter()
    verdict = refute(certificate, *question.find(certificate), question.out, question.seconds, question.audit)
    if question.as_json:
        question.answer("refutation", certificate, {"seconds": perf_counter() - start, **verdict.record()}, ())
    else:
        print_verdict(verdict.line(certificate))
    sys.exit(verdict.exit_code)


_MOST = 10
"""The most lines of one kind."""


@_question(
    "contrast",
    "Show what stands between an image and another class.",
    Exit.NOT_FOUND,
    out="A folder for the witness and what shows that it is one.",
    done="found",
)
@click.option("--class", "goal", required=True, metavar="CLASS", help="The class to win: its number or its label.")
@options.path("--model", "MODEL", "A whole PrototypeDL model; it draws the witness.")
def contrast(question: _Question, goal: str, model: str | None) -> None:
    """Find a smallest set of statements of a proved certificate whose release lets class C win.

    A witness shows it: latents that satisfy all other statements and get class C. The checker verifies both exactly.
    """
    from verale.errors import UsageError
    from verale.runs.contrast import contrast

    out, certificate = question.out, one_certificate(*question.paths)
    if model is not None and out is None:
        raise UsageError("--model draws the witness into a folder: give --out too")
    head_file, latents = question.find(certificate)
    result = contrast(certificate, head_file, goal, latents, out, question.seconds, model, question.audit)
    lines = _contrast_lines(certificate, result, head_file.head, out)
    question.answer("contrast", certificate, result.record(head_file.head), lines)
    sys.exit(0 if result.found is not None else Exit.NOT_FOUND)


def _contrast_lines(certificate: str, result: Contrast, head: Head, out: str | None) -> list[str]:
    from verale.certificate.statements import statement_in_words
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
            f"  released: {': '.join(statement_in_words(statement, head.size))}; at the witness about"
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
        lines.append(f"    {': '.join(statement_in_words(statement, head.size))}{f' ({origin})' if origin else ''}")
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


@_question(
    "necessity",
    "Show which statements are needed under any paradigm.",
    Exit.NOT_FOUND,
    out="A folder for the witnesses; one folder a certificate.",
    seconds=5.0,
    search=" for each statement",
    several=True,
    done="every statement of every certificate has a witness",
)
def necessity(question: _Question) -> None:
    """For each statement of proved certificates, search for latents that satisfy all others and get another class.

    The checker verifies each witness exactly. Where every statement has one, the explanation is minimal under any
    paradigm.
    """
    from verale.certificate.words import percent
    from verale.runs.folder import folder_in
    from verale.runs.necessity import necessity

    files, find, out = certificate_files(question.paths), question.find, question.out
    if out is not None:
        require_distinct(files, out)
    witnessed = total = minimal = 0
    with progress("searching", len(files), unit="certificates") as advance:
        for file in files:
            name = Path(file).name.removesuffix(CERTIFICATE_SUFFIX)
            folder = None if out is None else folder_in(Path(out), name) if len(files) > 1 else Path(out)
            result = necessity(file, *find(file), folder, question.seconds, question.audit)
            witnessed, total = witnessed + result.witnessed, total + len(result.statements)
            minimal += result.is_minimal
            question.answer("necessity", file, result.record(), _necessity_lines(file, result))
            advance(1)
    if len(files) > 1 and not question.as_json:
        share = f", {percent(witnessed, total)}" if total else ""
        print_line(
            f"{len(files)} explanations: {witnessed} of {total} statements have a witness{share}; {minimal}"
            " explanations are minimal under any paradigm"
        )
    sys.exit(0 if minimal == len(files) else Exit.NOT_FOUND)


def _necessity_lines(file: str, result: Necessity) -> Iterator[str]:
    from verale.certificate.statements import statement_in_words

    verdict = "minimal under any paradigm" if result.is_minimal else "the others are open"
    yield f"{file}: {result.witnessed} of {len(result.statements)} statements have a witness: {verdict}"
    for each in result.statements:
        said = ": ".join(statement_in_words(result.certificate.statements[each.number], result.prototypes))
        outcome = {
            True: f"needed: without it, class {each.rival}",
            False: "not needed: the checker proves the class without it",
            None: "open: no witness found, which proves nothing",
        }[each.needed]
        yield f"  {said}: {outcome}"


_BY_GAP = "gap"


@_question(
    "gap",
    "Say how small an explanation by activations can be.",
    out="A folder for the proofs, one file a certificate.",
    seconds=30.0,
    search=" for each bound",
    several=True,
    kernel="Which checker proves the certificates; arb or mpmath prove the bounds.",
)
def gap(question: _Question) -> None:
    """Prove that no explanation of an image under top_k, activations taken one by one, has fewer than N statements.

    The bound counts statements about activations, the ceiling and the floor. The checker proves it, and also that each
    certificate is proved and about its image. About explanations under other paradigms the bound says nothing.
    """
    from verale.runs.folder import write_beside
    from verale.runs.necessity import gap
    from verale.runs.written import WrittenFiles

    files, find, out = certificate_files(question.paths), question.find, question.out
    if out is not None:
        require_distinct(files, out)
        WrittenFiles(Path(out)).require_own(map(_proof_of, files), _BY_GAP)
        require_writable(Path(out) / _proof_of(files[0]))
    gaps: list[Gap] = []
    with progress("bounding", len(files), unit="certificates") as advance:
        for file in files:
            result = gap(file, *find(file), None, question.seconds, question.audit)
            if out is not None:
                write_beside(Path(out), {_proof_of(file): result.document}, _BY_GAP)
            gaps.append(result)
            question.answer("gap", file, result.record(), [_gap_line(file, result)])
            advance(1)
    if len(files) == 1 or question.as_json:
        return
    own = [gap for gap in gaps if gap.is_smallest is not None]
    lines = []
    if own:
        size = sum(gap.certificate.size for gap in own) / len(own)
        bound = sum(gap.least for gap in own) / len(own)
        lines.append(
            f"{len(own)} explanations under top_k: mean size {size:.2f}, mean bound {bound:.2f};"
            f" {sum(gap.is_smallest is True for gap in own)} have no statement more than their bound"
        )
    if len(own) < len(gaps):
        lines.append(f"{len(gaps) - len(own)} explanations are under other paradigms, which the bounds are not about")
    print_line("; ".join(lines))


def _proof_of(file: str) -> str:
    """The name of the file with the proof for a certificate."""
    return f"{Path(file).name.removesuffix(CERTIFICATE_SUFFIX)}.least.json"


def _gap_line(file: str, gap: Gap) -> str:
    paradigm = gap.certificate.paradigm
    line = (
        f"{before_colon(file)}: {gap.certificate.size} statements under {paradigm}; with activations taken one by one,"
        f" no explanation of this image under top_k has fewer than {gap.least}: proved by {in_words(gap.by)}"
    )
    if gap.is_smallest is None:
        return f"{line}; of those under {paradigm} nothing is proved"
    return line if gap.certificate.size >= gap.least else f"{line}; this one has, by what activations say of each other"
