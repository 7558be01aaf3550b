"""Names: on either side of the wall, no two public classes share one."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import verale

PACKAGE = Path(verale.__file__).parent


def shared_names(package: Path) -> dict[str, list[str]]:
    """Public top-level classes whose name two modules define; the checker's own classes count apart from all others."""
    homes: defaultdict[tuple[bool, str], list[str]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[module.parts[0] == "checker", node.name].append(module.as_posix())
    return {name: modules for (_, name), modules in homes.items() if len(modules) > 1}


def test_no_two_public_classes_share_a_name() -> None:
    assert shared_names(PACKAGE) == {}


def test_a_shared_name_is_noticed_unless_the_wall_is_between(tmp_path) -> None:
    for module, name in [("checker/a.py", "Head"), ("head.py", "Head"), ("b.py", "Options"), ("cli/c.py", "Options")]:
        (tmp_path / module).parent.mkdir(exist_ok=True)
        (tmp_path / module).write_text(f"class {name}:\n    class Inner: ...\n\nclass _Own: ...\n")
    assert shared_names(tmp_path) == {"Options": ["b.py", "cli/c.py"]}
