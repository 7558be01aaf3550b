"""The kernel `proved` and pictures: the texts of networks, and the verdicts that it makes of answers."""

from __future__ import annotations

from functools import cache

from checker_mutants.attacks.proved import Script, scripted
from checker_mutants.mutant import Import
from support.independent_network_text import text_of_network

from verale.soundness.corpus.cases import Case, stored

__all__ = ["pictured_verdicts", "texts_of_networks_differ"]

VERDICTS: list[tuple[Script, str, str, str]] = [
    ({}, "PROVED", "", "entails pictured"),
    ({"pictured": "not proved"}, "NOT_PROVED", "picture", "entails pictured pictured"),
    ({"pictured": "limit"}, "NOT_PROVED", "limit", "entails pictured"),
    ({"pictured": "not covered"}, "NOT_PROVED", "uncovered", "entails pictured"),
    ({"entails": "not proved"}, "NOT_PROVED", "entailment", "entails entails"),
]
"""Answers, the verdict on a certificate that claims a picture, and what is asked."""


@cache
def _cases() -> list[Case]:
    return [case for case in stored("picture") if case.status == "PROVED" and case.network and case.pictures]


def texts_of_networks_differ(module: Import, kernel: str) -> str:
    """The texts are those of the independent writer."""
    written, network = module("proved.text"), module("read.network_file")
    for case in _cases():
        data = case.network or b""
        if written.network_text(network.read_network(data)) != text_of_network(data):
            return f"the network of {case.name}"
    picture = module("read.pictures").Picture((1, 1, 3), b"\x00\x1a\xff")
    return "" if written.picture_text(picture) == b"picture 001aff\n" else "a picture"


def pictured_verdicts(module: Import, kernel: str) -> str:
    """A picture is proved where the program says so, and only there."""
    checker, case = module(""), _cases()[0]
    for script, status, reason, questions in VERDICTS:
        with scripted(module, script) as asked:
            auditor = checker.Auditor(case.head, None, "proved", network=case.network, pictures=case.pictures)
            verdict = auditor.check(case.certificate)
        if (verdict.status.value, verdict.reason, " ".join(asked)) != (status, reason, questions):
            return f"{script}: {verdict.status.value} {verdict.reason}, asked {asked}"
        if ("picture" in verdict.by) != (status == "PROVED"):
            return f"{script}: {verdict.claims}"
    return ""
