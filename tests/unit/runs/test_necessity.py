"""Necessity: what is needed has a witness, what the checker proves without is not needed, and the rest stays open."""

from __future__ import annotations

import json

import pytest
from support.boxes import save_coordinates

from verale.checker import Auditor, Status
from verale.errors import InputError, UsageError
from verale.runs.necessity import necessity


def test_every_statement_is_needed(tmp_path) -> None:
    """Any one activation that may be 1 lifts the rival above 0.5."""
    certificate, head, latents = save_coordinates(tmp_path, 3, (0.5, 0.0, 0.25))
    result = necessity(certificate, head, latents, tmp_path / "out")
    assert [each.needed for each in result.statements] == [True] * 3
    assert [each.rival for each in result.statements] == [2] * 3
    assert result.is_minimal
    auditor = Auditor(head.read_bytes(), kernel="both")
    record = json.loads((tmp_path / "out" / "necessity.json").read_bytes())
    assert (record["share"], record["minimal_under_any_paradigm"]) == (1.0, True)
    for number, entry in enumerate(record["needed"]):
        rest = json.loads((tmp_path / "out" / f"without-{number:04d}.ale.json").read_bytes())
        assert entry["statement"] not in rest["predicate"]["statements"]
        assert len(rest["predicate"]["statements"]) == 2
        witness = (tmp_path / "out" / entry["witness"]).read_bytes()
        assert auditor.refute(json.dumps(rest).encode(), witness).status is Status.REFUTED


def test_without_time_what_may_be_needed_is_open(files) -> None:
    result = necessity(files.certificates[0], files.head_path, seconds=0)
    assert len(result.statements) == result.certificate.size
    assert all(each.needed in (None, True) for each in result.statements)


def test_an_explanation_without_statements_is_minimal(tmp_path) -> None:
    """No statement is there to be dropped, and the share of none is not a number."""
    certificate, head, _ = save_coordinates(tmp_path, 1, (1.5, 0.0))
    record = json.loads(certificate.read_bytes())
    record["predicate"]["statements"] = []
    record["predicate"]["margins"] = [None, (0.25).hex()]
    certificate.write_text(json.dumps(record))
    result = necessity(certificate, head)
    assert result.is_minimal and result.record()["share"] is None


def test_wrong_inputs_are_named(files, tmp_path) -> None:
    with pytest.raises(UsageError, match="seconds is -1"):
        necessity(files.certificates[0], files.head_path, seconds=-1)
    (tmp_path / "bad").write_bytes(b"{")
    with pytest.raises(InputError, match="is MALFORMED"):
        necessity(tmp_path / "bad", files.head_path)
    with pytest.raises(InputError, match="expected a safetensors file"):
        necessity(files.certificates[0], tmp_path / "bad")
