"""`verale export-vnnlib`: certificates as questions to other tools."""

from __future__ import annotations

from pathlib import Path

import click

from verale.checker.output import print_line
from verale.cli.shared import certificate_files, head_option, require_distinct, verbose
from verale.errors import InputError
from verale.files import CERTIFICATE_SUFFIX

__all__ = ["command"]

_BY = "export-vnnlib"


@click.command(name="export-vnnlib", short_help="Write certificates as ONNX and VNN-LIB, for other tools.")
@click.argument("certificates", nargs=-1, required=True, metavar="DIR|FILE...", type=click.Path())
@head_option
@click.option("--out", required=True, metavar="OUT", type=click.Path(), help="The folder.")
@click.option("--overwrite", is_flag=True, help="Replace what an earlier export noted in OUT.")
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
    from verale.runs.folder import write_beside
    from verale.runs.vnnlib import question_of

    find, files = inputs_reader(head, None), certificate_files(certificates)
    require_distinct(files, out)
    _require_room(Path(out), [name for file in files for name in _names(file)], overwrite)
    for file in files:
        asked, certificate = find(file)[0], Certificate.load(file)
        if certificate.head != asked.sha256:
            raise InputError(file, f"speaks of another head than {asked.path}; give its own with --head")
        question = question_of(asked.head, certificate)
        names = _names(file)
        write_beside(Path(out), dict(zip(names, (question.onnx, question.vnnlib.encode()), strict=True)), _BY)
        print_line(f"{Path(out) / names[0]}, {names[1]}")


def _names(file: str) -> tuple[str, str]:
    """The two files of a certificate's question."""
    name = Path(file).name.removesuffix(CERTIFICATE_SUFFIX)
    return f"{name}.onnx", f"{name}.vnnlib"


def _require_room(out: Path, names: list[str], overwrite: bool) -> None:
    """Raise InputError for a file that may not be replaced, before any is written."""
    from verale.runs.written import WrittenFiles, overwritten

    written = WrittenFiles(out)
    written.require_own(names, _BY)
    there = [name for name in names if written.exists(name)]
    if there and not overwrite:
        raise InputError(out / there[0], f"already exists; {overwritten()}")
