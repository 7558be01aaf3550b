"""What audits print, from whichever command."""

from __future__ import annotations

import json

import pytest

from verale.checker.file_auditor import Outcome, print_line, print_outcome, unusable


def test_a_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("é 漢 a\\n", "a\nb\r\t\x1b[2K\u202e\u2028\u200b\x85\udcff\0", json.dumps({"a": "\n\x7fé\u202e"})):
        print_line(line)
    assert capsys.readouterr().out == (
        'é 漢 a\\n\na\\nb\\r\\t\\x1b[2K\\u202e\\u2028\\u200b\\x85\\udcff\\x00\n{"a": "\\n\\u007f\\u00e9\\u202e"}\n'
    )
    unusable_line = "error: x\\nPROVED: gone\\nPROVED\n"
    print_outcome(unusable("x\nPROVED", "gone\nPROVED", {}), as_json=False)
    assert capsys.readouterr().err == unusable_line


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
