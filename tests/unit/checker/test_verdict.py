"""The verdict's line and exit codes, and the command of the checker."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter
from pathlib import Path

import pytest
from support import files
from support.cases import every

from verale.certificate.words import below
from verale.checker import Status, Verdict
from verale.checker.__main__ import main
from verale.checker.certificate import Certificate, PatchStatement
from verale.checker.deployment import Deployment
from verale.checker.file_auditor import FileAuditor, Outcome, print_outcome, unusable
from verale.checker.numbers import LatentsBox
from verale.checker.verdict import before_colon, line_of, one_field, print_line


def certificate(*claims: str, stated: Fraction = Fraction(10**42), arithmetic: str = "real") -> Certificate:
    pictured = "d" if "picture" in claims else None
    return Certificate(
        head="d",
        latents="d" if "instance" in claims else None,
        predicted=3,
        paradigm="projection",
        patches=1,
        statements=tuple(PatchStatement(0, j, None, Fraction(j)) for j in range(42)),
        margins=(stated, stated, stated, None),
        claims=claims,
        network=pictured,
        picture=pictured,
        arithmetic=arithmetic if pictured else None,
    )


def proved(margin: Fraction, *claims: str, of: Certificate | None = None) -> Verdict:
    """By nobody who is named."""
    margins = (margin, margin + 1, margin, None)
    return Verdict(Status.PROVED, "", "", of or certificate(*claims), by=dict.fromkeys(claims, "arb"), margins=margins)


@pytest.mark.parametrize(
    ("margin", "text"),
    [
        (Fraction(1, 81), "0.01234"), (Fraction(9999999, 10**6), "9.999"), (Fraction(1, 10**9), "1e-9"),
        (Fraction(1, 2**1074), "4.94e-324"), (Fraction(10**40) + Fraction(1, 3), "1e+40"), (Fraction(2), "2"),
        (Fraction(213631, 10**5), "2.136"),
    ],
)  # fmt: skip
def test_the_margin_is_rounded_down_and_reads_as_everywhere(margin: Fraction, text: str) -> None:
    assert f"margin >= {text}  " in proved(margin, "entailment").line("x")
    assert Fraction(text) <= margin and text == below(margin)


def test_the_margin_is_that_of_the_certificate_where_all_are_proved() -> None:
    """Of one certificate the page said 2.135 and an audit 2.1363, which its rules had found."""
    stated, found = Fraction(2135, 1000), Fraction(213631, 10**5)
    verdict = proved(found, "entailment", of=certificate("entailment", stated=stated))
    assert verdict.record()["margin"] == "2.135" and "  margin >= 2.135  " in verdict.line("x")
    first, middle, _, own = verdict.record()["margins"]
    assert first == middle and own is None
    assert Fraction(float.fromhex(first)) <= stated < Fraction(nextafter(float.fromhex(first), inf))
    more = replace(certificate("entailment"), margins=(Fraction(5, 2), stated, stated, None))
    less = replace(verdict, certificate=more, status=Status.NOT_PROVED, reason="margin")
    assert less.record()["margin"] == "2.135" and float.fromhex(less.record()["margins"][0]) > Fraction(2136, 1000)
    assert replace(verdict, margins=()).record()["margin"] is None


def test_lines() -> None:
    of = certificate("entailment", "instance", "minimality")
    verdict = proved(Fraction(1, 4), "entailment", "minimality", of=of)
    assert verdict.line("a.json") == (
        "PROVED      a.json  class 3  projection  42 statements  margin >= 0.25  entailment+minimality proved,"
        " instance not checked  by arb"
    )
    alone = proved(Fraction(1, 4), "entailment", of=certificate("entailment", "minimality"))
    assert alone.line("a.json").endswith("  entailment proved, no instance claimed, minimality not checked  by arb")
    assert Verdict(Status.MALFORMED, "malformed", "the certificate is cut\nshort").line("b\n\udcff.json") == (
        "MALFORMED   b\\n\\udcff.json  malformed: the certificate is cut\\nshort"
    )
    assert Verdict(Status.NOT_PROVED, "margin", "rival 1", of).line("c") == (
        "NOT_PROVED  c  class 3  projection  42 statements  margin: rival 1"
    )


def test_what_a_claim_is_about_stands_beside_it() -> None:
    how = Deployment("cdist", log=2)
    for arithmetic, said in (("real", "real arithmetic"), ("float32", "float32")):
        of = certificate("entailment", "picture", arithmetic=arithmetic)
        verdict = replace(proved(Fraction(1, 4), "entailment", "picture", "deployment", of=of), deployment=how)
        assert verdict.line("a").endswith(
            f"  entailment+picture ({said})+deployment (cdist, log=2,exp=4,sqrt=1) proved  by arb"
        )
        old = verdict.record() | {"certificate": "a", "arithmetic": None, "by": {}, "run": {}}
        assert line_of(old).endswith("  entailment+picture+deployment proved"), "as old records have it"
    box = LatentsBox(Fraction(1, 3 * 2**70), "a.b", Fraction(2, 3))
    told = replace(verdict, box=box)
    assert told.line("a").endswith("  by arb  latents to within 2.824e-22, widened most by layer a.b, 0.6666 times")
    assert Fraction(told.record()["box"]["width"]) >= box.width and verdict.record()["box"] is None
    assert replace(told, box=LatentsBox(Fraction(0), "", Fraction(1))).line("a").endswith("  latents to within 0")
    unchecked = proved(Fraction(1, 4), "entailment", of=certificate("entailment", "picture"))
    assert unchecked.line("a").endswith("  entailment proved, picture (real arithmetic) not checked  by arb")


@every(
    ("text", "shown"),
    [
        ("a b c", "a b c"), ("a  class 0", r"a\x20\x20class 0"), (" a ", r"\x20a\x20"), ("a\t b\nc", r"a\t b\nc"),
        ("a \u202e\xa0b", r"a \u202e\xa0b"), ("a \ufe0f b", r"a\x20\ufe0f\x20b"), ("a \u034f b", r"a\x20\u034f\x20b"),
        ("a\u3164\u2800b", r"a\u3164\u2800b"), ("\u2764\ufe0f", "\u2764\ufe0f"),
    ],
)  # fmt: skip
def test_a_name_is_one_field(text: str, shown: str) -> None:
    """Two spaces separate fields, a colon and a space a name from what is said of it."""
    assert one_field(text) == before_colon(text) == shown
    assert proved(Fraction(1, 4), "entailment").line(text).startswith(f"PROVED      {shown}  class 3  projection  ")
    lost = Verdict(Status.MALFORMED, "malformed", f"found <{text}>").line("x")
    assert lost.count("  ") == 2 and lost.startswith("MALFORMED   x  malformed: found <")
    assert before_colon(f"{text}: PROVED: b") == f"{one_field(f'{text}:')}\\x20PROVED:\\x20b"


# The command: one line for each certificate, the most severe exit code, one bad file never stops the rest.


IMAGE = [[0.0, 0.0]]
HEAD = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [1.0, 1.0]])
OWN = files.patch_statement(0, 0, 0.0, 0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, data in {
        "head": HEAD,
        "latents": files.latents([IMAGE]),
        "good": files.certificate(HEAD, [OWN], image=IMAGE, minimality=True),
        "weak": files.certificate(HEAD, [], image=IMAGE),
        "swapped": files.certificate(HEAD, [OWN], image=IMAGE, predicted=1),
        "broken": b"{",
        "false": files.certificate(HEAD, [files.patch_statement(0, 0, 1.0, 1.0)], image=IMAGE),
        "fat": files.certificate(HEAD, [OWN, files.patch_statement(0, 1, 2.0, 2.0)], minimality=True),
        "alone": files.certificate(HEAD, [OWN]),
        "foreign": files.certificate(HEAD + b" ", [OWN]),
    }.items():
        (tmp_path / name).write_bytes(data)
    return tmp_path


def run(folder: Path, *names: str, options: tuple[str, ...] = ()) -> int:
    return main([*(str(folder / name) for name in names), "--head", str(folder / "head"), *options])


@every(
    ("name", "code", "status"),
    [
        ("good", 0, "PROVED"), ("weak", 3, "NOT_PROVED"), ("swapped", 4, "REFUTED"), ("broken", 5, "MALFORMED"),
        ("foreign", 6, "NOT_PROVED"), ("false", 7, "NOT_PROVED"), ("fat", 8, "NOT_PROVED"),
        ("alone", 14, "PROVED"),
    ],
)  # fmt: skip
def test_exit_codes(folder: Path, name: str, code: int, status: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--latents", str(folder / "latents"), "--kernel", "both", "--minimality")
    assert run(folder, name, options=options) == code
    out, err = capsys.readouterr()
    assert out.startswith(f"{status:<10}  {folder / name}  ")
    assert (out.count("\n"), err) == (1, "")


def test_one_bad_file_never_stops_the_rest(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "broken", "nowhere", "good", "weak") == 5
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()] == ["MALFORMED", "PROVED", "NOT_PROVED"]
    assert "nowhere" in err
    assert run(folder, "nowhere", "weak") == 9
    assert run(folder, "good") == 0


def test_json_is_one_object_a_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(folder, "good", "weak", "broken", options=("--json",)) == 5
    good, weak, broken = map(json.loads, capsys.readouterr().out.splitlines())
    assert (good["status"], good["claims"]["entailment"], good["statements"]) == ("PROVED", "proved", 1)
    assert good["certificate"] == str(folder / "good") and good["seconds"] > 0 and float(good["margin"]) > 0
    assert (weak["reason"], weak["exit_code"], weak["margin"]) == ("entailment", 3, None)
    assert (broken["status"], broken["predicted"]) == ("MALFORMED", None)


NEVER = "error: --deployment is not covered by the proof of the kernel proved, which kernel {} asks"


@every(
    ("arguments", "code", "said"),
    [
        *((f"good --head {head} {latents}", 9, "") for head, latents in (
            ("nowhere", ""), ("broken", ""), ("head", "--latents nowhere"), ("head", "--latents broken"))),
        ("", 2, "usage"), ("x", 2, "usage"), ("x --head y --kernel float", 2, "usage"),
        # Otherwise it would end after all other proofs, with nothing proved.
        *((f"good --head head --kernel {kernel} --deployment direct", 2, NEVER.format(kernel))
          for kernel in ("proved", "all")),
    ],
)  # fmt: skip
def test_what_cannot_be_used_ends_it(arguments: str, code: int, said: str, folder: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(folder)
    try:
        ended = main(arguments.split())
    except SystemExit as error:
        ended = error.code
    out, err = capsys.readouterr()
    assert (ended, out) == (code, "") and said in err and (code == 2 or err.startswith("error: "))
    remedy = "; leave it out, or choose one of proved-or-arb, arb, mpmath, both\n"
    assert err.endswith(remedy) == ("deployment" in said)


def test_as_a_module_with_a_name_that_is_no_text(folder: Path) -> None:
    odd = folder / "odd\udcff\n.json"
    odd.write_bytes((folder / "good").read_bytes())
    result = subprocess.run(
        [sys.executable, "-m", "verale.checker", odd, "--head", folder / "head"],
        capture_output=True, cwd=Path(__file__).parents[3], timeout=60, check=False,
    )  # fmt: skip
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout.count(b"\n") == 1
    assert b"odd\\udcff\\n.json" in result.stdout


def test_an_interrupt_is_one_line(folder: Path, capsys, monkeypatch) -> None:
    audit = FileAuditor.audit

    def interrupted(self: FileAuditor, path: str) -> Outcome:
        if path.endswith("weak"):
            raise KeyboardInterrupt
        return audit(self, path)

    monkeypatch.setattr(FileAuditor, "audit", interrupted)
    assert run(folder, "good", "weak", "swapped") == 130
    out, err = capsys.readouterr()
    assert out.startswith("PROVED") and out.count("\n") == 1
    assert err == "interrupted: 1 of 3 certificates are checked\n"


# What audits print, from whichever command.


def test_a_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    for line in ("é 漢 a\\n", "a\nb\r\t\x1b[2K\u202e\u2028\u200b\x85\udcff\0", json.dumps({"a": "\n\x7fé\u202e"})):
        print_line(line)
    assert capsys.readouterr().out == (
        'é 漢 a\\n\na\\nb\\r\\t\\x1b[2K\\u202e\\u2028\\u200b\\x85\\udcff\\x00\n{"a": "\\n\\u007f\\u00e9\\u202e"}\n'
    )
    unusable_line = "error: x\\nPROVED: gone\\nPROVED\n"
    print_outcome(unusable("x\nPROVED", "gone\nPROVED", {}), as_json=False)
    assert capsys.readouterr().err == unusable_line
