"""Receptive fields on the page, in a real browser: which part of an image a patch can depend on."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from support.reporting import folder_of, reported, written
from support.seen import explained_pictures
from support.tabs import Tabs

from verale.certificate import Certificate, OrderStatement
from verale.certificate.words import LABELS, not_proved
from verale.checker.options import AuditOptions
from verale.report.collect import Collection, collect
from verale.report.verdicts import audited, told_origins
from verale.runs.origins import OriginSearch

FIELDS = {"size": [20, 30], "rows": [[0, 12], [8, 20]], "columns": [[0, 15], [5, 25], [15, 30]], "unknown": []}
"""Of a grid of 2 x 3 cells; as shares of the image, rows 0 to 0.6 and 0.4 to 1."""
WHOLE = FIELDS | {"rows": [[0, 20]] * 2, "columns": [[0, 30]] * 3}
IN_PIXELS = "details:has-text('Nothing outside of it') tbody tr"


def certificate(tabs: Tabs, folder: Path, fields: Any, paradigm: str = "top_k", **options: Any) -> Page:
    """The page of the first certificate of a folder whose `source.json` notes these fields."""
    return tabs.open(reported(folder, paradigm=paradigm, receptive_fields=fields), 0, **options)


def boxes(tab: Page, selector: str) -> list[tuple[float, ...]]:
    """Left, top, width and height, in parts of 100 of the picture."""
    shapes = tab.locator(selector).all()
    return [tuple(float(each.get_attribute(name)) for name in ("x", "y", "width", "height")) for each in shapes]


def cells(tab: Page) -> list[tuple[int, int]]:
    """Rows and columns of the outlined patches."""
    patches = [int(each.get_attribute("data-patch")) for each in tab.locator(".picture [data-patch]").all()]
    return [divmod(patch, 3) for patch in patches]


def seen(tab: Page) -> str:
    """What stands with the image, folded or not."""
    return tab.locator("#detail .seen").text_content() or ""


def expected(row: int, column: int) -> tuple[float, ...]:
    (left, right), (top, bottom) = FIELDS["columns"][column], FIELDS["rows"][row]
    return tuple(100 * each for each in (left / 30, top / 20, (right - left) / 30, (bottom - top) / 20))


def test_the_frame_is_the_receptive_field_of_the_outlined_patch(tabs, tmp_path):
    """A close-up shows all of it, also of a prototype in its training image, and says so in its alternative text; a
    table has it in pixels."""
    tab = certificate(tabs, tmp_path, FIELDS)
    outlined = cells(tab)
    assert 0 < len(outlined) <= 3
    assert boxes(tab, ".picture .field .dashes") == [pytest.approx(expected(*cell)) for cell in outlined]
    assert all(each.is_visible() for each in tab.locator(".picture .dashes").all())
    said = seen(tab)
    assert "Solid: the cell of a patch in the latent grid. Dashed: its receptive field" in said
    assert "Pointing" not in said
    shown = tab.locator(".prototypes .close:has(.dashes)").all()
    assert shown
    for each in shown:
        left, top, wide, high = map(float, each.get_attribute("viewBox").split())
        label = each.get_attribute("aria-label")
        x, y, across, down = boxes(tab, f'.prototypes .close[aria-label="{label}"] .dashes')[0]
        assert left < x and top < y and x + across < left + wide and y + down < top + high
        assert label.endswith(", its receptive field dashed")
    assert not tab.is_visible("text=Nothing outside of it")
    tab.focus("summary:has-text('What each patch can depend on')")
    tab.keyboard.press("Enter")
    assert tab.is_visible("text=in pixels of the image as the network gets it (30 by 20)")
    columns = ("columns 0 to 14", "columns 5 to 24", "columns 15 to 29")
    rows, share = ("rows 0 to 11", "rows 8 to 19"), ("30 %", "40 %", "30 %")
    assert tab.locator(IN_PIXELS).all_inner_texts() == [
        f"row {r}, column {c}\t{columns[c]}, {rows[r]}\t{share[c]}" for r, c in sorted(cells(tab))
    ]
    titles = tab.locator(".picture [data-patch] title").all_text_contents()
    assert all("; depends on columns " in title for title in titles)


def test_of_many_patches_that_which_is_pointed_at_has_a_frame(tabs, tmp_path):
    tab = certificate(tabs, tmp_path, FIELDS, "projection")
    assert len(cells(tab)) > 3
    frames = tab.locator(".picture .dashes")
    assert not any(each.is_visible() for each in frames.all())
    tab.hover('.picture [data-patch="0"] > .over')
    assert [each.is_visible() for each in frames.all()].count(True) == 1
    assert "Pointing at a patch shows its frame." in seen(tab)
    tab.click("#all-statements > summary")
    tab.focus("#patch-4")
    assert tab.locator('.picture [data-patch="4"] .dashes').is_visible()


UNKNOWN = "this page does not know on how much (its receptive field)"
UNFRAMED = {
    "whole": (WHOLE, "only says where the patch lies: it can depend on the whole image (its receptive field)."),
    "unknown": (None, UNKNOWN),
    "of another grid": (FIELDS | {"rows": [[0, 20]]}, UNKNOWN),
}


@pytest.mark.parametrize("what", UNFRAMED)
def test_what_is_whole_or_not_known_is_not_drawn(what, tabs, tmp_path):
    fields, said = UNFRAMED[what]
    tab = certificate(tabs, tmp_path, fields)
    assert said in seen(tab)
    assert tab.locator(".dashes").count() == 0 and tab.locator("text=What each patch can depend on").count() == 0
    if what == "whole":
        views = {each.get_attribute("viewBox") for each in tab.locator(".prototypes .close").all()}
        assert views == {"0 0 100 100"} and tab.locator(".prototypes .close .over").count() > 0
    tab.click("text=Back to the list")
    tab.wait_for_selector("#overview")
    left_out = "Receptive fields are left out: those that source.json notes are of another latent grid."
    assert (left_out in tab.inner_text("main")) == (what == "of another grid")


def test_where_no_statement_is_about_a_patch_the_one_that_decides_most_is_framed(tabs, tmp_path):
    """Clauses alone: then nothing else would say what an orange square at the edge can depend on."""
    made = folder_of(tmp_path / "out", paradigm="top_k", receptive_fields=FIELDS)
    found = Certificate.load(made / "000000.ale.json")
    replace(found, statements=(OrderStatement((), 9.0),), minimal=False).save(made / "000000.ale.json")
    tab = tabs.open(written(tmp_path / "report.html", audited(collect(made / "000000.ale.json"))))
    said = seen(tab)
    assert "Outlined: the patch that decides most" in said and "Dashed" in said
    ((row, column),) = cells(tab)
    tab.click("text=How much each patch decides")
    lines = tab.locator("details:has-text('How much each patch decides') tbody tr").all_inner_texts()
    most = max((line.split("\t") for line in lines), key=lambda line: float(line[1]))
    assert most[0] == f"row {row}, column {column}"
    assert "statement" not in tab.locator(".picture [data-patch] title").first.text_content()
    tab.click(".picture [data-patch] > .over")
    assert tab.is_visible("#patch-null")


def test_of_padding_alone_nothing_is_framed(tabs, tmp_path):
    fields = FIELDS | {"rows": [[0, 0]] * 2}
    tab = certificate(tabs, tmp_path, fields, width=400)
    assert tab.locator(".dashes").count() == 0
    tab.click("summary:has-text('What each patch can depend on')")
    lines = tab.locator(IN_PIXELS).all_inner_texts()
    assert lines and all(line.endswith("nothing of the image\t0 %") for line in lines)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400


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
