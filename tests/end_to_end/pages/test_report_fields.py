"""Receptive fields on the page, in a real browser: which part of an image a patch can depend on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page
from support.reporting import folder_of, reported, written
from support.tabs import Tabs

from verale.certificate import Certificate, OrderStatement
from verale.report.collect import collect
from verale.report.verdicts import audited

FIELDS = {"size": [20, 30], "rows": [[0, 12], [8, 20]], "columns": [[0, 15], [5, 25], [15, 30]], "unknown": []}
"""Of a grid of 2 x 3 cells; as shares of the image, rows 0 to 0.6 and 0.4 to 1."""
WHOLE = FIELDS | {"rows": [[0, 20]] * 2, "columns": [[0, 30]] * 3}
IN_PIXELS = "details:has-text('Nothing outside of it') tbody tr"


@pytest.fixture(scope="module")
def framed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return reported(tmp_path_factory.mktemp("fields"), paradigm="top_k", receptive_fields=FIELDS)


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


def test_the_frame_is_the_receptive_field_of_the_outlined_patch(tabs, framed):
    """A close-up shows all of it, also of a prototype in its training image, and says so in its alternative text."""
    tab = tabs.open(framed, 0)
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


def test_the_table_has_the_fields_in_pixels(tabs, framed):
    tab = tabs.open(framed, 0)
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


def test_a_network_that_sees_everything_has_a_sentence(tabs, tmp_path):
    tab = certificate(tabs, tmp_path, WHOLE)
    assert "only says where the patch lies: it can depend on the whole image (its receptive field)." in seen(tab)
    assert tab.locator(".dashes").count() == 0 and tab.locator("text=What each patch can depend on").count() == 0
    views = {each.get_attribute("viewBox") for each in tab.locator(".prototypes .close").all()}
    assert views == {"0 0 100 100"}
    assert tab.locator(".prototypes .close .over").count() > 0


@pytest.mark.parametrize("fields", [None, FIELDS | {"rows": [[0, 20]]}], ids=["unknown", "of another grid"])
def test_what_is_not_known_is_not_drawn(fields, tabs, tmp_path):
    tab = certificate(tabs, tmp_path, fields)
    assert "this page does not know on how much (its receptive field)" in seen(tab)
    assert tab.locator(".dashes").count() == 0
    tab.click("text=Back to the list")
    tab.wait_for_selector("#overview")
    left_out = "Receptive fields are left out: those that source.json notes are of another latent grid."
    assert (left_out in tab.inner_text("main")) == (fields is not None)


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
    tab = certificate(tabs, tmp_path, fields, viewport={"width": 400, "height": 800})
    assert tab.locator(".dashes").count() == 0
    tab.click("summary:has-text('What each patch can depend on')")
    lines = tab.locator(IN_PIXELS).all_inner_texts()
    assert lines and all(line.endswith("nothing of the image\t0 %") for line in lines)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
