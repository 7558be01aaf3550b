"""What commands print, for `python -P -m verale.checker` and all others: outcomes, the same line, whoever prints it;
and the standard streams of a process, whatever it was started with: closed, on a full disk, or read by nobody.

What cannot be printed is no reason to stop: an audit goes on, and files are written. But an answer that could not be
printed whole is not one, and the exit code says so.
"""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from .file_auditor import UNUSABLE, Outcome
from .verdict import EXIT_UNUSABLE, SEVERITY, before_colon, most_severe, printable


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


@contextmanager
def standard_streams() -> Iterator[None]:
    """Where a command runs: nothing that it prints raises an error, and it ends by SystemExit.

    - A stream that was closed is opened, on a file that takes nothing. Otherwise the next file that is opened would get
      its number, and whatever is printed would go into that file.
    - Standard output that does not take all that is printed is said on stderr, and no exit code is less severe than
      `EXIT_UNUSABLE` then. A reader who leaves (`... | head`) wants no more: that changes no code.
    - What stderr does not take is lost. No exit code depends on it.

    Streams that a program has put in the place of the process's stay, and raise what they raise.
    """
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
    sys.stdout, printed = _guarded(sys.stdout, sys.__stdout__)
    sys.stderr, _ = _guarded(sys.stderr, sys.__stderr__)
    code: object = 0
    try:
        yield
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    if printed.failure is not None:
        why = printed.failure.strerror
        print_line(f"error: standard output: {why}; what is printed there is not whole", sys.stderr)
        code = most_severe([code, EXIT_UNUSABLE]) if code in SEVERITY else code
    sys.exit(code)  # type: ignore[arg-type]  # what the command gave


class _Sink(io.RawIOBase):
    """Writes to a file while it takes what is written, and drops the rest.

    Attributes:
        failure: what the file said where it took no more; None if its reader left.
    """

    failure: OSError | None = None

    def __init__(self, file: io.RawIOBase) -> None:
        self._file, self._takes = file, True

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._file.isatty()

    def fileno(self) -> int:
        return self._file.fileno()

    def write(self, data: memoryview, /) -> int:  # type: ignore[override]  # what buffers write
        rest = data
        try:
            while rest and self._takes:
                written = self._file.write(rest)
                if written is None:  # another program has made the file one that does not wait
                    select.select([], [self._file], [])
                rest = rest[written or 0 :]
        except BrokenPipeError:
            self._takes = False
        except OSError as error:
            self._takes, self.failure = False, error
        return len(data)


def _guarded(stream: TextIO | None, original: TextIO | None) -> tuple[TextIO, _Sink]:
    """A stream that prints where this one does, any text, and raises nothing; and what is under it. Where it is not the
    process's, the stream itself, which prints any text then too."""
    if stream is None:  # it was closed
        nowhere = io.FileIO(os.open(os.devnull, os.O_RDONLY), "w", closefd=False)  # as long as the process
        return _text(sink := _Sink(nowhere)), sink
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    if stream is not original or not isinstance(stream, io.TextIOWrapper):
        return stream, _Sink(io.RawIOBase())
    file: Any = getattr(stream.buffer, "raw", stream.buffer)  # there is no buffer with `python -u`
    return _text(sink := _Sink(file), stream.encoding, stream.line_buffering), sink


def _text(sink: Any, encoding: str = "utf-8", by_line: bool = False) -> TextIO:
    return io.TextIOWrapper(io.BufferedWriter(sink), encoding, "backslashreplace", line_buffering=by_line)
