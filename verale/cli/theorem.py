"""`verale theorem`: certificates as theorems of Rocq."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from shlex import quote

import click

from verale.checker.output import print_line
from verale.cli.progress import progress
from verale.cli.shared import certificate_files, head_option, latents_option, limit_option, verbose
from verale.errors import UsageError

__all__ = ["command"]


@click.command(name="theorem", short_help="Write certificates as theorems of Rocq.")
@click.argument("certificates", nargs=-1, required=True, metavar="DIR|FILE...", type=click.Path())
@head_option
@latents_option
@click.option("--no-instance", is_flag=True, help="State entailment alone, also where there are latents.")
@limit_option("The most processor time to find each proof, in seconds for each MB of files, as for verale audit.")
@click.option("-o", "--output", required=True, metavar="P", type=click.Path(), help="The file, such as Proofs.v.")
@click.option("--overwrite", is_flag=True, help="Replace an existing file.")
@verbose
def command(
    certificates: tuple[str, ...],
    head: str | None,
    latents: str | None,
    no_instance: bool,
    limit: float | None,
    output: str,
    overwrite: bool,
) -> None:
    """Write a head and its certificates as terms of Rocq, and what they claim as theorems with their proofs.

    Of certificate 000000.ale.json the theorem entailed_000000 says that its statements entail the class; with latents,
    instance_000000 that the image satisfies them, and classified_000000 that the head gives the image this class. Rocq
    computes each proof, so whoever runs coqc on the file needs to believe neither verale nor the proved checker's
    executable, which finds the hints.

    Exit code: 0 written; 3 to 15 as verale audit, where a certificate is not proved, and nothing is written; 9 a file
    that cannot be used; 130 interrupted; 2 unknown option.
    """
    from verale.checker.limit import LIMIT
    from verale.checker.verdict import most_severe
    from verale.cli.inputs import inputs_reader
    from verale.runs.outputs import require_output
    from verale.runs.theorem import Theorems
    from verale.soundness.paths import PROOFS

    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\.v", Path(output).name):
        raise UsageError(f"-o is {output}, expected a name that coqc takes: letters, digits and _, then .v")
    files, find = certificate_files(certificates), inputs_reader(head, None if no_instance else latents)
    require_output(output, [*files, head, latents], overwrite)
    inputs = {find(file) for file in files}
    if len(inputs) > 1:
        raise UsageError("the certificates lie beside several heads or latents; one file is about one: give --head")
    ((head_file, images),) = inputs
    theorems = Theorems(head_file, None if no_instance else images, LIMIT if limit is None else limit)
    codes = []
    with progress("proving", len(files), unit="certificates") as advance:
        for file in files:
            verdict = theorems.add(file)
            codes.append(verdict.exit_code)
            if verdict.exit_code:
                print_line(verdict.line(file))
            advance(1)
    if any(codes):
        print_line(f"{output} is not written: {sum(map(bool, codes))} of {len(files)} are not proved", sys.stderr)
        sys.exit(most_severe(codes))
    theorems.write(output)
    rocq, at = PROOFS / "rocq", Path("build") / "rocq" / "theories"
    print_line(f"{len(files)} certificates are in {output}; to check them, with coqc 8.16 or later:", sys.stderr)
    print_line(f"  make -C {quote(str(rocq))} theories BUILD=$PWD/build", sys.stderr)
    print_line(f"  coqc -Q {at} Verale {quote(output)}", sys.stderr)
