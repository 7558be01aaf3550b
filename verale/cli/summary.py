"""`verale summary`: tables like the papers', with means of sizes and times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from verale.checker.output import print_line
from verale.checker.verdict import printable
from verale.cli import options
from verale.cli.exits import exits
from verale.cli.shared import print_record

if TYPE_CHECKING:
    from verale.runs.summary import ClassSummary, PrototypeSummary, RunSummary, Spread

__all__ = ["command"]


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
@options.in_json()
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
    found = [summary for source in sources for summary in kinds[by](source)]
    table = ("folder", *columns), list(map(cells, found)), left
    if as_json:
        for each in found:
            print_record("summary", asdict(each))
    elif form == "text":
        print_rows(*table)
    elif form == "csv":
        flat = [_flat(asdict(each)) for each in found]
        for row in (flat[0], *(each.values() for each in flat)):
            print_line(csv_line(row))
    else:
        for line in {"markdown": markdown_lines, "latex": latex_lines}[form](*table):
            print_line(line)


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


def _flat(record: dict[str, Any]) -> dict[str, object]:
    """The fields of a summary, each number under a name of its own."""
    flat: dict[str, object] = {}
    for key, value in record.items():
        if isinstance(value, dict):
            flat |= {f"{key}_{part}": number for part, number in value.items()}
        else:
            flat[key] = value
    return flat


def _spread(spread: Spread, digits: int) -> str:
    if spread.mean is None:
        return "-"
    return f"{spread.mean:.{digits}f}" + ("" if spread.deviation is None else f" ± {spread.deviation:.{digits}f}")


def _of(part: str, whole: int | None) -> str:
    return part if whole is None or part == "-" else f"{part} of {whole}"


def _right(right: int, labelled: int) -> str:
    from verale.certificate.words import part_of

    return part_of(right, labelled) if labelled else "-"
