"""What a project has for others names what is there: citation, image, extras, hooks, workflows, release check."""

from __future__ import annotations

import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from verale.cli.terminal import EXTRA_OF

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


# CITATION.cff


def test_the_citation_has_version_licences_and_the_papers_of_the_readme() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert " OR ".join(citation["license"]) in PROJECT["license"]
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert len(citation["references"]) == readme.count("arXiv ") == 2
    for paper in citation["references"]:
        assert f"*{paper['title']}* (arXiv {paper['url'].split('/')[-1]})" in readme


# The image for auditors. That its line of pip installs the core is tried by hand


def test_the_image_copies_what_a_wheel_is_built_of_and_installs_no_extra() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    copied = [name for line in lines if line.startswith("COPY") for name in line.split()[1:-1]]
    assert all(list(ROOT.glob(name)) for name in copied)
    assert {"pyproject.toml", "README.md", "LICENSE.*.txt", "proofs", "certificates", "verale"} == set(copied)
    assert "RUN python -m pip install --no-cache-dir /source" in lines
    assert lines[-1] == 'ENTRYPOINT ["verale"]'


# The extras bring what is imported, and nothing that is not

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


@cache
def imported() -> dict[str, set[str]]:
    """Modules that are not verale's nor the standard library's, with the files that import them, lemmas included."""
    found: dict[str, set[str]] = {}
    for path in (*ROOT.glob("verale/**/*.py"), *ROOT.glob("proofs/*.py"), *ROOT.glob("proofs/errata/*.py")):
        for name in re.findall(
            r"^ *(?:from (?=[\w.]+ import)|import )(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            if name not in sys.stdlib_module_names and name not in ("verale", "proofs"):
                found.setdefault(name, set()).add(str(path.relative_to(ROOT)))
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
    groups = PYPROJECT["dependency-groups"]
    assert set(groups) == {"docs", "fuzz", "test"} and not set(groups) & set(PROJECT["optional-dependencies"])
    for group in groups:
        assert f"--group {group}\n" in MAKEFILE
    assert "INSTALLED_test := --editable '.[all]' --group test\n" in MAKEFILE


# The hooks before a commit


def hooks() -> list[dict[str, Any]]:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    return config["repos"][0]["hooks"]


def checked() -> set[str]:
    """The commands of the recipes that `make check` runs; `fuzz` is none of the linters."""
    parts = re.search(r"^check:.*\n\t\$\(MAKE\) --jobs 2 (.*) fuzz\n", MAKEFILE, re.MULTILINE)
    assert parts is not None
    recipes = re.findall(rf"^(?:{'|'.join(parts[1].split())}):.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)
    assert len(recipes) == len(parts[1].split())
    return {line.strip().replace("$(VENV)", ".venv") for recipe in recipes for line in recipe.splitlines()}


def test_the_hooks_are_the_linters_of_make_check_and_fetch_nothing() -> None:
    assert {hook["entry"] for hook in hooks()} == checked()
    assert any("ruff check" in command for command in checked())
    assert {hook["language"] for hook in hooks()} == {"system"}
    assert not any(hook["pass_filenames"] for hook in hooks()), "the linters choose their files themselves"


# The workflows may read, they run pinned actions, and what they call is there

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*"))


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
    inner = (ROOT / "proofs" / "rocq" / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w./-]+(?: [\w./-]+)*):", MAKEFILE.replace("$(VENV)", ".venv"), re.MULTILINE))
    known = {name for line in targets for name in line.split()}
    for step in steps(path):
        for folder, target in re.findall(r"\bmake (?:-C (\S+) )?([\w./-]+)", step.get("run", "")):
            assert re.search(rf"^{target}:", inner, re.MULTILINE) if folder else target in known, target
        for name in re.findall(r"(?<![\w/$])((?:tests|\.ci|verale)/[\w./-]*)", step.get("run", "")):
            assert (ROOT / name).exists(), name


@pytest.fixture(scope="module")
def check() -> ModuleType:
    found = importlib.util.spec_from_file_location("release_check", ROOT / ".ci" / "release_check.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_every_supported_python_is_tested_and_released(check: ModuleType) -> None:
    supported = sorted(one.rsplit(" ", 1)[1] for one in PROJECT["classifiers"] if "Python :: 3." in one)
    assert PROJECT["requires-python"] == f">={supported[0]}"
    assert list(check.PYTHONS) == supported
    (call,) = re.findall(r"--require ([\d. ]+) --out", (ROOT / ".github/workflows/wheels.yml").read_text())
    assert call.split() == supported
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text())["jobs"]
    images = [job["container"] for job in tests.values()]
    tested = tests["tests"]["strategy"]["matrix"]["python"] + [re.sub(r"\D*(3\.\d+)-.*", r"\1", one) for one in images]
    assert set(supported) <= set(tested)


# The release check notices what does not belong into a release; `make release-check` itself fetches packages

NOTES = "verale-1.dist-info"
FILES = {"verale/a.py": b"1", "proofs/b.v": b"2", "certificates/c.json": b"3", "docs/d.md": b"4", "LICENSE": b"5"}
WHEEL = {
    "verale/a.py": b"1",
    "verale/soundness/proofs/b.v": b"2",
    "verale/soundness/certificates/c.json": b"3",
    f"{NOTES}/licenses/LICENSE": b"5",
    **{f"{NOTES}/{name}": b"" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt")},
}


def test_a_wheel_of_the_commit_passes(check: ModuleType) -> None:
    check.require_wheel(WHEEL, FILES, NOTES, ["LICENSE"])


@pytest.mark.parametrize("name", [*WHEEL, "other/e.py", "verale/e.py", f"{NOTES}/e", f"{NOTES}/licenses/e"])
def test_a_wheel_with_more_or_less_is_noticed(name: str, check: ModuleType) -> None:
    other = {key: data for key, data in WHEEL.items() if key != name} if name in WHEEL else WHEEL | {name: b""}
    with pytest.raises(check.CheckError, match="does not hold what the commit holds"):
        check.require_wheel(other, FILES, NOTES, ["LICENSE"])


def test_a_changed_file_is_noticed(check: ModuleType) -> None:
    with pytest.raises(check.CheckError, match=r"a\.py"):
        check.require_wheel(WHEEL | {"verale/a.py": b"2"}, FILES, NOTES, ["LICENSE"])
    check.require_sdist({"PKG-INFO": b"", "docs/d.md": b"4"}, FILES)
    for strange in ({"docs/d.md": b"5"}, {"secret": b""}):
        with pytest.raises(check.CheckError, match="what the commit does not"):
            check.require_sdist({"PKG-INFO": b"", **strange}, FILES)
