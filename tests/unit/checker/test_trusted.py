"""TRUSTED.md: its files, line counts, imports and rules are those of the code; and the wall."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
from functools import cache
from pathlib import Path

import pytest
from support import believed, files
from support.trusted import CHECKER, DOCUMENT, ROW, counted, renewed

import verale.checker

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


# The wall: checking a certificate loads the standard library and the kernel's package, nothing else.


ROOT = Path(verale.checker.__file__).parents[2]
FORBIDDEN = {"torch", "numpy", "scipy", "safetensors", "click", "rich", "PIL", "yaml", "hypothesis"}


def trespassers(module: str, folder: Path, call: str, path: list[Path]) -> set[str]:
    """What is loaded, against the rule, once `module` is imported and `call` has run in a fresh interpreter."""
    script = folder / "probe.py"
    script.write_text(
        textwrap.dedent(f"""
            import sys
            sys.path[:0] = {[str(each) for each in path]!r}
            import {module}
            {call}
            print("\\n".join(sys.modules))
        """)
    )
    result = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(result.stdout.split())
    assert module in loaded
    return {
        name
        for name in loaded
        if name.split(".")[0] in FORBIDDEN or (name.startswith("verale.") and name.split(".")[1] != "checker")
    }


def written(folder: Path) -> str:
    """A call that checks a proved certificate with every paradigm's files in the folder."""
    image = [[0.5, 0.25], [0.75, 0.5]]
    data = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.25], [9.0, 9.0]], [1.0, 0.0])
    certificate = files.certificate(
        data, [files.patch_statement(0, 0, 0.0, 0.0)], patches=2, image=image, minimality=True
    )
    for name, content in (("head", data), ("certificate", certificate), ("latents", files.latents([image]))):
        (folder / name).write_bytes(content)
    read = "*(open(f'{folder}/{name}', 'rb').read() for name in ('certificate', 'head', 'latents'))"
    return f"folder = {str(folder)!r}; assert verale.checker.check({read}, kernel=kernel).exit_code == 0"


@pytest.mark.parametrize(
    ("kernel", "absent"),
    [
        ("arb", ["mpmath", "verale.checker.proved"]),
        ("mpmath", ["flint"]),
        ("both", ["verale.checker.proved"]),
        ("all", []),
        ("proved", ["mpmath", "flint", "verale.checker.reading"]),
        ("proved-or-arb", ["flint", "verale.checker.arithmetic", "verale.checker.numbers",
                           "verale.checker.read.network_file", "verale.checker.read.pictures"]),
    ],
)  # fmt: skip
def test_the_checker_stands_alone_and_loads_what_is_asked(kernel: str, absent: list[str], tmp_path, says) -> None:
    says()
    call = f"kernel = {kernel!r}; {written(tmp_path)}; assert not {set(absent)!r} & {{*sys.modules}}"
    assert trespassers("verale.checker", tmp_path, call, [ROOT]) == set()


@pytest.mark.parametrize("intruder", ["numpy", "verale.certificate"])
def test_an_intruder_is_caught(intruder: str, tmp_path: Path) -> None:
    (tmp_path / "leaky.py").write_text(f"import verale.checker\nimport {intruder}\n")
    outcome = trespassers("leaky", tmp_path, "", [tmp_path, ROOT])
    assert intruder in outcome
