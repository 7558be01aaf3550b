"""Messages name options as their caller writes them (`verale.errors.option`), whichever file they stand in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import verale
from verale.errors import on_the_command_line, option

PACKAGE = Path(verale.__file__).parent
COMMAND_LINE = ("cli/", "checker/__main__.py", "soundness/", "report/page.py", "report/single.py")
"""Files that speak of the command line alone; a page, and `show`, are the same whoever writes them."""
OF_A_COMMAND = {
    "report/collect.py": 1,  # stands on pages
    "report/explanation.py": 1,
    "report/static_pages.py": 1,
    "report/page_check.py": 2,
    "report/page_full.py": 1,
    "search/batches.py": 1,  # a reason, which stands in the run's table
    "runs/source.py": 1,  # the options of a command, which is printed before them
}
WRITTEN = re.compile(r"(?<![\w-])--[a-z][a-z-]+")


def spelled(source: str) -> Iterator[int]:
    """The lines of texts with an option as the command line has it, but for those that name a whole command."""
    tree = ast.parse(source)
    documented = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
            text = re.sub(r"(verale [a-z]+|ray start|: )[^;,]*?--[a-z-]+", "", node.value)
            if WRITTEN.search(text):
                yield node.lineno


@pytest.mark.parametrize("room", sorted(path.name for path in PACKAGE.iterdir() if path.is_dir()))
def test_no_message_has_the_command_lines_spelling(room: str) -> None:
    for path in sorted((PACKAGE / room).rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(COMMAND_LINE):
            lines = list(spelled(path.read_text(encoding="utf-8")))
            assert len(lines) == OF_A_COMMAND.get(name, 0), f"{name}, lines {lines}: write option('...')"


def test_what_this_looks_for() -> None:
    assert list(spelled("x = f'give --latents {1}'")) == [1]
    assert not list(spelled('"""--latents"""\nx = "run verale audit OUT --latents Z"'))


def test_both_spellings() -> None:
    assert option("max_size", 3) == "max_size=3"
    with on_the_command_line():
        assert option("max_size", 3) == "--max-size 3"
