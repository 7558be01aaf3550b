"""`verale gap`: how far explanations are from the smallest ones by activations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.choices import in_words
from verale.checker.output import print_line
from verale.checker.verdict import before_colon
from verale.cli import options
from verale.cli.exits import exits
from verale.cli.progress import progress
from verale.cli.shared import certificate_files, print_record, require_distinct
from verale.files import CERTIFICATE_SUFFIX, require_writable
from verale.runs.auditor import PROVING, AuditOptions
from verale.runs.inputs import Inputs

if TYPE_CHECKING:
    from verale.runs.gap import Gap

__all__ = ["command"]

_BY = "gap"


@click.command(name="gap", short_help="Say how small an explanation by activations can be.")
@click.argument("paths", metavar="FOLDER|FILE...", type=click.Path(), nargs=-1, required=True)
@options.inputs()
@options.out("A folder for the proofs, one file a certificate.")
@options.seconds(30.0, "How long to search for each bound.")
@options.audit(*PROVING, kernel="Which checker proves the certificates; arb or mpmath prove the bounds.")
@options.in_json()
@options.verbose
@exits(verdicts=True)
def command(
    paths: tuple[str, ...],
    given: Inputs,
    out: str | None,
    seconds: float,
    audit: AuditOptions,
    as_json: bool,
) -> None:
    """Prove that no explanation of an image under top_k, activations taken one by one, has fewer than N statements.

    The bound counts statements about activations, the ceiling and the floor. The checker proves it, and also that each
    certificate is proved and about its image. About explanations under other paradigms the bound says nothing.
    """
    from verale.cli.inputs import inputs_reader
    from verale.runs.folder import write_beside
    from verale.runs.gap import gap
    from verale.runs.written import WrittenFiles

    files, find = certificate_files(paths), inputs_reader(given)
    if out is not None:
        require_distinct(files, out)
        WrittenFiles(Path(out)).require_own(map(_proof_of, files), _BY)
        require_writable(Path(out) / _proof_of(files[0]))
    gaps: list[Gap] = []
    with progress("bounding", len(files), unit="certificates") as advance:
        for file in files:
            result = gap(file, *find(file), None, seconds, audit)
            if out is not None:
                write_beside(Path(out), {_proof_of(file): result.document}, _BY)
            gaps.append(result)
            if as_json:
                print_record("gap", {"certificate": file, **result.record()})
            else:
                print_line(_line(file, result))
            advance(1)
    if len(files) > 1 and not as_json:
        print_line(_summary(gaps))


def _proof_of(file: str) -> str:
    """The name of the file with the proof for a certificate."""
    return f"{Path(file).name.removesuffix(CERTIFICATE_SUFFIX)}.least.json"


def _line(file: str, gap: Gap) -> str:
    """The result for people."""
    paradigm = gap.certificate.paradigm
    line = (
        f"{before_colon(file)}: {gap.certificate.size} statements under {paradigm}; with activations taken one by one,"
        f" no explanation of this image under top_k has fewer than {gap.least}: proved by {in_words(gap.by)}"
    )
    return line if gap.is_smallest is not None else f"{line}; of those under {paradigm} nothing is proved"


def _summary(gaps: list[Gap]) -> str:
    """Means over those that the bounds are about, and how many others there are."""
    own = [gap for gap in gaps if gap.is_smallest is not None]
    others = f"{len(gaps) - len(own)} explanations are under other paradigms, which the bounds are not about"
    if not own:
        return others
    size = sum(gap.certificate.size for gap in own) / len(own)
    bound = sum(gap.least for gap in own) / len(own)
    line = (
        f"{len(own)} explanations under top_k: mean size {size:.2f}, mean bound {bound:.2f};"
        f" {sum(gap.is_smallest is True for gap in own)} have no statement more than their bound"
    )
    return line if len(own) == len(gaps) else f"{line}; {others}"
