"""What a report's page holds, as a test reads it."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode
from html.parser import HTMLParser
from typing import Any

__all__ = ["Page"]


class Page(HTMLParser):
    """The elements of a page, and what its data blocks hold."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.blocks: list[tuple[dict[str, str | None], str]] = []
        self.text = data.decode()
        self.inside = False
        self.feed(self.text)
        self.data = json.loads(self.blocks_of("application/json")[0])
        self.rows = self.inflated("rows")
        self.details = [
            dict(zip(block, values, strict=True))
            for block in (self.inflated(f"d{number}") for number in range(len(self.data["blocks"])))
            for values in zip(*block.values(), strict=True)
        ]
        embedded = [self.element(f"i{number}") for number in range(max([-1, *self.rows["shown"]]) + 1)]
        self.images = [
            "" if image < 0 else embedded[image]
            for image, place in zip(self.rows["shown"], self.rows["full"], strict=True)
            if place >= 0
        ]

    def element(self, name: str) -> str:
        """What the element of this name holds."""
        (text,) = [text for attributes, text in self.blocks if attributes.get("id") == name]
        return text

    @property
    def everything(self) -> str:
        """All that the page says or holds, inflated."""
        deflated = ["rows", *(f"d{number}" for number in range(len(self.data["blocks"])))]
        known = {str(attributes.get("id")) for attributes, _ in self.blocks}
        deflated += [name for name in ("head-text", "network-text") if name in known]
        return "\n".join([self.text, *(zlib.decompress(b64decode(self.element(name))).decode() for name in deflated)])

    def inflated(self, name: str) -> dict[str, Any]:
        """An object that is deflated in the page."""
        inflated: dict[str, Any] = json.loads(zlib.decompress(b64decode(self.element(name))))
        return inflated

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "script":
            self.blocks.append((dict(attrs), ""))
            self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "script"

    def handle_data(self, data: str) -> None:
        if self.inside:
            attributes, before = self.blocks[-1]
            self.blocks[-1] = (attributes, before + data)

    def blocks_of(self, kind: str) -> list[str]:
        return [text.strip("\n") for attributes, text in self.blocks if attributes.get("type") == kind]
