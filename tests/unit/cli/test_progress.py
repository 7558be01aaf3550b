"""The progress bar: on a terminal only, never beside a log, and below the lines that are printed meanwhile."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from verale.checker.file_auditor import print_line
from verale.cli.terminal import progress


class Terminal(StringIO):
    """A stream that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    """A plain terminal, and no log."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    log = logging.getLogger("verale")
    before = log.level
    log.setLevel(logging.WARNING)
    yield
    log.setLevel(before)


def printed(stream: StringIO, **options: object) -> str:
    """What a bar prints to stderr, without colours."""
    with redirect_stderr(stream), progress("explaining", 4, done=1, **options) as advance:
        advance(3)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue())


def test_a_terminal_gets_a_bar() -> None:
    text = printed(Terminal(), unit="certificates")
    assert "explaining" in text and "1/4" in text and "4/4" in text and "certificates/s" in text


def test_another_stream_gets_nothing() -> None:
    assert printed(StringIO()) == ""


def test_a_log_replaces_the_bar() -> None:
    logging.getLogger("verale").setLevel(logging.INFO)
    assert printed(Terminal()) == ""


LINE = "PROVED " + "x" * 200 + " [red] :smile: 100 %"
"""A line that is longer than the terminal is wide, of characters that mean something to what draws the bar."""


def test_lines_on_the_same_terminal_are_whole_and_above_the_bar() -> None:
    screen = Terminal()
    with redirect_stdout(Terminal()) as lines:
        with redirect_stderr(screen), progress("auditing", 2) as advance:
            print_line(LINE)
            advance(2)
        assert sys.stdout is lines and lines.getvalue() == ""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen.getvalue())
    assert LINE in re.split(r"[\r\n]+", text)
    assert text.index(LINE) < text.rindex("2/2")


def test_lines_that_go_elsewhere_stay_there() -> None:
    screen = Terminal()
    with redirect_stdout(StringIO()) as lines, redirect_stderr(screen), progress("auditing", 2) as advance:
        print_line(LINE)
        advance(2)
    assert lines.getvalue() == f"{LINE}\n"
    assert "PROVED" not in screen.getvalue() and "2/2" in screen.getvalue()
