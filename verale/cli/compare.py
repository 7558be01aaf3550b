"""`verale compare`: two runs image by image."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from verale.checker.verdict import one_field, print_line, printable
from verale.cli import options
from verale.cli.terminal import exits, print_record, progress
from verale.runs.inputs import Inputs

if TYPE_CHECKING:
    from verale.runs.compare import ComparedImage, Counts, RunComparison

_FIRST = 20
"""The changed images that are listed without --all."""
_NEEDS: dict[str, tuple[str, ...]] = {".html": ("jinja2", "PIL"), ".csv": ()}
"""By the suffix of an output, the modules that it needs."""
_HEADINGS = ("image", "class", "true of B", "statements", "lead", "minimal", "paradigm", "first that is not")
_FAILING = 5
"""How many of the prototypes are named whose statements fail most often."""
_NARROW = (
    "no image satisfies all statements of A: exact ones are true of hardly anything but their own image; explain A with"
    " --tolerance 10% or --inflate to ask whether reasons are kept more or less"
)


@click.command(name="compare", short_help="Compare two runs image by image.")
@click.argument("a", metavar="A", type=click.Path())
@click.argument("b", metavar="B", type=click.Path())
@options.inputs(
    head="The head of B; by default head.safetensors in B.", latents="The latents of B; by default those in B."
)
@options.out("Also write a page (.html) or a table (.csv); may be repeated.", "FILE", "outputs", multiple=True)
@options.allow
@click.option("--no-pictures", is_flag=True, help="Of pages: leave out the images.")
@options.overwrite("Replace existing files.")
@click.option(
    "--all", "everything", is_flag=True, help=f"List every image, not only {_FIRST} that changed, another class first."
)
@options.in_json("one object an image, then one with the counts")
@options.verbose
@exits(done="compared, whatever changed")
def command(
    a: str,
    b: str,
    given: Inputs,
    outputs: tuple[str, ...],
    allow: tuple[str, ...],
    no_pictures: bool,
    overwrite: bool,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare two runs image by image: the classes, the reasons, sizes and leads.

    A and B are folders that `verale explain` wrote, of the same images: of a network before and after training, or of
    two networks. For each image the checker decides, exactly, which statements of A are true of B's latents: true,
    false, or undecided. If B has another head, the statements are taken as sentences about prototypes by their numbers;
    if its parts are of other kinds, only classes are compared. Narrow statements are true of hardly any other latents:
    explain A with --tolerance 10% or --inflate to ask whether reasons are kept more or less.

    Classes, sizes, leads and minimality are what the certificates claim. `verale audit` proves them.
    """
    from verale.errors import UsageError
    from verale.files import write_atomically
    from verale.runs.compare import Counts, changed_first, compare, csv_lines
    from verale.runs.folder import require_output

    for output in outputs:
        suffix = Path(output).suffix.lower()
        if suffix not in _NEEDS:
            raise UsageError(f"{output} has no known format as its suffix, expected {' or '.join(_NEEDS)}")
        require_output(output, [a, b, given.head, given.latents], overwrite)
        for module in _NEEDS[suffix]:
            import_module(module)
    comparison = compare(a, b, given.head, given.latents)
    for name, run in (("A", comparison.a), ("B", comparison.b)):
        print_line(f"{name} {run.folder}, head {run.head.path}, sha256 {run.head.sha256}", sys.stderr)
    counts = Counts()
    rows: list[ComparedImage] = []
    room = {True: _FIRST, False: _FIRST}  # for images that do not keep their class, and for others

    def done() -> str:
        return f"{counts.images} of {len(comparison)} images are compared"

    with progress("comparing", len(comparison), interrupted=done) as advance:
        for one in comparison:
            counts.add(one)
            other = one.same_class is False
            if outputs or everything or (one.changed and room[other] > 0):
                room[other] -= 1
                rows.append(one)
            if as_json:
                print_record("compared", one.record())
            advance(1)
    if as_json:
        heads = {"head_a": comparison.a.head.sha256, "head_b": comparison.b.head.sha256}
        pairs = comparison.pairs
        matched = {"matched_by": pairs.by, "only_a": pairs.only_a, "only_b": pairs.only_b}
        record = {**heads, **matched, "why_not": comparison.why_not or None, **counts.record()}
        print_record("comparison", record)
    else:
        _print(comparison, counts, rows, everything)
    for output in outputs:
        if Path(output).suffix.lower() == ".csv":
            data = "".join(f"{line}\n" for line in csv_lines(rows)).encode("utf-8", "backslashreplace")
        else:
            from verale.report.static_pages import compare_page

            listed = rows if everything else changed_first(rows)
            data = compare_page(comparison, counts, listed, allow, not no_pictures)
        write_atomically(output, data)
        print_line(f"{output} is written", sys.stderr)


def _print(comparison: RunComparison, counts: Counts, rows: list[ComparedImage], everything: bool) -> None:
    """The counts, then the images, for people."""
    from verale.cli.tables import print_rows
    from verale.runs.compare import about_sides, changed_first, class_of, held, matched, sentences, two

    for sentence in (matched(comparison), *sentences(comparison, counts), comparison.how):
        print_line(printable(sentence))
    for name, of_a, of_b in about_sides(comparison, counts):
        print_line(f"  {name}: A {of_a}, B {of_b}")
    if counts.answers[False] and not any(kept for _, kept in counts.outcomes):
        print_line(_NARROW, sys.stderr)
    failing = [f"{name} ({number} of {stated})" for name, number, stated in counts.fails_most[:_FAILING]]
    if failing:
        print_line(f"  fail most often, of the explanations that state them: {', '.join(failing)}")
    shown = rows if everything else changed_first(rows)[:_FIRST]
    cells = []
    for one in shown:
        a, b = one.a, one.b
        cells.append(
            (
                *(one.image, two(class_of(a), class_of(b)), held(one), two(a.size, b.size), two(a.margin, b.margin)),
                *(two(a.minimal, b.minimal), two(a.paradigm, b.paradigm), one.told[0] if one.told else one.note or "-"),
            )
        )
    if shown:
        print_line("")
        print_rows(_HEADINGS, [tuple(map(one_field, row)) for row in cells], left=len(_HEADINGS))
    if not everything and counts.changed > len(shown):
        more = counts.changed - len(shown)
        print_line(f"and {more} more that changed: --all lists every image, -o table.csv writes them")
