"""`verale summary`: tables like the papers', with means of sizes and times."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from verale.checker.verdict import print_line, printable
from verale.cli import options
from verale.cli.terminal import exits, print_record, print_wrapped

if TYPE_CHECKING:
    from verale.runs.summary import ClassSummary, PrototypeSummary, RunSummary, Spread


@click.command(name="summary", short_help="Print means of sizes and times.")
@click.argument("sources", nargs=-1, required=True, metavar="FOLDER|CSV...", type=click.Path())
@click.option(
    "--by",
    help="A line for each class, predicted and true, or for each prototype; prototypes need the folder.",
    **options.choice("class", "prototype"),
)
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    help="text: a table for people; latex: a tabular.",
    **options.choice("text", "csv", "markdown", "latex"),
)
@options.in_json("one object a row of the table")
@exits(done="printed")
def command(sources: tuple[str, ...], by: str | None, form: str, as_json: bool) -> None:
    """Print mean and standard deviation of size, relative size and time, also for correct and incorrect predictions.

    Reads folders that `verale explain` wrote, or tables, such as those of the papers' run_formal_exp.py. Images without
    an explanation are counted (column `without`) and left out of the means. Beside each size stands how many of the
    head's prototypes, and pairs of a patch and a prototype, the statements bound. Where true classes are known, the
    column `right` says how many images get theirs.
    """
    from verale.cli.tables import latex_lines, markdown_lines, print_rows
    from verale.runs.summary import by_class, by_prototype, summarize
    from verale.runs.table import csv_line

    kinds: dict[str | None, Callable[[str], Sequence[RunSummary | ClassSummary | PrototypeSummary]]]
    kinds = {None: summarize, "class": by_class, "prototype": by_prototype}
    columns, left, cells = _COLUMNS[by]
    found: list[Any] = [summary for source in sources for summary in kinds[by](source)]
    table = ("folder", *columns), list(map(cells, found)), left
    if as_json:
        for each in found:
            print_record("summary", asdict(each))
    elif form == "text" and sys.stdout.isatty():  # a table for each folder, without a column for its name, and a total
        for (source, paradigm), group in groupby(found, lambda each: (each.source, getattr(each, "paradigm", None))):
            print_wrapped(f"{source}{f', paradigm {paradigm}' if paradigm else ''}")
            if by is None:  # a column for the correct ones, the incorrect ones and, at the end, all
                several = [cells(each) for each in sorted(group, key=lambda each: each.predictions == "all")]
                rows = list(zip(columns[2:], *(each[3:] for each in several), strict=True))
                print_rows(("", *(each[2] for each in several)), rows, 1)
            else:
                print_rows(columns, [cells(each)[1:] for each in group], left - 1)
        print_line(_total(found, by))
    elif form == "text":
        print_rows(*table)
    elif form == "csv":
        for number, each in enumerate(found):
            flat: dict[str, object] = {}  # each number under a name of its own
            for key, value in asdict(each).items():
                parts = value if isinstance(value, dict) else {"": value}
                flat |= {f"{key}_{part}" if part else key: one for part, one in parts.items()}
            if not number:
                print_line(csv_line(flat))
            print_line(csv_line(flat.values()))
    else:
        for line in {"markdown": markdown_lines, "latex": latex_lines}[form](*table):
            print_line(line)


def _total(found: Sequence[Any], by: str | None) -> str:
    """How much all of it is about."""
    if by == "prototype":
        return f"{len(found)} prototypes, {sum(each.bounded > 0 for each in found)} of them bounded in an explanation"
    if by == "class":
        found = [each for each in found if each.kind == "predicted"]
        images, explained = sum(each.images for each in found), sum(each.explained for each in found)
    else:
        found = [each for each in found if each.predictions == "all"]
        explained = sum(each.images for each in found)
        images = explained + sum(each.without for each in found)
    right, labelled = sum(getattr(s, "right", getattr(s, "correct", 0)) for s in found), sum(s.labelled for s in found)
    rest = f"; {_right(right, labelled)} right" if labelled else ""
    return f"{images} images, {explained} with an explanation{rest}"


def _run_cells(summary: RunSummary) -> tuple[str, ...]:
    return (
        *(printable(summary.source), printable(summary.paradigm or "-"), summary.predictions, str(summary.images)),
        *(_spread(summary.size, 1), _spread(summary.relative_size, 2)),
        _of(_spread(summary.bounded_prototypes, 1), summary.prototypes),
        _of(_spread(summary.bounded_pairs, 1), summary.pairs),
        *(_spread(summary.seconds, 3), str(summary.without)),
        _right(summary.right, summary.labelled) if summary.predictions == "all" else "-",
    )


def _class_cells(summary: ClassSummary) -> tuple[str, ...]:
    name = summary.name if summary.name == str(summary.number) else f"{summary.number} ({summary.name})"
    return (
        *(printable(summary.source), printable(name), summary.kind, str(summary.images), str(summary.explained)),
        *(_spread(summary.size, 1), _spread(summary.bounded_prototypes, 1), _right(summary.correct, summary.labelled)),
    )


def _prototype_cells(summary: PrototypeSummary) -> tuple[str, ...]:
    numbers = (summary.prototype, summary.named, summary.bounded, summary.explanations, summary.statements)
    return printable(summary.source), *map(str, numbers)


_COLUMNS: dict[str | None, tuple[tuple[str, ...], int, Callable[[Any], tuple[str, ...]]]] = {
    None: (
        ("paradigm", "predictions", "images", "size", "% of all", "prototypes", "pairs", "seconds", "without", "right"),
        *(3, _run_cells),
    ),
    "class": (("class", "is", "images", "explained", "size", "prototypes", "right"), 3, _class_cells),
    "prototype": (("prototype", "named in", "bounded in", "explanations", "statements"), 1, _prototype_cells),
}
"""The headings after the first, how many columns are texts, and the cells of a summary."""


def _spread(spread: Spread, digits: int) -> str:
    if spread.mean is None:
        return "-"
    return f"{spread.mean:.{digits}f}" + ("" if spread.deviation is None else f" ± {spread.deviation:.{digits}f}")


def _of(part: str, whole: int | None) -> str:
    return part if whole is None or part == "-" else f"{part} of {whole}"


def _right(right: int, labelled: int) -> str:
    from verale.certificate.words import part_of

    return part_of(right, labelled) if labelled else "-"
