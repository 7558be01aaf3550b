"""Pages of pictures, in a real browser: their proof is told, not denied, mistakes are as labelled, and beside
prototypes stand the pictures that they are proved to be parts of."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from support.reporting import written
from support.seen import explained_pictures

from verale.certificate.words import LABELS, not_proved
from verale.checker.options import AuditOptions
from verale.report.collect import Collection, collect
from verale.report.verdicts import audited, told_origins
from verale.runs.origins import OriginSearch

HOW = {"real": "in real arithmetic", "float32": "in float32, in any order of sums"}
IN_LIST = {"real": "real arithmetic", "float32": "float32"}
LAYERS = "the network\N{RIGHT SINGLE QUOTATION MARK}s first layers give, for the bytes of the picture, "


@pytest.fixture(scope="module")
def explained() -> dict[str, Collection]:
    return {arithmetic: audited(collect(explained_pictures(arithmetic)), AuditOptions("arb")) for arithmetic in HOW}


def detail(tabs, collection: Collection, path: Path, row: int = 0) -> str:
    return " ".join(tabs.open(written(path, collection), row).inner_text("#detail").split())


@pytest.mark.parametrize("arithmetic", HOW)
def test_the_proof_of_the_picture_is_told(arithmetic, explained, tabs, tmp_path) -> None:
    said = detail(tabs, explained[arithmetic], tmp_path / "r.html")
    assert f"from the bytes of the picture: {HOW[arithmetic]}, the network" in said
    assert "s first layers compute latents that satisfy the statements; and for every picture whose" in said
    assert said.count(not_proved({"picture"})) == said.count("Not proved: ") == 1
    assert "what the first layers compute of an image" not in said and "make latents from images" not in said
    assert f"latents of which the statements are true (picture, {IN_LIST[arithmetic]})" in said
    assert f"proved: {LAYERS}" in said and "The picture shown is the one that was proved." in said


def test_of_a_picture_that_was_not_checked_nothing_is_guaranteed(explained, tabs, tmp_path) -> None:
    folder = shutil.copytree(explained["real"].folder, tmp_path / "out")
    (folder / "network.safetensors").unlink()
    said = detail(tabs, audited(collect(folder)), tmp_path / "r.html")
    assert "Not proved: anything about the first layers, which make latents from images" in said
    assert "from the bytes of the picture" not in said and f"not checked: {LAYERS.split(',')[0]}" in said
    assert "The image is the picture that the certificate names." in said


def test_what_is_proved_for_float32_is_not_denied(explained, tabs, tmp_path) -> None:
    """A verdict on a deployed head comes from an audit log."""

    def deployed(item):
        record = json.loads(json.dumps(item.record))
        record["run"]["deployment"] = {"formula": "direct", "log": 4, "exp": 4, "sqrt": 1}
        record["claims"]["deployment"] = "proved"
        return record

    said = detail(tabs, explained["float32"].with_records(deployed, "read from a log"), tmp_path / "r.html")
    assert "the head, computed in float32, gives the class too (deployment, direct, log=4,exp=4,sqrt=1)" in said
    assert "round to the same class" not in said and not_proved({"picture", "deployment"}) in said


def test_a_mistake_is_told_as_labelled(explained, tabs, tmp_path) -> None:
    collection, path = explained["real"], tmp_path / "r.html"
    rows = {item.correct: row for row, item in enumerate(collection.items)}
    assert rows.keys() == {True, False}, "of both kinds there is one"
    name = collection.name_of(collection.items[rows[False]].label)
    assert "the network is right, as labelled" in detail(tabs, collection, path, rows[True])
    assert f"the network is wrong: the true class is {name}, as labelled" in detail(tabs, collection, path, rows[False])
    tab = tabs.open(path)
    assert LABELS in tab.inner_text("main") and "True class, as labelled" in tab.inner_text("#table")


def test_beside_each_prototype_stands_the_picture_that_it_is_a_part_of(explained, tabs, tmp_path) -> None:
    collection = explained["real"]
    head, network, pictures = (collection.folder.parent / name for name in ("h", "n", "p.safetensors"))
    found = tmp_path / "origins.json"
    OriginSearch(head, network, pictures, found, False).run()
    told = told_origins(found, collection.head_file, network, pictures, "arb")
    tab = tabs.open(written(tmp_path / "report.html", replace(collection, origins=told)), 0)
    said = tab.locator("small.origin").all_text_contents()
    captions = {each.caption for each in told.values()}
    assert said and set(said) <= captions and all("this part of this picture, " in each for each in captions)
    assert tab.locator('.close[aria-label^="prototype "]').count() > 0
    assert "training image" not in tab.inner_text("main")
