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


def checked() -> list[str]:
    """The commands of `make check`'s recipe."""
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert recipe is not None
    return [line.strip().replace("$(VENV)", ".venv") for line in recipe[1].splitlines()]


def test_the_hooks_are_the_linters_of_make_check() -> None:
    assert [hook["entry"] for hook in hooks()] == checked()
    assert any("ruff check" in command for command in checked())


def test_the_hooks_run_in_the_environment_of_make_check() -> None:
    assert {hook["language"] for hook in hooks()} == {"system"}
    assert not any(hook["pass_filenames"] for hook in hooks()), "the linters choose their files themselves"
