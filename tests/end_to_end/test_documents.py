"""The commands and programs of proofs/errata.md and docs/theory.md run, and print what stands there."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("proofs/errata.md", "docs/theory.md")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def commands(page: str) -> list[tuple[str, str]]:
    """(command, what it prints) of every `$` line of the console blocks; `...` stands for anything."""
    found = (part.partition("\n") for block in blocks(page, "console") for part in re.split(r"^\$ ", block, flags=re.M))
    return [(command, printed) for command, _, printed in found if command]


def prints(program: list[str], cwd: Path) -> str:
    done = subprocess.run(program, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=600)
    assert "Traceback" not in done.stderr, done.stderr
    return done.stdout


def told(printed: str) -> re.Pattern[str]:
    return re.compile(re.escape(printed).replace(re.escape("..."), ".*"), re.DOTALL)


@pytest.mark.parametrize(("command", "printed"), [pair for page in PAGES for pair in commands(page)])
def test_a_command_prints_what_stands_there(command: str, printed: str) -> None:
    program = {"python": [sys.executable], "verale": [sys.executable, "-m", "verale"]}
    first, *arguments = re.findall(r'"[^"]*"|\S+', command)
    found = prints([*program[first], *(argument.strip('"') for argument in arguments)], ROOT)
    assert told(printed).fullmatch(found), found


def test_what_is_not_printed_is_noticed() -> None:
    assert not told("REFUTED ... wrong\n").fullmatch("PROVED it is wrong\n")
    assert told("REFUTED ... wrong\n").fullmatch("REFUTED it is wrong\n")


def test_the_programs_of_the_theory_print_what_stands_there(tmp_path: Path) -> None:
    programs, outputs = blocks("docs/theory.md", "python"), blocks("docs/theory.md", "text")
    assert [prints([sys.executable, "-c", program], tmp_path) for program in programs] == outputs


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", (ROOT / page).read_text(encoding="utf-8"))
    assert links
    assert [link for link in links if "://" not in link and not (ROOT / page).parent.joinpath(link).exists()] == []


def test_the_programs_of_the_errata_refute(tmp_path: Path) -> None:
    (program,) = blocks("proofs/errata.md", "python")
    assert prints([sys.executable, "-c", program], tmp_path) == "NOT_PROVED\nREFUTED\n"
