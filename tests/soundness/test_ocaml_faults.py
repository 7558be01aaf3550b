"""Faults in the OCaml: tests detect those in what is trusted, and those in the hinter prove nothing false."""

from __future__ import annotations

import pytest
from support.ocaml_faults import FAULTS, FRONT, ROOT, SURVIVORS, TESTS, detected_by
from support.ocaml_hinter import FAULTS as OF_HINTER
from support.ocaml_hinter import Claims, faulty
from support.outside import of_commit
from support.proved import fake


def test_every_fault_of_what_is_trusted_can_be_injected_and_has_tests() -> None:
    for fault in FAULTS:
        assert fault.source() != (FRONT / fault.file).read_text(encoding="utf-8")
        assert all((ROOT / test).exists() for test in TESTS[fault.file])
    names = [str(fault) for fault in FAULTS]
    assert len({*names}) == len(names)
    assert {*SURVIVORS} <= {*names}
    assert {fault.file for fault in FAULTS} == {
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
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if str(fault) not in SURVIVORS][of_commit(48) :: 48])
def test_faults_of_what_is_trusted_are_detected(fault, proved_checker) -> None:
    again = f"it is this commit's turn to try it; again: PYTHONPATH=tests python -m support.ocaml_faults '{fault}'"
    assert detected_by(fault, TESTS[fault.file]) is not None, again
