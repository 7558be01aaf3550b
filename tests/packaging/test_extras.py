"""The extras bring what is imported, and nothing that is not."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from packaging.requirements import Requirement

from verale.cli.terminal import EXTRA_OF

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

BROUGHT_BY = {
    "PIL": "pillow",
    "flint": "python-flint",
    "loguru": "cabrnet",  # which logs with it
    "py_mini_racer": "mini-racer",
    "torchvision": "cabrnet",  # whose datasets and transforms are torchvision's
    "yaml": "pyyaml",
    "z3": "z3-solver",
}
"""Where the requirement's name is not the module's."""

FOR_OTHERS = {"pyarrow"}  # pandas writes Parquet with it
"""Requirements that verale's own need for what verale asks of them."""


def statements(parent: ast.AST) -> Iterator[ast.AST]:
    """The statements in a module or statement, at any depth; `ast.walk` looks at expressions too, which takes long."""
    for name in ("body", "orelse", "handlers", "finalbody", "cases"):
        for node in getattr(parent, name, ()):
            yield node
            yield from statements(node)


def test_every_statement_is_found() -> None:
    """What is not looked at would be a requirement that nobody misses."""
    for path in sorted(ROOT.glob("verale/**/*.py"))[::20]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        walked = {node for node in ast.walk(tree) if isinstance(node, ast.stmt)}
        assert walked == {node for node in statements(tree) if isinstance(node, ast.stmt)}, path


@cache
def imported() -> dict[str, set[str]]:
    """Modules that are not verale's nor the standard library's, with the files that import them, lemmas included."""
    found: dict[str, set[str]] = {}
    for path in (*ROOT.glob("verale/**/*.py"), *ROOT.glob("proofs/*.py"), *ROOT.glob("proofs/errata/*.py")):
        for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [str(node.module)]
            for name in names:
                top = name.split(".")[0]
                if top not in sys.stdlib_module_names and top not in ("verale", "proofs"):
                    found.setdefault(top, set()).add(str(path.relative_to(ROOT)))
    return found


def brought(extra: str | None) -> set[str]:
    """The requirements of the core, or of an extra and of those that it names."""
    lines = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    needs = [Requirement(line) for line in lines]
    own = {need.name for need in needs if need.name != "verale"}
    return own.union(*(brought(other) for need in needs if need.name == "verale" for other in need.extras))


def requirement(module: str) -> str:
    return BROUGHT_BY.get(module, module)


def test_every_import_is_of_the_core_or_of_the_extra_that_the_command_line_names() -> None:
    for module, where in imported().items():
        if requirement(module) not in brought(None):
            assert module in EXTRA_OF, f"{module} belongs to no extra: {where}"
            assert requirement(module) in brought(EXTRA_OF[module]), f"{module} is not in {EXTRA_OF[module]}: {where}"


def test_nothing_is_required_that_is_not_imported() -> None:
    used = {requirement(module) for module in imported()} | FOR_OTHERS
    extras = set(PROJECT["optional-dependencies"]) - {"all"}
    assert brought(None) <= used
    for extra in extras:
        assert brought(extra) <= used, extra
    assert brought("all") == set().union(*map(brought, extras))


def test_what_developers_need_is_no_extra_and_make_installs_it() -> None:
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]
    assert set(groups) == {"docs", "fuzz", "test"} and not set(groups) & set(PROJECT["optional-dependencies"])
    make = (ROOT / "Makefile").read_text(encoding="utf-8")
    for group in groups:
        assert f"--group {group}\n" in make
    assert "INSTALLED_test := --editable '.[all]' --group test\n" in make
