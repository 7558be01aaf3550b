"""Planted faults: each can be injected into a copy, and the test that it names detects it (`support.outside`).

Faults in the OCaml that is trusted are detected too, and those in the hinter prove nothing false.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from functools import cache

import pytest
from checker_mutants.mutant import CHECKER, injected
from support import ocaml_faults
from support.ocaml_faults import FRONT, SURVIVORS, TESTS
from support.ocaml_hinter import FAULTS as OF_HINTER
from support.ocaml_hinter import Claims, faulty
from support.outside import FAULTS, ROOT, OutsideFault, chosen, of_commit
from support.proved import fake
from support.syntax import changed

_PARTS = range(8)
"""Of 32 groups of faults eight are tried, which ones by the commit; `make release-check` tries all of them. Small
groups: at the end of a run, a process keeps two tests that no other may take."""
_ROOMS = {"certificate", "cli", "report", "runs"}
"""What stands between a verdict and a user."""


@cache
def _tests_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_fault_can_be_injected_and_names_a_test() -> None:
    for fault in FAULTS:
        assert fault.source()
        file, *_, name = fault.test.partition("[")[0].split("::")
        assert name.startswith("test_") and name in _tests_in(file), fault
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)


def test_every_room_has_faults() -> None:
    assert {fault.file.split("/")[0] for fault in FAULTS} >= _ROOMS


def test_the_groups_are_all_faults() -> None:
    assert {fault for group in range(1, 33) for fault in chosen([f"{group}/32"])} == {*FAULTS}


@pytest.mark.parametrize(
    "text",
    [
        "files.py: no test\n    a => b",
        "files.py: nothing new\n    a\n    unit/test_files.py::test_a",
        "nothing is wrong\n    a => b\n    unit/test_files.py::test_a",
    ],
)
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"not a fault|no change"):
        OutsideFault.of(text).source()


@pytest.mark.long  # a copy of the package and a run of pytest for each fault: some 2 seconds
@pytest.mark.parametrize("part", _PARTS)  # each of which imports once what is heavy
def test_faults_are_detected(part: int) -> None:
    group = f"{4 * part + of_commit(4) + 1}/32"
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    command = [sys.executable, "-m", "support.outside", group]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    again = f"it is this commit's turn to try them; again: PYTHONPATH=tests python -m support.outside {group}"
    assert done.returncode == 0, f"{done.stdout}{done.stderr}{again}"


# How a fault is injected.


DYADIC = (CHECKER / "dyadic.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("function", "change", "error"),
    [
        ("", "a_name_that_is_not_there => 0", ValueError),
        ("", "return value => return 0", ValueError),  # it is there several times
        ("", "without a_name_that_is_not_there", ValueError),
        ("no_function", "return value => return 0", ValueError),
        ("", "nothing changes", ValueError),
        ("dot", "return sum(map(mul, left, right)) => return (", SyntaxError),
    ],
)
def test_a_fault_that_cannot_be_injected_is_refused(function: str, change: str, error: type[Exception]) -> None:
    """And not reported as detected."""
    with pytest.raises(error):
        changed(DYADIC, function, change)


PROGRAM = "def f(a, b):\n    if a and b:\n        g(a, b)\n        return a + b\n\ndef h(a, b):\n    return a + b"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("never a and b", "if False:"),
        ("always a and b", "if True:"),
        ("without b", None),  # of the condition, of the call or of the sum
        ("without g(a, b)", "if a and b:\n        return a + b"),
        ("a + b => a - b", "g(a, b)\n        return a - b"),
    ],
)
def test_a_change_is_of_one_function_and_of_one_place(change: str, found: str | None) -> None:
    if found is None:
        with pytest.raises(ValueError, match="expected once"):
            changed(PROGRAM, "f", change)
    else:
        other = changed(PROGRAM, "f", change)
        assert found in other and other.endswith("def h(a, b):\n    return a + b")
    assert changed(PROGRAM, "h", "without b").endswith("def h(a, b):\n    return a")


def test_a_fault_is_in_the_copy_alone() -> None:
    from verale.checker import dyadic

    source = changed(DYADIC, "dot", "sum(map(mul, left, right)) => -1")
    with injected({"dyadic.py": source}) as module:
        assert module("dyadic").dot([2], [3]) == -1
        assert dyadic.dot([2], [3]) == 6


def test_every_file_of_the_checker_has_faults() -> None:
    """But for the one that only defines names."""
    files = {path.relative_to(CHECKER).as_posix() for path in CHECKER.rglob("*.py") if path.name != "__init__.py"}
    assert files - {fault.file.removeprefix("checker/") for fault in FAULTS} == {"errors.py"}


# In the OCaml.

_IN_OCAML = [fault for fault in ocaml_faults.FAULTS if str(fault) not in SURVIVORS]


def test_every_fault_of_what_is_trusted_can_be_injected_and_has_tests() -> None:
    for fault in ocaml_faults.FAULTS:
        assert fault.source() != (FRONT / fault.file).read_text(encoding="utf-8")
        assert all((ROOT / test).exists() for test in TESTS[fault.file])
    names = [str(fault) for fault in ocaml_faults.FAULTS]
    assert len({*names}) == len(names)
    assert {*SURVIVORS} <= {*names}
    assert {fault.file for fault in ocaml_faults.FAULTS} == {
        *("reader.ml", "network_reader.ml", "claims.ml", "writer.ml", "numbers.ml", "answers.ml", "main.ml"),
    }


def test_what_is_false_and_proved_is_counted(tmp_path) -> None:
    claims = Claims.made(60)
    assert len(claims.false) > 5
    trusting = fake(tmp_path, "return None if question == 'head' else 'proved'")
    assert claims.said_by(trusting)["false PROVED"] > 0.9 * len(claims.false)
    refuting = fake(
        tmp_path, "return 'not proved' if question == 'entails' else None if question == 'head' else 'proved'", "b"
    )
    assert claims.said_by(refuting)["true REFUTED"] > 0
    dying = fake(tmp_path, "os._exit(1)", "c")
    assert claims.said_by(dying)["true ended"] > 0


@pytest.mark.long  # a build, and dozens of questions each
def test_faults_in_the_hinter_prove_nothing_false(proved_checker) -> None:
    (_, honest), *others = faulty(Claims.made(24))
    assert honest["true PROVED"] > 0 and len(others) == len(OF_HINTER)
    for fault, said in others:
        assert said["false PROVED"] == said["true REFUTED"] == 0, (fault, said)
    weaker = sum(said["true PROVED"] < honest["true PROVED"] for _, said in others)
    assert weaker > 3, "some faults cost a proof: they do something"


@pytest.mark.long  # a build and a run of pytest each, in turns; `python -m support.ocaml_faults` tries all of them
@pytest.mark.parametrize(
    "fault", [fault for fault in ocaml_faults.FAULTS if str(fault) not in SURVIVORS][of_commit(48) :: 48]
)
def test_faults_of_what_is_trusted_are_detected(fault, proved_checker) -> None:
    again = f"it is this commit's turn to try it; again: PYTHONPATH=tests python -m support.ocaml_faults '{fault}'"
    assert ocaml_faults.detected_by(fault, TESTS[fault.file]) is not None, again
