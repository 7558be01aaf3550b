"""`verale/soundness` holds what `verale soundness` runs, and no more; what only developers run lies outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
ROOM = ROOT / "verale" / "soundness"
COMMANDS = ("soundness", "export")
"""Of `verale/cli`: the suite, and what asks where the proofs lie."""


def imported(source: str) -> Iterator[str]:
    """Every module that a program may import, also within its functions; of names both readings."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names))


def file_of(module: str) -> Path | None:
    """The file of a module of the room, None of others."""
    path = ROOT.joinpath(*module.split("."))
    found = next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)
    return found if found is not None and found.is_relative_to(ROOM) else None


def reached(left: list[Path]) -> set[Path]:
    """The files of the room that some files import, at once or through others; packages on the way do not count."""
    found: set[Path] = set()
    while left:
        others = {file_of(name) for name in imported(left.pop().read_text(encoding="utf-8"))} - found - {None}
        found |= {path for path in others if path is not None}
        left += [path for path in others if path is not None]
    return found


def test_the_commands_reach_every_module() -> None:
    modules = {path for path in ROOM.rglob("*.py") if path.name != "__init__.py"}
    found = reached([ROOT / "verale" / "cli" / f"{name}.py" for name in COMMANDS])
    assert {str(path.relative_to(ROOM)) for path in modules - found} == set()
    assert modules - reached([ROOM / "lemmas.py"]) != set()


def test_no_module_imports_what_only_a_clone_has() -> None:
    for path in ROOM.rglob("*.py"):
        names = {name.split(".")[0] for name in imported(path.read_text(encoding="utf-8"))}
        assert not names & {"attacks", "benchmarks", "checker_mutants", "corpus", "support"}, path
