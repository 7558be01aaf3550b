"""What several of these tests share: a browser, and tabs of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from support.tabs import Tabs, started_chromium


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """Not one a session: no other test can run an event loop of asyncio beside it."""
    with started_chromium() as started:
        yield started


@pytest.fixture
def tabs(chromium: Browser) -> Iterator[Tabs]:
    """Tabs, none of which may have complained or asked for anything."""
    opened = Tabs(chromium)
    yield opened
    opened.close()
    assert opened.complaints == [] and opened.asked == []
