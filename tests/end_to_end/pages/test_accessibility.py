"""Every kind of page has nothing that axe finds wrong, on a screen and on a dark phone; with all that is folded open,
for of what is hidden axe says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import axe_playwright_python
import pytest
from playwright.sync_api import Browser, Page
from support.commands import in_process
from support.reporting import folder_of, report_head, written

from verale.report.collect import collect
from verale.report.verdicts import audited

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
SCREENS = ((1280, 900, "light"), (320, 640, "dark"))
"""Width, height, colours."""
KINDS = ("right", "wrong", "too long", "list", "compare", "rules", "attribution")


def found(tab: Page) -> list[str]:
    """What axe finds: each rule that is broken, with the first element that breaks it."""
    tab.evaluate(AXE)
    said: list[str] = tab.evaluate(
        "axe.run().then((all) => all.violations.map((one) => one.id + ': ' + one.nodes[0].html))"
    )
    return said


@pytest.fixture(scope="module")
def tab(chromium: Browser) -> Iterator[Page]:
    """A tab in which axe may run."""
    tab = chromium.new_page(bypass_csp=True)
    yield tab
    tab.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A page of each kind, by what it is: right, wrong and too long, the list, and those of other commands."""
    folder = tmp_path_factory.mktemp("kinds")
    head = report_head(labels=("airplane", "hippopotamus", "Black-footed Albatross"))
    short = folder_of(folder / "short", head, "readable", names=[f"{n}.png" for n in range(6)])
    long = folder_of(folder / "long", head, "projection", names=[f"{n}.png" for n in range(6)])
    shown = [audited(collect(each)) for each in (short, long)]
    for each in shown:
        written(each.folder / "report.html", each, provable=True)
    correct = [item.correct for item in shown[0].items]
    right, wrong = map(correct.index, (True, False))
    files = "--head", short / "head.safetensors", "--latents", short / "latents.safetensors"
    in_process("compare", short, long, "-o", folder / "compare.html")
    in_process("rules", *files, "--count", 2, "-o", folder / "rules")
    in_process("attribute", *files, "--count", 2, "--paradigm", "projection", "-o", folder / "attribution")
    return {
        "right": f"{short}/report.html#certificate-{right}",
        "wrong": f"{short}/report.html#certificate-{wrong}",
        "too long": f"{long}/report.html#certificate-0",
        "list": f"{short}/report.html",
        "compare": f"{folder}/compare.html",
        "rules": f"{folder}/rules/rules.html",
        "attribution": f"{folder}/attribution/attribution.html",
    }


@pytest.mark.parametrize(
    ("kind", "screen"),
    [  # a short run tries one of each kind, and of what is wrong none, a page like another
        pytest.param(kind, screen, marks=[pytest.mark.long] * (bool((number + at) % 2) or kind == "wrong"))
        for number, kind in enumerate(KINDS)
        for at, screen in enumerate(SCREENS)
    ],
)
def test_axe_finds_nothing(tab: Page, pages: dict[str, str], kind: str, screen: tuple[int, int, Any]) -> None:
    width, height, colours = screen
    tab.set_viewport_size({"width": width, "height": height})
    tab.emulate_media(color_scheme=colours)
    tab.goto(f"file://{pages[kind]}")
    if "report.html" in pages[kind]:
        tab.wait_for_selector("html[data-ready]", state="attached")
        dark = tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
        assert dark == (colours == "dark")
    tab.evaluate(OPEN)
    assert found(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_what_is_wrong_is_found(tab: Page) -> None:
    tab.set_content("<html lang=en><title>A</title><main><h1>A</h1><img src=a.png><p style='color: #ccc'>Pale</main>")
    assert [one.split(":")[0] for one in found(tab)] == ["color-contrast", "image-alt"]
