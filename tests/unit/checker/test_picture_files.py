"""The claim `picture` from files: auditors of paths, the command of the checker, the record."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import re
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest
from support import files
from support.networks import chunk

import verale
from verale.checker import Auditor
from verale.checker.__main__ import main
from verale.checker.certificate import Certificate
from verale.checker.errors import NetworkError, PictureError, UnprovedError
from verale.checker.file_auditor import FileAuditor
from verale.checker.origins import Origin, judge_origins, read_origins
from verale.checker.proved.claims import ProvedClaims
from verale.errors import InputError, UsageError
from verale.runs.audit_log import read_record
from verale.soundness.corpus.cases import Case, stored
from verale.soundness.paths import CERTIFICATES

NAMED = {case.name.removeprefix("picture/"): case for case in stored("picture")}
SCHEMA = json.loads((CERTIFICATES / "audit-log-v1.schema.json").read_bytes())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A head, a network, a certificate `c`, a tensor file `p` and a folder `images` of PNG files."""
    case, tensor = NAMED["euclidean-top_k"], NAMED["euclidean-projection"]
    for name, data in (("h", case.head), ("n", case.network), ("c", case.certificate), ("p", tensor.pictures)):
        (tmp_path / name).write_bytes(data or b"")
    (tmp_path / "images" / "a").mkdir(parents=True)
    (tmp_path / "images" / "a" / "0.png").write_bytes(NAMED["other-picture"].pictures or b"")
    (tmp_path / "images" / "1.PNG").write_bytes(case.pictures or b"")
    (tmp_path / "images" / "notes.txt").write_text("no picture")
    return tmp_path


def auditor(folder: Path, pictures: str, kernel: str = "arb") -> FileAuditor:
    return FileAuditor(str(folder / "h"), None, kernel, network=str(folder / "n"), pictures=str(folder / pictures))


@pytest.mark.parametrize("pictures", ["p", "images", "images/1.PNG"])
def test_proves_a_picture_from_files(folder: Path, pictures: str) -> None:
    made = auditor(folder, pictures)
    record = made.audit(str(folder / "c")).record
    assert record["claims"] == {"entailment": "proved", "picture": "proved"} and record["exit_code"] == 0
    jsonschema.validate(json.loads(json.dumps(record)), SCHEMA)
    assert read_record(json.dumps(record)) == record
    assert record["run"]["network"] == hashlib.sha256((folder / "n").read_bytes()).hexdigest()


@pytest.mark.parametrize("pictures", ["p", "images"])
def test_an_auditor_of_pictures_can_be_sent_to_another_process(folder: Path, pictures: str) -> None:
    sent = pickle.loads(pickle.dumps(auditor(folder, pictures).auditor))
    assert sent.check((folder / "c").read_bytes()).claims == {"entailment": "proved", "picture": "proved"}


def test_errors_name_the_file(folder: Path) -> None:
    for name in ("empty", "bad"):
        (folder / name).mkdir()
    (folder / "bad" / "2.png").write_bytes(b"no picture")
    for pictures, network, error, message in (
        ("empty", "n", PictureError, "empty: holds no PNG file"),
        ("bad", "n", PictureError, r"bad/2\.png: pictures file: "),
        ("p", "p", NetworkError, r"/p: network file: "),
        ("p", None, NetworkError, r"/p: pictures are given without a network"),
        (None, "n", PictureError, r"/n: a network is given without pictures"),
        ("nowhere", "n", OSError, "nowhere"),
    ):
        given = (None if name is None else str(folder / name) for name in (network, pictures))
        with pytest.raises(error, match=message):
            FileAuditor(str(folder / "h"), None, "arb", *given)


def test_one_bad_picture_costs_the_certificate_that_names_it(folder: Path) -> None:
    """And no other one: it may be the first file or the last, and damaged, no picture, a pipe, or gone."""
    other, named = folder / "images" / "a" / "0.png", folder / "images" / "1.PNG"
    (folder / "images" / "z").mkdir()
    os.mkfifo(folder / "images" / "z" / "2.png")
    (folder / "images" / "z" / "3.png").symlink_to("nowhere")
    (folder / "images" / "z" / "4.png").write_bytes(other.read_bytes()[:-1])
    (folder / "images" / "0.png").write_bytes(b"no picture")
    made = auditor(folder, "images")
    assert made.audit(str(folder / "c")).exit_code == 0
    shutil.copy(other, named)
    outcome = auditor(folder, "images").audit(str(folder / "c"))
    assert outcome.exit_code == 9
    assert re.search(
        r"images/0\.png: pictures file: .*; nor can 3 other files be read; no picture that can be read has the digest",
        outcome.record["message"],
    )
    lines = "".join(
        f"{hashlib.sha256((folder / 'images' / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("0.png", "1.PNG", "a/0.png", "z/4.png")
    )
    assert outcome.record["run"]["pictures"] == hashlib.sha256(lines.encode()).hexdigest()


def test_a_picture_that_changes_before_it_is_read_gives_no_verdict(folder: Path) -> None:
    """The record says of which bytes the verdict is."""
    named = folder / "images" / "1.PNG"
    (folder / "images" / "0.png").write_bytes((folder / "images" / "a" / "0.png").read_bytes())
    made = auditor(folder, "images")
    named.write_bytes(named.read_bytes())
    assert made.audit(str(folder / "c")).exit_code == 0
    made, text = auditor(folder, "images"), chunk(b"tEXt", b"a\0b")
    named.write_bytes(named.read_bytes().replace(chunk(b"IEND", b""), text + chunk(b"IEND", b"")))
    outcome = made.audit(str(folder / "c"))
    assert outcome.exit_code == 9 and "1.PNG: was changed meanwhile" in outcome.record["message"]


def test_the_command_of_the_checker(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(folder / "c"), "--head", str(folder / "h"), "--kernel", "arb"]
    seen = ["--network", str(folder / "n"), "--pictures", str(folder / "images")]
    assert main([*given, *seen]) == 0
    assert "entailment+picture (real arithmetic) proved" in capsys.readouterr().out
    assert main(given) == 0
    assert "entailment proved, picture (real arithmetic) not checked" in capsys.readouterr().out
    false = folder / "false"
    false.write_bytes(NAMED["false-above-top_k"].certificate)
    assert main([str(false), *given[1:], *seen]) == 7
    with pytest.raises(SystemExit):
        main([*given, *seen[:2]])
    assert "belong together" in capsys.readouterr().err


def test_python_says_what_is_wrong(folder: Path) -> None:
    (folder / "empty").mkdir()
    for network, pictures, error, message in (
        ("n", None, UsageError, "belong together"),
        ("n", "nowhere", InputError, "nowhere: cannot be read"),
        ("n", "empty", InputError, "empty: holds no PNG file"),
        ("h", "p", InputError, "h: network file: "),
        ("n", "h", InputError, "h: pictures file: "),
    ):
        with pytest.raises(error, match=message):
            seen = {"pictures": folder / pictures} if pictures else {}
            verale.audit(folder / "c", folder / "h", network=folder / network, **seen)


# Origins files: what they state exactly, and who is asked of which origins.


CASES = {case.name.removeprefix("origins/"): case for case in stored("origins")}
FOUR, HALF = CASES["euclidean"], CASES["half-the-distance"]


def auditor_of(case: Case, kernel: str = "arb", **changes: object) -> Auditor:
    return Auditor(case.head, None, kernel, **{"network": case.network, "pictures": case.pictures, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stated", "ends"),
    [({"distance": Fraction(1, 3)}, (None, Fraction(1, 9))), ({"cosine": Fraction(-1, 3)}, (Fraction(-1, 3), None))],
    ids=["distance", "cosine"],
)
def test_a_distance_is_stated_exactly_as_its_square_and_a_cosine_is_a_lower_end(stated, ends) -> None:
    statement = Origin(3, "0" * 64, 5, **stated).statement
    assert (statement.patch, statement.prototype, statement.lower, statement.upper) == (5, 3, *ends)


def test_origins_are_judged_one_by_one_where_not_all_are_proved() -> None:
    judged = judge_origins(auditor_of(HALF), HALF.certificate)
    assert [(each.status.value, each.reason, each.by) for each in judged] == [
        ("PROVED", "", "arb"),
        ("NOT_PROVED", "picture", ""),
    ]
    assert judged[0].message == "" and "statement 0 (patch 3, prototype 2)" in judged[1].message


def test_origins_of_a_picture_are_asked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    pictured = Auditor.pictured

    def counted(self: Auditor, certificate, size):  # type: ignore[no-untyped-def]
        asked.append(len(certificate.statements))
        return pictured(self, certificate, size)

    monkeypatch.setattr(Auditor, "pictured", counted)
    judged = judge_origins(auditor_of(FOUR), FOUR.certificate)
    assert [each.origin.prototype for each in judged] == [0, 1, 2, 3]
    assert {each.exit_code for each in judged} == {0}
    assert sorted(asked) == [1, 1, 2]


@pytest.mark.parametrize("kernel", ["both", "all", "proved"])
def test_who_proves_is_said(kernel: str) -> None:
    assert {each.by for each in judge_origins(auditor_of(FOUR, kernel), FOUR.certificate)} == {kernel}


def test_by_default_what_the_program_does_not_prove_is_asked_of_arb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ProvedClaims, "holds", lambda self, certificate, seen: False)
    judged = judge_origins(auditor_of(FOUR, "proved-or-arb"), FOUR.certificate)
    assert {(each.by, each.exit_code) for each in judged} == {("arb", 0)}
    judged = judge_origins(auditor_of(FOUR, "proved"), FOUR.certificate)
    assert {(each.by, each.reason) for each in judged} == {("", "picture")}


def test_without_a_network_nothing_is_proved() -> None:
    with pytest.raises(UnprovedError, match="no network is given") as caught:
        judge_origins(Auditor(FOUR.head, None, "arb"), FOUR.certificate)
    assert caught.value.reason == "subject"


@pytest.mark.parametrize("kernel", ["arb", "proved"])
def test_the_claim_picture_is_not_proved_of_no_picture(kernel: str) -> None:
    """Of a certificate that is asked without network."""
    document = read_origins(FOUR.certificate)
    ends = (None, Fraction(1)), ("entailment",)
    certificate = Certificate(document.head, None, 0, "projection", 4, (document.origins[0].statement,), *ends)
    alone = Auditor(FOUR.head, None, kernel)
    for each in (certificate, replace(certificate, patches=5)):
        verdict = alone.pictured(each, 100)
        assert (verdict.status.value, verdict.reason, verdict.by) == ("NOT_PROVED", "subject", {})


def test_a_mask_that_needs_more_patches_is_not_passed_over() -> None:
    """The head's mask has more columns than the network has patches."""
    mask = [[1.0] * 5] * 4
    weight = [[1.0] * 4, [-1.0] * 4]
    masked = files.head(weight, [[0.25, 0.75]] * 4, mask=mask, pooling={"kind": "masked_max"})
    document = json.loads(FOUR.certificate) | {"head": hashlib.sha256(masked).hexdigest()}
    changed = Auditor(masked, None, "arb", network=FOUR.network, pictures=FOUR.pictures)
    judged = judge_origins(changed, json.dumps(document).encode())
    assert {(each.status.value, each.by) for each in judged} == {("MALFORMED", "")}
