"""The progress bar: on a terminal only, and never beside a log or lines on the same terminal."""

from __future__ import annotations

import logging
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest

from verale.cli.progress import progress


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


@pytest.mark.parametrize("lines", [True, False])
def test_lines_on_the_same_terminal_and_a_bar_exclude_each_other(lines) -> None:
    with redirect_stdout(Terminal()):
        assert sys.stdout.isatty()
        assert (printed(Terminal(), lines=lines) == "") == lines
