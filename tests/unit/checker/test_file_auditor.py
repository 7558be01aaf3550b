"""The audit log as an interface: what certificates/audit-log-v1.md says about fields, codes and lines is so."""

from __future__ import annotations

import hashlib
import json
import math
import os
import pickle
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import jsonschema
import mpmath
import pytest
from support import files

from verale.checker import KernelError, Status, Verdict, certificate, file_auditor, most_severe, verdict
from verale.checker.errors import FormatError
from verale.checker.file_auditor import FileAuditor, Outcome, checker_digest, file_digest, picture_files, unusable

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
