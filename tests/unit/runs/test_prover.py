"""What is stated of certificates: as much as an audit by the kernel `proved` proves, with the hints that it found."""

from __future__ import annotations

from pathlib import Path

import pytest

from verale.checker import Auditor
from verale.checker.errors import FormatError, RefutedError, UnprovedError
from verale.checker.verdict import Status
from verale.paradigms import PARADIGMS
from verale.runs.arguments import HeadFile
from verale.runs.theorem import Theorems
from verale.soundness.corpus.cases import Case, stored

CASES = [case for case in stored() if case.name.split("/")[0] in ("accept", "reject") and case.head is not None]
_STATUSES = {FormatError: Status.MALFORMED, RefutedError: Status.REFUTED, UnprovedError: Status.NOT_PROVED}


def stated(case: Case, folder: Path) -> Status:
    """PROVED if there is a statement, otherwise what an audit would say instead."""
    if case.latents is not None:
        (folder / "latents").write_bytes(case.latents)
    prover = Theorems(HeadFile("head", case.head), None if case.latents is None else str(folder / "latents"))
    try:
        found = prover.theorem(case.certificate)
    except tuple(_STATUSES) as error:
        return _STATUSES[type(error)]
    assert prover.term.startswith("(Head ") and found.certificate.startswith("(Certificate ")
    assert found.settings.startswith("(Settings ") and found.hints.startswith("(Hints ")
    assert found.certificate.startswith(f"(Certificate {found.predicted}%nat ")
    assert (found.instance is None) == (case.latents is None or b'"instance"' not in case.certificate)
    return Status.PROVED


def drawn(one_in: int) -> list[Case]:
    """One in so many cases of each paradigm, and of those that name none."""
    of: dict[str, list[Case]] = {}
    for case in CASES:
        named = [name for name in PARADIGMS if f'"paradigm": "{name}"'.encode() in case.certificate]
        of.setdefault(",".join(named), []).append(case)
    assert {*PARADIGMS} <= {*of}
    return [case for cases in of.values() for case in cases[::one_in]]


@pytest.mark.parametrize("one_in", [32, pytest.param(4, marks=pytest.mark.long)])
def test_what_is_audited_is_stated(one_in, proved_checker, monkeypatch, tmp_path) -> None:
    """Of what is not proved there is no statement, so no file that does not compile."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    found = []
    for case in drawn(one_in):
        audited = Auditor(case.head, case.latents, "proved").check(case.certificate).status
        assert stated(case, tmp_path) is audited, case.name
        found.append(audited)
    assert len(set(found)) >= 3, "some are proved, some are not, some are refuted or malformed"
