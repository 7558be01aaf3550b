"""The texts of networks and pictures are those of the independent writer."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from support.independent_text import text_of_network
from support.network_truth import network_of
from support.networks import layer, network_file, small_network
from support.proved import fake

from verale.checker import Auditor, check
from verale.checker.proved.text import network_text, picture_text
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.soundness.corpus.cases import Case, stored


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


@pytest.mark.parametrize("data", [small_network(), every_kind()], ids=["small", "every kind"])
def test_texts_are_those_of_the_independent_writer(data: bytes) -> None:
    assert network_text(read_network(data)) == text_of_network(data)


def pictured() -> list[Case]:
    return [case for case in stored("picture") if case.status == "PROVED" and case.network and case.pictures]


def test_texts_of_the_corpora_and_of_a_picture() -> None:
    for case in pictured():
        data = case.network or b""
        assert network_text(read_network(data)) == text_of_network(data), case.name
    assert picture_text(Picture((1, 1, 3), b"\x00\x1a\xff")) == b"picture 001aff\n"


@pytest.mark.parametrize(
    ("answers", "status", "reason", "questions"),
    [
        ({}, "PROVED", "", "entails pictured"),
        ({"pictured": "not proved"}, "NOT_PROVED", "picture", "entails pictured pictured"),
        ({"pictured": "limit: it"}, "NOT_PROVED", "limit", "entails pictured"),
        ({"pictured": "not covered: it"}, "NOT_PROVED", "uncovered", "entails pictured"),
        ({"entails": "not proved"}, "NOT_PROVED", "entailment", "entails entails"),
    ],
)
def test_a_picture_is_proved_where_the_program_says_so_and_only_there(
    answers: dict[str, str], status: str, reason: str, questions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, log = pictured()[0], tmp_path / "asked"
    told = f"None if question in ('head', 'network') else {answers!r}.get(question, 'proved')"
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"open({str(log)!r}, 'a').write(question + ' ')\nreturn {told}"))
    auditor = Auditor(case.head, None, "proved", network=case.network, pictures=case.pictures)
    verdict = auditor.check(case.certificate)
    asked = [question for question in log.read_text().split() if question not in ("head", "network")]
    assert (verdict.status.value, verdict.reason, " ".join(asked)) == (status, reason, questions)
    assert ("picture" in verdict.by) == (status == "PROVED")


def test_a_layer_that_the_program_does_not_know_is_refused_by_name(proved_checker: str, monkeypatch) -> None:
    """And another kernel is asked by default."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    case = next(case for case in stored("picture") if case.name == "picture/euclidean-top_k")
    network = network_of(case.network or b"")
    last = network.layers[-1]["name"]
    network.layers.append(layer("more", "gaussian", last))
    digests = [hashlib.sha256(data).hexdigest().encode() for data in (case.network or b"", network.file())]
    certificate = case.certificate.replace(*digests)
    assert certificate != case.certificate
    given = {"network": network.file(), "pictures": case.pictures}
    verdict = check(certificate, case.head, kernel="proved", **given)
    assert verdict.reason == "uncovered" and "not covered by the proof: the layer more (gaussian)" in verdict.message
    verdict = check(certificate, case.head, kernel="proved-or-arb", **given)
    assert verdict.reason == "picture" and "not covered" not in verdict.message


def test_float32_is_refused_by_name(proved_checker: str, monkeypatch) -> None:
    """Where certificates may claim it at all."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    monkeypatch.setattr("verale.checker.certificate.ARITHMETICS", ("real", "float32"))
    case = next(case for case in stored("picture") if case.name == "picture/euclidean-top_k")
    claimed = case.certificate.replace(b'"real"', b'"float32"')
    assert claimed != case.certificate
    verdict = check(claimed, case.head, kernel="proved", network=case.network, pictures=case.pictures)
    assert verdict.reason == "uncovered" and "picture in float32" in verdict.message
    assert verdict.claims["picture"] == "not checked"
