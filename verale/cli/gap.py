"""`verale gap`: how far explanations are from the smallest ones by activations."""

from __future__ import annotations

import json
from pathlib import Path

import click

from verale.checker.output import print_line
from verale.cli.progress import progress
from verale.cli.shared import certificate_files, verbose
from verale.files import CERTIFICATE_SUFFIX

__all__ = ["command", "report_gaps"]


@click.command(name="gap", short_help="Say how small an explanation by activations can be.")
@click.argument("paths", metavar="DIR|FILE...", type=click.Path(), nargs=-1, required=True)
@click.option(
    "--head", metavar="H", type=click.Path(), help="The head file; by default head.safetensors beside the certificates."
)
@click.option("--latents", metavar="Z", type=click.Path(), help="The images' latents; by default those beside them.")
@click.option("--out", metavar="DIR", type=click.Path(), help="A folder for the proofs, one file a certificate.")
@click.option(
    "--seconds",
    default=30.0,
    show_default=True,
    metavar="N",
    help="How long to search for a better bound, for each certificate.",
)
@click.option(
    "--kernel",
    type=click.Choice(["arb", "mpmath", "both", "proved", "all"]),
    default="arb",
    show_default=True,
    help="What proves, as for verale audit; proved and all are refused, as their proof does not cover bounds.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a certificate, not lines for people.")
@verbose
def command(
    paths: tuple[str, ...],
    head: str | None,
    latents: str | None,
    out: str | None,
    seconds: float,
    kernel: str,
    as_json: bool,
) -> None:
    """Prove how many statements every explanation of an image under top_k has, for the images of proved certificates.

    The bound counts statements about activations, the ceiling and the floor, whatever they are; the checker proves it.

    Exit code: 0 done; 9 a file or option that cannot be used, or a certificate that is not proved; 130 interrupted;
    2 unknown option.
    """
    report_gaps(paths, head, latents, out, seconds, kernel, as_json)


def report_gaps(
    paths: tuple[str, ...],
    head: str | None = None,
    latents: str | None = None,
    out: str | None = None,
    seconds: float = 30.0,
    kernel: str = "arb",
    as_json: bool = False,
) -> None:
    """Print how far certificates are from the smallest ones under `top_k`; the arguments are those of `verale gap`."""
    from verale.cli.inputs import inputs_finder
    from verale.runs.gap import gap

    files, find = certificate_files(paths), inputs_finder(head, latents)
    sizes, bounds, smallest = [], [], 0
    with progress("bounding", len(files), unit="certificates") as advance:
        for file in files:
            name = Path(file).name.removesuffix(CERTIFICATE_SUFFIX)
            result = gap(file, *find(file), None if out is None else Path(out) / f"{name}.least.json", seconds, kernel)
            sizes.append(result.certificate.size)
            bounds.append(result.least)
            smallest += result.is_smallest
            if as_json:
                print_line(json.dumps({"certificate": file, **result.record()}))
            else:
                print_line(
                    f"{file}: {result.certificate.size} statements under {result.certificate.paradigm}; no explanation"
                    f" of this image under top_k has fewer than {result.least}: proved"
                )
            advance(1)
    if len(files) > 1 and not as_json:
        print_line(
            f"{len(files)} explanations: mean size {sum(sizes) / len(files):.2f}, mean bound"
            f" {sum(bounds) / len(files):.2f}; {smallest} have no statement more than their bound"
        )
