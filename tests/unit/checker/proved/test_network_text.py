"""The texts of networks and pictures are those of the independent writer."""

from __future__ import annotations

import hashlib

import pytest
from checker_mutants.attacks.proved_pictures import every_kind, pictured_verdicts, texts_of_networks_differ
from checker_mutants.mutant import injected
from support.independent_network_text import text_of_network
from support.network_truth import network_of
from support.networks import layer, small_network

from verale.checker import check
from verale.checker.proved.text import network_text
from verale.checker.read.network_file import read_network
from verale.soundness.corpus.cases import stored


@pytest.mark.parametrize("data", [small_network(), every_kind()], ids=["small", "every kind"])
def test_texts_are_those_of_the_independent_writer(data: bytes) -> None:
    assert network_text(read_network(data)) == text_of_network(data)


def test_texts_and_verdicts_withstand_the_attacks() -> None:
    with injected({}) as module:
        assert texts_of_networks_differ(module, "proved") == ""
        assert pictured_verdicts(module, "proved") == ""


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


@pytest.mark.parametrize("kind", ["clamp", "multiply", "inverse_root"])
def test_a_layer_that_networks_seldom_have_is_computed(kind: str, proved_checker: str, monkeypatch) -> None:
    """A clamp that leaves the latents as they are is proved; another layer makes others of them. By every kernel."""
    monkeypatch.setenv("VERALE_PROVED", proved_checker)
    case = next(case for case in stored("picture") if case.name == "picture/euclidean-top_k")
    network = network_of(case.network or b"")
    last = network.layers[-1]["name"]
    ends = {"lower": (-1e9).hex(), "upper": (1e9).hex()} if kind == "clamp" else {}
    network.layers.append(layer("more", kind, *[last] * (1 + (kind == "multiply")), **ends))
    digests = [hashlib.sha256(data).hexdigest().encode() for data in (case.network or b"", network.file())]
    given = {"network": network.file(), "pictures": case.pictures}
    for kernel in ("arb", "proved"):
        verdict = check(case.certificate.replace(*digests), case.head, kernel=kernel, **given)
        assert verdict.status.value == "PROVED" if kind == "clamp" else verdict.reason == "picture", kernel


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
