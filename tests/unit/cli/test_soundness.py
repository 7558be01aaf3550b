"""`verale soundness`: its table, its records, its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest
from click.testing import CliRunner

from verale.cli import soundness as command
from verale.errors import UsageError
from verale.soundness import lemmas, suite
from verale.soundness.corpus import cases
from verale.soundness.suite import SECTIONS, Section
from verale.version import installing


def run(*arguments: str) -> Any:
    return CliRunner().invoke(command.command, arguments)


def test_a_section_is_a_row_and_the_rest_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here of a lemma, all of which tests/soundness/test_lemmas.py proves; docs/soundness.md tries the corpora."""
    few = {"joint": lemmas.lemmas()["joint"]}
    monkeypatch.setattr(lemmas, "lemmas", lambda: few)
    sections(monkeypatch, Section("right", (), lambda long, seed: (400 + seed, "verdicts on all", ())))
    done = run("--only", "right,lemmas")
    assert done.exit_code == 0, done.output
    assert "verdicts on all" in done.stdout and "false twins refuted" in done.stdout and "corpora" not in done.stdout
    (record,) = map(json.loads, run("--only", "right", "--json", "--seed", "3").stdout.splitlines())
    assert [record[name] for name in ("_type", "section", "wrong", "seed", "tried")] == [
        *("urn:verale:soundness:v1", "right", [], 3, 403)
    ]


def sections(monkeypatch: pytest.MonkeyPatch, *more: Section) -> None:
    """These sections, then those there are."""
    for module in (suite, command):
        monkeypatch.setattr(module, "SECTIONS", (*more, *SECTIONS))


def test_whatever_is_found_wrong_is_told_and_ends_with_13(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Section("wrong", (), lambda long, seed: (2, "things", ("the second",)))
    right = Section("right", (), lambda long, seed: (3, "verdicts on all", ()))
    sections(monkeypatch, wrong, right)
    done = run("--only", "wrong,right")
    assert done.exit_code == 13
    assert "WRONG  wrong: the second" in done.stderr
    assert "verdicts on all" in done.stdout


def test_a_case_with_another_verdict_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each kind: a certificate, a document of a least size, a picture."""
    right = [cases.stored(folder)[0] for folder in ("accept", "least", "picture")]
    wrong = [replace(case, status="NOT_PROVED", reason="entailment") for case in right]
    for chosen, lines in ((right, 0), (wrong, 2 * len(wrong))):
        monkeypatch.setattr(cases, "stored", lambda *folders, chosen=chosen: chosen)
        (result,) = suite.run(("corpora",), False, 0)
        assert (result.tried, len(result.wrong)) == (6, lines)
    assert result.wrong[0].startswith("accept/top_k-euclidean (arb): expected NOT_PROVED entailment, found PROVED")


def test_an_unknown_section_is_an_error_that_names_the_known() -> None:
    done = run("--only", "corpora,lemma")
    assert isinstance(done.exception, UsageError)
    assert "'lemma'" in str(done.exception)
    assert "lemmas" in str(done.exception)


def test_what_is_not_installed_is_told_before_anything_is_tried() -> None:
    """In a process that has neither z3 nor torch."""
    code = (
        "import sys; sys.modules.update(z3=None, torch=None)\n"
        "import importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name in ('z3', 'torch') else find(name, *a)\n"
        "sys.argv = ['verale', 'soundness', '--only', 'lemmas,emitted,corpora']\n"
        "from verale.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 9
    assert done.stdout == ""
    assert installing("soundness", "explain") in done.stderr
    assert "--only corpora" in done.stderr
