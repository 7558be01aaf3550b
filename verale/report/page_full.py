"""What a page holds: the certificates that it shows in full, in blocks, with all that is computed of them for readers;
their images; and the prototypes, what they stand for, where they come from, and their pictures, each once.

What is said of one certificate is much like what is said of others, so some are deflated together: a page of many has
less than half the bytes. To show one, a browser inflates its block.
"""

from __future__ import annotations

import io
from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from verale.certificate.words import about
from verale.checker.certificate import ActivationStatement, Certificate
from verale.errors import InputError, LatentsError, naming
from verale.report.account import Account, proved_account
from verale.report.collect import Collection, Item
from verale.report.estimates import Estimates, estimates_of, favoured_classes, given_and_taken, standing_of
from verale.report.explanation import conditions, named_prototypes, narrower
from verale.report.grid import Grid
from verale.report.page_check import Checking
from verale.report.templates import deflated
from verale.report.thumbnails import ImageFile, Window, thumbnail, to_draw, window_of

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields

_FRAME = 80
"""About the bytes around each block, and around each image."""
_TOGETHER, _BLOCK = 64, 2**18
"""The most certificates in a block, and about the most bytes of theirs."""
_PICTURED = 6
"""The most prototypes pictured in a line of the list."""
_SCORES = 5
"""The most classes whose scores are shown."""
_SCORE_DIGITS = range(4, 13)
_MAPS, _CELLS = 8, 2**10
"""The most prototypes, and patches, of which it is told how similar each patch is."""
_GREAT = 1e150
"""Similarities are drawn as if they were no greater."""


class _Entry(NamedTuple):
    """Of an item its image as a data URI, empty without one; the details of a certificate, if they may be shown; and
    the prototypes to picture in the list."""

    picture: str
    detail: dict[str, object] | None
    pictured: list[int]


class Full:
    """Blocks and images that fit into a page; they are added item by item, in the order of the list.

    Attributes:
        blocks: each the details of some certificates: JSON, an object of lists, deflated; `firsts` the number of the
            first certificate of each, `count` how many there are.
        images: data URIs, each once.
        rows: for each item its number among the certificates here (`full`), the index of its image (`shown`), or -1;
            and the prototypes that the list pictures.
        unread: why images are not shown.
    """

    def __init__(
        self,
        collection: Collection,
        checking: Checking | None,
        observable: str,
        fields: ReceptiveFields | None,
        side: int,
        room: int,
    ) -> None:
        """With room for so many bytes, and images of at most `side` pixels a side. `observable` is what comparing a
        patch with a prototype gives."""
        self._collection, self._checking, self._observable, self._fields = collection, checking, observable, fields
        self._room, self._side = room, side
        self.window = window_of(collection.source.preprocessing)
        self._most = 1 if checking is not None else _TOGETHER  # questions to a checker may be long
        self._entries: list[_Entry] = []
        self._size = self.count = 0
        self._known: dict[str, int] = {}
        self.blocks: list[str] = []
        self.firsts: list[int] = []
        self.images: list[str] = []
        self.rows: dict[str, list[Any]] = {"full": [], "shown": [], "prototypes": []}
        self.unread: list[str] = []

    @cached_property
    def _standing(self) -> Callable[[int, int], str] | None:
        """How an activation stands among those of all images, where known: asked for only where statements are about
        activations."""
        return None if self._collection.checked_head is None else standing_of(self._collection)

    def add(self, item: Item) -> None:
        """Add an item. Raises InputError: latents that do not fit the head."""
        picture, detail, adding = "", None, None
        if item.certificate is not None and self._room > 0:
            if (file := to_draw(self._collection.source, item.image)) is not None:
                try:
                    picture = thumbnail(file, self._side)
                except InputError as error:
                    self.unread.append(f"{Path(file.path).name}: {error.problem}")
            detail, adding = self._told(item, item.certificate, picture)
            self._size += len(item.data)
        named: Sequence[int] = adding or ()
        if adding is None and item.certificate is not None:
            named = named_prototypes(item.certificate, item.count)
        known = self._collection.pictures, self._collection.source.origins
        pictured = [j for j in named if any(j in each for each in known)][:_PICTURED]
        self._entries.append(_Entry(picture, detail, pictured))
        if len(self._entries) >= self._most or self._size > _BLOCK:
            self.finish()

    def finish(self) -> None:
        """Close the last block: with the first of its certificates, as many as fit."""
        told = [entry for entry in self._entries if entry.detail is not None]
        fitting = told
        while fitting:
            columns = {name: [entry.detail[name] for entry in fitting if entry.detail] for name in told[0].detail or ()}
            block = deflated(columns)
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
            place = shown = -1
            if entry.detail is not None and self.count < last:
                place, self.count = self.count, self.count + 1
                if entry.picture:
                    shown = self._known.setdefault(entry.picture, len(self.images))
                    self.images += [entry.picture] if shown == len(self.images) else []
            for column, value in zip(self.rows.values(), (place, shown, entry.pictured), strict=True):
                column.append(value)
        self._entries, self._size = [], 0

    def _told(self, item: Item, certificate: Certificate, picture: str) -> tuple[dict[str, object], list[int] | None]:
        """An item's certificate with estimates for people, and what the checker in the page is asked; also the
        prototypes that add to its proved lead, those that add most first; None where that is not known. `picture` is
        the image as a data URI, empty without one."""
        collection, account, now, standing = self._collection, None, [], {}
        head, numbers = collection.checked_head, collection.numbers
        if head is not None and numbers is not None and not (item.record and item.record["reason"] == "limit"):
            account = proved_account(item.data, certificate, head, numbers)
        with naming(collection.latents_path, LatentsError):
            image = collection.latents_of(item)
            estimates = estimates_of(certificate, collection.head, image)
        if account is not None and collection.head is not None and estimates.activations:
            # Of each rival that is told what the class gets, and what is taken back, at this image.
            rivals = [each.rival for each in account.closest]
            pairs = given_and_taken(collection.head, estimates, account.predicted, rivals)
            now = [[about(given), about(taken)] for given, taken in pairs]
        count, place = item.count, item.index
        active = [
            (number, statement.prototype)
            for number, statement in enumerate(certificate.statements)
            if isinstance(statement, ActivationStatement) and statement.prototype < (count or 0)
        ]
        if active and image is not None and place is not None and self._standing is not None:
            # By statement about an activation where the image's own stands among all images.
            standing = {number: self._standing(place, prototype) for number, prototype in active}
        grid, plain = collection.grid_of(certificate.patches, certificate.network), {}
        if picture and grid is not None and grid.rows * grid.columns > 1:
            patches = [getattr(each, "patch", None) for each in certificate.statements]
            patches += [*estimates.attained, *estimates.best]
            plain = plain_patches(picture, grid, {patch for patch in patches if patch is not None}, self._fields)
        file = item.name if item.path is None else str(item.path.relative_to(collection.folder))
        asked = narrower(certificate, count, file, collection.name_of, account, estimates.ahead)
        detail: dict[str, object] = {
            "text": item.data.decode(),
            "claim": item.claim(collection.name_of(certificate.predicted)),
            "grid": None if grid is None else asdict(grid),
            "similarity": [None if value is None else about(value) for value in estimates.similarity],
            "attained": estimates.attained if any(patch is not None for patch in estimates.attained) else [],
            "ahead": list(map(about, estimates.ahead)),
            "count": count,
            "conditions": conditions(certificate, self._observable.lower(), count),
            "second": estimates.second,
            "adds": [None if value is None else about(value) for value in estimates.adds],
            "heat": [sorted(estimates.heat), [about(estimates.heat[patch]) for patch in sorted(estimates.heat)]],
            "account": None if account is None else asdict(account),
            "now": now,
            "scores": _scores(certificate.predicted, estimates),
            "maps": {} if account is None else _maps(estimates, account),
            "narrower": None if asked is None else asdict(asked),
            "bounded": None if item.bounded is None else [item.bounded.prototypes, item.bounded.pairs],
            "standing": standing,
            "plain": plain,
            "questions": None if self._checking is None else self._checking.questions(certificate),
        }
        return detail, None if account is None else account.adding


def _scores(predicted: int, estimates: Estimates) -> list[list[object]]:
    """The classes with the greatest scores of this image, that of the certificate first, and about how much: with
    digits enough to tell how far each is from the next, to a per cent."""
    order = sorted(range(len(estimates.logits)), key=lambda c: (c != predicted, -estimates.logits[c]))[:_SCORES]
    shown = [estimates.logits[c] for c in order]
    texts: list[str] = []
    for digits in _SCORE_DIGITS:
        texts = [about(score, digits) for score in shown]
        pairs = zip(pairwise(shown), pairwise(map(float, texts)), strict=True)
        if all(abs((one - other) - (told - next_)) <= abs(one - other) / 100 for (one, other), (told, next_) in pairs):
            break
    return [[c, text] for c, text in zip(order, texts, strict=True)]


def _maps(estimates: Estimates, account: Account) -> dict[int, str]:
    """Of each stated prototype how similar each patch is to it: a digit from 0, the least of this image, to 9."""
    similar = estimates.similar
    if similar is None or len(similar) > _CELLS or not estimates.best:
        return {}
    maps = {}
    for line in account.stated[:_MAPS]:
        column = similar[:, line.prototype].clamp(-_GREAT, _GREAT)
        least, most = float(column.min()), float(column.max())
        if most > least:
            maps[line.prototype] = "".join(map(str, ((column - least) * (9 / (most - least))).round().int().tolist()))
    return maps


_RANGE = 24
"""Of 255 levels of grey: what spans fewer looks like one colour."""


def plain_patches(picture: str, grid: Grid, patches: set[int], fields: ReceptiveFields | None) -> dict[int, str]:
    """Of those of some patches whose squares are nearly of one colour, what their receptive fields hold beside: `more`,
    `plain` or `unknown`. `picture` is a data URI, base64, that the page made."""
    with Image.open(io.BytesIO(b64decode(picture.partition(",")[2]))) as opened:
        grey = opened.convert("L")
    wide, high = grey.size

    def is_plain(box: Sequence[float], across: float, down: float) -> bool:
        left, top = int(box[0] * across), int(box[1] * down)
        right, bottom = max(left + 1, round(box[2] * across)), max(top + 1, round(box[3] * down))
        least, most = grey.crop((left, top, right, bottom)).getextrema()
        return float(most) - float(least) < _RANGE

    found = {}
    for patch in patches:
        cell = grid.cell(patch)
        if cell is not None:
            row, column = cell
            if is_plain((column, row, column + 1, row + 1), wide / grid.columns, high / grid.rows):
                plain = fields is not None and is_plain(
                    fields.box(row, column), wide / fields.size[1], high / fields.size[0]
                )
                found[patch] = "unknown" if fields is None else "plain" if plain else "more"
    return found


@dataclass(frozen=True)
class EmbeddedPrototypes:
    """The prototypes of a page.

    Attributes:
        uris: their pictures as data URIs.
        parts: by prototype the place there of the picture of which it is proved to be a part, and its row and column.
        whole: by prototype the place of its own picture.
        prototypes: for each prototype the class it votes most for; of its training image the index, row, column, and
            place. Without a head only the prototypes that have a training image are known, by index.
    """

    uris: list[str]
    parts: dict[int, list[int]]
    whole: dict[int, int]
    prototypes: list[Any] | dict[int, Any]

    @property
    def shown(self) -> int:
        """How many prototypes have a picture."""
        noted = self.prototypes.items() if isinstance(self.prototypes, dict) else enumerate(self.prototypes)
        return len({*self.parts, *self.whole, *(j for j, (*_, place) in noted if place is not None)})

    @classmethod
    def of(
        cls, collection: Collection, side: int, room: int, network: str | None, notes: list[str]
    ) -> EmbeddedPrototypes:
        """Pictures of which prototypes are proved to be parts by the network with this digest, their own, then training
        images; what fits into `room` bytes. What is missing is noted."""
        source, left, unread, left_out = collection.source, room, 0, 0
        uris: list[str] = []
        places: dict[object, int | None] = {}

        def place(key: object, file: ImageFile) -> int | None:
            """Where a picture is; None where it cannot be read, or has no room."""
            nonlocal left, unread, left_out
            if key not in places:
                places[key] = None
                try:
                    uri = thumbnail(file, side)
                except InputError:
                    unread += 1
                    return None
                if len(uri) > left:
                    left_out += 1
                    return None
                left, places[key] = left - len(uri), len(uris)
                uris.append(uri)
            return places[key]

        def of_file(file: Path, window: Window) -> int | None:
            admitted = source.admitted(file)
            return None if admitted is None else place(file, ImageFile(admitted, window))

        parts: dict[int, list[int]] = {}
        for j in collection.origins:
            if (part := collection.origin_of(j, network)) is not None:
                picture, cell = part
                drawn = ImageFile("", picture=picture.digest, held=picture)
                if (where := place(picture.digest, drawn)) is not None:
                    parts[j] = [where, *cell]
        own = {j: of_file(file, Window()) for j, file in collection.pictures.items() if j not in parts}
        training = {j for j, one in source.origins.items() if one.file and j not in own and j not in parts}
        window = window_of(source.preprocessing)
        noted: dict[int, list[int | None]] = {
            j: [one.image, one.row, one.column, of_file(one.file, window) if one.file and j in training else None]
            for j, one in source.origins.items()
        }
        if not (parts or own or training) and collection.head is not None and collection.embeds:
            notes.append(
                "The prototypes have no pictures. Put them into the folder prototypes beside the certificates"
                " (0000.png, 0001.png, ...), or say in source.json which patches of which training images they are"
                " (docs/report.md)."
            )
        if unread:
            notes.append(f"{unread} pictures of prototypes were moved, or cannot be read.")
        if left_out:
            said = f"they would take more than {room / 2**20:.3g} MiB (--max-size, --image-size)"
            notes.append(f"{left_out} pictures of prototypes are left out: {said}.")
        whole = {j: where for j, where in own.items() if where is not None}
        if collection.head is None:
            return cls(uris, parts, whole, {j: [None, *each] for j, each in noted.items()})
        votes = enumerate(favoured_classes(collection.head))
        return cls(uris, parts, whole, [[vote, *noted.get(j, [None] * 4)] for j, vote in votes])
