"""`verale necessity`: which statements of an explanation are needed under any paradigm, shown by witnesses."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli.progress import progress
from verale.cli.shared import (
    certificate_files,
    head_option,
    json_option,
    kernel_option,
    latents_option,
    require_distinct,
    verbose,
)
from verale.files import CERTIFICATE_SUFFIX

if TYPE_CHECKING:
    from verale.runs.necessity import Necessity

__all__ = ["command"]

_UNWITNESSED = 11
"""Some statement has no witness; the code that `refute` has where it finds no counterexample."""


@click.command(name="necessity", short_help="Show which statements are needed under any paradigm.")
@click.argument("paths", metavar="DIR|FILE...", type=click.Path(), nargs=-1, required=True)
@head_option
@latents_option
@click.option("--out", metavar="DIR", type=click.Path(), help="A folder for the witnesses; one folder a certificate.")
@click.option("--seconds", default=5.0, show_default=True, metavar="N", help="How long to search for each statement.")
@kernel_option()
@json_option
@verbose
def command(
    paths: tuple[str, ...],
    head: str | None,
    latents: str | None,
    out: str | None,
    seconds: float,
    kernel: str | None,
    as_json: bool,
) -> None:
    """For each statement of proved certificates, search for latents that satisfy all others and get another class.

    The checker verifies each witness exactly. Where every statement has one, the explanation is minimal under any
    paradigm.

    Exit code: 0 every statement of every certificate has a witness; 11 some have none, which proves nothing; 9 a file
    or option that cannot be used, or a certificate that is not proved; 130 interrupted; 2 unknown option.
    """
    from verale.certificate.words import percent
    from verale.cli.inputs import inputs_reader
    from verale.runs.folder import folder_in
    from verale.runs.necessity import necessity

    files, find = certificate_files(paths), inputs_reader(head, latents)
    if out is not None:
        require_distinct(files, out)
    witnessed = total = minimal = 0
    with progress("searching", len(files), unit="certificates") as advance:
        for file in files:
            name = Path(file).name.removesuffix(CERTIFICATE_SUFFIX)
            folder = None if out is None else folder_in(Path(out), name) if len(files) > 1 else Path(out)
            result = necessity(file, *find(file), folder, seconds, kernel)
            witnessed, total = witnessed + result.witnessed, total + len(result.statements)
            minimal += result.is_minimal
            for line in [json.dumps({"certificate": file, **result.record()})] if as_json else _lines(file, result):
                print_line(line)
            advance(1)
    if len(files) > 1 and not as_json:
        share = f", {percent(witnessed, total)}" if total else ""
        print_line(
            f"{len(files)} explanations: {witnessed} of {total} statements have a witness{share}; {minimal}"
            " explanations are minimal under any paradigm"
        )
    sys.exit(0 if minimal == len(files) else _UNWITNESSED)


def _lines(file: str, result: Necessity) -> Iterator[str]:
    """The result for people."""
    verdict = "minimal under any paradigm" if result.is_minimal else "the others are open"
    yield f"{file}: {result.witnessed} of {len(result.statements)} statements have a witness: {verdict}"
    for each in result.statements:
        said = ": ".join(result.certificate.statements[each.number].in_words(result.prototypes))
        outcome = {
            True: f"needed: without it, class {each.rival}",
            False: "not needed: the checker proves the class without it",
            None: "open: no witness found, which proves nothing",
        }[each.needed]
        yield f"  {said}: {outcome}"
