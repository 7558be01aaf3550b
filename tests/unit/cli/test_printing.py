"""All that verale prints keeps to the line and to plain text; a bar is for terminals, below lines printed meanwhile."""

from __future__ import annotations

import ast
import logging
import re
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from support.commands import in_process

from verale.checker.verdict import print_line
from verale.cli.tables import TextTable, print_table
from verale.cli.terminal import log_to_stderr, progress
from verale.runs.doctor import SAMPLE

ROOT = Path(__file__).parents[3] / "verale"

PRINTS = {
    "checker/verdict.py": "print_line itself",
    "cli/tables.py": "print_table itself",
    "cli/terminal.py": "print_verdict itself",
    "cli/__init__.py": "the help of click, for a group without a command",
    "checker/proved/script_host.py": "answers into a pipe, which whoever asked reads strictly",
    "cli/completion.py": "a script that click makes, of several lines",
}
"""The files that may print in another way, and why."""
PROGRAMS = "soundness/"
"""Programs for developers, which read nothing from outside: they print tables of their own numbers."""


def prints(source: str) -> list[str]:
    """The calls in a module that write to the standard streams."""
    names = ("print", "pprint", "echo", "secho", "echo_via_pager", "StreamHandler", "basicConfig", "print_exc", "input")
    streams = ("stdout", "stderr", "__stdout__", "__stderr__")
    found: list[str] = []
    if not re.search(rf"\b(?:{'|'.join(names)})\(|\.(?:{'|'.join(streams)})\.", source):
        return found
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if name in names:
                found.append(name)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "attr", "") in streams:
            found += [node.attr] if node.attr in ("write", "writelines", "buffer") else []
    return found


def test_nothing_else_prints() -> None:
    sources = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in ROOT.rglob("*.py")}
    found = {name for name, source in sources.items() if prints(source)}
    assert {name for name in found if not name.startswith(PROGRAMS)} == set(PRINTS)
    of_streams = ("sys.stdout.write('')", "sys.stderr.buffer", "logging.StreamHandler()")
    assert all(map(prints, ("print(1)", "click.echo(1)", "Console().print(t)", *of_streams))), "this test can fail"


def printed_row(*cells: str, width: int | None = 80) -> str:
    """What a table of two columns prints with one row."""
    table = TextTable("a", "b")
    table.add_row(*cells)
    with redirect_stdout(StringIO()) as out:
        print_table(table, width=width)
    return out.getvalue()


def test_a_cell_is_not_two_and_no_digest_is_broken_where_a_table_is_piped() -> None:
    """Nor is anything in it markup, the name of an emoji, or a control character."""
    assert f"{'x' * 64} │ {'y' * 64}" in printed_row("x" * 64, "y" * 64, width=None)
    out = printed_row("x  PROVED", "y ") + printed_row("[red]x[/red] :smile:\n", "\x1b[31m\u202ey")
    assert r"x\x20\x20PROVED" in out and r"y\x20 " in out
    assert r"[red]x[/red] :smile:\n" in out and r"\x1b[31m\u202ey" in out
    assert all(line.isprintable() for line in out.split("\n"))


@pytest.mark.parametrize("command", [("gap",), ("cover", "--latents", "latents.safetensors")])
def test_a_name_does_not_look_like_what_is_said_of_it(command: tuple[str, ...], tmp_path: Path) -> None:
    for path in SAMPLE.glob("*.safetensors"):
        shutil.copy(path, tmp_path)
    name = "a: class 0, 9 of 9 images  .ale.json"
    shutil.copy(SAMPLE / "0.ale.json", tmp_path / name)
    done = in_process(command[0], name, *command[1:], cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout.startswith("a:\\x20class 0, 9 of 9 images\\x20\\x20.ale.json: ")


def test_a_record_of_the_log_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("verale"), "handlers", [])
    log_to_stderr(logging.INFO, "%(levelname)s: %(message)s")
    with redirect_stderr(StringIO()) as err:
        logging.getLogger("verale.x").info("of %s", "a\nPROVED\r\x1b")
        logging.getLogger("verale.x").debug("less")
    assert err.getvalue() == "INFO: of a\\nPROVED\\r\\x1b\n"


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


def test_a_terminal_gets_a_bar_unless_there_is_a_log() -> None:
    text = printed(Terminal(), unit="certificates")
    assert "explaining" in text and "1/4" in text and "4/4" in text and "certificates/s" in text
    assert printed(StringIO()) == ""
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
