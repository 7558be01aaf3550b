"""`verale summary`: tables like the papers', with means of sizes and times."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from verale.checker.output import print_line
from verale.checker.verdict import printable
from verale.cli.shared import choice

if TYPE_CHECKING:
    from verale.runs.summary import RunSummary, Spread

__all__ = ["command"]

HEADINGS = ("folder", "paradigm", "predictions", "images", "size", "% of all", "seconds", "without")


@click.command(name="summary", short_help="Print means of sizes and times.")
@click.argument("sources", nargs=-1, required=True, metavar="OUT|CSV...", type=click.Path())
@click.option(
    "--format",
    "form",
    default="text",
    show_default=True,
    help="text: a table for people; json: one object a line, full precision.",
    **choice("text", "csv", "markdown", "json"),
)
def command(sources: tuple[str, ...], form: str) -> None:
    """Print mean and standard deviation of size, relative size and time, also for correct and incorrect predictions.

    Reads folders that `verale explain` wrote, or tables, such as those of the papers' run_formal_exp.py. Images without
    an explanation are counted (without) but enter no mean.

    Exit code: 0 printed; 9 a table that cannot be used; 2 unknown option.
    """
    from verale.runs.summary import summarize

    summaries = [summary for source in sources for summary in summarize(source)]
    printers[form](summaries)


def _text(summaries: list[RunSummary]) -> None:
    from verale.cli.tables import print_rows

    print_rows(HEADINGS, list(map(_cells, summaries)), left=3)


def _markdown(summaries: list[RunSummary]) -> None:
    ruler = ["---"] * 3 + ["---:"] * (len(HEADINGS) - 3)
    for row in (HEADINGS, ruler, *map(_cells, summaries)):
        print_line(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |")


def _csv(summaries: list[RunSummary]) -> None:
    from verale.runs.table import csv_line

    flat = [_flat(summary) for summary in summaries]
    rows: list[list[object]] = [[*flat[0]], *([*each.values()] for each in flat)]
    for row in rows:
        print_line(csv_line(row))


def _json(summaries: list[RunSummary]) -> None:
    for summary in summaries:
        print_line(json.dumps(asdict(summary)))


def _flat(summary: RunSummary) -> dict[str, object]:
    """The fields of a summary, each number under a name of its own."""
    flat: dict[str, object] = {}
    for key, value in asdict(summary).items():
        if isinstance(value, dict):
            flat |= {f"{key}_{part}": number for part, number in value.items()}
        else:
            flat[key] = value
    return flat


def _cells(summary: RunSummary) -> tuple[str, ...]:
    return (
        *(printable(summary.source), printable(summary.paradigm or "-"), summary.predictions, str(summary.images)),
        *(_spread(summary.size, 1), _spread(summary.relative_size, 2), _spread(summary.seconds, 3)),
        str(summary.without),
    )


def _spread(spread: Spread, digits: int) -> str:
    if spread.mean is None:
        return "-"
    return f"{spread.mean:.{digits}f}" + ("" if spread.deviation is None else f" ± {spread.deviation:.{digits}f}")


printers: dict[str, Callable[[list[RunSummary]], None]] = {
    "text": _text,
    "csv": _csv,
    "markdown": _markdown,
    "json": _json,
}
