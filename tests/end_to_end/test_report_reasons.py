"""The page's reasons: what carries the proved lead comes first, told and drawn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from support.reporting import folder_of
from support.tabs import Tabs, started_chromium

from verale.checker.certificate import read_certificate
from verale.report.collect import collect
from verale.report.ends import ProvedEnds
from verale.report.estimates import estimates_of
from verale.report.page import page
from verale.report.shares import carried_by, ledger_of
from verale.report.verdicts import audited


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with started_chromium() as started:
        yield started


@pytest.fixture
def tabs(chromium) -> Iterator[Tabs]:
    opened = Tabs(chromium)
    yield opened
    opened.close()
    assert opened.complaints == [] and opened.asked == []


def test_what_carries_most_of_the_lead_comes_first(tabs, tmp_path):
    folder = folder_of(tmp_path / "out", paradigm="top_k")
    path = tmp_path / "report.html"
    path.write_bytes(page(audited(collect(folder)), "A report"))
    tab = tabs.open(path)
    collection = collect(folder)
    for row in range(4):
        tab.goto(f"file://{path}#certificate-{row}")
        tab.wait_for_selector(f"#detail[data-row='{row}']")
        certificate = read_certificate((folder / f"{row:06d}.ale.json").read_bytes())
        second = estimates_of(certificate, collection.head, collection.latents[row : row + 1]).second
        ledger = ledger_of(certificate, ProvedEnds(collection.head), second)
        shares = tab.locator(".prototypes .share span").all_inner_texts()
        numbers = [0.5 if "less" in share else float(share.split(" ")[0]) for share in shares]
        assert numbers == sorted(numbers, reverse=True) and len(numbers) >= min(6, len(ledger.reasons))
        first = tab.inner_text(".prototypes > li >> nth=0")
        for said in carried_by(certificate, ledger.reasons[0]):
            assert said in first
        assert "adds about" not in tab.inner_text("#detail .prototypes"), "what this image adds is no part of the proof"
