"""Tables for people. What cells hold is text, whatever it looks like."""

from __future__ import annotations

from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from verale.checker.verdict import one_field

__all__ = ["PLAIN", "TextTable", "print_table"]

PLAIN: dict[str, Any] = {"box": SIMPLE_HEAD, "padding": (0, 1, 0, 0)}
"""A table without frame."""


class TextTable(Table):
    """A table whose cells are one line each, and look like one cell: what is not so is escaped."""

    def add_row(self, *cells: Any, **options: Any) -> None:
        """Add a row; every cell is a string."""
        super().add_row(*map(one_field, cells), **options)


def print_table(table: TextTable, width: int | None = None) -> None:
    """Print a table on stdout. Neither rich's markup (`[red]`) nor its names of emoji mean anything in it."""
    Console(width=width, markup=False, emoji=False).print(table)
