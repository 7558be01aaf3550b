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
    """A browser with one tab, in which `Tabs` opens pages: a process for each page takes half as long again."""
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
    """A tab on one report after the other, and what they complained about and asked for."""

    def __init__(self, chromium: Browser) -> None:
        self._tab = chromium.contexts[0].pages[0]
        self.complaints: list[str] = []
        self.asked: list[str] = []
        self._noted: dict[str, Callable[[Any], object]] = {
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "request": lambda one: self.asked.append(one.url) if one.url.startswith(("http", "ws")) else None,
        }
        for event, noted in self._noted.items():
            self._tab.on(event, noted)

    def open(self, path: Path, row: int | None = None, width: int = 1280, dark: bool = False) -> Page:
        """The tab on a page in place of the one before, on the certificate in a row of the list if one is given."""
        if self._tab.viewport_size != (size := {"width": width, "height": 900}):
            self._tab.set_viewport_size(size)
        self._tab.emulate_media(media="screen", color_scheme="dark" if dark else "light")
        self._tab.goto(f"file://{path}")
        self._tab.wait_for_selector("html[data-ready]", state="attached")
        return self._tab if row is None else at(self._tab, row)

    def close(self) -> None:
        """Leave an empty page to the next test."""
        for event, noted in self._noted.items():
            self._tab.remove_listener(event, noted)
        self._tab.goto("about:blank")
