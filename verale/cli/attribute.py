"""`verale attribute`: several explanations of one image, and what stands in which share of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.cli import options
from verale.cli.exits import exits
from verale.cli.progress import progress
from verale.cli.shared import print_record
from verale.paradigms import PARADIGMS
from verale.runs.auditor import PROVING, AuditOptions

if TYPE_CHECKING:
    from verale.runs.attribute import Attribution

__all__ = ["command"]

_NAMES = tuple(name for name, each in PARADIGMS.items() if each.several)
_SPATIAL = tuple(name for name in _NAMES if PARADIGMS[name].spatial)

_MOST = 10
"""The most prototypes, and patches, that are printed for people."""


@click.command(name="attribute", short_help="Find several explanations of an image and count what is in them.")
@options.head("The head file.", required=True)
@options.latents("The images' latents.", required=True)
@click.option("--image", default=0, show_default=True, metavar="NUMBER", help="The image's number in the latents.")
@options.out("The folder for the explanations.", required=True)
@click.option("--count", default=20, show_default=True, metavar="NUMBER", help="The most explanations.")
@options.named(
    "--paradigm",
    f"{', '.join(_NAMES)}; patches are counted under {' and '.join(_SPATIAL)}.",
    *_NAMES,
    default="top_k",
    show_default=True,
)
@click.option("--seed", default=0, show_default=True, metavar="NUMBER", help="The same seed, the same explanations.")
@options.prototype_pictures()
@options.overwrite("Remove what an earlier command noted in the folder.")
@options.audit(*PROVING)
@options.in_json("one object")
@options.verbose
@exits(verdicts=True, done="the checker has proved every explanation")
def command(
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
    as_json: bool,
) -> None:
    """Find different explanations of one image, from which nothing can be dropped by the reference ranges, and count
    what stands in them.

    The share of a prototype or a patch is the share of these explanations that state something about it. They are a
    sample of all explanations, and a share is not a probability. Writes a certificate for each, the head, the latents,
    attribution.csv, attribution.json and attribution.html. `verale audit FOLDER --minimality` proves them again.
    """
    from verale.report.attribution_page import attribution_page
    from verale.report.rules_page import pictures_beside, pictures_in
    from verale.runs.arguments import HeadFile
    from verale.runs.attribute import ATTRIBUTION, attribute
    from verale.runs.folder import HEAD, require_room, write_results

    directory, file = Path(out), HeadFile.of(head)
    inputs = [Path(head), Path(latents)]
    require_room(directory, ATTRIBUTION, {HEAD: file.data}, overwrite, inputs)
    shown = pictures_beside(latents) if prototype_pictures is None else pictures_in(Path(prototype_pictures))
    unwritten = f"nothing is written to {directory}"
    with progress("explaining", count, unit="explanations", interrupted=lambda: unwritten) as advance:
        found = attribute(file, latents, image, count, paradigm, seed, advance, audit)
    files = found.files(file, attribution_page(found, file.head, shown))
    write_results(directory, ATTRIBUTION, files, overwrite, inputs)
    if as_json:
        print_record("attribution", found.record())
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
