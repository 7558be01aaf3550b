"""The kernel `proved` and pictures: the texts of networks, and the verdicts that it makes of answers."""

from __future__ import annotations

from functools import cache
from typing import Any

from checker_mutants.attacks.proved import Script, scripted
from checker_mutants.mutant import Import
from support.independent_network_text import text_of_network
from support.networks import layer, network_file

from verale.soundness.corpus.cases import Case, stored

__all__ = ["every_kind", "pictured_verdicts", "texts_of_networks_differ"]

VERDICTS: list[tuple[Script, str, str, str]] = [
    ({}, "PROVED", "", "entails pictured"),
    ({"pictured": "not proved"}, "NOT_PROVED", "picture", "entails pictured pictured"),
    ({"pictured": "limit"}, "NOT_PROVED", "limit", "entails pictured"),
    ({"pictured": "not covered"}, "NOT_PROVED", "uncovered", "entails pictured"),
    ({"entails": "not proved"}, "NOT_PROVED", "entailment", "entails entails"),
]
"""Answers, the verdict on a certificate that claims a picture, and what is asked."""


def every_kind() -> bytes:
    """A network of layers of every kind that the program knows but `linear`."""
    layers = [
        layer("a", "conv2d", "picture", stride=[1, 2], padding=[1, 0], dilation=[2, 1]),
        layer("b", "leaky_relu", "a"),
        layer("c", "tanh", "b"),
        layer("d", "add", "b", "c"),
        layer("e", "concat", "c", "d"),
        layer("f", "upsample_nearest", "e", scale=[2, 3]),
        layer("g", "max_pool2d", "f", kernel=[2, 3], stride=[1, 2], padding=[1, 0]),
        layer("h", "avg_pool2d", "g", kernel=[1, 2], stride=[1, 1], padding=[0, 1]),
        layer("i", "relu", "h"),
        layer("j", "sigmoid", "i"),
        layer("k", "clamp", "j", lower=(-0.25).hex(), upper=(0.3).hex()),
        layer("l", "multiply", "j", "k"),
        layer("m", "inverse_root", "l"),
        layer("n", "flatten", "m"),
    ]
    tensors: dict[str, Any] = {"a.weight": [[[[0.1, -2.0], [3.0, 0.5]]]] * 2, "a.bias": [0.0, -0.3]}
    return network_file(layers, tensors)


@cache
def _cases() -> list[Case]:
    return [case for case in stored("picture") if case.status == "PROVED" and case.network and case.pictures]


def texts_of_networks_differ(module: Import, kernel: str) -> str:
    """The texts are those of the independent writer."""
    written, network = module("proved.text"), module("read.network_file")
    for name, data in [("every kind", every_kind()), *((case.name, case.network or b"") for case in _cases())]:
        if written.network_text(network.read_network(data)) != text_of_network(data):
            return f"the network of {name}"
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
