"""The prototypes in a page: what they stand for, where they come from, and their pictures, each once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from verale.errors import InputError
from verale.report.collect import Collection
from verale.report.thumbnails import ImageFile, Thumbnails, Window, window_of

__all__ = ["EmbeddedPrototypes"]


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
        """Pictures of which prototypes are proved to be parts, their own, then training images; what fits.

        Args:
            collection: what the page shows.
            made: makes the pictures small.
            room: the bytes that they may take.
            network: the digest of the network that certificates name; proved parts are of its pictures.
        """
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
