"""A page of pictures, in a real browser: their proof is told, not denied, and mistakes are as labelled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.reporting import written
from support.seen import explain_pictures, write_pictures

from verale.certificate.words import LABELS, not_proved
from verale.checker.options import AuditOptions
from verale.report.collect import Collection, collect
from verale.report.verdicts import audited

HOW = {"real": "in real arithmetic", "float32": "in float32, in any order of sums"}
IN_LIST = {"real": "real arithmetic", "float32": "float32"}


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = write_pictures(tmp_path_factory.mktemp("pictures"))
    for arithmetic in HOW:
        assert explain_pictures(folder, "--arithmetic", arithmetic, out=arithmetic).returncode == 0
    return {arithmetic: folder / arithmetic for arithmetic in HOW}


def detail(tabs, collection: Collection, path: Path, row: int = 0) -> str:
    tab = tabs.open(written(path, collection), f"#certificate-{row}")
    tab.wait_for_selector("#title")
    return " ".join(tab.inner_text("#detail").split())


@pytest.mark.parametrize("arithmetic", HOW)
def test_the_proof_of_the_picture_is_told(arithmetic, explained, tabs, tmp_path) -> None:
    said = detail(tabs, audited(collect(explained[arithmetic])), tmp_path / "r.html")
    assert f"from the bytes of the picture: {HOW[arithmetic]}, the network" in said
    assert "s first layers compute latents that satisfy the statements; and for every picture whose" in said
    assert said.count(not_proved({"picture"})) == said.count("Not proved: ") == 1
    assert "what the first layers compute of an image" not in said and "make latents from images" not in said
    assert f"latents of which the statements are true (picture, {IN_LIST[arithmetic]})" in said
    assert (
        "proved: the network\N{RIGHT SINGLE QUOTATION MARK}s first layers give, for the bytes of the picture, " in said
    )
    assert "The picture shown is the one that was proved." in said


def test_of_a_picture_that_was_not_checked_nothing_is_guaranteed(explained, tabs, tmp_path) -> None:
    (explained["real"] / "network.safetensors").rename(tmp_path / "n")
    try:
        said = detail(tabs, audited(collect(explained["real"])), tmp_path / "r.html")
    finally:
        (tmp_path / "n").rename(explained["real"] / "network.safetensors")
    assert "Not proved: anything about the first layers, which make latents from images" in said
    assert (
        "from the bytes of the picture" not in said
        and "not checked: the network\N{RIGHT SINGLE QUOTATION MARK}s first layers give" in said
    )
    assert "The image is the picture that the certificate names." in said


def test_what_is_proved_for_float32_is_not_denied(explained, tabs, tmp_path) -> None:
    """A verdict on a deployed head comes from an audit log."""
    collection = audited(collect(explained["float32"]), AuditOptions("arb"))

    def deployed(item):
        deployment = {"formula": "direct", "log": 4, "exp": 4, "sqrt": 1}
        record = json.loads(json.dumps(item.record))
        record["run"]["deployment"], record["claims"]["deployment"] = deployment, "proved"
        return record

    said = detail(tabs, collection.with_records(deployed, "read from a log"), tmp_path / "r.html")
    assert "the head, computed in float32, gives the class too (deployment, direct, log=4,exp=4,sqrt=1)" in said
    assert "round to the same class" not in said and not_proved({"picture", "deployment"}) in said


def test_a_mistake_is_told_as_labelled(explained, tabs, tmp_path) -> None:
    collection = audited(collect(explained["real"]))
    seen = set()
    for row, item in enumerate(collection.items):
        said = detail(tabs, collection, tmp_path / f"{row}.html", row)
        name = collection.name_of(item.label)
        told = (
            "the network is right, as labelled"
            if item.correct
            else f"the network is wrong: the true class is {name}, as labelled"
        )
        assert told in said
        seen.add(item.correct)
    assert seen == {True, False}, "of both kinds there is one"
    tab = tabs.open(tmp_path / "0.html")
    assert LABELS in tab.inner_text("main") and "True class, as labelled" in tab.inner_text("#table")
