"""A progress bar on stderr."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from verale.checker.output import print_line
from verale.cli.exits import Exit

__all__ = ["progress"]


@contextmanager
def progress(
    label: str, total: int, done: int = 0, unit: str = "images", interrupted: Callable[[], str] | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar with count, rate, elapsed and remaining time. There is none if stderr is not a terminal or verale logs.

    Lines that are printed meanwhile stay above the bar; those to stdout, if it is another one than the terminal, go
    where they would without a bar.

    Args:
        label: what is being done.
        total, done: how many units there are, and how many are done already.
        unit: of the rate.
        interrupted: what is said where Ctrl-C ends the work, and with it the command.

    Yields:
        A function that advances the bar by a number of units.
    """
    logs = logging.getLogger("verale").isEnabledFor(logging.INFO)
    try:
        if not sys.stderr.isatty() or logs:
            yield lambda more: None
        else:
            with _bar(label, total, done, unit) as advance:
                yield advance
    except KeyboardInterrupt:
        if interrupted is None:
            raise
        print_line(f"interrupted: {interrupted()}", sys.stderr)
        sys.exit(Exit.INTERRUPTED)


@contextmanager
def _bar(label: str, total: int, done: int, unit: str) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.table import Column
    from rich.text import Text

    class Pace(ProgressColumn):
        """Rate and remaining time, averaged since the beginning: a whole batch is done at once."""

        def render(self, task: Task) -> Text:
            new, elapsed = task.completed - done, task.elapsed
            if not new or not elapsed:
                return Text(f"- {unit}/s")
            left = timedelta(seconds=round(elapsed / new * (total - task.completed)))
            return Text(f"{new / elapsed:.3g} {unit}/s, {left} left")

    whole = Column(no_wrap=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(None, table_column=Column(min_width=4, max_width=40, ratio=1)),  # gets what the others leave
        *(MofNCompleteColumn(), TimeElapsedColumn(), Pace(table_column=whole)),
    )
    console = Console(stderr=True, soft_wrap=True)  # lines that are printed meanwhile are not broken
    # By default, rich would redirect stdout to stderr, wherever it goes.
    with Progress(*columns, console=console, redirect_stdout=sys.stdout.isatty(), expand=True) as bar:
        task = bar.add_task(label, total=total, completed=done)
        yield lambda more: bar.advance(task, more)
