"""`verale export`: certificates as questions to other tools, and as theorems of Rocq; and `verale certificates`: many
of them in one Parquet file."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from itertools import chain
from pathlib import Path
from shlex import quote

import click

from verale.checker import AuditOptions
from verale.checker.verdict import print_line
from verale.cli import options
from verale.cli.terminal import exits, print_record, print_verdict, progress
from verale.errors import InputError, UsageError
from verale.files import CERTIFICATE_SUFFIX
from verale.runs.inputs import Inputs
from verale.runs.listed import certificate_files, require_distinct

_BY = "export vnnlib"


@click.group(name="export", short_help="Write certificates for other tools: VNN-LIB, Rocq.")
def export() -> None:
    """Write certificates for other tools."""


@export.command(name="vnnlib", short_help="Write certificates as ONNX and VNN-LIB, for other verifiers.")
@options.files()
@options.inputs("head")
@options.out("The folder.", required=True)
@options.overwrite("Replace what an earlier export noted in the folder.")
@options.in_json()
@options.verbose
@exits(done="written")
def vnnlib(certificates: tuple[str, ...], given: Inputs, out: str, overwrite: bool, as_json: bool) -> None:
    """Ask another tool whether latents satisfy a certificate's statements and get another class.

    Of 000000.ale.json, the folder gets 000000.onnx, the head with an output for each number that is stated and for each
    rival's distance, and 000000.vnnlib, the question (VNN-LIB 1.0): unsat, and the statements entail the class for that
    tool; sat, and it has found latents that refute the certificate. Neither is a proof: such tools compute in floats,
    and most tolerate small errors. `verale refute` and `verale audit` judge what they find exactly.

    Heads: euclidean or inner_product, max pooling, a linear readout. With inner products and `identity` or `rectified`
    they are piecewise linear, as Marabou needs; otherwise the tool has to know products, logarithms and the like.
    """
    from verale.certificate import Certificate
    from verale.runs.folder import write_beside
    from verale.runs.vnnlib import question_of
    from verale.runs.written import WrittenFiles, overwritten

    find, files = options.inputs_reader(given), certificate_files(certificates)
    require_distinct(files, out)
    stems = [Path(file).name.removesuffix(CERTIFICATE_SUFFIX) for file in files]
    names = [(f"{stem}.onnx", f"{stem}.vnnlib") for stem in stems]
    written = WrittenFiles(Path(out))
    written.require_own(chain.from_iterable(names), _BY)
    there = [name for name in chain.from_iterable(names) if written.exists(name)]
    if there and not overwrite:  # said before anything is written
        raise InputError(Path(out) / there[0], f"already exists; {overwritten()}")
    for file, pair in zip(files, names, strict=True):
        asked, certificate = find(file)[0], Certificate.load(file)
        if certificate.head != asked.sha256:
            raise InputError(file, f"speaks of another head than {asked.path}; give its own with --head")
        question = question_of(asked.head, certificate)
        write_beside(Path(out), dict(zip(pair, (question.onnx, question.vnnlib.encode()), strict=True)), _BY)
        if as_json:
            print_record("exported", {"certificate": file, "files": [str(Path(out) / name) for name in pair]})
        else:
            print_line(f"{Path(out) / pair[0]}, {pair[1]}")


@export.command(name="rocq", short_help="Write certificates as theorems of Rocq, which coqc checks.")
@options.files()
@options.inputs()
@click.option("--entailment-only", is_flag=True, help="State entailment alone, also where there are latents.")
@options.audit("limit")
@options.out("The file, such as Proofs.v.", "FILE", required=True)
@options.overwrite()
@options.in_json()
@options.verbose
@exits(verdicts=True, done="written; with any other code nothing is")
def rocq(
    certificates: tuple[str, ...],
    given: Inputs,
    entailment_only: bool,
    audit: AuditOptions,
    out: str,
    overwrite: bool,
    as_json: bool,
) -> None:
    """Write a head and its certificates as terms of Rocq, and what they claim as theorems with their proofs.

    Of certificate 000000.ale.json the theorem entailed_000000 says that its statements entail the class; with latents,
    instance_000000 that the image satisfies them, and classified_000000 that the head gives the image this class. Rocq
    computes each proof, so whoever runs coqc on the file needs to believe neither verale nor the proved checker's
    executable, which finds the hints.
    """
    from verale.checker.verdict import most_severe
    from verale.runs.folder import require_output
    from verale.runs.theorem import Theorems
    from verale.soundness.paths import PROOFS

    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*\.v", Path(out).name):
        raise UsageError(f"--out is {out}, expected a name that coqc takes: letters, digits and _, then .v")
    given = replace(given, latents=None) if entailment_only else given
    files, find = certificate_files(certificates), options.inputs_reader(given)
    require_output(out, [*files, given.head, given.latents], overwrite)
    inputs = {find(file) for file in files}
    if len(inputs) > 1:
        raise UsageError("the certificates lie beside several heads or latents; one file is about one: give --head")
    ((head_file, images),) = inputs
    theorems = Theorems(head_file, None if entailment_only else images, audit.limit)
    codes = []
    with progress("proving", len(files), unit="certificates") as advance:
        for file in files:
            verdict = theorems.add(file)
            codes.append(verdict.exit_code)
            if as_json:
                print_record("exported", {"certificate": file, **verdict.record()})
            elif verdict.exit_code:
                print_verdict(verdict.line(file))
            advance(1)
    if any(codes):
        print_line(f"{out} is not written: {sum(map(bool, codes))} of {len(files)} are not proved", sys.stderr)
        sys.exit(most_severe(codes))
    theorems.write(out)
    proofs, at = PROOFS / "rocq", Path("build") / "rocq" / "theories"
    print_line(f"{len(files)} certificates are in {out}; to check them, with coqc 8.16 or later:", sys.stderr)
    print_line(f"  make -C {quote(str(proofs))} theories BUILD=$PWD/build", sys.stderr)
    print_line(f"  coqc -Q {at} Verale {quote(out)}", sys.stderr)


@click.group(name="certificates")
def certificates() -> None:
    """Pack certificates into Parquet, or unpack them."""


@certificates.command(name="pack", short_help="Write certificates as rows of a Parquet file.")
@options.files()
@options.out("The Parquet file; a path, or a URI such as s3://...", "PARQUET", required=True)
@options.overwrite()
@exits(done="written")
def pack(certificates: tuple[str, ...], out: str, overwrite: bool) -> None:
    """Write certificates as rows of a Parquet file, their bytes in the column `certificate`.

    The certificates are not checked. `verale audit` reads the file as it reads a folder.
    """
    from verale.runs.packing import pack

    print_line(
        f"{pack(certificate_files(certificates), out, certificates, overwrite)} certificates in {out}", sys.stderr
    )


@certificates.command(name="unpack", short_help="Write the certificates of a Parquet file to files.")
@click.argument("parquet", metavar="PARQUET")
@options.out("The folder for the certificates.", required=True)
@options.overwrite("Replace what an earlier command noted in the folder.")
@exits(done="written")
def unpack(parquet: str, out: str, overwrite: bool) -> None:
    """Write the certificates of a Parquet file, or of a directory of such files, to files, byte for byte.

    A head beside it goes there too. Nothing is written if some name is not that of a certificate file.
    """
    from verale.runs.packing import unpack

    print_line(unpack(parquet, out, overwrite), sys.stderr)
