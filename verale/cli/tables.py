"""Tables for people. What cells hold is text, whatever it looks like."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from verale.checker.verdict import one_field, print_line

PLAIN: dict[str, Any] = {"box": SIMPLE_HEAD, "padding": (0, 1, 0, 0), "show_edge": False, "pad_edge": False}
"""A table without frame."""
_WIDEST = 2**16
"""The most characters of a line of a table that is piped."""

_LATEX = {
    **{character: f"\\{character}" for character in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "`": r"\char96{}",
}
"""How LaTeX writes characters that mean something else to it."""
_MARKUP = re.compile(r"[\\`*\[\]<>|~#&$!]|(?<![^\W_])_|_(?![^\W_])")
"""Characters that mean something else to Markdown, whose backslash makes them mean themselves. A low line between two
letters or digits means nothing."""


class TextTable(Table):
    """A table whose cells are one line each, and look like one cell: what is not so is escaped."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row. Cells are strings, or texts of rich with their colours."""
        super().add_row(*(one_field(cell) if isinstance(cell, str) else cell for cell in cells), **options)


def print_table(table: TextTable, width: int | None = None) -> None:
    """Print a table on stdout, as wide as the terminal; piped, as wide as its cells, so that no digest is broken.

    Neither rich's markup (`[red]`) nor its names of emoji mean anything in it.
    """
    piped = None if sys.stdout.isatty() else _WIDEST
    Console(width=width or piped, markup=False, emoji=False).print(table)


def print_rows(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> None:
    """Print a table on stdout: at a terminal as wide as that is, otherwise one line a row, in columns.

    Args:
        left: how many columns are aligned to the left; the others are numbers.
    """
    if Console().is_terminal:
        table = TextTable(**PLAIN)
        for column, heading in enumerate(headings):
            table.add_column(heading, justify="left" if column < left else "right", overflow="fold")
        for row in rows:
            table.add_row(*row)
        print_table(table)
        return
    lines = [headings, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = [
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        print_line("  ".join(cells).rstrip())


def markdown_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """The lines of a table in Markdown; the first `left` columns are texts, the others numbers."""
    ruler = ["---"] * left + ["---:"] * (len(headings) - left)
    for row in (map(in_markdown, headings), ruler, *(map(in_markdown, row) for row in rows)):
        yield f"| {' | '.join(row)} |"


def in_markdown(cell: str) -> str:
    """A cell as it is, whatever it looks like: no column ends in it, and nothing of it is markup, a link or HTML."""
    return _MARKUP.sub(r"\\\g<0>", cell)


def latex_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> Iterator[str]:
    """The lines of a tabular, which needs no package; the first `left` columns are texts, the others numbers."""
    yield f"\\begin{{tabular}}{{{'l' * left}{'r' * (len(headings) - left)}}}"
    yield r"\hline"
    for number, row in enumerate((headings, *rows)):
        yield f"{' & '.join(map(in_latex, row))} \\\\"
        if number in (0, len(rows)):
            yield r"\hline"
    yield r"\end{tabular}"


def in_latex(cell: str) -> str:
    """A cell. What `\\\\` before it would take for its own, a bracket or a star at the beginning, is in braces."""
    text = "".join(_LATEX.get(character, character) for character in cell)
    return re.sub(r"\A[\[*]", lambda first: f"{{{first[0]}}}", text)
