"""The tool that adds a case: what it writes, and what it refuses."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from corpus.add import DIGESTS, digests, main

from verale.soundness.corpus import cases
from verale.soundness.paths import CERTIFICATES

EUCLIDEAN = {
    "certificate": "accept/projection-euclidean.ale.json",
    "head": "accept/projection-euclidean.head.safetensors",
    "latents": "accept/projection-euclidean.latents.safetensors",
}
BROKEN = "reject/margin-broken-projection-euclidean"


@pytest.fixture
def folder(tmp_path: Path, proved_checker: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two cases of the corpora, which the readers of this process read."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    known = cases.manifest()
    kept = {name: known[name] for name in ("accept/projection-euclidean", BROKEN)}
    monkeypatch.setattr(cases, "CERTIFICATES", tmp_path / "certificates")
    for name in cases.FOLDERS:
        (cases.CERTIFICATES / name).mkdir(parents=True)
        for path in CERTIFICATES.glob(f"{name}/*"):
            if any(f"{name}/{path.name}".startswith(f"{case}.") for case in kept):
                shutil.copy(path, cases.CERTIFICATES / name)
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(each)}" for name, each in kept.items())
    (cases.CERTIFICATES / cases.MANIFEST).write_text(f"{{\n{lines}\n}}\n")
    (cases.CERTIFICATES / DIGESTS).write_text("".join(f"{line}\n" for line in digests(cases.CERTIFICATES)))
    return cases.CERTIFICATES


def add(folder: Path, name: str, status: str, reason: str = "", *more: str, **files: str) -> None:
    named = [part for field, path in (EUCLIDEAN | files).items() if path for part in (f"--{field}", str(folder / path))]
    said = ("--comment", "A case of this test.", "--status", status, "--reason", reason)
    main([name, *said, *named, *more], folder)


def test_a_case_gets_its_files_and_a_line(folder: Path) -> None:
    document = json.loads((folder / EUCLIDEAN["certificate"]).read_bytes())
    document["predicate"]["margins"] = [margin and (2.0**-60).hex() for margin in document["predicate"]["margins"]]
    (folder / "new").write_text(json.dumps(document))
    before, lines, listed = cases.manifest(), (folder / cases.MANIFEST).read_text(), digests(folder)
    add(folder, "accept/low-margins", "PROVED", certificate="new")
    entry = {"status": "PROVED", "reason": "", "comment": "A case of this test."}
    entry |= {field: EUCLIDEAN[field] for field in ("head", "latents")}  # known, so not written again
    after = cases.manifest()
    assert after == before | {"accept/low-margins": entry}
    assert sorted(after, key=lambda name: cases.FOLDERS.index(name.split("/")[0])) == list(after)
    assert (folder / "accept" / "low-margins.ale.json").read_bytes() == (folder / "new").read_bytes()
    assert (folder / DIGESTS).read_text().splitlines() == digests(folder)
    assert len(digests(folder)) == len(listed) + 1
    (case,) = (case for case in cases.stored("accept") if case.name == "accept/low-margins")
    assert case.verdict("arb") == case.expected
    new = {*(folder / cases.MANIFEST).read_text().splitlines()} - {*lines.splitlines()}
    assert new == {f' "accept/low-margins": {json.dumps(entry)},'}


def test_a_rejected_case_needs_a_mark_that_holds(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certificate, breaks = f"{BROKEN}.ale.json", f"{BROKEN}.breaks.safetensors"
    asked = ("reject/again", "NOT_PROVED", "margin")
    with pytest.raises(SystemExit):
        add(folder, *asked, certificate=certificate)
    assert "the mark (--truth) is missing" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        add(folder, *asked, "--truth", "false", certificate=certificate, breaks=EUCLIDEAN["latents"])
    assert "the mark (--truth) does not hold" in capsys.readouterr().err
    add(folder, *asked, "--truth", "false", certificate=certificate, breaks=breaks)
    stored = folder / cases.manifest()["reject/again"]["breaks"]
    assert stored.read_bytes() == (folder / breaks).read_bytes()


@pytest.mark.parametrize(
    ("name", "status", "reason", "said"),
    [
        ("malformed/new", "MALFORMED", "malformed", "arb: PROVED , expected MALFORMED malformed"),
        ("reject/new", "NOT_PROVED", "entailment", "proved: PROVED , expected NOT_PROVED entailment"),
        ("accept/new", "PROVED", "unclaimed", "mpmath: PROVED , expected PROVED unclaimed"),
    ],
)
def test_nothing_is_written_where_a_checker_says_otherwise(
    name: str, status: str, reason: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    with pytest.raises(SystemExit):
        add(folder, name, status, reason)
    assert said in capsys.readouterr().err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["accept/projection-euclidean", "other/new", "accept/../new", "accept"])
def test_a_name_that_is_taken_or_no_name_is_refused(
    name: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        add(folder, name, "PROVED")
    assert "expected a new name, FOLDER/NAME" in capsys.readouterr().err
