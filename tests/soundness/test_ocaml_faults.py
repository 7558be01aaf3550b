"""Faults in the OCaml of the proved checker: those in the hinter prove nothing false, and tests detect the others."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice

import pytest
from support.ocaml import FRONT, ROOT
from support.ocaml_hinter import Claims, at_its_end, drawn, faulty
from support.ocaml_trusted import FAULTS, SURVIVORS, TESTS
from support.proved import fake


def test_every_fault_of_what_is_trusted_can_be_injected_and_has_tests() -> None:
    for fault in FAULTS:
        assert fault.source != (FRONT / fault.file).read_text(encoding="utf-8")
        assert all((ROOT / test).exists() for test in TESTS[fault.file])
    names = [str(fault) for fault in FAULTS]
    assert len({*names}) == len(names)
    assert {*SURVIVORS} <= {*names}
    assert {fault.file for fault in FAULTS} == {"reader.ml", "claims.ml", "answers.ml", "main.ml"}


def test_faults_of_the_hinter_are_many_and_are_drawn_again() -> None:
    assert len({fault.wrong for fault in at_its_end()}) == len(at_its_end()) >= 30
    first, again = (list(islice(drawn(3), 40)) for _ in range(2))
    assert first == again and len({*first}) > 30
    assert len({fault.file for fault in first}) > 3


def test_what_is_false_and_proved_is_counted(tmp_path) -> None:
    claims = Claims.made(30)
    assert claims.lies > 10
    trusting = fake(tmp_path, "return None if question == 'head' else 'proved'")
    assert claims.said_by(trusting)["false PROVED"] > 0.9 * claims.lies
    refuting = fake(
        tmp_path, "return 'not proved' if question == 'entails' else None if question == 'head' else 'proved'", "b"
    )
    assert claims.said_by(refuting)["true REFUTED"] > 0
    dying = fake(tmp_path, "os._exit(1)", "c")
    assert claims.said_by(dying)["true ended"] > 0


def test_the_hinter_may_say_anything(proved_checker) -> None:
    """Other weights, and other settings; many more in the long test."""
    claims = Claims.made(30)
    assert claims.said_by(proved_checker)["true PROVED"] > 0
    for fault, said in faulty(claims, 0, 0, handed_out=24):
        assert said["false PROVED"] == said["true REFUTED"] == 0, (str(fault), said)


@pytest.mark.long
def test_faults_in_the_hinter_prove_nothing_false(proved_checker) -> None:
    claims, weaker = Claims.made(4), 0
    honest = claims.said_by(proved_checker)
    for fault, said in faulty(claims, 20, 0):
        assert said["false PROVED"] == said["true REFUTED"] == 0, (str(fault), said)
        weaker += said["true PROVED"] < honest["true PROVED"]
    assert weaker > 20, "most faults cost a proof: they do something"


@pytest.mark.long  # every fault takes a build and a run of pytest
@pytest.mark.parametrize("file", sorted(TESTS))
def test_every_fault_of_what_is_trusted_is_detected_but_those_listed(file: str, proved_checker) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "tests")))}
    command = [sys.executable, "-m", "support.ocaml_trusted", file]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
