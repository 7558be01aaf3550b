"""The details of certificates in the page: their bytes, and all that is computed of them for readers."""

from __future__ import annotations

import io
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from PIL import Image

from verale.certificate.words import about
from verale.checker.certificate import ActivationStatement, Certificate
from verale.report.account import Account, proved_account
from verale.report.collect import Collection, Item
from verale.report.explanation import conditions, narrower
from verale.report.grid import Grid
from verale.report.page_check import Checking

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields
    from verale.report.estimates import Estimates, Standing

__all__ = ["Details", "plain_patches"]

_SCORES = 5
"""The most classes whose scores are shown."""
_SCORE_DIGITS = range(4, 13)
_MAPS, _CELLS = 8, 2**10
"""The most prototypes, and patches, of which it is told how similar each patch is."""

_GREAT = 1e150
"""Similarities are drawn as if they were no greater."""


@dataclass(frozen=True, eq=False)
class Details:
    """What the details of all certificates of a page share.

    Attributes:
        collection: what the page shows.
        checking: the checker in the page; None without it.
        observable: what comparing a patch with a prototype gives.
        fields: the receptive fields of the patches; None where they are not known.
    """

    collection: Collection
    checking: Checking | None
    observable: str
    fields: ReceptiveFields | None

    @cached_property
    def _standing(self) -> Standing | None:
        """How activations stand among those of all images, where known."""
        from verale.report.estimates import Standing

        return None if self.collection.checked_head is None else Standing.of(self.collection)

    def told(self, item: Item, certificate: Certificate, picture: str) -> tuple[dict[str, object], list[int] | None]:
        """An item's certificate with estimates for people, and what the checker in the page is asked; also the
        prototypes that add to its proved lead, those that add most first; None where that is not known. `picture` is
        the image as a data URI, empty without one."""
        from verale.report.estimates import estimates_of_item

        collection, account = self.collection, self._account(item, certificate)
        estimates = estimates_of_item(collection, item, certificate)
        grid = collection.grid_of(certificate.patches, certificate.network)
        count = item.count
        predicted = collection.name_of(certificate.predicted)
        file = item.name if item.path is None else str(item.path.relative_to(collection.folder))
        asked = narrower(certificate, count, file, collection.name_of, account, estimates.ahead)
        detail: dict[str, object] = {
            "text": item.data.decode(),
            "claim": f"{item.claim(predicted)} {item.begun}".strip(),
            "grid": None if grid is None else asdict(grid),
            "similarity": [None if value is None else about(value) for value in estimates.similarity],
            "attained": estimates.attained if any(patch is not None for patch in estimates.attained) else [],
            "ahead": list(map(about, estimates.ahead)),
            "count": count,
            "conditions": conditions(certificate, self.observable.lower(), count),
            "second": estimates.second,
            "adds": [None if value is None else about(value) for value in estimates.adds],
            "heat": [sorted(estimates.heat), [about(estimates.heat[patch]) for patch in sorted(estimates.heat)]],
            "account": None if account is None else asdict(account),
            "now": [] if account is None else self._now(estimates, account),
            "scores": _scores(certificate.predicted, estimates),
            "maps": {} if account is None else _maps(estimates, account),
            "narrower": None if asked is None else asdict(asked),
            "bounded": None if item.bounded is None else [item.bounded.prototypes, item.bounded.pairs],
            "standing": self._stands(item, certificate),
            "plain": self._plain(picture, grid, [*estimates.attained, *estimates.best, *_patches(certificate)]),
            "questions": None if self.checking is None else self.checking.questions(certificate),
        }
        return detail, None if account is None else account.adding

    def _account(self, item: Item, certificate: Certificate) -> Account | None:
        """The checker is asked where it has not run out of its limit just now."""
        head, numbers = self.collection.checked_head, self.collection.numbers
        if head is None or numbers is None or (item.record and item.record["reason"] == "limit"):
            return None
        return proved_account(item.data, certificate, head, numbers)

    def _now(self, estimates: Estimates, account: Account) -> list[list[str]]:
        """Of each rival that is told what the class gets, and what is taken back, at this image; empty without it."""
        if self.collection.head is None or not estimates.activations:
            return []
        from verale.report.estimates import given_and_taken

        pairs = given_and_taken(self.collection.head, estimates, account.predicted, [c.rival for c in account.closest])
        return [[about(given), about(taken)] for given, taken in pairs]

    def _stands(self, item: Item, certificate: Certificate) -> dict[int, str]:
        """By statement about an activation: where the image's own stands among all images."""
        standing = self._standing
        if standing is None or item.index is None or item.index >= len(standing) or item.count is None:
            return {}
        return {
            number: standing.told(item.index, statement.prototype)
            for number, statement in enumerate(certificate.statements)
            if isinstance(statement, ActivationStatement) and statement.prototype < item.count
        }

    def _plain(self, picture: str, grid: Grid | None, patches: Sequence[int | None]) -> dict[int, str]:
        if not picture or grid is None or grid.rows * grid.columns == 1:
            return {}
        return plain_patches(picture, grid, {patch for patch in patches if patch is not None}, self.fields)


def _patches(certificate: Certificate) -> list[int]:
    return [patch for s in certificate.statements if (patch := getattr(s, "patch", None)) is not None]


def _scores(predicted: int, estimates: Estimates) -> list[list[object]]:
    """The classes with the greatest scores of this image, that of the certificate first, and about how much."""
    order = sorted(range(len(estimates.logits)), key=lambda c: (c != predicted, -estimates.logits[c]))
    shown = [estimates.logits[c] for c in order[:_SCORES]]
    texts = next(texts for digits in _SCORE_DIGITS if _apart(shown, texts := [about(score, digits) for score in shown]))
    return [[c, text] for c, text in zip(order, texts, strict=False)]


def _apart(scores: Sequence[float], texts: Sequence[str]) -> bool:
    """Whether the texts of scores tell how far each is from the next, to a per cent; or have the most digits."""
    pairs = zip(pairwise(scores), pairwise(map(float, texts)), strict=True)
    most = texts == [about(score, _SCORE_DIGITS[-1]) for score in scores]
    return most or all(
        abs((one - other) - (told - next_)) <= abs(one - other) / 100 for (one, other), (told, next_) in pairs
    )


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

FIELD_HOLDS_MORE, FIELD_IS_PLAIN, FIELD_UNKNOWN = "more", "plain", "unknown"
"""What a receptive field holds beside a plain square."""


def plain_patches(picture: str, grid: Grid, patches: set[int], fields: ReceptiveFields | None) -> dict[int, str]:
    """Of those of some patches whose squares are nearly of one colour: what their receptive fields hold. `picture` is a
    data URI, base64, that the page made."""
    with Image.open(io.BytesIO(b64decode(picture.partition(",")[2]))) as opened:
        grey = opened.convert("L")
    wide, high = grey.size
    found = {}
    for patch in patches:
        cell = grid.cell(patch)
        if cell is None:
            continue
        row, column = cell
        across, down = wide / grid.columns, high / grid.rows
        if not _is_plain(grey, (column * across, row * down, (column + 1) * across, (row + 1) * down)):
            continue
        if fields is None:
            found[patch] = FIELD_UNKNOWN
            continue
        left, top, right, bottom = fields.box(row, column)
        x, y = wide / fields.size[1], high / fields.size[0]
        field = _is_plain(grey, (left * x, top * y, right * x, bottom * y))
        found[patch] = FIELD_IS_PLAIN if field else FIELD_HOLDS_MORE
    return found


def _is_plain(grey: Image.Image, box: tuple[float, float, float, float]) -> bool:
    left, top = (int(end) for end in box[:2])
    right, bottom = max(left + 1, round(box[2])), max(top + 1, round(box[3]))
    least, most = grey.crop((left, top, right, bottom)).getextrema()
    return float(most) - float(least) < _RANGE  # type: ignore[arg-type]
