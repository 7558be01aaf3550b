"""Bounds and rules mirror each other, as docs/design.md says; unit tests mirror the rooms that change most."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("verale/bounds", "verale/checker/reading")


def named(page: str) -> tuple[list[str], list[str]]:
    """The files in the first and in the second column."""
    heading = "".join(f"| `{folder}/` " for folder in FOLDERS) + "|\n"
    rows = page.split(heading)[1].split("\n\n")[0].splitlines()[1:]
    columns = zip(*(row.strip("| ").split(" | ") for row in rows), strict=True)
    first, second = (re.findall(r"`([\w/]+\.py)`", " ".join(column)) for column in columns)
    return first, second


def files(folder: str) -> list[str]:
    root = ROOT / folder
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("column", range(2), ids=FOLDERS)
def test_every_file_is_in_the_table(column: int) -> None:
    page = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    assert sorted(named(page)[column]) == files(FOLDERS[column])


def test_a_file_that_is_missing_is_noticed() -> None:
    rows = (
        "| `verale/bounds/` | `verale/checker/reading/` |",
        "|---|---|",
        "| `a.py` | `b.py`, `c/d.py` |",
        "| none | `e.py` |",
    )
    table = "\n".join(rows) + "\n\n"
    assert named(table) == (["a.py"], ["b.py", "c/d.py", "e.py"])


@pytest.mark.parametrize("room", ["bounds", "datasets", "head", "rounding"])
def test_every_module_of_the_room_has_a_file_of_unit_tests(room: str) -> None:
    tests = {path.name for path in (ROOT / "tests" / "unit" / room).glob("test_*.py")}
    assert {f"test_{name.replace('/', '_')}" for name in files(f"verale/{room}")} <= tests
