"""The page's reasons: what carries the proved lead comes first, told and drawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image
from support.joint import joint_head
from support.reporting import folder_of, report_head

from verale.checker import Auditor
from verale.checker.certificate import Certificate, read_certificate
from verale.report.collect import Collection, collect
from verale.report.estimates import estimates_of
from verale.report.page import page
from verale.report.shares import Ledger, carried_by, ledger_of
from verale.report.verdicts import audited


@pytest.fixture(scope="module")
def report(tmp_path_factory) -> Path:
    """Twelve images with classes of long names, under a paradigm of many statements and one of few."""
    names = ("airplane", "hippopotamus", "Black-footed Albatross")
    folder = tmp_path_factory.mktemp("reasons") / "out"
    folder_of(folder, report_head(labels=names), "top_k", names=[f"{n}.png" for n in range(12)])
    (folder / "prototypes").mkdir()
    for number in range(report_head().size):
        Image.new("L", (8, 8), 20 * number).save(folder / "prototypes" / f"{number:04d}.png")
    path = folder / "report.html"
    path.write_bytes(page(audited(collect(folder)), "A report"))
    return path


def explained(collection: Collection, row: int) -> tuple[Certificate, Ledger]:
    """A certificate, and the ledger of its lead over the runner-up, as the checker proves it."""
    data = (collection.folder / f"{row:06d}.ale.json").read_bytes()
    certificate, head = read_certificate(data), collection.head
    assert head is not None and collection.latents is not None and collection.head_file is not None
    second = estimates_of(certificate, head, collection.latents[row : row + 1]).second
    assert second is not None
    made = ledger_of(certificate, head, Auditor(collection.head_file.data).numbers(data), second)
    assert made is not None
    return certificate, made


OUTSIDE = """() => [...document.querySelectorAll('.prototypes > li')].flatMap((card) => {
  const box = card.getBoundingClientRect();
  const parts = [...card.querySelectorAll('svg, figure, .says, small')].map((one) => one.getBoundingClientRect());
  return parts.filter((one) => one.width && (one.right > box.right + 1 || one.bottom > box.bottom + 1)); }).length"""
BROKEN = """() => [...document.querySelectorAll('#table [data-key=predicted] bdi')].filter((name) => {
  const line = parseFloat(getComputedStyle(name).lineHeight) || 24, words = name.textContent.split(' ').length;
  return name.getBoundingClientRect().height > line * words * 1.5; }).length"""


@pytest.mark.parametrize("width", [1300, 800, 360])
def test_nothing_leaves_its_card_and_no_word_is_broken(tabs, report, width):
    tab = tabs.open(report, viewport={"width": width, "height": 900})
    assert tab.evaluate(BROKEN) == 0
    for row in range(12):
        tab.goto(f"file://{report}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        assert tab.locator(".prototypes .close").count() > 0
        assert tab.evaluate(OUTSIDE) == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_guaranteed_is_said_once_and_by_whom(tabs, report):
    tab = tabs.open(report, "#certificate-0")
    tab.wait_for_selector("#title")
    said = tab.inner_text("section[aria-labelledby=why]")
    assert said.count("Guaranteed, by a checker that is itself proved right, in Rocq: wherever this holds") == 1
    assert said.count("Not guaranteed: ") == 1 and "Nothing else has to hold. These " in said
    assert " of the 11 other images here" in tab.inner_text(".prototypes"), "activations have a scale"
    assert "nearly of one colour" in tab.inner_text("#detail"), "as all of these images are"
    nobody = report.with_name("unaudited.html")
    nobody.write_bytes(page(collect(report.parent), "A report"))
    tab = tabs.open(nobody, "#certificate-0")
    tab.wait_for_selector("#title")
    assert "Guaranteed" not in tab.inner_text("#detail")


def test_where_the_lead_is_not_shared_out_nothing_is_said_of_shares(tabs, tmp_path):
    head = replace(joint_head("plain", prototypes=12), labels=("ant", "bee", "cat"))
    folder = folder_of(tmp_path / "out", head, "joint", grid=(1, 1))
    path = folder / "report.html"
    path.write_bytes(page(audited(collect(folder)), "A report"))
    tab = tabs.open(path, "#certificate-0")
    tab.wait_for_selector("#title")
    said = tab.inner_text("section[aria-labelledby=cards]")
    assert "does not say how much it owes to each" in said and "of the lead" not in said and "about" not in said


def test_the_list_pictures_the_prototypes_that_add_to_the_lead(tabs, report):
    tab = tabs.open(report)
    collection, rows = collect(report.parent), tab.evaluate("rows.prototypes")
    for row, shown in enumerate(rows):
        _, ledger = explained(collection, row)
        parts = [part for reason in ledger.reasons for part in reason.parts if part.amount > 0]
        assert shown == [part.prototype for part in sorted(parts, key=lambda part: -part.amount)][:6]


def test_what_carries_most_of_the_lead_comes_first(tabs, tmp_path):
    folder = folder_of(tmp_path / "out", paradigm="top_k")
    path = tmp_path / "report.html"
    path.write_bytes(page(audited(collect(folder)), "A report"))
    tab = tabs.open(path)
    collection = collect(folder)
    for row in range(4):
        tab.goto(f"file://{path}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        certificate, ledger = explained(collection, row)
        shares = tab.locator(".prototypes .share span").all_inner_texts()
        numbers = [0.5 if "less" in share else float(share.split(" ")[0]) for share in shares]
        assert numbers == sorted(numbers, reverse=True) and len(numbers) >= min(6, len(ledger.reasons))
        first = tab.inner_text(".prototypes > li >> nth=0")
        for said in carried_by(certificate, ledger.reasons[0]):
            assert said in first
        assert "adds about" not in tab.inner_text("#detail .prototypes"), "what this image adds is no part of the proof"
