"""TRUSTED.md: its files, line counts, imports and rules are those of the code."""

from __future__ import annotations

import ast
import re
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
CHECKER = ROOT / "verale" / "checker"
TEXT = (ROOT / "TRUSTED.md").read_text(encoding="utf-8")
FILES = sorted(CHECKER.rglob("*.py"))
BLANK = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(path: Path) -> int:
    """Lines that hold code: no blank ones, comments or docstrings."""
    lines: set[int] = set()
    with path.open(encoding="utf-8") as stream:
        for token in tokenize.generate_tokens(stream.readline):
            if token.type not in BLANK:
                lines |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            lines -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def imported(path: Path) -> set[tuple[str, str]]:
    """(module, name) of everything that is imported from outside the checker."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        if isinstance(node, ast.ImportFrom) and not node.level:
            found |= {(str(node.module), alias.name) for alias in node.names}
    return found


def test_the_table_of_files() -> None:
    rows = re.findall(r"^\| `([\w/]+\.py)` \| (\d+) \| (\d+) \| (yes|no) \|", TEXT, re.MULTILINE)
    counted = {
        path.relative_to(CHECKER).as_posix(): (len(path.read_text().splitlines()), code_lines(path)) for path in FILES
    }
    assert {name: (int(lines), int(code)) for name, lines, code, _ in rows} == counted
    totals = [sum(each) for each in zip(*counted.values(), strict=True)]
    needed = [sum(counted[name][place] for name, _, _, has in rows if has == "yes") for place in (0, 1)]
    assert f"{len(counted)} files, {totals[0]} lines, {totals[1]} of them code" in TEXT
    assert f"{needed[0]} lines, {needed[1]} of them code, have to be right" in TEXT


def test_the_standard_library_that_is_used() -> None:
    used = {module.split(".")[0] for path in FILES for module, _ in imported(path)} - {"flint", "mpmath", "__future__"}
    assert used <= sys.stdlib_module_names
    listed = TEXT.split("**Standard library.**")[1].split("\n\n")[0]
    assert set(re.findall(r"`([a-z_]+)`", listed)) == used


@pytest.mark.parametrize("package", ["flint", "mpmath"])
def test_the_packages_that_are_used(package: str) -> None:
    used = {name for path in FILES for module, name in imported(path) if module.split(".")[0] == package}
    listed = TEXT.split(f"**{package}**")[1].split("\n\n")[0]
    assert used and used <= set(re.findall(r"`(\w+)`", listed))
    assert {path.stem for path in FILES if any(m.split(".")[0] == package for m, _ in imported(path))} == {
        {"flint": "arb_kernel", "mpmath": "mpmath_kernel"}[package]
    }


def test_every_rule_is_there_with_its_proof() -> None:
    section = TEXT.split("## The rules")[1].split("\n## ")[0]
    named = set(re.findall(r"`((?:rules|kernel)/\w+\.py)`", section))
    for name in named:
        tree = ast.walk(ast.parse((CHECKER / name).read_text(encoding="utf-8")))
        parts = [node for node in tree if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
        documented = [ast.get_docstring(node) or "" for node in parts]
        assert sum(map(len, documented)) > 300, name
    proofs = {f"rules/{path.name}" for path in FILES if "*Proof.*" in path.read_text(encoding="utf-8")}
    assert proofs <= named
