"""mpmath computes in gmpy2's integers where gmpy2 is installed: verdicts, messages and records are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support import files

IMAGE = [[0.0, 0.0]]
SIMILARITY = {"kind": "log_ratio", "epsilon": (2.0**-12).hex()}
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]], similarity=SIMILARITY)
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
PROVED = files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], image=IMAGE)
UNPROVED = {
    "entailment": files.certificate(HEAD, [files.patch_statement(0, 0, 0.0, 8.0)], image=IMAGE),
    "instance": files.certificate(HEAD, [files.patch_statement(0, 0, 1.0, 2.0)], image=IMAGE),
    "refuted": files.certificate(HEAD, [], image=IMAGE, predicted=1),
}


def records(folder: Path, python: bool) -> list[dict[str, Any]]:
    """What the checker says of each certificate, in Python's integers or in those that mpmath chooses."""
    (folder / "head").write_bytes(HEAD)
    (folder / "latents").write_bytes(files.latents([IMAGE]))
    for name, data in {"": PROVED, **UNPROVED}.items():
        (folder / f"{name}.ale.json").write_bytes(data)
    names = [f"{name}.ale.json" for name in ("", *UNPROVED)]
    given = ("--head", "head", "--latents", "latents", "--kernel", "both", "--json")
    environment = {name: value for name, value in os.environ.items() if name != "MPMATH_NOGMPY"}
    environment |= {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))} | ({"MPMATH_NOGMPY": "1"} if python else {})
    command = [sys.executable, "-P", "-m", "verale.checker", *names, *given]
    printed = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True).stdout
    return [json.loads(line) | {"seconds": None} for line in printed.splitlines()]


@pytest.mark.skipif(find_spec("gmpy2") is None, reason="gmpy2 is not installed")
def test_verdicts_are_the_same_in_the_integers_of_gmpy2(tmp_path: Path) -> None:
    own, others = records(tmp_path, python=True), records(tmp_path, python=False)
    assert [one["reason"] for one in others] == ["", *UNPROVED]
    assert "gmpy2" not in own[0]["run"]["libraries"]
    for one, other in zip(own, others, strict=True):
        assert other["run"]["libraries"].pop("gmpy2")
        assert one == other
