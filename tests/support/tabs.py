"""A real browser's tabs, for the tests of pages. None of them may complain, or ask anything of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright
from support.reporting import browser

__all__ = ["Tabs", "at", "started_chromium"]


@contextmanager
def started_chromium() -> Iterator[Browser]:
    """A browser with one context, which tabs share unless they want another one.

    A tab of it stays open, and `Tabs` opens pages in it: a process for each page takes half as long again.
    """
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=browser(playwright.chromium.executable_path), args=["--no-sandbox", "--disable-gpu"]
        )
        started.new_context().new_page()
        yield started
        started.close()


def at(tab: Page, row: int) -> Page:
    """The tab, on the certificate in a row of the list."""
    tab.evaluate("row => { location.hash = '#certificate-' + row; }", row)
    tab.wait_for_selector(f"#detail[data-row='{row}']:not([hidden])")
    return tab


class Tabs:
    """Tabs on reports, and what they complained about and asked for."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._shared = chromium.contexts[0]
        self._opened: list[Page] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._noted: dict[str, Callable[[Any], object]] = {
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "request": lambda one: self.asked.append(one.url) if one.url.startswith(("http", "ws")) else None,
        }

    def open(self, path: Path, row: int | None = None, **options: object) -> Page:
        """A page in a tab of its own, on the certificate in a row of the list if one is given; with options, which take
        longer, in a context of its own."""
        tab = self._chromium.new_page(**options) if options else self._free()
        self._opened.append(tab)
        for event, noted in self._noted.items():
            tab.on(event, noted)
        tab.goto(f"file://{path}")
        tab.wait_for_selector("html[data-ready]", state="attached")
        return tab if row is None else at(tab, row)

    def _free(self) -> Page:
        unused = (tab for tab in self._shared.pages if tab not in self._opened)
        return next(unused, None) or self._shared.new_page()

    def close(self) -> None:
        """Close all but one tab, which the next test begins with an empty page."""
        for tab in self._opened:
            if tab.context != self._shared or len(self._shared.pages) > 1:
                tab.close()
                continue
            for event, noted in self._noted.items():
                tab.remove_listener(event, noted)
            tab.goto("about:blank")
        self._opened.clear()
