"""The certificates that a page shows in full: their details in blocks, and their images.

What is said of one certificate is much like what is said of others, so some are deflated together: a page of many has
less than half the bytes. To show one, a browser inflates its block.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from verale.errors import InputError
from verale.report.collect import Item, read_item
from verale.report.page_check import deflated
from verale.report.page_detail import Details, InFull
from verale.report.page_list import pictured, with_pictures
from verale.report.thumbnails import Thumbnails, to_draw, window_of

__all__ = ["Full"]

_FRAME = 80
"""About the bytes around each block, and around each image."""
_TOGETHER, _BLOCK = 64, 2**18
"""The most certificates in a block, and about the most bytes of theirs."""


class Full:
    """Blocks and images that fit into a page; they are added item by item, in the order of the list.

    Attributes:
        window: what the preprocessing leaves of images.
        blocks: each the details of some certificates: JSON, an object of lists, deflated.
        firsts: the number of the first certificate of each block.
        count: how many certificates there are.
        images: data URIs, each once.
        places: for each item its number among the certificates here, or -1.
        shown: for each item the index of its image, or -1.
        prototypes: for each item those that the list pictures.
        unread: why images are not shown.
    """

    def __init__(self, shared: Details, side: int, room: int) -> None:
        """With room for so many bytes, and images of at most `side` pixels a side."""
        self._shared, self._room = shared, room
        self._thumbnails, self.window = Thumbnails(side), window_of(shared.collection.source.preprocessing)
        self._most = 1 if shared.checking is not None else _TOGETHER  # questions to a checker may be long
        self._items: list[Item] = []
        self._block: list[InFull] = []
        self._size = self.count = 0
        self._known: dict[bytes, int] = {}
        self.blocks: list[str] = []
        self.firsts: list[int] = []
        self.images: list[str] = []
        self.places: list[int] = []
        self.shown: list[int] = []
        self.prototypes: list[list[int]] = []
        self.unread: list[str] = []

    def add(self, item: Item) -> None:
        """Add an item. Raises InputError: a certificate that changed, latents that do not fit the head."""
        self._items.append(item)
        if item.summary is not None and self._room > 0:
            data, certificate = read_item(item)
            self._block.append(InFull(item, data, certificate, self._picture(item)))
            self._size += len(data)
        if len(self._items) >= self._most or self._size > _BLOCK:
            self.finish()

    def finish(self) -> None:
        """Close the last block."""
        told = self._shared.of_several(self._block)
        fitting, block = len(self._block), ""
        while fitting:
            details = [detail for detail, _ in told[:fitting]]
            columns = {name: [detail[name] for detail in details] for name in details[0]}
            block = deflated(json.dumps(columns, separators=(",", ":")).encode())
            taken = len(block) + _FRAME + self._size_of_images(self._block[:fitting])
            if taken < self._room:
                self._room -= taken
                break
            fitting -= 1
        if fitting < len(self._block):
            self._room = 0  # after the first that does not fit, none is added
        if fitting:
            self.blocks.append(block)
            self.firsts.append(self.count)
        adding = {id(each.item): prototypes for each, (_, prototypes) in zip(self._block, told, strict=True)}
        inside = {id(each.item): each for each in self._block[:fitting]}
        for item in self._items:
            self._enter(item, inside.get(id(item)), adding.get(id(item)))
        self._items, self._block, self._size = [], [], 0

    def _enter(self, item: Item, inside: InFull | None, adding: list[int] | None) -> None:
        place = shown = -1
        if inside is not None:
            place, self.count = self.count, self.count + 1
            if inside.picture:
                shown = self._known.setdefault(_digest(inside.picture), len(self.images))
                if shown == len(self.images):
                    self.images.append(inside.picture)
        self.places.append(place)
        self.shown.append(shown)
        collection = self._shared.collection
        self.prototypes.append(pictured(collection, item) if adding is None else with_pictures(collection, adding))

    def _picture(self, item: Item) -> str:
        """An item's image as a data URI; empty where none is shown."""
        file = to_draw(self._shared.collection.source, item.image)
        if file is None:
            return ""
        try:
            return self._thumbnails.uri(file)
        except InputError as error:
            self.unread.append(f"{Path(file.path).name}: {error.problem}")
            return ""

    def _size_of_images(self, shown: list[InFull]) -> int:
        """The bytes of those images that the page does not have yet."""
        sizes = {_digest(each.picture): len(each.picture) + _FRAME for each in shown if each.picture}
        return sum(size for digest, size in sizes.items() if digest not in self._known)


def _digest(picture: str) -> bytes:
    return hashlib.sha256(picture.encode()).digest()
