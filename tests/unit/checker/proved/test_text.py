"""The text of heads, certificates and images: the grammar of its docstring, and the values of the files."""

from __future__ import annotations

import hashlib
from array import array
from fractions import Fraction
from typing import Any

import pytest
from support import files
from support.independent_text import (
    text_of_addition,
    text_of_certificate,
    text_of_head,
    text_of_image,
    text_of_network,
    text_of_prices,
)
from support.network_truth import network_of
from support.networks import layer, network_file, small_network

from verale.checker import Auditor, check
from verale.checker.certificate import read_certificate
from verale.checker.head import read_head
from verale.checker.proved import text as text_module
from verale.checker.proved.text import (
    addition_text,
    certificate_text,
    head_text,
    image_text,
    network_text,
    picture_text,
    prices_text,
)
from verale.checker.read.latents import Image
from verale.checker.read.network_file import read_network
from verale.checker.read.pictures import Picture
from verale.soundness.corpus.cases import Case, stored

POINTS = [[0.5, -0.75], [3.0, 2.0**-3]]
WEIGHT = [[1.0, 0.0], [0.0, 1.5]]


def of_head(data: bytes) -> str:
    line = head_text(read_head(data)).decode("ascii")
    assert line.endswith("\n") and line.count("\n") == 1
    return line[:-1]


def test_a_head_as_it_is_written() -> None:
    """Units: 8 of the prototypes and the domain, 2 of weights and biases."""
    assert of_head(files.head(WEIGHT, POINTS, [0.5, -1.0])) == (
        "head 2 2 2 euclidean log_ratio 1 400 max linear 8 2 2 4 -6 2 18 1 some 0 some 8 2 2 2 2 0 2 0 3 2 1 -2 1 0 1 0"
    )


def test_an_image_as_it_is_written() -> None:
    image = Image(array("d", [0.5, -0.0, 3.0, -4.25]), 2)
    first, second = b"3fe00000000000008000000000000000", b"4008000000000000c011000000000000"
    assert image_text(image) == b"image 2 %b %b\n" % (first, second)
    assert image_text(Image(image.values, 4)) == b"image 1 %b%b\n" % (first, second)
    assert image.values == array("d", [0.5, -0.0, 3.0, -4.25]), "as it was"


def test_an_image_is_written_alike_on_a_big_endian_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """There nothing is swapped; here that is seen as the bytes in the other order."""
    monkeypatch.setattr(text_module.sys, "byteorder", "big")
    assert image_text(Image(array("d", [0.5]), 1)) == b"image 1 000000000000e03f\n"


def test_the_smallest_and_the_greatest_numbers_fit() -> None:
    extremes = [[2.0**-1074, -(2.0**-1074)], [-1.7976931348623157e308, 5e300]]
    head = of_head(files.head(WEIGHT, extremes))
    words = head.split()
    assert f"{1 << 1074:x}" in words and f"-{int(Fraction(1.7976931348623157e308)) << 1074:x}" in words
    assert max(map(len, words)) < 600, "a number has at most 1024 digits"


def test_texts_of_the_corpora_are_those_of_the_independent_writer() -> None:
    for case in (case for case in stored() if case.status not in ("MALFORMED", "INPUT_ERROR")):
        head, certificate = read_head(case.head), read_certificate(case.certificate)
        assert head_text(head) == text_of_head(case.head), case.name
        assert certificate_text(certificate) == text_of_certificate(case.certificate), case.name
        prices = prices_text(certificate, len(head.weight.rows[0]))
        assert prices == text_of_prices(case.certificate, case.head), case.name
        assert addition_text(certificate) == text_of_addition(case.certificate), case.name
        for image in [] if case.latents is None else files.read_latents(case.latents):
            assert image_text(Image(array("d", files.flat(image)), head.depth)) == text_of_image(image), case.name


# The texts of networks and pictures are those of the independent writer.


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


def test_texts_of_networks_of_the_corpora_and_of_a_picture() -> None:
    for data in {case.network or b"" for case in pictured()}:
        assert network_text(read_network(data)) == text_of_network(data)
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
def test_a_picture_is_proved_where_the_program_says_so_and_only_there(answers, status, reason, questions, says) -> None:
    case, asked = pictured()[0], says(**answers)
    auditor = Auditor(case.head, None, "proved", network=case.network, pictures=case.pictures)
    verdict = auditor.check(case.certificate)
    assert (verdict.status.value, verdict.reason, asked.questions) == (status, reason, questions)
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
