"""What a page holds: the certificates that it shows in full, their details in blocks; their images; and the prototypes,
what they stand for, where they come from, and their pictures, each once.

What is said of one certificate is much like what is said of others, so some are deflated together: a page of many has
less than half the bytes. To show one, a browser inflates its block.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from verale.errors import InputError
from verale.report.collect import Collection, Item
from verale.report.page_check import deflated
from verale.report.page_detail import Details
from verale.report.page_list import with_pictures
from verale.report.thumbnails import ImageFile, Thumbnails, Window, to_draw, window_of

__all__ = ["EmbeddedPrototypes", "Full"]

_FRAME = 80
"""About the bytes around each block, and around each image."""
_TOGETHER, _BLOCK = 64, 2**18
"""The most certificates in a block, and about the most bytes of theirs."""


class _Entry(NamedTuple):
    """An item with its image as a data URI, empty without one; and, of a certificate that may be shown in full, its
    details, and the prototypes that add to its lead, where these are known."""

    item: Item
    picture: str
    detail: dict[str, object] | None
    adding: list[int] | None


class Full:
    """Blocks and images that fit into a page; they are added item by item, in the order of the list.

    Attributes:
        window: what the preprocessing leaves of images.
        blocks: each the details of some certificates: JSON, an object of lists, deflated.
        firsts: the number of the first certificate of each block.
        count: how many certificates there are.
        images: data URIs, each once.
        rows: for each item its number among the certificates here (`full`), the index of its image (`shown`), or -1;
            and the prototypes that the list pictures.
        unread: why images are not shown.
    """

    def __init__(self, details: Details, side: int, room: int) -> None:
        """With room for so many bytes, and images of at most `side` pixels a side."""
        self._details, self._room, self._collection = details, room, details.collection
        self._thumbnails, self.window = Thumbnails(side), window_of(self._collection.source.preprocessing)
        self._most = 1 if details.checking is not None else _TOGETHER  # questions to a checker may be long
        self._entries: list[_Entry] = []
        self._size = self.count = 0
        self._known: dict[str, int] = {}
        self.blocks: list[str] = []
        self.firsts: list[int] = []
        self.images: list[str] = []
        self.rows: dict[str, list[Any]] = {"full": [], "shown": [], "prototypes": []}
        self.unread: list[str] = []

    def add(self, item: Item) -> None:
        """Add an item. Raises InputError: latents that do not fit the head."""
        entry = _Entry(item, "", None, None)
        if item.certificate is not None and self._room > 0:
            picture = self._picture(item)
            entry = _Entry(item, picture, *self._details.told(item, item.certificate, picture))
            self._size += len(item.data)
        self._entries.append(entry)
        if len(self._entries) >= self._most or self._size > _BLOCK:
            self.finish()

    def finish(self) -> None:
        """Close the last block: with the first of its certificates, as many as fit."""
        told = [entry for entry in self._entries if entry.detail is not None]
        fitting = told
        while fitting:
            columns = {name: [entry.detail[name] for entry in fitting if entry.detail] for name in told[0].detail or ()}
            block = deflated(json.dumps(columns, separators=(",", ":")).encode())
            pictures = {entry.picture for entry in fitting if entry.picture}.difference(self._known)
            taken = len(block) + _FRAME + sum(len(picture) + _FRAME for picture in pictures)
            if taken < self._room:
                self._room -= taken
                self.blocks.append(block)
                self.firsts.append(self.count)
                break
            fitting = fitting[:-1]
        if len(fitting) < len(told):
            self._room = 0  # after the first that does not fit, none is added
        last = self.count + len(fitting)
        for entry in self._entries:
            self._enter(entry, entry.detail is not None and self.count < last)
        self._entries, self._size = [], 0

    def _enter(self, entry: _Entry, fits: bool) -> None:
        place = shown = -1
        if fits:
            place, self.count = self.count, self.count + 1
        if fits and entry.picture:
            shown = self._known.setdefault(entry.picture, len(self.images))
            if shown == len(self.images):
                self.images.append(entry.picture)
        named = entry.item.prototypes if entry.adding is None else entry.adding
        row = place, shown, with_pictures(self._collection, named)
        for column, value in zip(self.rows.values(), row, strict=True):
            column.append(value)

    def _picture(self, item: Item) -> str:
        """An item's image as a data URI; empty where none is shown."""
        file = to_draw(self._collection.source, item.image)
        if file is None:
            return ""
        try:
            return self._thumbnails.uri(file)
        except InputError as error:
            self.unread.append(f"{Path(file.path).name}: {error.problem}")
            return ""


@dataclass(frozen=True)
class EmbeddedPrototypes:
    """The prototypes of a page.

    Attributes:
        uris: their pictures as data URIs.
        parts: by prototype the place there of the picture of which it is proved to be a part, and its row and column.
        whole: by prototype the place of its own picture.
        prototypes: for each prototype the class it votes most for; of its training image the index, row, column, and
            place. Without a head only the prototypes that have a training image are known, by index.
        notes: what is missing, in sentences.
    """

    uris: list[str]
    parts: dict[int, list[int]]
    whole: dict[int, int]
    prototypes: list[Any] | dict[int, Any]
    notes: list[str]

    @property
    def shown(self) -> int:
        """How many prototypes have a picture."""
        noted = self.prototypes.items() if isinstance(self.prototypes, dict) else enumerate(self.prototypes)
        return len({*self.parts, *self.whole, *(j for j, (*_, place) in noted if place is not None)})

    @classmethod
    def of(cls, collection: Collection, made: Thumbnails, room: int, network: str | None) -> EmbeddedPrototypes:
        """Pictures of which prototypes are proved to be parts by the network with this digest, their own, then training
        images; what fits into `room` bytes."""
        from verale.report.estimates import favoured_classes

        album, source = _Album(room), collection.source

        def of_file(file: Path, window: Window) -> int | None:
            admitted = source.admitted(file)
            return None if admitted is None else album.place(file, partial(made.uri, ImageFile(admitted, window)))

        proved = {j: part for j in collection.origins if (part := collection.origin_of(j, network)) is not None}
        places = {j: album.place(picture.digest, partial(made.uri_of, picture)) for j, (picture, _) in proved.items()}
        parts = {j: [place, *proved[j][1]] for j, place in places.items() if place is not None}
        own = {j: of_file(file, Window()) for j, file in collection.pictures.items() if j not in parts}
        training = {j: one for j, one in source.origins.items() if one.file and j not in own and j not in parts}
        window = window_of(source.preprocessing)
        where: dict[int, list[int | None]] = {
            j: [one.image, one.row, one.column, of_file(one.file, window) if one.file and j in training else None]
            for j, one in source.origins.items()
        }
        if not (parts or own or training) and collection.head is not None and collection.embeds:
            album.notes.append(
                "The prototypes have no pictures. Put them into the folder prototypes beside the certificates"
                " (0000.png, 0001.png, ...), or say in source.json which patches of which training images they are"
                " (docs/report.md)."
            )
        if album.unread:
            album.notes.append(f"{album.unread} pictures of prototypes were moved, or cannot be read.")
        if album.left_out:
            said = f"they would take more than {room / 2**20:.3g} MiB (--max-size, --image-size)"
            album.notes.append(f"{album.left_out} pictures of prototypes are left out: {said}.")
        whole = {j: place for j, place in own.items() if place is not None}
        if collection.head is None:
            return cls(album.uris, parts, whole, {j: [None, *each] for j, each in where.items()}, album.notes)
        votes = enumerate(favoured_classes(collection.head))
        return cls(album.uris, parts, whole, [[vote, *where.get(j, [None] * 4)] for j, vote in votes], album.notes)


class _Album:
    """Pictures with room for so many bytes, each once."""

    def __init__(self, room: int) -> None:
        self.uris: list[str] = []
        self.notes: list[str] = []
        self.unread = self.left_out = 0
        self._room, self._places = room, dict[object, int | None]()

    def place(self, key: object, made: Callable[[], str]) -> int | None:
        """Where a picture is; None where it cannot be read, or has no room."""
        if key not in self._places:
            self._places[key] = self._added(made)
        return self._places[key]

    def _added(self, made: Callable[[], str]) -> int | None:
        try:
            uri = made()
        except InputError:
            self.unread += 1
            return None
        if len(uri) > self._room:
            self.left_out += 1
            return None
        self._room -= len(uri)
        self.uris.append(uri)
        return len(self.uris) - 1
