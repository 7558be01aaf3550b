"""Faults in the OCaml of the proved checker: those in the hinter prove nothing false, and tests detect the others."""

from __future__ import annotations

from itertools import islice

import pytest
from support.ocaml import FRONT, ROOT
from support.ocaml_hinter import Claims, at_its_end, drawn, faulty
from support.ocaml_trusted import FAULTS, SURVIVORS, TESTS, detected_by
from support.proved import fake


def test_every_fault_of_what_is_trusted_can_be_injected_and_has_tests() -> None:
    for fault in FAULTS:
        assert fault.source != (FRONT / fault.file).read_text(encoding="utf-8")
        assert all((ROOT / test).exists() for test in TESTS[fault.file])
    names = [str(fault) for fault in FAULTS]
    assert len({*names}) == len(names)
    assert {*SURVIVORS} <= {*names}
    assert {fault.file for fault in FAULTS} == {
        *("reader.ml", "network_reader.ml", "claims.ml", "writer.ml", "numbers.ml", "answers.ml", "main.ml"),
    }


def test_faults_of_the_hinter_are_many_and_are_drawn_again() -> None:
    assert len({fault.wrong for fault in at_its_end()}) == len(at_its_end()) >= 30
    first, again = (list(islice(drawn(3), 40)) for _ in range(2))
    assert first == again and len({*first}) > 30
    assert len({fault.file for fault in first}) > 3


def test_what_is_false_and_proved_is_counted(tmp_path) -> None:
    claims = Claims.made(8)
    assert claims.lies > 10
    trusting = fake(tmp_path, "return None if question == 'head' else 'proved'")
    assert claims.said_by(trusting)["false PROVED"] > 0.9 * claims.lies
    refuting = fake(
        tmp_path, "return 'not proved' if question == 'entails' else None if question == 'head' else 'proved'", "b"
    )
    assert claims.said_by(refuting)["true REFUTED"] > 0
    dying = fake(tmp_path, "os._exit(1)", "c")
    assert claims.said_by(dying)["true ended"] > 0


@pytest.mark.long  # a build and hundreds of questions each; `python -m support.ocaml_hinter` tries all of them
def test_faults_in_the_hinter_prove_nothing_false(proved_checker) -> None:
    claims, weaker = Claims.made(12), 0
    honest = claims.said_by(proved_checker)
    assert honest["true PROVED"] > 0
    for fault, said in faulty(claims, 3, 0, handed_out=12):
        assert said["false PROVED"] == said["true REFUTED"] == 0, (str(fault), said)
        weaker += said["true PROVED"] < honest["true PROVED"]
    assert weaker > 1, "some faults cost a proof: they do something"


@pytest.mark.long  # a build and a run of pytest each; `python -m support.ocaml_trusted` tries all of them
@pytest.mark.parametrize("fault", FAULTS[::12], ids=str)
def test_faults_of_what_is_trusted_are_detected_but_those_listed(fault, proved_checker) -> None:
    assert detected_by(fault, TESTS[fault.file]) is not None or str(fault) in SURVIVORS
