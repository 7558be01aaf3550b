"""What people see at a terminal of 80 columns: lines fit, verdicts have colours, and a total stands at the end."""

from __future__ import annotations

import fcntl
import logging
import os
import pty
import re
import shutil
import struct
import sys
import termios
from pathlib import Path
from typing import NoReturn

import pytest
from support.reporting import folder_of

from verale.cli import main
from verale.runs.workers.local import can_fork

COLUMNS = 80
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory.mktemp("terminal") / "out", paradigm="top_k")


@pytest.fixture(scope="module")
def damaged(folder: Path) -> Path:
    made = Path(shutil.copytree(folder, folder.parent / "damaged"))
    (made / "000000.ale.json").write_bytes((made / "000000.ale.json").read_bytes().replace(b'"top_k"', b'"topless"', 1))
    return made


def run_there(here: bool, arguments: tuple[object, ...], cwd: Path, environment: dict[str, str]) -> NoReturn:
    """In a fork, whose files are the terminal. Where its parent had one thread, all that is imported is of use."""
    try:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
        os.chdir(cwd)
        for name in ("NO_COLOR", "COLUMNS", "LINES"):
            os.environ.pop(name, None)
        os.environ.update({"TERM": "xterm", **environment})
        if not here:
            os.execv(sys.executable, [sys.executable, "-P", "-m", "verale", *map(str, arguments)])
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        sys.argv = ["verale", *map(str, arguments)]
        log = logging.getLogger("verale")
        log.handlers, log.propagate = [], False
        main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def at_terminal(*arguments: object, cwd: Path, **environment: str) -> str:
    """What a command writes to a terminal of 80 columns; its exit code does not matter."""
    here = can_fork()
    child, terminal = pty.fork()
    if child == 0:
        run_there(here, arguments, cwd, environment)
    written = b""
    try:
        while block := os.read(terminal, 65536):
            written += block
    except OSError:  # how Linux says that the other end is closed
        pass
    os.waitpid(child, 0)
    os.close(terminal)
    return written.decode()


def lines_of(written: str) -> list[str]:
    """The lines that a terminal shows one after the other, bars included, without colours."""
    return [line for line in re.split(r"[\r\n]+", ESCAPE.sub("", written)) if line.strip()]


@pytest.mark.parametrize(
    ("command", "total"),
    [
        ("audit .", r"of the PROVED: entailment proved, .*"),
        ("summary .", r"\d+ images, \d+ with an explanation.*"),
        ("summary . --by class", r"\d+ images, \d+ with an explanation.*"),
        ("summary . --by prototype", r"\d+ prototypes, \d+ of them bounded in an explanation"),
        ("show . 1", r"PROVED .*"),
        ("head show head.safetensors", r"labels .*"),
    ],
)
def test_lines_fit_and_a_total_ends_them(folder: Path, command: str, total: str) -> None:
    lines = lines_of(at_terminal(*command.split(), cwd=folder))
    assert max(map(len, lines)) <= COLUMNS, max(lines, key=len)
    starts = [number for number, line in enumerate(lines) if not line.startswith("  ")]
    assert re.fullmatch(total, " ".join(map(str.strip, lines[starts[-1] :])))


def test_verdicts_are_counted_and_have_colours_unless_nobody_wants_them(damaged: Path) -> None:
    written = at_terminal("audit", ".", cwd=damaged)
    assert any(re.fullmatch(r"\d+ certificates: 1 MALFORMED \(.+\), \d+ PROVED", line) for line in lines_of(written))
    assert "\x1b[32mPROVED\x1b[0m" in written and "\x1b[31mMALFORMED\x1b[0m" in written
    plain = at_terminal("audit", ".", cwd=damaged, NO_COLOR="1")
    assert "[32m" not in plain and "[31m" not in plain and "PROVED" in plain


EXPLAIN = "explain --head head.safetensors --latents latents.safetensors --paradigm top_k -o new"


@pytest.mark.parametrize(
    ("command", "begun", "unit"),
    [
        ("audit .", "auditing", "certificates"),
        pytest.param(EXPLAIN, "explaining", "images", marks=pytest.mark.long),  # a process that loads torch
    ],
)
def test_the_bar_is_one_line(command: str, begun: str, unit: str, folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "out")
    bars = [line for line in lines_of(at_terminal(*command.split(), cwd=tmp_path / "out")) if line.startswith(begun)]
    assert bars and max(map(len, bars)) <= COLUMNS and all(f"{unit}/s" in line for line in bars)
    assert re.search(rf"(\d+)/\1 0:00:\d\d [\d.]+ {unit}/s, 0:00:00 left", bars[-1])


def test_a_row_says_what_is_proved_of_no_image(folder: Path, tmp_path: Path) -> None:
    for name in ("000001.ale.json", "head.safetensors"):
        shutil.copy(folder / name, tmp_path)
    written = lines_of(at_terminal("audit", ".", cwd=tmp_path))
    (row,) = [line for line in written if line.startswith("PROVED")]
    assert " ".join(written[written.index(row) :]).count("instance not checked") == 2, "in its row, and in the total"
