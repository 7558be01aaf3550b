"""A real browser's tabs, for the tests of pages. None of them may complain, or ask anything of the network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright
from support.reporting import browser

__all__ = ["Tabs", "new_tab", "started_chromium"]


@contextmanager
def started_chromium() -> Iterator[Browser]:
    """A browser with one context, which tabs share unless they want another one.

    A tab of it stays open: its process serves the others too, which need not start one each.
    """
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=browser(playwright.chromium.executable_path), args=["--no-sandbox", "--disable-gpu"]
        )
        started.new_context().new_page()
        yield started
        started.close()


def new_tab(chromium: Browser, **options: object) -> Page:
    """A tab; one with options has a context of its own, which takes longer."""
    return chromium.new_page(**options) if options else chromium.contexts[0].new_page()


class Tabs:
    """Tabs on reports, and what they complained about and asked for."""

    def __init__(self, chromium: Browser) -> None:
        self._chromium = chromium
        self._opened: list[Page] = []
        self.complaints: list[str] = []
        self.asked: list[str] = []

    def open(self, path: Path, place: str = "", **options: object) -> Page:
        tab = new_tab(self._chromium, **options)
        self._opened.append(tab)
        tab.on("console", lambda message: self.complaints.append(message.text))
        tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        tab.on("request", lambda one: self.asked.append(one.url) if one.url.startswith(("http", "ws")) else None)
        tab.goto(f"file://{path}{place}")
        tab.wait_for_selector("html[data-ready]", state="attached")
        return tab

    def close(self) -> None:
        for tab in self._opened:
            tab.close()
