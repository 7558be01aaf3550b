"""Faults outside the checker: the test that each names detects it (`support.outside`)."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from functools import cache

import pytest
from support.outside import FAULTS, ROOT, OutsideFault, chosen

_GROUPS = [f"{group}/4" for group in range(1, 5)]
_FILES = {
    ".": "files",
    "adapters": "cabrnet/heads checkpoint endings latents neighbours published/__init__ published/genetic telling",
    "cli": "__init__ audit certificates cover gap head inputs ray_engine report shared show summary tables",
    "datasets": "certificates footer staging storage",
    "ray": "audit explain guard pipeline",
    "certificate": "words",
    "report": (
        "collect compact explanation images notebook page page_check page_compare picture shares shown single telling"
        " verdicts"
    ),
    "report/page_files": "detail.js numbers.js",
    "runs": (
        "affordable arguments attestation attribute audit audit_log auditor check compare comparison explain_model"
        " explained_run gap inputs model_images paired processes records released rows rules source summary table truth"
    ),
    "search": "caches compiled/jit compiled/settings devices/jit options",
}
"""What stands between a verdict and a user: each of these files has a fault."""


@cache
def _tests_in(file: str) -> set[str]:
    tree = ast.parse((ROOT / "tests" / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_every_fault_can_be_injected_and_names_a_test() -> None:
    for fault in FAULTS:
        source = fault.source()
        if fault.file.endswith(".py"):
            compile(source, fault.file, "exec")
        file, *_, name = fault.test.partition("[")[0].split("::")
        assert name.startswith("test_") and name in _tests_in(file), fault
    names = [str(fault) for fault in FAULTS]
    assert len(set(names)) == len(names)


def _file(room: str, name: str) -> str:
    return os.path.normpath(f"{room}/{name if name.endswith('.js') else f'{name}.py'}")


def test_every_file_has_a_fault() -> None:
    files = {_file(room, name) for room, names in _FILES.items() for name in names.split()}
    assert files == {fault.file for fault in FAULTS}


def test_the_groups_are_all_faults() -> None:
    assert {fault for group in _GROUPS for fault in chosen([group])} == {*FAULTS}


@pytest.mark.parametrize(
    "text",
    [
        "files.py: no test\n    a => b",
        "files.py: nothing new\n    a\n    unit/test_files.py::test_a",
        "nothing is wrong\n    a => b\n    unit/test_files.py::test_a",
    ],
)
def test_what_is_no_fault_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a fault"):
        OutsideFault.of(text)


@pytest.mark.long  # runs of pytest
@pytest.mark.parametrize("test", ["unit/test_files.py::test_that_is_not_there", "unit/no_test.py::test_a"])
def test_a_test_that_is_not_there_detects_nothing(test: str) -> None:
    done = _python("-c", f"from support.outside import detected_by; detected_by(None, [{test!r}])")
    assert done.returncode == 1 and "the tests cannot run" in done.stderr
    assert re.search(rf"not found: \S*tests/{test}$", done.stderr, re.MULTILINE), done.stderr


@pytest.mark.long  # a copy of the package and a run of pytest for each fault: some 2 seconds
@pytest.mark.parametrize("group", _GROUPS)  # each of which imports once what is heavy
def test_every_fault_is_detected(group: str) -> None:
    done = _python("-m", "support.outside", group)
    assert done.returncode == 0, done.stdout + done.stderr


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "tests")}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=ROOT, env=environment, check=False
    )
