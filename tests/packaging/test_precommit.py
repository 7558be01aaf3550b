"""The pre-commit hooks and `make check` run the same linters, and none of the hooks fetches anything."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]


def hooks() -> list[dict[str, Any]]:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    return config["repos"][0]["hooks"]


def checked() -> set[str]:
    """The commands of the recipes that `make check` runs; `fuzz` is none of the linters."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    parts = re.search(r"^check:.*\n\t\$\(MAKE\) --jobs 2 (.*) fuzz\n", makefile, re.MULTILINE)
    assert parts is not None
    recipes = re.findall(rf"^(?:{'|'.join(parts[1].split())}):.*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    assert len(recipes) == len(parts[1].split())
    return {line.strip().replace("$(VENV)", ".venv") for recipe in recipes for line in recipe.splitlines()}


def test_the_hooks_are_the_linters_of_make_check() -> None:
    assert {hook["entry"] for hook in hooks()} == checked()
    assert any("ruff check" in command for command in checked())


def test_the_hooks_run_in_the_environment_of_make_check() -> None:
    assert {hook["language"] for hook in hooks()} == {"system"}
    assert not any(hook["pass_filenames"] for hook in hooks()), "the linters choose their files themselves"
