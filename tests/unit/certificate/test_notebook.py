"""What notebooks show of a certificate."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from math import inf

from support.small import small_head, small_latents

from verale.certificate import ActivationStatement, Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.certificate.words import below
from verale.search.explain import explain


def certificates(geometry: str, paradigm: str | None = None) -> list[Certificate]:
    head = small_head(geometry)
    return [one for one in explain(head, small_latents(head), paradigm) if isinstance(one, Certificate)]


class Tags(HTMLParser):
    """Which elements there are, and whether all are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: set[str] = set()
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)
        self.names.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_says_what_is_claimed_and_that_nobody_audited_it():
    for certificate in certificates("euclidean"):
        text = certificate._repr_html_()
        assert Tags(text).names <= {"div", "p", "b", "small", "table", "caption", "thead", "tbody", "tr", "th", "td"}
        assert f"the {certificate.size} statements about patches is classified as class {certificate.predicted}" in text
        assert f"at least {below(certificate.margin, 4)} below it" in text
        assert "not audited here" in text and "Not proved: anything about the network" in text
        assert certificate.head in text and "patch 0, prototype " in text
        assert "PROVED" not in text


def test_long_ones_stay_small():
    certificate = max(certificates("euclidean"), key=lambda one: one.size)
    assert certificate.size > 10 and f"Statements, 10 of {certificate.size}" in certificate._repr_html_()
    assert len(certificate._repr_html_()) < 4000


def test_statements_about_activations():
    (certificate, *_) = certificates("softmax", "top_k")
    text = certificate._repr_html_()
    assert "statements about activations" in text
    assert "every prototype but " in text and "</td><td>at most " in text


def test_statements_with_a_bound_on_one_side():
    (certificate, *_) = certificates("softmax", "top_k")
    statements = (
        PatchStatement(0, 1, -inf, 0.375),
        ActivationStatement(2, 0.4375, inf),
        OrderStatement((2, 5), 1.0),
        FloorStatement((2,), -1.0),
    )
    text = replace(certificate, statements=statements)._repr_html_()
    assert "the 4 statements about patches and activations is classified" in text
    for subject, bound in (
        ("patch 0, prototype 1", "at most 0.375"),
        ("activation of prototype 2", "at least 0.4375"),
        ("every prototype but 2 and 5", "at most 1"),
        ("every prototype but 2", "at least -1"),
    ):
        assert f"<td>{subject}</td><td>{bound}</td>" in text
    assert "inf" not in text


def test_what_a_file_may_hold_is_escaped():
    (certificate, *_) = certificates("euclidean")
    text = replace(certificate, paradigm="<script>alert(1)</script>")._repr_html_()
    assert "<script" not in text and "&lt;script&gt;" in text
