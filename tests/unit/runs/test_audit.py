"""Audits of files: verdicts, and outcomes in order, in one process or in several."""

from __future__ import annotations

import copy
import io
import json
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support import files
from support.cases import every
from support.small import small_head, small_latents
from support.stored import Deadly, Stored, Unreadable

import verale
from verale.checker import AuditOptions
from verale.checker.certificate import LARGEST, read_certificate
from verale.checker.file_auditor import FileAuditor, unusable
from verale.checker.verdict import Status, Verdict, line_of
from verale.errors import InputError
from verale.head import save_latents
from verale.runs import audit_log as records
from verale.runs.audit import DIED, AuditSetup, audit_files, auditor_of, in_processes
from verale.runs.audit_log import AuditLog, read_record, read_records

CORPORA = Path(__file__).parents[3] / "certificates"


def test_the_log_ends_with_this_run_in_its_order(files, tmp_path) -> None:
    """What an earlier run audited besides is not in it."""
    options = AuditSetup(files.head_path)
    first, second, third = files.certificates[:3]
    for paths in ([first, second], [third, second]):
        list(audit_files(paths, options, log=AuditLog(tmp_path / "log")))
        records = map(json.loads, (tmp_path / "log").read_text().splitlines())
        assert [record["certificate"] for record in records] == paths


def test_a_certificate_without_an_instance_claim_is_accepted_only_where_that_is_asked() -> None:
    named = str(CORPORA / "accept" / "contradiction-without-an-image")
    certificate, head = f"{named}.ale.json", f"{named}.head.safetensors"
    for asked, code in ((False, 14), (True, 0)):
        assert verale.audit(certificate, head, entailment_only=asked).exit_code == code
        (outcome,) = audit_files([certificate], AuditSetup(head, options=AuditOptions(entailment_only=asked)))
        assert outcome.exit_code == code


def test_an_unusable_head_is_refused_before_anything_is_audited(files, tmp_path) -> None:
    with pytest.raises(InputError, match="nowhere: cannot be read"):
        next(audit_files(files.certificates, AuditSetup(str(tmp_path / "nowhere"))))
    with pytest.raises(InputError, match="latents file"):
        next(audit_files(files.certificates, AuditSetup(files.head_path, files.certificates[0])))


def test_a_process_that_dies_costs_one_certificate(files) -> None:
    options = AuditSetup(files.head_path)
    run = auditor_of(options).run
    first, second, third = files.certificates
    outcomes = list(in_processes([first, Deadly("deadly"), second, third], options, 2, run))
    assert [outcome.record["certificate"] for outcome in outcomes] == [first, "deadly", second, third]
    assert [outcome.record["status"] for outcome in outcomes] == ["PROVED", "UNUSABLE", "PROVED", "PROVED"]
    assert [outcome.exit_code for outcome in outcomes] == [0, 9, 0, 0]
    assert outcomes[1].record["message"] == DIED and outcomes[1].record["run"] == run


@pytest.mark.parametrize("field", ["head", "latents"])
@pytest.mark.parametrize("other", [b"{", None], ids=["invalid", "valid"])
def test_a_head_or_latents_that_change_before_a_process_reads_them_end_the_audit(field, other, files) -> None:
    """Otherwise verdicts on two heads would look like one audit."""
    options = AuditSetup(files.head_path, files.latents_path)
    run = auditor_of(options).run
    path = Path(options.head if field == "head" else files.latents_path)
    if other is None and field == "head":
        small_head("euclidean", seed=7).save(path)
    elif other is None:
        save_latents(path, small_latents(files.head, images=2))
    else:
        path.write_bytes(other)
    with pytest.raises(
        InputError, match="head: or the latents changed while certificates were audited; run the command"
    ):
        list(in_processes(files.certificates, options, 1, run))


def test_a_certificate_that_is_audited_once_more_has_the_same_head(files) -> None:
    """Its process starts late, after another one died."""
    options = AuditSetup(files.head_path)
    run = auditor_of(options).run
    small_head("euclidean", seed=7).save(files.head_path)
    with pytest.raises(InputError, match="head: or the latents changed while certificates were audited"):
        list(in_processes([Deadly("deadly"), files.certificates[0]], options, 1, run))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_stored_certificate_is_its_bytes_whatever_file_has_its_name(jobs, files) -> None:
    """The name is that of a good certificate's file."""
    stored = Stored(files.certificates[0], b"{")
    (outcome,) = audit_files([stored], AuditSetup(files.head_path), jobs)
    assert (outcome.record["certificate"], outcome.exit_code) == (stored.name, 5)


def test_a_stored_certificate_that_cannot_be_read_stops_nothing(files) -> None:
    options = AuditSetup(files.head_path)
    outcomes = list(in_processes([Unreadable("x"), files.certificates[0]], options, 1, auditor_of(options).run))
    assert [outcome.record["status"] for outcome in outcomes] == ["UNUSABLE", "PROVED"]
    assert [outcome.exit_code for outcome in outcomes] == [9, 0]
    assert outcomes[0].record["message"] == "x.parquet: cannot be read"


def test_processes_have_the_options_that_are_given(files) -> None:
    options = AuditSetup(files.head_path, files.latents_path, AuditOptions("mpmath", minimality=True, limit=2**20))
    (outcome,) = audit_files(files.certificates[:1], options, jobs=2)
    assert (outcome.exit_code, outcome.record["run"]) == (0, auditor_of(options).run)


@pytest.fixture
def outcome(files):
    """That of the first certificate."""
    return auditor_of(AuditSetup(files.head_path)).audit(files.certificates[0])


def test_an_outcome_is_known_for_the_same_bytes_and_options(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    log = AuditLog(tmp_path / "log")
    known = log.known(files.certificates[0], outcome.record["run"])
    assert known is not None and known.reused and known.record == outcome.record | {"reused": True}
    assert log.known(files.certificates[1], outcome.record["run"]) is None
    assert log.known(files.certificates[0], outcome.record["run"] | {"kernel": "mpmath"}) is None
    assert log.known(str(tmp_path / "nowhere"), outcome.record["run"]) is None
    assert log.known(Unreadable("unreadable"), outcome.record["run"]) is None
    AuditLog(tmp_path / "other").add(unusable("x", "gone", outcome.record["run"], outcome.record["sha256"]))
    assert AuditLog(tmp_path / "other").known(files.certificates[0], outcome.record["run"]) is None, "audited again"


def test_an_outcome_is_known_only_where_all_of_its_run_is_the_same(files, outcome, tmp_path) -> None:
    """Head, latents, every option, the checker's code, and every library."""
    AuditLog(tmp_path / "log").add(outcome)
    log, run = AuditLog(tmp_path / "log"), outcome.record["run"]
    for field in run:
        assert log.known(files.certificates[0], run | {field: "another"}) is None, field
    for part in ("checker", "libraries"):
        for field in run[part]:
            assert log.known(files.certificates[0], run | {part: run[part] | {field: "another"}}) is None, field


def test_a_record_in_the_place_of_another_is_not_known(files, outcome, tmp_path) -> None:
    """The log changed after it was read."""
    AuditLog(tmp_path / "log").add(outcome)
    log, run = AuditLog(tmp_path / "log"), outcome.record["run"]
    for other in (outcome.record | {"sha256": "0" * 64}, outcome.record | {"run": run | {"limit": 1}}, {}):
        (tmp_path / "log").write_text(json.dumps(other) + "\n")
        assert log.known(files.certificates[0], run) is None


def test_a_known_certificate_may_have_moved(files, outcome, tmp_path) -> None:
    AuditLog(tmp_path / "log").add(outcome)
    moved = Path(files.certificates[0]).rename(tmp_path / "moved.ale.json")
    known = AuditLog(tmp_path / "log").known(str(moved), outcome.record["run"])
    assert known is not None and known.record == outcome.record | {"certificate": str(moved), "reused": True}


def test_a_log_with_two_verdicts_on_the_same_bytes_is_refused_and_left_alone(outcome, tmp_path) -> None:
    """Whichever comes first: the checker gives one."""
    why = {"status": "NOT_PROVED", "reason": "entailment", "exit_code": 3, "margin": None}
    other = outcome.record | why | {"claims": dict.fromkeys(("entailment", "instance"), "not checked"), "by": {}}
    for both in ((outcome.record, other), (other, outcome.record)):
        text = "".join(json.dumps(record) + "\n" for record in both) + '{"_type'
        (tmp_path / "log").write_text(text)
        with pytest.raises(InputError, match="log: line 2 has another verdict than an earlier line, on the same bytes"):
            AuditLog(tmp_path / "log")
        assert (tmp_path / "log").read_text() == text


SCHEMA = json.loads((Path(__file__).parents[3] / "certificates" / "audit-log-v1.schema.json").read_text())
IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 2.0**-40)
CERTIFICATES = {
    "PROVED": files.certificate(HEAD, [OWN], image=IMAGE, minimality=True),
    "entailment": files.certificate(HEAD, [], image=IMAGE),
    "malformed": b"{",
    "subject": files.certificate(HEAD + b" ", [OWN]),
    "instance": files.certificate(HEAD, [files.patch_statement(0, 1, 0.0, 2.0**-40)], image=IMAGE),
    "refuted": files.certificate(HEAD, [], image=[[1.0, 1.0]]),
    "too long": b" " * (LARGEST + 1),
}


@pytest.fixture(scope="module", params=[(False, "arb", False), (True, "arb", True), (True, "both", False)], ids=str)
def auditor(request, tmp_path_factory) -> FileAuditor:
    """With and without latents, for every kind of record."""
    folder = tmp_path_factory.mktemp("audited")
    latents, kernel, minimality = request.param
    (folder / "head").write_bytes(HEAD)
    (folder / "latents").write_bytes(files.latents([IMAGE, [[1.0, 1.0]]]))
    given = str(folder / "latents") if latents else None
    return FileAuditor(str(folder / "head"), given, kernel, minimality=minimality)


@pytest.fixture(scope="module")
def proved(tmp_path_factory) -> dict[str, Any]:
    """The record of a certificate whose every claim is proved."""
    folder = tmp_path_factory.mktemp("proved")
    (folder / "head").write_bytes(HEAD)
    (folder / "latents").write_bytes(files.latents([IMAGE]))
    auditor = FileAuditor(str(folder / "head"), str(folder / "latents"), "arb", minimality=True)
    record = auditor.audit("a.ale.json", CERTIFICATES["PROVED"]).record
    assert record["status"] == "PROVED" and record["claims"]["instance"] == "proved"
    return record


@every("name", CERTIFICATES)
def test_what_an_audit_writes_is_read(name, auditor) -> None:
    record = auditor.audit("a\udcff\n.ale.json", CERTIFICATES[name]).record
    assert read_record(json.dumps(record)) == record
    assert read_record(json.dumps(record | {"reused": True}).encode()) == record, "who takes it over says so anew"


@pytest.mark.parametrize("least", [Fraction(1, 10), Fraction(1, 10**400), Fraction(10**300), Fraction(2, 3) ** 50])
def test_any_margin_that_an_audit_can_prove_is_read(least, proved) -> None:
    """It stands twice in the record, rounded down to four digits and to binary64: the two need not agree."""
    of = read_certificate(CERTIFICATES["PROVED"])
    verdict = Verdict(
        Status.PROVED, "", "", replace(of, margins=(None, Fraction(10**301))), by=proved["by"], margins=(None, least)
    ).record()
    assert read_record(json.dumps(proved | verdict)) == proved | verdict


WRONG: dict[str, list[Any]] = {
    "_type": [None, "urn:verale:report:v2", 1],
    "certificate": [None, 1, ["a"]],
    "sha256": [None, "", "0" * 63, "G" * 64, "0" * 64 + "\n", 1],
    "run": [None, [], "", {}],
    "seconds": [None, "1", -1, True, 1e16, 10**400, 1e999],
    "status": ["proved", "NOT_PROVED", "REFUTED", "MALFORMED", "UNUSABLE", "NOT_REFUTED", ["PROVED"], None, {}],
    "reason": ["refuted", "entailment", "minimality", "witness", "unusable", "nonsense", "unclaimed", None, [""]],
    "message": [None, 1, []],
    "exit_code": [3, 4, 9, 14, "0", 0.0, False, None, 10**30],
    "claims": [
        {},
        [],
        None,
        {"entailment": 1},
        {"entailment": "not checked"},
        {"instance": "proved"},
        {"entailment": "proved", "instance": "not checked"},
        {"entailment": "proved", "instance": "not claimed"},
        {"entailment": "not claimed", "instance": "proved"},
        {"entailment": "proved", "minimality": "not checked"},
        {"entailment": "proved", "other": "proved"},
    ],
    "by": [None, [], {}, {"entailment": "arb"}, dict.fromkeys(("entailment", "instance", "minimality"), "mpmath")],
    "predicted": [None, -1, 1, 2, 0.0, True, "0"],
    "paradigm": [None, "", "projection\nPROVED", [], 1],
    "arithmetic": ["real", "float32", "", 1, []],
    "box": [1, {}, {"width": "1e-9", "layer": "a"}, {"width": "1e-9", "layer": "a", "factor": "2"}],
    "statements": [None, -1, 1.0, "1"],
    "elements": [None, [], {"00": 1}, {"-1": 1}, {"a": 1}, {"0": 0}, {"0": "1"}, {"0": 10**6}, {"0": True}],
    "margin": [None, 1, "0", "0.0000", "-1", "nan", "inf", "1e9", "9" * 30, "1\n", ""],
    "margins": [None, [], [None], ["0x1.0p+0"], [None, "-0x1.0p+0"], [None, "nan"], [None, None], [None, 1.0], {}],
    "reused": [False, None, 1, "yes"],
    "other": [1],
}
WRONG_RUN: dict[str, list[Any]] = {
    "head": [None, "", 1, "0" * 65],
    "latents": [None, "", 1, []],
    "kernel": [None, "float", ["arb"]],
    "minimality": [None, 0, False],
    "entailment_only": [None, 0, "no"],
    "limit": [None, "1", 0, -1.5, 2e9, True],
    "checker": [None, {}, {"version": None}, {"version": 1, "sha256": "0" * 64}, {"sha256": "0" * 64}],
    "libraries": [None, {}, {"python": None}, {"python": "3", "other": 1}, []],
    "other": [1],
}


LATER = ("by", "elements", "arithmetic", "box")
"""Fields that older logs do not have."""


@pytest.mark.parametrize("field", WRONG)
def test_a_field_of_another_value_is_refused(field, proved) -> None:
    """The record says PROVED: a value that contradicts this is refused like one of another type."""
    older = {name: value for name, value in proved.items() if name != "by"}  # which contradicts wrong claims too
    for value in WRONG[field]:
        with pytest.raises(ValueError, match=r"^it |wrong$|contradict each other$"):
            record = (proved if field == "by" else older) | {field: value}
            pytest.fail(f"{value!r} is read: {read_record(json.dumps(record))}")


@pytest.mark.parametrize("field", WRONG_RUN)
def test_a_run_of_another_value_is_refused(field, proved) -> None:
    for value in WRONG_RUN[field]:
        record = json.dumps(proved | {"run": proved["run"] | {field: value}})
        with pytest.raises(ValueError, match=r"^run is wrong$|contradict each other$"):
            pytest.fail(f"{value!r} is read: {read_record(record)}")


@every("field", [name for name in SCHEMA["properties"] if name not in LATER and name != "reused"])
def test_a_field_that_is_lacking_is_refused(field, proved) -> None:
    with pytest.raises(ValueError, match=f"^it lacks {field}$"):
        read_record(json.dumps({name: value for name, value in proved.items() if name != field}))
    for name in proved["run"]:
        broken = copy.deepcopy(proved)
        del broken["run"][name]
        with pytest.raises(ValueError, match=r"^run is wrong$"):
            read_record(json.dumps(broken))


@pytest.mark.parametrize("name", [name for name in CERTIFICATES if name != "PROVED"])
def test_no_other_verdict_becomes_proved(name, auditor) -> None:
    """By its status, its exit code, its reason, or all of them."""
    record = auditor.audit("a", CERTIFICATES[name]).record
    assert record["status"] != "PROVED", "each of these has a fault that every audit finds"
    good = {"status": "PROVED", "reason": "", "exit_code": 0}
    changes = [{key: good[key]} for key in good] + [{k: good[k] for k in good if k != one} for one in good] + [good]
    for change in changes:
        with pytest.raises(ValueError, match=r"contradict each other$"):
            read_record(json.dumps(record | change))


@pytest.mark.parametrize("entailment_only", [False, True])
def test_a_proof_without_an_instance_claim_stays_one(entailment_only, tmp_path) -> None:
    """No other claim, reason, exit code or option makes of it a proof that says something of an image."""
    (tmp_path / "head").write_bytes(HEAD)
    auditor = FileAuditor(str(tmp_path / "head"), None, entailment_only=entailment_only)
    record = auditor.audit("a", files.certificate(HEAD, [OWN])).record
    assert (record["status"], record["exit_code"]) == ("PROVED", 0 if entailment_only else 14)
    assert read_record(json.dumps(record)) == record
    other = {"reason": "unclaimed", "exit_code": 14} if entailment_only else {"reason": "", "exit_code": 0}
    for change in (
        other,
        {"claims": record["claims"] | {"instance": "proved"}},
        {"claims": {"entailment": "proved"}},
        {"run": record["run"] | {"entailment_only": not entailment_only}},
    ):
        with pytest.raises(ValueError, match=r"contradict each other$"):
            read_record(json.dumps(record | change))


def test_a_picture_is_proved_in_an_arithmetic(proved) -> None:
    """An older log does not say it; one that says it of something else, or not of a picture, is damaged."""
    run = proved["run"] | {"network": "0" * 64, "pictures": "0" * 64}
    claims = {"entailment": "proved", "picture": "proved", "minimality": "proved"}
    pictured = proved | {"run": run, "claims": claims, "by": dict.fromkeys(claims, "arb")}
    for arithmetic in ("real", "float32"):
        record = pictured | {"arithmetic": arithmetic}
        assert read_record(json.dumps(record)) == record
        jsonschema.validate(record, SCHEMA)
        with pytest.raises(ValueError, match=r"^claims and arithmetic contradict each other$"):
            read_record(json.dumps(proved | {"arithmetic": arithmetic}))
    with pytest.raises(ValueError, match=r"^claims and arithmetic contradict each other$"):
        read_record(json.dumps(pictured | {"arithmetic": None}))
    boxed = record | {"box": {"width": "2.4e-61", "layer": "a.b", "factor": "53.1"}}
    jsonschema.validate(boxed, SCHEMA)
    assert read_record(json.dumps(boxed)) == boxed
    with pytest.raises(ValueError, match=r"^claims and box contradict each other$"):
        read_record(json.dumps(proved | {"box": boxed["box"]}))
    older = {name: value for name, value in pictured.items() if name != "arithmetic"}
    assert read_record(json.dumps(older)) == older and "picture+minimality proved" in line_of(older)


NOT_CHECKED = {"entailment": "not checked", "instance": "not checked"}
NOTHING = dict.fromkeys(("predicted", "paradigm", "statements", "margin")) | {"claims": {}, "margins": []}


@every(
    ("name", "change", "problem"),
    [
        ("malformed", {"claims": {"entailment": "not checked"}}, "predicted and claims"),
        ("subject", {"claims": {}}, "predicted and claims"),
        ("subject", {"claims": {"entailment": "not checked"}}, "predicted and claims"),
        ("subject", NOTHING, "status and predicted"),
        ("subject", {"claims": {"entailment": "proved", "instance": "not checked"}}, "status and claims"),
        ("entailment", {"claims": {"entailment": "proved", "instance": "not checked"}}, "status and claims"),
        ("entailment", {"reason": "minimality", "exit_code": 8}, "status and claims"),
        ("entailment", {"claims": NOT_CHECKED | {"minimality": "proved"}}, "claims and run"),
        ("entailment", {"by": {"entailment": "arb"}}, "claims and by"),
        ("entailment", {"seconds": None}, "status and seconds"),
        ("entailment", {"sha256": None}, "status and sha256"),
    ],
)
def test_a_verdict_that_is_not_proved_does_not_contradict_itself_either(name, change, problem, auditor) -> None:
    """Nor does it call a claim proved that the audit did not prove."""
    record = auditor.audit("a", CERTIFICATES[name]).record
    with pytest.raises(ValueError, match=f"^{problem} contradict each other$"):
        read_record(json.dumps(record | change))


def test_a_file_without_a_verdict_says_nothing_about_the_certificate(auditor) -> None:
    record = unusable("a", "gone", auditor.run).record
    subject = {"predicted": 0, "paradigm": "projection", "statements": 1, "claims": {"entailment": "not checked"}}
    for field, change in (("predicted", subject), ("seconds", {"seconds": 1.0})):
        with pytest.raises(ValueError, match=f"^status and {field} contradict each other$"):
            read_record(json.dumps(record | change))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "it is not JSON"),
        (b"PROVED", "it is not JSON"),
        (b"[1]", "it is not an object"),
        (b"null", "it is not an object"),
        (b"\xff", "it is not ASCII"),
        ('{"é": 1}'.encode(), "it is not ASCII"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a":' * 100_000, "it is nested too deeply"),
        (b'{"exit_code": ' + b"1" * 5000 + b"}", "it holds an integer of 5000 digits"),
        (b'{"seconds": NaN}', "it holds NaN"),
        (b'{"seconds": -Infinity}', "it holds -Infinity"),
    ],
)
def test_a_line_that_is_not_plain_json_is_refused(line, problem) -> None:
    with pytest.raises(ValueError, match=f"^{problem}"):
        read_record(line)


def test_a_repeated_key_is_refused(proved) -> None:
    """Of two values a reader takes the one it likes."""
    with pytest.raises(ValueError, match="it repeats a key"):
        read_record(json.dumps(proved)[:-1] + ', "status": "PROVED"}')


def lines_of(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def read(data: bytes) -> list[tuple[dict[str, Any], int, int]]:
    return list(read_records("log", io.BytesIO(data)))


def test_a_log_may_end_with_half_a_record(proved) -> None:
    whole = lines_of(proved, proved)
    length = len(whole) // 2
    for end in range(length, len(whole)):
        assert read(whole[:end]) == [(proved, 0, length)]
    assert read(whole) == [(proved, 0, length), (proved, length, len(whole))]
    assert read(b"") == read(whole[:100]) == []


def test_the_line_is_named(proved) -> None:
    with pytest.raises(
        InputError, match=r"log: line 2 is not a record of an audit log \(status, reason and exit_code contradict"
    ):
        read(lines_of(proved, proved | {"exit_code": 4}, proved))


@pytest.mark.parametrize("data", [b"\n" * 10**6, b"{" * 10**6, b'{"a":1,' * 10**5, b"1" * 10**6 + b"\n"])
def test_a_file_of_a_megabyte_is_refused_at_once(data) -> None:
    start = time.process_time()
    with pytest.raises(InputError, match="line 1 is not a record"):
        read(data)
    assert time.process_time() - start < 10


def test_a_line_without_an_end_is_not_kept(monkeypatch) -> None:
    """Nor read to its end: it may be as long as the disk."""
    monkeypatch.setattr(records, "_LONGEST_LINE", 1000)
    stream = io.BytesIO(b"{" * 10_000)
    with pytest.raises(InputError, match=r"line 1 is not a record of an audit log \(it has more than 1000 bytes"):
        next(read_records("log", stream))
    assert stream.tell() == 1000


def test_records_are_read_one_by_one(proved) -> None:
    """A log may be longer than memory."""
    stream = io.BytesIO(lines_of(*[proved] * 3))
    reading = read_records("log", stream)
    for number in range(1, 4):
        assert next(reading)[2] == stream.tell() == number * len(lines_of(proved))


@every("field", {"predicted": 1, "paradigm": "triangle", "statements": 7, "margin": "0.001953125"})
def test_what_is_said_of_the_same_bytes_is_the_same(field, proved) -> None:
    """A hand that edits a line leaves the others."""
    values = {"predicted": 1, "paradigm": "triangle", "statements": 7, "margin": "0.001953125"}
    margins = {"predicted": proved["margins"][::-1], "margin": [each and (2.0**-9).hex() for each in proved["margins"]]}
    other = proved | {field: values[field], "margins": margins.get(field, proved["margins"])}
    assert read_record(json.dumps(other)) == other
    with pytest.raises(InputError, match="line 2 has another verdict than an earlier line"):
        read(lines_of(proved, other))
    elsewhere = other | {"sha256": "0" * 64}
    assert len(read(lines_of(proved, elsewhere))) == 2
