"""The list of results: which pages are old, what is kept of a command that fails, and that no page is left out."""

from __future__ import annotations

import sys
from itertools import pairwise

import pytest

from benchmarks import all as pages
from benchmarks.environment import ROOT
from verale.paradigms import PARADIGMS, READABLE

RESULTS = ROOT / "benchmarks" / "results"
OF_TWO_TREES = {"against.md", "README.md"}


def test_every_result_is_in_the_list() -> None:
    shown = [path for path in RESULTS.iterdir() if not path.name.startswith(".") and path.suffix != ".kept"]
    there = {path.name + "/" * path.is_dir() for path in shown if path.is_dir() or path.suffix == ".md"}
    assert there - OF_TWO_TREES == {page.name for page in pages.PAGES}


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.name)
def test_a_command_names_a_program_and_paradigms_that_are_there(page) -> None:
    program, *options = page.command.split(" ")
    assert (ROOT / program.replace(".", "/")).with_suffix(".py").exists() or (ROOT / program.replace(".", "/")).is_dir()
    after = dict(pairwise(options))
    named = [name for option in ("--paradigm", "--paradigms", "--methods") for name in after.get(option, "").split(",")]
    assert {name.partition("/")[0] for name in named if name} <= {*PARADIGMS, READABLE}


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """How many commits since each known commit changed what is measured."""
    known = {"1111111": "0", "2222222": "3"}

    def git(*arguments: str) -> str:
        match arguments[0]:
            case "rev-parse":
                asked = arguments[-1].removesuffix("^{commit}")
                return "1111111" if asked == "HEAD" else asked  # 3333333 is there, on a branch of its own
            case "merge-base":
                return arguments[1] if arguments[1] in known else "1111111"
            case "rev-list":
                return known[arguments[2].split("..")[0]]
            case _:
                return "1111111"

    monkeypatch.setattr(pages, "git", git)
    return known


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("- commit: 1111111\n", ""),
        ("- commit: 2222222\n\nMade from commit 1111111, today\n", ""),
        ("- commit: 1111111, with uncommitted changes\n", "1111111 had uncommitted changes"),
        ("- commit: 2222222\n", "3 commits since 2222222 changed what it measures"),
        ("- commit: 1111111\n\nMade from commit 2222222, today\n", "3 commits since 2222222 changed what it measures"),
        ("- commit: 3333333\n", "3333333 is no commit of this history"),
        ("a table\n", "it names no commit"),
        (None, "it was never made"),
    ],
)
def test_why_a_page_is_old(text, old, history, tmp_path) -> None:
    if text is not None:
        (tmp_path / "a.md").write_text(text)
    assert pages.state(tmp_path / "a.md") == old


@pytest.fixture
def module(tmp_path, monkeypatch) -> str:
    """A command: with two arguments it writes "new" into the file that the second one names, without them it prints it;
    where the first one is `fail` it ends with the exit code 3. It lies in a folder of its own, where Python may leave
    what it compiles."""
    commands = tmp_path / "commands"
    commands.mkdir()
    (commands / "written.py").write_text(
        "import pathlib, sys\n"
        "if len(sys.argv) < 3: print('new')\n"
        "else: pathlib.Path(sys.argv[2]).write_text('new\\n')\n"
        "sys.exit(3 if 'fail' in sys.argv else 0)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(commands))
    return "written"


@pytest.mark.parametrize("command", ["{module}", "{module} well {{out}}", "{module} well {{stem}}.md"])
def test_a_page_names_its_commit_and_its_command(command, module, history, tmp_path) -> None:
    (tmp_path / "a.md").write_text("old\n")
    page = pages.Page("a.md", command.format(module=module))
    assert pages.made(page, {}, tmp_path) == 0
    text = (tmp_path / "a.md").read_text()
    assert "new\n" in text and "old" not in text
    assert text.splitlines()[-1].startswith("Made from commit 1111111, ") and "`python -m written" in text
    assert pages.state(tmp_path / "a.md") == ""


def test_a_command_that_fails_changes_nothing(module, history, tmp_path) -> None:
    results = tmp_path / "results"
    results.mkdir()
    (results / "a.md").write_text("old\n")
    assert pages.made(pages.Page("a.md", f"{module} fail {{out}}"), {}, results) == 3
    assert (results / "a.md").read_text() == "old\n" and [path.name for path in results.iterdir()] == ["a.md"]


def test_what_is_missing_is_named_and_an_unknown_page_is_an_error(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["all", "--out", str(tmp_path), "--only", "nothing.md"])
    with pytest.raises(SystemExit, match="2"):
        pages.main()
    assert "there is no page nothing.md" in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["all", "--out", str(tmp_path), "--data", str(tmp_path)])
    pages.main()
    listed = (tmp_path / "README.md").read_text()
    assert "| marabou.md | no: it was never made |" in listed and "(needs tool)" in listed
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]
