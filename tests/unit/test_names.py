"""Names: no two public classes share one, unless the checker reads the same thing apart; none hides a module."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import ModuleType

import verale

PACKAGE = Path(verale.__file__).parent

READING = "checker/"
"""The room that reads the specification on its own, in its words; its names count apart from all others."""


def shared_names(package: Path) -> dict[str, list[str]]:
    """Public top-level classes whose name two modules of one side of the wall define."""
    homes: defaultdict[tuple[bool, str], list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package).as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[module.startswith(READING), node.name].append(module)
    return {name: modules for (_, name), modules in homes.items() if len(modules) > 1}


def test_no_two_public_classes_share_a_name() -> None:
    assert shared_names(PACKAGE) == {}


def test_a_shared_name_is_noticed_unless_the_readings_differ(tmp_path) -> None:
    heads = [(f"{room}/a.py", "Head") for room in ("checker", "head")]
    for module, name in [*heads, ("b.py", "Options"), ("soundness/c.py", "Options")]:
        (tmp_path / module).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / module).write_text(f"class {name}:\n    class Inner: ...\n\nclass _Own: ...\n")
    assert shared_names(tmp_path) == {"Options": ["b.py", "soundness/c.py"]}


def test_no_name_hides_a_module() -> None:
    """`import verale.search.explain as m` gives a module: no room exports a function under the name of its file."""
    hidden = []
    for info in walk_packages(verale.__path__, "verale."):
        if ".plugins" in info.name or info.name.endswith("__main__"):  # CaBRNet's side; what runs when imported
            continue
        import_module(info.name)
        room, _, name = info.name.rpartition(".")
        if not isinstance(getattr(sys.modules[room], name), ModuleType):
            hidden.append(info.name)
    assert hidden == []
