"""TRUSTED.md: its files, line counts, imports and rules are those of the code."""

from __future__ import annotations

import ast
import re
import sys
from functools import cache
from pathlib import Path

import pytest
from support import believed
from support.trusted import CHECKER, DOCUMENT, ROW, counted, renewed

TEXT = DOCUMENT.read_text(encoding="utf-8")
FILES = sorted(CHECKER.rglob("*.py"))


@cache
def imported(path: Path) -> set[tuple[str, str]]:
    """(module, name) of everything that is imported from outside the checker."""
    result = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            result |= {(alias.name, "") for alias in node.names}
        if isinstance(node, ast.ImportFrom) and not node.level:
            result |= {(str(node.module), alias.name) for alias in node.names}
    return result


def test_the_counts_are_those_of_the_files() -> None:
    """If not: `PYTHONPATH=tests python -m support.trusted --write`."""
    assert renewed(TEXT) == TEXT
    rows = ROW.findall(TEXT)
    assert [name for name, _, _ in rows] == list(counted())
    assert all(purpose for _, _, purpose in rows)


def test_old_counts_do_not_pass() -> None:
    """Else the test above could not fail."""
    name, (lines, code) = next(iter(counted().items()))
    row = f"| `{name}` | {lines} | {code} |"
    for old in (TEXT.replace(row, f"| `{name}` | {lines + 1} | {code} |"), re.sub(r"\d+ files,", "1 files,", TEXT)):
        assert old != TEXT and renewed(old) == TEXT
    gone = re.sub(rf"\| `{re.escape(name)}` .*\n", "", TEXT)
    assert renewed(gone) not in (gone, TEXT)  # the row is there again, without what the file does


def test_the_standard_library_that_is_used() -> None:
    packages = {"flint", "mpmath", "py_mini_racer", "__future__"}
    used = {module.split(".")[0] for path in FILES for module, _ in imported(path)} - packages
    assert used <= sys.stdlib_module_names
    listed = TEXT.split("**Standard library.**")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z_]+)`", listed)) == used


@pytest.mark.parametrize("package", ["flint", "mpmath"])
def test_the_packages_that_are_used(package: str) -> None:
    used = {name for path in FILES for module, name in imported(path) if module.split(".")[0] == package}
    listed = TEXT.split(f"**{package}**")[1].split("\n\n")[0]
    assert used and used <= set(re.findall(r"`(\w+)`", listed))
    assert {path.stem for path in FILES if any(m.split(".")[0] == package for m, _ in imported(path))} == {
        {"flint": "arb", "mpmath": "series"}[package]
    }


def test_every_rule_is_there_with_its_proof() -> None:
    section = TEXT.split("## The rules")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w/]+\.py)`", section))
    for name in named:
        tree = ast.walk(ast.parse((CHECKER / name).read_text(encoding="utf-8")))
        parts = [node for node in tree if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        documented = [ast.get_docstring(node) or "" for node in parts]
        assert sum(map(len, documented)) > 300, name
    proofs = {path.relative_to(CHECKER).as_posix() for path in FILES if "*Proof.*" in path.read_text(encoding="utf-8")}
    assert proofs <= named


# docs/proved.md: the lines that have to be believed are those that there are.


BELIEVED = believed.DOCUMENT.read_text(encoding="utf-8")


def test_the_counts_of_what_is_believed_are_those_of_the_files() -> None:
    """If not: `PYTHONPATH=tests python -m support.believed --write`."""
    assert believed.renewed(BELIEVED) == BELIEVED
    assert all(f"| {part} |" in BELIEVED for part in believed.PARTS)


def test_old_counts_of_what_is_believed_do_not_pass() -> None:
    """Else the test above could not fail."""
    for part in believed.PARTS:
        old = re.sub(rf"\| {re.escape(part)} \| \d+", f"| {part} | 1", BELIEVED)
        assert old != BELIEVED and believed.renewed(old) == BELIEVED
    old = re.sub(r"\d+ lines of\s+definitions", "7 lines of definitions", BELIEVED)
    assert old != BELIEVED and " 7 lines" not in believed.renewed(old)


def test_comments_and_blank_lines_do_not_count(tmp_path) -> None:
    path = tmp_path / "a.v"
    path.write_text("(** a\n (* nested *)\n b *)\n\nDefinition x := 1. (* c *)\n  (* d *)\nDefinition y := 2.\n")
    assert believed.lines_of(path) == 2
