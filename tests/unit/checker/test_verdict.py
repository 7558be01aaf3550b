"""The verdict's line and exit codes."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter

import pytest

from verale.certificate.words import below
from verale.checker import Status, Verdict, most_severe
from verale.checker.certificate import Certificate, PatchStatement
from verale.checker.deployment import Deployment
from verale.checker.numbers import LatentsBox
from verale.checker.verdict import before_colon, line_of, one_field


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
        (Fraction(1, 81), "0.01234"),
        (Fraction(9999999, 10**6), "9.999"),
        (Fraction(1, 10**9), "1e-9"),
        (Fraction(1, 2**1074), "4.94e-324"),
        (Fraction(10**40) + Fraction(1, 3), "1e+40"),
        (Fraction(2), "2"),
        (Fraction(213631, 10**5), "2.136"),
    ],
)
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


def test_exit_codes() -> None:
    codes = {
        reason: Verdict(Status.NOT_PROVED, reason, "").exit_code
        for reason in (
            *("entailment", "margin", "kernels", "subject", "instance", "minimality", "refuted", "malformed"),
            *("witness", "unclaimed", "uncovered"),
        )
    }
    assert codes == {
        "entailment": 3, "margin": 3, "kernels": 3, "refuted": 4, "malformed": 5, "subject": 6, "instance": 7,
        "minimality": 8, "witness": 11, "unclaimed": 14, "uncovered": 15,
    }  # fmt: skip


def test_the_most_severe_decides() -> None:
    assert most_severe([]) == 9, "nothing audited is not proved"
    assert most_severe([0, 0]) == 0
    assert most_severe([0, 14]) == 14
    assert most_severe([14, 11]) == 11
    assert most_severe([14, 8]) == 8
    assert most_severe([8, 15, 14]) == 15
    assert most_severe([15, 12]) == 12
    assert most_severe([0, 8, 3]) == 3
    assert most_severe([3, 7, 8]) == 7
    assert most_severe([6, 7]) == 6
    assert most_severe([6, 9]) == 9
    assert most_severe([9, 5]) == 5
    assert most_severe([5, 4, 0]) == 4
    assert most_severe([]) == 9, "nothing was proved"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b c", "a b c"),
        ("a  class 0", r"a\x20\x20class 0"),
        (" a ", r"\x20a\x20"),
        ("a\t b\nc", r"a\t b\nc"),
        ("a \u202e\xa0b", r"a \u202e\xa0b"),
        ("a \ufe0f b", r"a\x20\ufe0f\x20b"),
        ("a \u034f b", r"a\x20\u034f\x20b"),
        ("a\u3164\u2800b", r"a\u3164\u2800b"),
        ("\u2764\ufe0f", "\u2764\ufe0f"),
    ],
)
def test_a_name_is_one_field(text: str, shown: str) -> None:
    """Two spaces separate fields, a colon and a space a name from what is said of it."""
    assert one_field(text) == before_colon(text) == shown
    assert proved(Fraction(1, 4), "entailment").line(text).startswith(f"PROVED      {shown}  class 3  projection  ")
    lost = Verdict(Status.MALFORMED, "malformed", f"found <{text}>").line("x")
    assert lost.count("  ") == 2 and lost.startswith("MALFORMED   x  malformed: found <")
    assert before_colon(f"{text}: PROVED: b") == f"{one_field(f'{text}:')}\\x20PROVED:\\x20b"
