"""Prints outcomes, for `python -P -m verale.checker` and all commands that audit: the same line, whoever prints it."""

from __future__ import annotations

import json
import sys
from typing import TextIO

from .file_auditor import UNUSABLE, Outcome
from .verdict import before_colon, printable

__all__ = ["print_line", "print_outcome"]


def print_outcome(outcome: Outcome, as_json: bool) -> None:
    """Print the verdict line, or the record as JSON, on stdout; for a file without a verdict one line on stderr."""
    if as_json:
        print_line(json.dumps(outcome.record))
    elif outcome.record["status"] == UNUSABLE:
        print_line(f"error: {before_colon(outcome.record['certificate'])}: {outcome.record['message']}", sys.stderr)
    else:
        print_line(outcome.line)


def print_line(line: str, stream: TextIO | None = None) -> None:
    """Print exactly one line: what a name or a message from outside holds cannot end it, nor steer a terminal."""
    print(printable(line), file=stream, flush=True)
