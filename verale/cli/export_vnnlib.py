"""`verale export-vnnlib`: certificates as questions to other tools."""

from __future__ import annotations

from pathlib import Path

import click

from verale.checker.output import print_line
from verale.cli.shared import certificate_files, head_option, verbose
from verale.errors import InputError

__all__ = ["command"]


@click.command(name="export-vnnlib", short_help="Write certificates as ONNX and VNN-LIB, for other tools.")
@click.argument("certificates", nargs=-1, required=True, metavar="DIR|FILE...", type=click.Path())
@head_option
@click.option("--out", required=True, metavar="OUT", type=click.Path(), help="The folder.")
@click.option("--overwrite", is_flag=True, help="Replace files in OUT.")
@verbose
def command(certificates: tuple[str, ...], head: str | None, out: str, overwrite: bool) -> None:
    """Ask another tool whether latents satisfy a certificate's statements and get another class.

    Of 000000.ale.json, OUT gets 000000.onnx, the head with an output for each number that is stated and for each
    rival's distance, and 000000.vnnlib, the question (VNN-LIB 1.0): unsat, and the statements entail the class for that
    tool; sat, and it has found latents that refute the certificate. Neither is a proof: such tools compute in floats,
    and most tolerate small errors. `verale refute` and `verale audit` judge what they find exactly.

    Heads: euclidean or inner_product, max pooling, a linear readout. With inner products and `identity` or `rectified`
    they are piecewise linear, as Marabou needs; otherwise the tool has to know products, logarithms and the like.

    Exit code: 0 written; 9 a file or a head that cannot be used; 2 unknown option.
    """
    from verale.certificate import Certificate
    from verale.cli.inputs import inputs_reader
    from verale.files import CERTIFICATE_SUFFIX, write_atomically
    from verale.runs.vnnlib import question_of

    find = inputs_reader(head, None)
    for file in certificate_files(certificates):
        asked, certificate = find(file)[0], Certificate.load(file)
        if certificate.head != asked.sha256:
            raise InputError(file, f"speaks of another head than {asked.path}; give its own with --head")
        question = question_of(asked.head, certificate)
        place = Path(out) / Path(file).name.removesuffix(CERTIFICATE_SUFFIX)
        files = {place.with_name(f"{place.name}.onnx"): question.onnx}
        files[place.with_name(f"{place.name}.vnnlib")] = question.vnnlib.encode()
        there = [path for path in files if path.exists() and not overwrite]
        if there:
            raise InputError(there[0], "already exists; choose another --out, or say --overwrite")
        place.parent.mkdir(parents=True, exist_ok=True)
        for path, data in files.items():
            write_atomically(path, data)
        print_line(f"{place}.onnx, {place.name}.vnnlib")
