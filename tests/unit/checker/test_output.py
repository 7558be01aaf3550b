"""What audits print, from whichever command."""

from __future__ import annotations

import json
import os

import pytest

from verale.checker.file_auditor import Outcome, unusable
from verale.checker.output import print_line, print_outcome


def test_a_reader_who_leaves_is_no_error() -> None:
    ends = os.pipe()
    os.close(ends[0])
    with open(ends[1], "w", encoding="utf-8") as stream:
        print_line("a line", stream)
        print_line("another", stream)


def test_a_file_without_a_verdict_is_a_line_on_stderr_or_a_record(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = unusable("a name", "it is gone", {"kernel": "arb"})
    print_outcome(outcome, as_json=False)
    print_outcome(outcome, as_json=True)
    out, err = capsys.readouterr()
    assert err == "error: a name: it is gone\n"
    assert json.loads(out) == outcome.record


def test_a_verdict_is_a_line_on_stdout(capsys: pytest.CaptureFixture[str]) -> None:
    record = {"status": "MALFORMED", "certificate": "a name", "predicted": None, "reason": "malformed", "message": "m"}
    print_outcome(Outcome(record), as_json=False)
    assert capsys.readouterr() == ("MALFORMED   a name  malformed: m\n", "")
