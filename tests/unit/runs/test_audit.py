"""Audits of files: verdicts, and outcomes in order, in one process or in several."""

from __future__ import annotations

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
from support.stored import Deadly, Exhausting, Unreadable

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
from verale.runs.listed import StoredBytes

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
    for given, said in (((str(tmp_path / "nowhere"),), "nowhere: cannot be read"),
                        ((files.head_path, files.certificates[0]), "latents file")):  # fmt: skip
        with pytest.raises(InputError, match=said):
            next(audit_files(files.certificates, AuditSetup(*given)))


def test_a_process_that_dies_costs_one_certificate(files) -> None:
    options = AuditSetup(files.head_path)
    run = auditor_of(options).run
    first, second, third = files.certificates
    given = [first, Deadly("deadly"), second, third]
    outcomes = list(in_processes(given, options, 2, run))
    found = [(each.record["certificate"], each.record["status"], each.exit_code) for each in outcomes]
    assert found == [(first, "PROVED", 0), ("deadly", "UNUSABLE", 9), (second, "PROVED", 0), (third, "PROVED", 0)]
    assert outcomes[1].record["message"] == DIED and outcomes[1].record["run"] == run


def test_what_a_process_died_of_is_audited_by_a_new_one(files) -> None:
    """Not by another one that is as old: then this certificate would kill two."""
    options = AuditSetup(files.head_path)
    given = [Exhausting(str(number)) for number in range(6)]
    outcomes = list(in_processes(given, options, 2, auditor_of(options).run))
    assert [(each.record["certificate"], each.exit_code) for each in outcomes] == [(one.name, 5) for one in given]


@every(
    ("name", "change"),
    [
        ("head", lambda path: path.write_bytes(b"{")),
        ("latents", lambda path: path.write_bytes(b"{")),
        ("head", lambda path: small_head("euclidean", seed=7).save(path)),
        ("latents", lambda path: save_latents(path, small_latents(small_head("euclidean"), images=2))),
    ],
)
def test_a_head_or_latents_that_change_before_a_process_reads_them_end_the_audit(name, change, files) -> None:
    """Otherwise verdicts on two heads would look like one audit. A process starts late where another one has died."""
    options = AuditSetup(files.head_path, files.latents_path)
    run = auditor_of(options).run
    path = Path(files.head_path if name == "head" else files.latents_path)
    before = path.read_bytes()
    change(path)
    for given in (files.certificates[:1], [Deadly("deadly"), files.certificates[0]]):
        with pytest.raises(
            InputError, match="head: or the latents changed while certificates were audited; run the command"
        ):
            list(in_processes(given, options, 1, run))
    path.write_bytes(before)


@every("jobs", [1, 2])
def test_a_stored_certificate_is_its_bytes_whatever_file_has_its_name(jobs, files) -> None:
    """The name is that of a good certificate's file."""
    stored = StoredBytes(files.certificates[0], b"{")
    (outcome,) = audit_files([stored], AuditSetup(files.head_path), jobs)
    assert (outcome.record["certificate"], outcome.exit_code) == (stored.name, 5)


def test_a_stored_certificate_that_cannot_be_read_stops_nothing(files) -> None:
    options = AuditSetup(files.head_path)
    outcomes = list(in_processes([Unreadable("x"), files.certificates[0]], options, 1, auditor_of(options).run))
    assert [(each.record["status"], each.exit_code) for each in outcomes] == [("UNUSABLE", 9), ("PROVED", 0)]
    assert outcomes[0].record["message"] == "x.parquet: cannot be read"


def test_processes_have_the_options_that_are_given(files) -> None:
    options = AuditSetup(files.head_path, files.latents_path, AuditOptions("mpmath", minimality=True, limit=2**20))
    (outcome,) = audit_files(files.certificates[:1], options, jobs=2)
    assert (outcome.exit_code, outcome.record["run"]) == (0, auditor_of(options).run)


@pytest.fixture
def outcome(files):
    """That of the first certificate."""
    return auditor_of(AuditSetup(files.head_path)).audit(files.certificates[0])


def test_an_outcome_is_known_for_the_same_bytes_and_run(files, outcome, tmp_path) -> None:
    """Whatever the certificate is called. Of the run all counts: head, latents, options, the checker, its libraries."""
    AuditLog(tmp_path / "log").add(outcome)
    log, run = AuditLog(tmp_path / "log"), outcome.record["run"]
    moved = str(Path(files.certificates[0]).rename(tmp_path / "moved.ale.json"))
    known = log.known(moved, run)
    assert known is not None and known.reused
    assert known.record == outcome.record | {"certificate": moved, "reused": True}
    runs = [run | {field: "another"} for field in run]
    runs += [run | {part: run[part] | {field: "another"}} for part in ("checker", "libraries") for field in run[part]]
    others = [files.certificates[1], str(tmp_path / "nowhere"), Unreadable("unreadable")]
    for path, of in [(moved, each) for each in runs] + [(each, run) for each in others]:
        assert log.known(path, of) is None, (path, of)
    for changed in (outcome.record | {"sha256": "0" * 64}, outcome.record | {"run": run | {"limit": 1}}, {}):
        (tmp_path / "log").write_text(json.dumps(changed) + "\n")
        assert log.known(moved, run) is None, "the log changed after it was read"
    AuditLog(tmp_path / "other").add(unusable("x", "gone", run, outcome.record["sha256"]))
    assert AuditLog(tmp_path / "other").known(moved, run) is None, "audited again"


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
    return auditor_in(tmp_path_factory.mktemp("audited"), *request.param)


def auditor_in(folder: Path, latents: bool, kernel: str, minimality: bool = False, **options: Any) -> FileAuditor:
    (folder / "head").write_bytes(HEAD)
    (folder / "latents").write_bytes(files.latents([IMAGE, [[1.0, 1.0]]]))
    given = str(folder / "latents") if latents else None
    return FileAuditor(str(folder / "head"), given, kernel, minimality=minimality, **options)


@pytest.fixture(scope="module")
def proved(tmp_path_factory) -> dict[str, Any]:
    """The record of a certificate whose every claim is proved."""
    auditor = auditor_in(tmp_path_factory.mktemp("proved"), True, "arb", True)
    record = auditor.audit("a.ale.json", CERTIFICATES["PROVED"]).record
    assert record["status"] == "PROVED" and record["claims"]["instance"] == "proved"
    return record


def require_refused(record: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        pytest.fail(f"it is read: {read_record(json.dumps(record))}")


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
    "limit": [None, "1", 0, -1.5, 2e9, 10**400, True],
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
        require_refused((proved if field == "by" else older) | {field: value}, r"^it |wrong$|contradict each other$")


def test_a_run_of_another_value_is_refused(proved) -> None:
    for field, values in WRONG_RUN.items():
        for value in values:
            changed = proved | {"run": proved["run"] | {field: value}}
            require_refused(changed, r"^run is wrong$|contradict each other$")


def test_a_field_that_is_lacking_is_refused(proved) -> None:
    for field in SCHEMA["properties"]:
        if field not in LATER and field != "reused":
            require_refused({name: proved[name] for name in proved if name != field}, f"^it lacks {field}$")
    for field in proved["run"]:
        run = {name: value for name, value in proved["run"].items() if name != field}
        require_refused(proved | {"run": run}, r"^run is wrong$")


@every("name", [name for name in CERTIFICATES if name != "PROVED"])
def test_no_other_verdict_becomes_proved(name, auditor) -> None:
    """By its status, its exit code, its reason, or all of them."""
    record = auditor.audit("a", CERTIFICATES[name]).record
    assert record["status"] != "PROVED", "each of these has a fault that every audit finds"
    good = {"status": "PROVED", "reason": "", "exit_code": 0}
    changes = [{key: good[key]} for key in good] + [{k: good[k] for k in good if k != one} for one in good] + [good]
    for change in changes:
        require_refused(record | change, r"contradict each other$")


@every("entailment_only", [False, True])
def test_a_proof_without_an_instance_claim_stays_one(entailment_only, tmp_path) -> None:
    """No other claim, reason, exit code or option makes of it a proof that says something of an image."""
    auditor = auditor_in(tmp_path, False, "arb", entailment_only=entailment_only)
    record = auditor.audit("a", files.certificate(HEAD, [OWN])).record
    assert (record["status"], record["exit_code"]) == ("PROVED", 0 if entailment_only else 14)
    assert read_record(json.dumps(record)) == record
    for change in (
        {"reason": "unclaimed", "exit_code": 14} if entailment_only else {"reason": "", "exit_code": 0},
        {"claims": record["claims"] | {"instance": "proved"}},
        {"claims": {"entailment": "proved"}},
        {"run": record["run"] | {"entailment_only": not entailment_only}},
    ):
        require_refused(record | change, r"contradict each other$")


def test_a_picture_is_proved_in_an_arithmetic(proved) -> None:
    """An older log does not say it; one that says it of something else, or not of a picture, is damaged."""
    run = proved["run"] | {"network": "0" * 64, "pictures": "0" * 64}
    claims = {"entailment": "proved", "picture": "proved", "minimality": "proved"}
    older = proved | {"run": run, "claims": claims, "by": dict.fromkeys(claims, "arb")}
    del older["arithmetic"]
    box = {"box": {"width": "2.4e-61", "layer": "a.b", "factor": "53.1"}}
    for more in ({"arithmetic": "real"}, {"arithmetic": "float32"}, {"arithmetic": "float32"} | box):
        assert read_record(json.dumps(older | more)) == older | more
        jsonschema.validate(older | more, SCHEMA)
    assert read_record(json.dumps(older)) == older and "picture+minimality proved" in line_of(older)
    for record in (proved | {"arithmetic": "real"}, proved | {"arithmetic": "float32"}, older | {"arithmetic": None}):
        require_refused(record, r"^claims and arithmetic contradict each other$")
    require_refused(proved | box, r"^claims and box contradict each other$")


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
        (None, {"seconds": 1.0}, "status and seconds"),
        (None, {"predicted": 0, "paradigm": "projection", "statements": 1, "claims": {"entailment": "not checked"}},
         "status and predicted"),
    ],
)  # fmt: skip
def test_a_verdict_that_is_not_proved_does_not_contradict_itself_either(name, change, problem, auditor) -> None:
    """Nor does it call a claim proved that the audit did not prove, or say anything of a file that was not read."""
    outcome = unusable("a", "gone", auditor.run) if name is None else auditor.audit("a", CERTIFICATES[name])
    require_refused(outcome.record | change, f"^{problem} contradict each other$")


@every(
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


@every(
    "change",
    [
        {"predicted": 1, "margins": [(1.0).hex(), None]},
        {"paradigm": "triangle"},
        {"statements": 7},
        {"margin": "0.001953125", "margins": [None, (2.0**-9).hex()]},
    ],
)
def test_what_is_said_of_the_same_bytes_is_the_same(change, proved) -> None:
    """A hand that edits a line leaves the others."""
    other = proved | change
    assert read_record(json.dumps(other)) == other
    with pytest.raises(InputError, match="line 2 has another verdict than an earlier line"):
        read(lines_of(proved, other))
    assert len(read(lines_of(proved, other | {"sha256": "0" * 64}))) == 2
