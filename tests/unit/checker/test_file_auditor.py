"""The audit log as an interface: what certificates/audit-log-v1.md says about fields, codes and lines is so."""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import pytest
from support import files
from support.networks import chunk

import verale
from verale.checker import Auditor, KernelError, Status, Verdict, certificate, file_auditor, most_severe, verdict
from verale.checker.__main__ import main
from verale.checker.certificate import Certificate
from verale.checker.errors import FormatError, NetworkError, PictureError, UnprovedError
from verale.checker.file_auditor import FileAuditor, Outcome, checker_digest, file_digest, picture_files, unusable
from verale.checker.origins import Origin, judge_origins, read_origins
from verale.checker.proved.claims import ProvedClaims
from verale.errors import InputError, UsageError
from verale.runs.audit_log import read_record
from verale.soundness.corpus.cases import Case, stored

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "certificates" / "audit-log-v1.md").read_text(encoding="utf-8")
SCHEMA = json.loads((ROOT / "certificates" / "audit-log-v1.schema.json").read_text())
IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
GOOD = files.certificate(HEAD, [files.patch_statement(0, 0, 0.0, 0.0)], image=IMAGE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "head").write_bytes(HEAD)
    (tmp_path / "good").write_bytes(GOOD)
    (tmp_path / "weak").write_bytes(files.certificate(HEAD, []))
    (tmp_path / "broken").write_bytes(b"{")
    return tmp_path


def auditor(folder: Path, **options: Any) -> FileAuditor:
    return FileAuditor(str(folder / "head"), None, **options)


def test_bytes_are_audited_under_any_name(folder: Path) -> None:
    once = auditor(folder)
    from_file, given = once.audit(str(folder / "good")), once.audit("a name", GOOD)
    assert given.record | {"seconds": 0} == from_file.record | {"certificate": "a name", "seconds": 0}


def rows(heading: str) -> list[list[str]]:
    """The rows of the table under a heading of the document."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [[cell.strip() for cell in line[1:-1].split(" | ")] for line in re.findall(r"^\| .*$", section, re.M)][1:]


def test_exit_codes_and_their_order_are_the_documented_ones() -> None:
    codes = {reason: int(row[0]) for row in rows("Exit codes") for reason in re.findall(r"`(\w+)`", row[1])}
    documented = {reason: code for reason, code in codes.items() if reason != "unusable"} | {"": 0}
    assert documented == {reason: Verdict(Status.NOT_PROVED, reason, "").exit_code for reason in verdict._EXIT_CODES}
    assert codes["unusable"] == verdict.EXIT_UNUSABLE
    order = [int(row[0]) for row in rows("Exit codes")][2:]  # all but usage and interrupt are of files
    assert sorted(order) == sorted({*SCHEMA["properties"]["exit_code"]["enum"], 11, 17})  # of `refute`, and of a folder
    assert all(most_severe([less, more]) == more for at, more in enumerate(order) for less in order[at:])
    assert most_severe([]) == 9, "nothing was proved"
    assert set(SCHEMA["properties"]["reason"]["enum"]) | {"witness"} == {*documented, "unusable"}


def test_fields_are_the_documented_ones(folder: Path) -> None:
    documented = [name for row in rows("Records") for name in re.findall(r"`(\w+)`", row[0])]
    later = ("by", "elements", "arithmetic", "box")
    assert sorted(documented) == sorted(SCHEMA["properties"]) == sorted([*SCHEMA["required"], *later, "reused"])
    for name in ("good", "weak", "broken", "nowhere"):
        record = auditor(folder).audit(str(folder / name)).record
        assert {*record, "reused"} == set(documented)
        jsonschema.validate(json.loads(json.dumps(record, allow_nan=False)), SCHEMA)


@pytest.mark.parametrize(("kernel", "packages"), [
    ("arb", ["python-flint"]), ("mpmath", ["mpmath"]), ("both", ["python-flint", "mpmath"]),
])  # fmt: skip
def test_a_record_names_all_that_the_verdict_depends_on(folder: Path, kernel: str, packages: list[str]) -> None:
    (folder / "latents").write_bytes(files.latents([IMAGE]))
    both = FileAuditor(str(folder / "head"), str(folder / "latents"), kernel, minimality=True, limit=10**9)
    record = both.audit(str(folder / "good")).record
    assert record["sha256"] == hashlib.sha256(GOOD).hexdigest() == file_digest(str(folder / "good"))
    assert record["claims"] == {"entailment": "proved", "instance": "proved"} and record["status"] == "PROVED"
    run = record["run"]
    assert run["head"] == hashlib.sha256(HEAD).hexdigest()
    assert run["latents"] == hashlib.sha256(files.latents([IMAGE])).hexdigest()
    assert (run["kernel"], run["minimality"], run["limit"]) == (kernel, True, 10**9)
    assert run["checker"]["sha256"] == checker_digest()
    packages = [*packages, *["gmpy2"] * ("mpmath" in packages and mpmath.libmp.BACKEND == "gmpy")]
    assert run["libraries"] == {"python": platform.python_version()} | {p: metadata.version(p) for p in packages}


def test_the_default_needs_and_names_what_it_loads_later(folder: Path, says, monkeypatch: pytest.MonkeyPatch) -> None:
    says()
    assert {*FileAuditor(str(folder / "head"), None).run["libraries"]} == {"python", "python-flint"}
    for module in ("flint", "verale.checker.arb"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(KernelError, match=r"needs python-flint .*: install it"):
        FileAuditor(str(folder / "head"), None)


def printed(command: str, folder: Path) -> str:
    """The digest that a command of the document prints in a folder."""
    found = re.search(command, TEXT, re.M)
    assert found
    done = subprocess.run(["bash", "-c", found[1]], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split()[0]


def test_the_checkers_digest_is_what_the_documented_command_prints() -> None:
    assert printed(r"^\$ cd verale/checker && (.*)$", ROOT / "verale" / "checker") == checker_digest()


NAMES = (
    *("a.png", "b\nc.png", "b.png", "B.PNG", "d\\.png", "e\rf.png", "sub/a.png", "sub\n/\\n.png", "z \t'\".png"),
    *("\u00e9.png", "\uff21.png", "\U0001f600.png", os.fsdecode(b"\xff.png"), os.fsdecode(b"\xc3.png"), "-n.png"),
)


def folder_with(folder: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def test_a_folder_of_pictures_has_the_digest_that_the_documented_command_prints(tmp_path: Path) -> None:
    """Whatever its files are called; before coreutils 9 `sha256sum` did not escape a carriage return."""
    names = [name for name in NAMES if "\r" not in name]
    folder = folder_with(tmp_path / "p", {name: os.fsencode(name) for name in names})
    folder_with(folder, {"a.txt": b"no picture"})
    assert picture_files(str(folder))[1] == printed(r"^cd PICTURES && (.*)$", folder)
    folder_with(folder, {"e\rf.png": b"cat"})
    lines = b"".join(line_of_sha256sum(name, folder) for name in sorted(map(os.fsencode, NAMES)))
    assert picture_files(str(folder))[1] == hashlib.sha256(lines).hexdigest()


def line_of_sha256sum(name: bytes, folder: Path) -> bytes:
    """A line, by another way than that of the checker: character by character."""
    said = {ord("\\"): b"\\\\", ord("\n"): b"\\n", ord("\r"): b"\\r"}
    escaped = b"".join(said.get(byte, bytes([byte])) for byte in name)
    digest = hashlib.sha256((folder / os.fsdecode(name)).read_bytes()).hexdigest().encode()
    return (b"\\" if escaped != name else b"") + digest + b"  " + escaped + b"\n"


def test_no_folder_of_pictures_has_the_digest_of_another_one(tmp_path: Path) -> None:
    """A name with a line feed was two lines of the digest: one file could stand for any other ones beside it."""
    two = folder_with(tmp_path / "two", {"a.png": b"cat", "b.png": b"dog"})
    digest = hashlib.sha256(b"dog").hexdigest()
    forged = {f"a.png\n{digest}  b.png": b"cat"}
    assert picture_files(str(two))[1] != picture_files(str(folder_with(tmp_path / "one", forged)))[1]
    escaped = folder_with(tmp_path / "escaped", {f"a.png\\n{digest}  b.png": b"cat"})
    assert picture_files(str(escaped))[1] != picture_files(str(tmp_path / "one"))[1]


def test_a_version_that_is_not_known_is_null(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr(file_auditor, "version", lambda package: metadata.version("no such package"))
    assert auditor(folder, kernel="arb").run["checker"] == {"version": None, "sha256": checker_digest()}


def test_margins_are_rounded_down() -> None:
    third, huge, tiny = Fraction(1, 3), Fraction(2) ** 2000, Fraction(1, 2**2000)
    margins = (None, third, -third, huge, -huge, tiny, -tiny, Fraction(2))
    result = Verdict(Status.NOT_PROVED, "entailment", "", margins=margins).record()["margins"]
    assert result[0] is None and result[4] == "-inf"
    assert [result[index] for index in (3, 5, 6, 7)] == [x.hex() for x in (sys.float_info.max, 0.0, -5e-324, 2.0)]
    for margin, text in ((third, result[1]), (-third, result[2])):
        below = float.fromhex(text)
        assert Fraction(below) < margin < Fraction(math.nextafter(below, math.inf))


def test_lines_have_the_documented_form(folder: Path) -> None:
    lines = [auditor(folder, kernel="arb").audit(str(folder / name)).line for name in ("good", "weak", "broken")]
    claims = r"(entailment|instance|minimality)"
    proved = rf"PROVED {{6}}\S+  class \d+  \w+  \d+ statements  margin >= \S+  {claims}(\+{claims})* proved"
    assert re.fullmatch(rf"{proved}(, {claims} not checked)*  by arb", lines[0])
    assert re.fullmatch(r"NOT_PROVED  \S+  class \d+  \w+  \d+ statements  entailment: .*", lines[1])
    assert re.fullmatch(r"MALFORMED {3}\S+  malformed: .*", lines[2])


def test_a_file_without_a_verdict_stops_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = auditor(folder)
    for error, message in (
        (MemoryError(), "more memory than there is"),
        (ZeroDivisionError("x"), "ZeroDivisionError: x"),
    ):
        monkeypatch.setattr("verale.checker.auditor.read_certificate", lambda data, e=error: (_ for _ in ()).throw(e))
        outcome = once.audit(str(folder / "good"))
        assert (outcome.record["status"], outcome.exit_code) == ("UNUSABLE", 9)
        assert message in outcome.record["message"]
        assert outcome.record["sha256"] == hashlib.sha256(GOOD).hexdigest()
    assert unusable("x", "gone", once.run) == Outcome(once.audit(str(folder / "nowhere")).record | {
        "certificate": "x", "message": "gone"})  # fmt: skip


def test_a_file_too_large_for_a_certificate_has_no_digest(folder: Path) -> None:
    with (folder / "large").open("wb") as stream:
        stream.truncate(certificate.LARGEST + 1)
    record = auditor(folder).audit(str(folder / "large")).record
    assert (record["status"], record["sha256"]) == ("MALFORMED", None)
    assert [file_digest(str(folder / name)) for name in ("large", "nowhere")] == [None, None]


# What a certificate says is read once.


def test_a_document_is_read_once_and_by_each_process_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    read, true = [], certificate._read
    monkeypatch.setattr(certificate, "_read", lambda data: read.append(bytes(data)) or true(data))  # type: ignore[func-returns-value]
    once = certificate.Document(GOOD)
    assert certificate.read_certificate(once) is certificate.read_certificate(once)
    assert certificate.read_certificate(once) == certificate.read_certificate(GOOD) and read == [GOOD, GOOD]
    elsewhere = pickle.loads(pickle.dumps(once))
    assert elsewhere == GOOD and not vars(elsewhere)
    for _ in range(2):
        with pytest.raises(FormatError):
            certificate.read_certificate(certificate.Document(b"{"))


# The claim `picture` from files: auditors of paths, the command of the checker, the record.


NAMED = {case.name.removeprefix("picture/"): case for case in stored("picture")}


@pytest.fixture
def pictured(tmp_path: Path) -> Path:
    """A head, a network, a certificate `c`, a tensor file `p` and a folder `images` of PNG files."""
    case, tensor = NAMED["euclidean-top_k"], NAMED["euclidean-projection"]
    for name, data in (("h", case.head), ("n", case.network), ("c", case.certificate), ("p", tensor.pictures)):
        (tmp_path / name).write_bytes(data or b"")
    (tmp_path / "images" / "a").mkdir(parents=True)
    (tmp_path / "images" / "a" / "0.png").write_bytes(NAMED["other-picture"].pictures or b"")
    (tmp_path / "images" / "1.PNG").write_bytes(case.pictures or b"")
    (tmp_path / "images" / "notes.txt").write_text("no picture")
    return tmp_path


def seeing(pictured: Path, pictures: str, kernel: str = "arb") -> FileAuditor:
    return FileAuditor(
        str(pictured / "h"), None, kernel, network=str(pictured / "n"), pictures=str(pictured / pictures)
    )


@pytest.mark.parametrize("pictures", ["p", "images", "images/1.PNG"])
def test_proves_a_picture_from_files(pictured: Path, pictures: str) -> None:
    made = seeing(pictured, pictures)
    record = made.audit(str(pictured / "c")).record
    assert record["claims"] == {"entailment": "proved", "picture": "proved"} and record["exit_code"] == 0
    jsonschema.validate(json.loads(json.dumps(record)), SCHEMA)
    assert read_record(json.dumps(record)) == record
    assert record["run"]["network"] == hashlib.sha256((pictured / "n").read_bytes()).hexdigest()


@pytest.mark.parametrize("pictures", ["p", "images"])
def test_an_auditor_of_pictures_can_be_sent_to_another_process(pictured: Path, pictures: str) -> None:
    sent = pickle.loads(pickle.dumps(seeing(pictured, pictures).auditor))
    assert sent.check((pictured / "c").read_bytes()).claims == {"entailment": "proved", "picture": "proved"}


def test_errors_name_the_file(pictured: Path) -> None:
    for name in ("empty", "bad"):
        (pictured / name).mkdir()
    (pictured / "bad" / "2.png").write_bytes(b"no picture")
    for pictures, network, error, message in (
        ("empty", "n", PictureError, "empty: holds no PNG file"),
        ("bad", "n", PictureError, r"bad/2\.png: pictures file: "),
        ("p", "p", NetworkError, r"/p: network file: "),
        ("p", None, NetworkError, r"/p: pictures are given without a network"),
        (None, "n", PictureError, r"/n: a network is given without pictures"),
        ("nowhere", "n", OSError, "nowhere"),
    ):
        given = (None if name is None else str(pictured / name) for name in (network, pictures))
        with pytest.raises(error, match=message):
            FileAuditor(str(pictured / "h"), None, "arb", *given)


def test_one_bad_picture_costs_the_certificate_that_names_it(pictured: Path) -> None:
    """And no other one: it may be the first file or the last, and damaged, no picture, a pipe, or gone."""
    other, named = pictured / "images" / "a" / "0.png", pictured / "images" / "1.PNG"
    (pictured / "images" / "z").mkdir()
    os.mkfifo(pictured / "images" / "z" / "2.png")
    (pictured / "images" / "z" / "3.png").symlink_to("nowhere")
    (pictured / "images" / "z" / "4.png").write_bytes(other.read_bytes()[:-1])
    (pictured / "images" / "0.png").write_bytes(b"no picture")
    made = seeing(pictured, "images")
    assert made.audit(str(pictured / "c")).exit_code == 0
    shutil.copy(other, named)
    outcome = seeing(pictured, "images").audit(str(pictured / "c"))
    assert outcome.exit_code == 9
    assert re.search(
        r"images/0\.png: pictures file: .*; nor can 3 other files be read; no picture that can be read has the digest",
        outcome.record["message"],
    )
    lines = "".join(
        f"{hashlib.sha256((pictured / 'images' / name).read_bytes()).hexdigest()}  {name}\n"
        for name in ("0.png", "1.PNG", "a/0.png", "z/4.png")
    )
    assert outcome.record["run"]["pictures"] == hashlib.sha256(lines.encode()).hexdigest()


def test_a_picture_that_changes_before_it_is_read_gives_no_verdict(pictured: Path) -> None:
    """The record says of which bytes the verdict is."""
    named = pictured / "images" / "1.PNG"
    (pictured / "images" / "0.png").write_bytes((pictured / "images" / "a" / "0.png").read_bytes())
    made = seeing(pictured, "images")
    named.write_bytes(named.read_bytes())
    assert made.audit(str(pictured / "c")).exit_code == 0
    made, text = seeing(pictured, "images"), chunk(b"tEXt", b"a\0b")
    named.write_bytes(named.read_bytes().replace(chunk(b"IEND", b""), text + chunk(b"IEND", b"")))
    outcome = made.audit(str(pictured / "c"))
    assert outcome.exit_code == 9 and "1.PNG: was changed meanwhile" in outcome.record["message"]


def test_the_command_of_the_checker(pictured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(pictured / "c"), "--head", str(pictured / "h"), "--kernel", "arb"]
    seen = ["--network", str(pictured / "n"), "--pictures", str(pictured / "images")]
    assert main([*given, *seen]) == 0
    assert "entailment+picture (real arithmetic) proved" in capsys.readouterr().out
    assert main(given) == 0
    assert "entailment proved, picture (real arithmetic) not checked" in capsys.readouterr().out
    false = pictured / "false"
    false.write_bytes(NAMED["false-above-top_k"].certificate)
    assert main([str(false), *given[1:], *seen]) == 7
    with pytest.raises(SystemExit):
        main([*given, *seen[:2]])
    assert "belong together" in capsys.readouterr().err


def test_python_says_what_is_wrong(pictured: Path) -> None:
    (pictured / "empty").mkdir()
    for network, pictures, error, message in (
        ("n", None, UsageError, "belong together"),
        ("n", "nowhere", InputError, "nowhere: cannot be read"),
        ("n", "empty", InputError, "empty: holds no PNG file"),
        ("h", "p", InputError, "h: network file: "),
        ("n", "h", InputError, "h: pictures file: "),
    ):
        with pytest.raises(error, match=message):
            seen = {"pictures": pictured / pictures} if pictures else {}
            verale.audit(pictured / "c", pictured / "h", network=pictured / network, **seen)


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
