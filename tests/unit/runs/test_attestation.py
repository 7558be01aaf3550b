"""Attestations: written once everything is proved, by this command, and of the bytes that were proved."""

from __future__ import annotations

import copy
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest
from support.commands import in_process
from support.seen import COUNT, explain_pictures, write_pictures

from verale.checker.file_auditor import FileAuditor, Outcome
from verale.errors import InputError
from verale.runs.audit import AuditSetup, auditor_of, statement_of

ROOT = Path(__file__).parents[3]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "certificates" / "attestation-v1.schema.json").read_text()))
NOW = datetime(2026, 11, 22, 20, 30, 1, 999999, UTC)
EVERY_CLAIM = ["VERALE_ENTAILMENT_PROVED", "VERALE_INSTANCE_PROVED", "VERALE_MINIMALITY_PROVED"]


def audit(files, *options: object, certificates: tuple[object, ...] = (), kernel: str = "arb"):
    given = certificates or (files.folder,)
    return in_process("audit", *given, "--head", files.head_path, "--attest", files.folder / "A.json",
                      "--kernel", kernel, *options)  # fmt: skip


def attested(files) -> dict:
    statement = json.loads((files.folder / "A.json").read_bytes())
    SCHEMA.validate(statement)
    return statement


def kinds(statement: dict) -> dict[str, list[dict]]:
    found: dict[str, list[dict]] = {"head": [], "latents": [], "certificate": []}
    for subject in statement["subject"]:
        found[subject["annotations"]["verale"]["kind"]].append(subject)
    return found


def test_an_attestation_names_the_bytes_and_the_verdict_of_everything_proved(files) -> None:
    options = ("--latents", files.latents_path, "--minimality", "--log", files.folder / "L.json")
    assert audit(files, *options).returncode == 0
    statement = attested(files)
    for subject in statement["subject"]:
        assert subject["digest"] == {"sha256": hashlib.sha256(Path(subject["name"]).read_bytes()).hexdigest()}
    found = kinds(statement)
    assert [subject["name"] for subject in found["head"]] == [files.head_path]
    assert [subject["name"] for subject in found["latents"]] == [files.latents_path]
    assert [subject["name"] for subject in found["certificate"]] == files.certificates
    records = [json.loads(line) for line in (files.folder / "L.json").read_text().splitlines()]
    for subject, record in zip(found["certificate"], records, strict=True):
        noted = subject["annotations"]["verale"]
        assert {name: noted[name] for name in noted if name in record} == {
            name: record[name] for name in ("status", "claims", "by", "predicted", "paradigm", "statements", "margin")
        }
        assert (noted["head"], noted["latents"]) == (record["run"]["head"], record["run"]["latents"])
    run = records[0]["run"]
    policy = statement["predicate"]["verifier"]["verale"]
    assert policy == {name: value for name, value in run.items() if name not in ("head", "latents")}
    assert statement["predicate"]["properties"] == [*EVERY_CLAIM, "VERALE_KERNEL_ARB"]


def test_a_kernel_that_proved_a_part_of_what_is_claimed_is_no_property(files) -> None:
    options = ("--latents", files.latents_path)
    assert audit(files, *options, kernel="proved-or-arb").returncode == 0
    assert attested(files)["predicate"]["properties"] == [*EVERY_CLAIM[:2], "VERALE_KERNEL_PROVED"]
    by = [subject["annotations"]["verale"]["by"] for subject in kinds(attested(files))["certificate"]]
    assert by == [{"entailment": "proved", "instance": "proved"}] * len(by)


def test_the_arithmetic_of_pictures_is_a_property_where_all_have_the_same(tmp_path: Path) -> None:
    assert explain_pictures(write_pictures(tmp_path), out="real").returncode == 0
    assert explain_pictures(tmp_path, "--arithmetic", "float32", out="float32").returncode == 0
    for folders, expected in (
        (("float32",), ["VERALE_PICTURE_PROVED", "VERALE_PICTURE_IN_FLOAT32"]),
        (("real", "float32"), ["VERALE_PICTURE_PROVED"]),
    ):
        given = [tmp_path / folder for folder in folders]
        done = in_process("audit", *given, "--kernel", "arb", "--attest", tmp_path / "A.json")
        assert done.returncode == 0, done.stderr
        statement = json.loads((tmp_path / "A.json").read_bytes())
        SCHEMA.validate(statement)
        properties = statement["predicate"]["properties"]
        assert [each for each in properties if "PICTURE" in each] == expected
        noted = [each["annotations"]["verale"] for each in statement["subject"]]
        of_certificates = [each for each in noted if each["kind"] == "certificate"]
        assert [each["arithmetic"] for each in of_certificates] == [each for each in folders for _ in range(COUNT)]
        networks = [each for each in statement["subject"] if each["annotations"]["verale"]["kind"] == "network"]
        assert [each["name"] for each in networks] == [f"{folder}/network.safetensors" for folder in given]
        digest = hashlib.sha256((tmp_path / "n").read_bytes()).hexdigest()
        assert (
            {each["digest"]["sha256"] for each in networks} == {digest} == {each["network"] for each in of_certificates}
        )
        assert not {"network", "pictures"} & set(statement["predicate"]["verifier"]["verale"])


def test_one_certificate_without_a_claim_takes_the_property_away(files) -> None:
    certificate = json.loads(Path(files.certificates[1]).read_bytes())
    certificate["predicate"]["claims"].remove("minimality")
    Path(files.certificates[1]).write_text(json.dumps(certificate))
    assert audit(files, "--latents", files.latents_path, "--minimality").returncode == 0
    assert attested(files)["predicate"]["properties"] == [*EVERY_CLAIM[:2], "VERALE_KERNEL_ARB"]


def test_what_was_not_checked_or_names_no_image_is_not_attested(files) -> None:
    assert audit(files, kernel="both").returncode == 0
    kernels = ["VERALE_KERNEL_ARB", "VERALE_KERNEL_MPMATH"]
    assert attested(files)["predicate"]["properties"] == [EVERY_CLAIM[0], *kernels]
    assert kinds(attested(files))["latents"] == []
    bare = json.loads(Path(files.certificates[0]).read_bytes())
    bare["subject"] = [subject for subject in bare["subject"] if subject["name"] == "head"]
    bare["predicate"]["claims"].remove("instance")
    Path(files.certificates[0]).write_text(json.dumps(bare))
    given = ("--latents", files.latents_path)
    assert audit(files, *given).returncode == 14 and not (files.folder / "A.json").exists()
    assert audit(files, *given, "--entailment-only").returncode == 0
    assert attested(files)["predicate"]["properties"] == [EVERY_CLAIM[0], kernels[0]]


@pytest.mark.parametrize("content", [b"{", b""])
def test_nothing_is_attested_where_one_is_not_proved(content: bytes, files) -> None:
    """Not even what an earlier audit of the same name attested."""
    assert audit(files).returncode == 0
    Path(files.certificates[2]).write_bytes(content)
    said = audit(files)
    assert said.returncode == 5
    assert said.stderr.splitlines()[-1] == f"{files.folder / 'A.json'} is not written: not everything is proved"
    assert not (files.folder / "A.json").exists()


@pytest.mark.parametrize("after", range(3))
def test_an_interrupted_audit_attests_nothing(after: int, files, monkeypatch) -> None:
    assert audit(files).returncode == 0
    audited = FileAuditor.audit

    def interrupted(self: FileAuditor, path: str) -> Outcome:
        if path == files.certificates[after]:
            raise KeyboardInterrupt
        return audited(self, path)

    monkeypatch.setattr(FileAuditor, "audit", interrupted)
    said = audit(files, "--log", files.folder / "L.json")
    assert said.returncode == 130
    assert "the same command without --attest audits the rest" in said.stderr
    assert not (files.folder / "A.json").exists()


def test_verdicts_of_an_audit_log_are_not_attested(files) -> None:
    log = files.folder / "L.json"
    assert in_process("audit", files.folder, "--head", files.head_path, "--log", log).returncode == 0
    said = audit(files, "--log", log)
    assert (said.returncode, said.stdout) == (9, "")
    assert "holds verdicts of an earlier audit" in said.stderr
    assert not (files.folder / "A.json").exists()
    log.unlink()
    assert audit(files, "--log", log).returncode == 0
    assert len(kinds(attested(files))["certificate"]) == 3


@pytest.mark.parametrize("content", [b"", b"{}", b'{"_type": "https://in-toto.io/Statement/v1"}\n', b"x" * 4096])
def test_a_file_that_is_no_attestation_is_left_alone(content: bytes, files) -> None:
    (files.folder / "A.json").write_bytes(content)
    said = audit(files)
    assert (said.returncode, said.stdout) == (9, "")
    assert "is not an attestation of an audit" in said.stderr
    assert (files.folder / "A.json").read_bytes() == content


def test_one_file_cannot_be_the_attestation_and_the_log(files) -> None:
    said = audit(files, "--log", files.folder / "." / "A.json")
    assert (said.returncode, said.stdout) == (9, "")
    assert not (files.folder / "A.json").exists()


@pytest.fixture
def proved(files) -> tuple[AuditSetup, list[Outcome]]:
    options = AuditSetup(files.head_path, files.latents_path)
    auditor = auditor_of(options)
    return options, [auditor.audit(path) for path in files.certificates]


@pytest.mark.parametrize(
    "change",
    [{"reused": True}, {"status": "NOT_PROVED"}, {"status": "UNUSABLE"}, {"exit_code": 14}, {"sha256": None}],
    ids=str,
)
def test_no_statement_is_made_of_a_record_that_is_no_proof(change: dict, proved) -> None:
    options, outcomes = proved
    statement_of([proved], NOW)
    with pytest.raises(InputError):
        statement_of([(options, [*outcomes[:2], Outcome(outcomes[2].record | change)])], NOW)


@pytest.mark.parametrize("field", ["head", "latents", "checker"])
def test_no_statement_is_made_of_a_file_that_changed(field: str, proved) -> None:
    """Nor of two checkers, of another certificate's bytes, or of nothing."""
    options, outcomes = proved
    other = copy.deepcopy(outcomes[2].record)
    other["run"][field] = other["run"]["checker"] | {"sha256": "0" * 64} if field == "checker" else "0" * 64
    for given, message in (([*outcomes[:2], Outcome(other)], "changed"), ([], "or its options changed")):
        with pytest.raises(InputError, match=message):
            statement_of([(options, given)], NOW)


def test_the_schema_refuses_what_no_audit_writes(proved) -> None:
    statement = statement_of([proved, proved], NOW)
    assert SCHEMA.is_valid(statement) and len(statement["subject"]) == 5, "what is given twice is one subject"
    assert statement["predicate"]["timeCreated"] == "2026-11-22T20:30:01Z", "in UTC, in whole seconds"
    for change in (
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"subject": []},
        {"subject": statement["subject"][:1]},
        {"subject": statement["subject"][1:]},
        {"predicate": statement["predicate"] | {"properties": ["VERALE_KERNEL_ARB"]}},
        {"predicate": statement["predicate"] | {"timeCreated": "2026-11-22 20:30"}},
    ):
        assert not SCHEMA.is_valid(statement | change), change
