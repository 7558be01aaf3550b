"""Origins on the page, in a real browser: the proved picture with its patch outlined, and what is proved of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from support.reporting import written
from support.seen import explain_pictures, write_pictures
from support.tabs import Tabs

from verale.report.collect import collect
from verale.report.origins import told_origins
from verale.report.verdicts import audited
from verale.runs.origins import OriginSearch


def test_beside_each_prototype_stands_the_picture_that_it_is_a_part_of(tabs: Tabs, tmp_path: Path) -> None:
    where = [write_pictures(tmp_path) / name for name in ("h", "n", "p")]
    assert explain_pictures(tmp_path).returncode == 0
    OriginSearch(*where[:2], tmp_path / "p.safetensors", tmp_path / "origins.json", False).run()
    collection = audited(collect(tmp_path / "out"))
    assert collection.head_file is not None
    told = told_origins(tmp_path / "origins.json", collection.head_file, where[1], tmp_path / "p.safetensors", "arb")
    tab = tabs.open(written(tmp_path / "report.html", replace(collection, origins=told)), "#certificate-0")
    tab.wait_for_selector("#title")
    said = tab.locator("small.origin").all_text_contents()
    captions = {each.caption for each in told.values()}
    assert said and set(said) <= captions and all("this part of this picture, " in each for each in captions)
    assert tab.locator('.close[aria-label^="prototype "]').count() > 0
    assert "training image" not in tab.inner_text("main")
