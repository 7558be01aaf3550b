"""`verale attribute`: several explanations of one image, and what stands in which share of them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli.progress import progress
from verale.cli.shared import kernel_option, one_of, verbose
from verale.paradigms import PARADIGMS

if TYPE_CHECKING:
    from verale.runs.attribute import Attribution

__all__ = ["command"]

_NAMES = tuple(name for name, each in PARADIGMS.items() if each.several)
_SPATIAL = tuple(name for name in _NAMES if PARADIGMS[name].spatial)

_MOST = 10
"""The most prototypes, and patches, that are printed for people."""


@click.command(name="attribute", short_help="Find several explanations of an image and count what is in them.")
@click.option("--head", required=True, metavar="H", type=click.Path(), help="The head file.")
@click.option("--latents", required=True, metavar="Z", type=click.Path(), help="The images' latents.")
@click.option("--image", default=0, show_default=True, metavar="I", help="The image's number in the latents.")
@click.option("--out", required=True, metavar="OUT", type=click.Path(), help="The folder for the explanations.")
@click.option("--count", default=20, show_default=True, metavar="N", help="The most explanations.")
@click.option(
    "--paradigm",
    default="top_k",
    show_default=True,
    metavar="NAME",
    help=f"{', '.join(_NAMES)}; patches are counted under {' and '.join(_SPATIAL)}.",
    **one_of(*_NAMES),
)
@click.option("--seed", default=0, show_default=True, metavar="S", help="The same seed gives the same explanations.")
@click.option(
    "--in-a-row", default=100, show_default=True, metavar="N", help="Stop when N tries in a row find nothing new."
)
@click.option("--pictures", metavar="DIR", type=click.Path(), help="Pictures of prototypes, DIR/0000.png and so on.")
@click.option("--overwrite", is_flag=True, help="Remove what an earlier command noted in OUT.")
@kernel_option()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, not lines for people.")
@verbose
def command(
    head: str,
    latents: str,
    image: int,
    out: str,
    count: int,
    paradigm: str,
    seed: int,
    in_a_row: int,
    pictures: str | None,
    overwrite: bool,
    kernel: str | None,
    as_json: bool,
) -> None:
    """Find N different explanations of one image, from which nothing can be dropped by the reference ranges, and count
    what stands in them.

    The share of a prototype or a patch is the share of these explanations that state something about it. They are a
    sample of all explanations, and a share is not a probability. Writes into OUT a certificate for each, the head, the
    latents, attribution.csv, attribution.json and attribution.html. `verale audit OUT --minimality` proves them again.

    Exit code: 0 the checker has proved every explanation; 3 or 12: not every one; 9 a file or option that cannot be
    used; 130 interrupted, and nothing is written; 2 unknown option.
    """
    from verale.report.attribution_page import attribution_page
    from verale.report.rules_page import pictures_in
    from verale.runs.arguments import HeadFile
    from verale.runs.attribute import ATTRIBUTION, attribute
    from verale.runs.folder import HEAD, require_room, write_results

    directory, file = Path(out), HeadFile.of(head)
    inputs = [Path(head), Path(latents)]
    require_room(directory, ATTRIBUTION, {HEAD: file.data}, overwrite, inputs)
    shown = {} if pictures is None else pictures_in(Path(pictures))
    unwritten = f"nothing is written to {directory}"
    with progress("explaining", count, unit="explanations", interrupted=lambda: unwritten) as advance:
        found = attribute(file, latents, image, count, paradigm, seed, in_a_row, kernel, advance)
    files = found.files(file, attribution_page(found, file.head, shown))
    write_results(directory, ATTRIBUTION, files, overwrite, inputs)
    if as_json:
        print_line(json.dumps(found.record()))
    else:
        _print(found)
    print_line(f"the explanations are in {directory}", sys.stderr)
    sys.exit(found.exit_code)


def _print(found: Attribution) -> None:
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
