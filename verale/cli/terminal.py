"""What commands say: exit codes, JSON and the log; to a terminal a progress bar, lines that fit it, verdicts in colour,
and a total. A pipe gets each line whole and plain.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from enum import IntEnum
from pathlib import PurePath
from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

from verale.checker.verdict import UNUSABLE, claim_in_words, one_field, print_line, printable
from verale.files import CERTIFICATE_SUFFIX

if TYPE_CHECKING:
    from verale.checker.file_auditor import Outcome

Command = TypeVar("Command", bound=Callable[..., Any])


class Exit(IntEnum):
    """An exit code. Those of verdicts are the checker's (`verale.checker.verdict`).

    Attributes:
        meaning: in a few words.
    """

    meaning: str

    def __new__(cls, code: int, meaning: str) -> Exit:
        member = int.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member

    DONE = 0, "done; where something is proved: all of it"
    USAGE = 2, "unknown command, option or argument"
    BOUNDS = 3, "not proved: the bounds do not reach"
    REFUTED = 4, "refuted"
    MALFORMED = 5, "not proved: the certificate is malformed"
    SUBJECT = 6, "not proved: about another head, other latents or another picture"
    INSTANCE = 7, "not proved: a statement is not true of the latents, or of the picture"
    MINIMALITY = 8, "not proved: perhaps not minimal"
    UNUSABLE = 9, "a file, folder or option cannot be used; nothing could be audited; standard output is closed or full"
    UNEXPLAINED = 10, "some images have no certificate"
    NOT_FOUND = 11, "the search found nothing, which proves nothing"
    LIMIT = 12, "not proved: more work than the limit"
    WRONG = 13, "the soundness suite found a mistake"
    UNCLAIMED = 14, "proved, but no instance is claimed"
    UNCOVERED = 15, "not covered by the proof of the kernel proved"
    DEPLOYMENT = 16, "not proved in float32"
    INCOMPLETE = 17, "proved, but a folder is not what its own record lists"
    SKIPPED = 18, "images that cannot be read were left out, by --skip-unreadable"
    INTERRUPTED = 130, "interrupted (Ctrl-C)"


VERDICTS = "3 to 8, 12, 14 to 16 the verdict on a certificate, the most severe of several"
"""The exit codes of verdicts, for the help of a command that proves."""


def exits(*codes: Exit, verdicts: bool = False, done: str = "done") -> Callable[[Command], Command]:
    """Add to a command's help the exit codes that it has beside 2, 9 and 130, which every command has.

    Args:
        codes: what they are.
        verdicts: whether it also ends with the code of a verdict.
        done: what 0 means here.
    """

    def add(command: Command) -> Command:
        rows = [f"0 {done}", *([VERDICTS] if verdicts else []), *(f"{code.value} {code.meaning}" for code in codes)]
        command.__doc__ = f"{command.__doc__}\n    Exit code: {'; '.join(rows)}. `verale --help` lists all.\n"
        return command

    return add


EXTRA_OF = {
    **dict.fromkeys(("torch", "numpy", "safetensors", "scipy", "threadpoolctl", "PIL", "yaml"), "explain"),
    **dict.fromkeys(("cabrnet", "torchvision", "loguru"), "cabrnet"),
    **dict.fromkeys(("jinja2", "matplotlib", "pandas", "pyarrow"), "report"),
    "z3": "soundness",
    "onnx": "vnnlib",
    **dict.fromkeys(("ray", "fsspec"), "ray"),
}
"""For each module, the extra that brings it."""


def print_record(kind: str, record: Mapping[str, object]) -> None:
    """Print a result as one line of JSON, whose first field says what it is: `urn:verale:KIND:v1`."""
    print_line(json.dumps({"_type": f"urn:verale:{kind}:v1", **record}))


class _Lines(logging.Handler):
    """Prints each record of the log on stderr, as one line."""

    def emit(self, record: logging.LogRecord) -> None:
        print_line(self.format(record), sys.stderr)


def log_to_stderr(level: int, form: str) -> None:
    """Send verale's log to stderr, from a level on, in a format of `logging`."""
    handler = _Lines()
    handler.setFormatter(logging.Formatter(form))
    log = logging.getLogger("verale")
    log.handlers = [handler]
    log.setLevel(level)


_NARROWEST = 40
"""Columns below which no line is broken further."""
_STATUS = 11
"""Columns of a verdict's first word."""
_RED, _COLOURS = "31", {"PROVED": "32", "NOT_PROVED": "33"}
"""The colours of verdicts, as terminals number them: green is proved, and nothing else is."""


def coloured(status: str) -> str:
    """A verdict's first word for a terminal, in its colour unless NO_COLOR is set."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or sys.platform == "win32":
        return status
    return f"\x1b[{_COLOURS.get(status, _RED)}m{status}\x1b[0m"


def wrapped(line: str, stream: TextIO | None = None, indent: int = 2) -> list[str]:
    """A line as lines of a terminal, broken between words; piped, it stays one.

    Args:
        line: the text; what is not printable is escaped at a terminal.
        stream: where it goes; by default stdout.
        indent: of further lines, beyond that of the first.
    """
    if not (stream or sys.stdout).isatty():
        return [line]
    line = printable(line)
    width = max(_NARROWEST, get_terminal_size().columns)
    further = " " * (len(line) - len(line.lstrip()) + indent)
    return wrap(line, width, subsequent_indent=further, break_long_words=False, break_on_hyphens=False) or [""]


def print_wrapped(line: str, stream: TextIO | None = None, indent: int = 2) -> None:
    """Print a line, broken between words at a terminal."""
    for part in wrapped(line, stream, indent):
        print_line(part, stream)


def print_verdict(line: str) -> None:
    """Print a line that begins with a verdict on stdout; at a terminal it is broken between words, and in colour unless
    NO_COLOR is set."""
    if not sys.stdout.isatty():
        print_line(line)
        return
    status, first, *more = line.split(" ", 1)[0], *wrapped(line, indent=_STATUS)
    print(coloured(status) + first.removeprefix(status), flush=True)
    for part in more:
        print_line(part)


class AuditTable:
    """The outcomes of an audit: at a terminal rows that fit it, with a total at the end; a pipe gets one verdict line
    each, and a total only if stderr is a terminal."""

    def __init__(self) -> None:
        self._folder: str | None = None
        self._statuses: Counter[str] = Counter()
        self._claims: Counter[str] = Counter()
        self._provers: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Print an outcome, and count it."""
        from verale.checker.options import in_words, program_in_words

        record = outcome.record
        proved, status, reason = record["status"] == "PROVED", record["status"], record.get("reason")
        self._statuses[f"{status} ({reason})" if reason and not proved else status] += 1
        if proved:
            self._claims.update(f"{claim_in_words(claim, record)} {said}" for claim, said in record["claims"].items())
            program = program_in_words(record["run"]["checker"])
            self._provers.update({in_words(kernel, program) for kernel in record.get("by", {}).values()})
        if not sys.stdout.isatty() or record["status"] == UNUSABLE:
            from verale.checker.file_auditor import print_outcome

            print_outcome(outcome, as_json=False)
            return
        if record["predicted"] is None:
            print_verdict(outcome.line)
            return
        path = PurePath(record["certificate"])
        if str(path.parent) != self._folder:
            self._folder = str(path.parent)
            print_wrapped(f"in {self._folder}")
        name = one_field(path.name.removesuffix(CERTIFICATE_SUFFIX))
        row = f"{record['status']:<{_STATUS}}{name}  class {record['predicted']}  {record['paradigm']:<10}"
        row += f" {record['statements']:>3} statements"
        if proved:
            claims = record["claims"].items()  # minimality adds nothing to what the class follows from
            unproved = [f"  {claim} {said}" for claim, said in claims if said != "proved" and claim != "minimality"]
            print_verdict(f"{row}  margin >= {record['margin']}{'  (log)' * outcome.reused}{''.join(unproved)}")
        else:
            print_verdict(row)
            print_wrapped(f"{' ' * _STATUS}{record['reason']}: {record['message']}", indent=0)

    def print_total(self) -> None:
        """Print how many there are of each verdict, what is proved of the proved ones, and by whom."""
        stream = next((stream for stream in (sys.stdout, sys.stderr) if stream.isatty()), None)
        if stream is None or not self._statuses:
            return
        proved = self._statuses["PROVED"]
        counts = ", ".join(f"{count} {status}" for status, count in self._statuses.items() if count)
        print_wrapped(f"{self._statuses.total()} certificates: {counts}", stream)
        if proved:
            claims = (said if count == proved else f"{said} for {count}" for said, count in self._claims.items())
            print_wrapped(f"of the PROVED: {', '.join(claims)}; by {' and '.join(sorted(self._provers))}", stream)


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
