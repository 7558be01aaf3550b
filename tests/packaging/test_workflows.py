"""The forge's workflows: they may read, they run pinned actions, and what they call is there."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def steps(path: Path) -> Iterator[dict[str, Any]]:
    for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
        yield from job["steps"]


def test_there_is_one_for_tests_documentation_wheels_and_the_proved_executable() -> None:
    assert {path.stem for path in WORKFLOWS} == {"tests", "documentation", "wheels", "proved"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    triggers = workflow[True]  # YAML 1.1 reads `on` as true
    assert set(triggers) == {"push", "pull_request"}
    for job in workflow["jobs"].values():
        assert "permissions" not in job and job["timeout-minutes"] <= 150
    assert "secrets" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_their_commit(path: Path) -> None:
    used = re.findall(r"uses: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert used and len(used) == sum("uses" in step for step in steps(path))
    for line in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", line), line
    for step in steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_what_a_workflow_calls_is_there(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("$(VENV)", ".venv")
    inner = (ROOT / "proofs" / "rocq" / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w./-]+(?: [\w./-]+)*):", makefile, re.MULTILINE))
    known = {name for line in targets for name in line.split()}
    for step in steps(path):
        for folder, target in re.findall(r"\bmake (?:-C (\S+) )?([\w./-]+)", step.get("run", "")):
            assert re.search(rf"^{target}:", inner, re.MULTILINE) if folder else target in known, target
        for name in re.findall(r"(?<![\w/$])((?:tests|\.ci|verale)/[\w./-]*)", step.get("run", "")):
            assert (ROOT / name).exists(), name


def test_every_supported_python_is_tested_and_released() -> None:
    supported = sorted(one.rsplit(" ", 1)[1] for one in PROJECT["classifiers"] if "Python :: 3." in one)
    assert PROJECT["requires-python"] == f">={supported[0]}"
    found = importlib.util.spec_from_file_location("release_check", ROOT / ".ci" / "release_check.py")
    assert found is not None and found.loader is not None
    release_check = importlib.util.module_from_spec(found)
    found.loader.exec_module(release_check)
    assert list(release_check.PYTHONS) == supported
    (call,) = re.findall(r"--require ([\d. ]+) --out", (ROOT / ".github/workflows/wheels.yml").read_text())
    assert call.split() == supported
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    images = [job["container"] for job in tests.values()]
    tested = tests["tests"]["strategy"]["matrix"]["python"] + [re.sub(r"\D*(3\.\d+)-.*", r"\1", one) for one in images]
    assert set(supported) <= set(tested)
