"""Faults in the OCaml that is trusted: tests detect them. (Of the hinter none is: the theorems hold for all hints.)"""

from __future__ import annotations

import pytest
from support.ocaml_faults import FAULTS, FRONT, ROOT, SURVIVORS, TESTS, detected_by


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


@pytest.mark.long  # a build and a run of pytest each; `python -m support.ocaml_faults` tries all of them
@pytest.mark.parametrize("fault", FAULTS[::12], ids=str)
def test_faults_of_what_is_trusted_are_detected_but_those_listed(fault, proved_checker) -> None:
    assert detected_by(fault, TESTS[fault.file]) is not None or str(fault) in SURVIVORS
