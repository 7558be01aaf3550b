"""Names: no two public classes share one, unless they are independent readings of the same thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import verale

PACKAGE = Path(verale.__file__).parent

READINGS = ("checker", "soundness/independent")
"""Rooms that read the specification on their own, in its words; their names count apart from all others."""


def shared_names(package: Path) -> dict[str, list[str]]:
    """Public top-level classes whose name two modules of one reading define."""
    homes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        reading = next((room for room in READINGS if module.startswith(f"{room}/")), "")
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[reading, node.name].append(module)
    return {name: modules for (_, name), modules in homes.items() if len(modules) > 1}


def test_no_two_public_classes_share_a_name() -> None:
    assert shared_names(PACKAGE) == {}


def test_a_shared_name_is_noticed_unless_the_readings_differ(tmp_path) -> None:
    heads = [(f"{room}/a.py", "Head") for room in ("checker", "soundness/independent", "head")]
    for module, name in [*heads, ("b.py", "Options"), ("soundness/c.py", "Options")]:
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text(f"class {name}:\n    class Inner: ...\n\nclass _Own: ...\n")
    assert shared_names(tmp_path) == {"Options": ["b.py", "soundness/c.py"]}
