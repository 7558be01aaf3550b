"""The report as one static page: everything that it shows is inside, and it asks nothing of any network."""

from __future__ import annotations

import hashlib
import json
import zlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from verale.certificate.words import NOT_PROVED, below, claim
from verale.errors import InputError
from verale.report.collect import Collection, Item, Summary, read_item
from verale.report.images import thumbnail, window_of
from verale.report.overview import overview
from verale.report.rows import rows_of, runs_of
from verale.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["Limits", "page"]

_STYLES = ("page.css",)
_SCRIPTS = ("text.js", "draw.js", "list.js", "detail.js", "start.js")
_OBSERVABLES = {
    "Euclidean": "Squared distance",
    "Cosine": "Cosine",
    "InnerProduct": "Inner product",
    "Softmax": "Softmax mass",
}
_FRAME = 80
"""Bytes around each certificate, about."""
_REST = 2**17
"""Bytes for what is the same on every page, about."""
_TRAINING_SHARE = 4
"""Training images take at most one part in so many of the page."""


@dataclass(frozen=True)
class Limits:
    """How large a page may be.

    Attributes:
        size: bytes. What does not fit is left out, and the page says so: first come the images of the prototypes, up to
            a quarter, then image after image with the statements of its certificate.
        side: pixels a side that images are made smaller to.
    """

    size: int = 128 * 2**20
    side: int = 224


def page(
    collection: Collection,
    title: str,
    limits: Limits | None = None,
    advance: Callable[[int], object] = lambda done: None,
) -> bytes:
    """The page's file, UTF-8 HTML.

    Args:
        title: of the page.
        advance: told how many items are in it.

    Raises:
        InputError: a certificate that changed since it was collected; latents that do not fit the head.
    """
    limits = limits or Limits()
    notes: list[str] = []
    training = _training(collection, limits, notes)
    rows = rows_of(collection)
    left = limits.size - sum(map(len, training.values())) - len(json.dumps(rows)) - _REST
    details, images, rows["full"] = _details(collection, limits, left, notes, advance)
    data = {
        "version": __version__,
        "classes": collection.classes,
        "head": _head(collection),
        "prototypes": _prototypes(collection, {file: place for place, file in enumerate(training)}),
        "training": list(training.values()),
        "rows": rows,
        "runs": runs_of(collection),
        "notProved": NOT_PROVED,
    }
    style, script = _joined(_STYLES), _joined(_SCRIPTS)
    text = _template().render(
        title=title,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        version=__version__,
        style=style,
        script=script,
        style_digest=_csp_digest(style),
        script_digest=_csp_digest(script),
        data=data,
        details=zip(details, images, strict=True),
        notes=notes,
        audited=collection.audited,
        not_proved=NOT_PROVED,
        **overview(collection),
    )
    return text.encode("utf-8", "replace")


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("verale.report", "page_files")
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=loader, trim_blocks=True)
    return environment.get_template("page.html")


def _joined(names: tuple[str, ...]) -> str:
    folder = files("verale.report") / "page_files"
    return "\n" + "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def _csp_digest(text: str) -> str:
    return b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _head(collection: Collection) -> dict[str, Any] | None:
    head = collection.head
    if head is None:
        return None
    observable = _OBSERVABLES[type(head.geometry).__name__]
    return {
        "sha256": head.digest,
        "prototypes": head.size,
        "observable": observable,
        "similarity": repr(head.similarity),
    }


def _training(collection: Collection, limits: Limits, notes: list[str]) -> dict[Any, str]:
    """The training images of the prototypes, by file, as far as they fit."""
    found: dict[Any, str] = {}
    size = unread = left_out = 0
    window = window_of(collection.source.preprocessing)
    for origin in collection.source.origins.values():
        if origin.file is None or origin.file in found:
            continue
        try:
            uri, *_ = thumbnail(origin.file, window, limits.side)
        except InputError:
            unread += 1
            continue
        if size + len(uri) > limits.size // _TRAINING_SHARE:
            left_out += 1
            continue
        found[origin.file], size = uri, size + len(uri)
    if unread:
        notes.append(f"{unread} training images of prototypes are not where they were, or cannot be read.")
    if left_out:
        notes.append(
            f"{left_out} training images of prototypes are left out: they would take more than"
            f" {limits.size // _TRAINING_SHARE / 2**20:.3g} MiB (--max-size, --image-size)."
        )
    return found


def _prototypes(collection: Collection, places: dict[Any, int]) -> list[Any]:
    """By prototype: the class it votes most for, the training image's number, row, column, its place among those that
    are embedded."""
    from verale.report.decode import favoured

    origins = collection.source.origins
    votes = [] if collection.head is None else favoured(collection.head)
    count = len(votes) or max(origins, default=-1) + 1
    known: list[Any] = []
    for prototype in range(count):
        origin = origins.get(prototype)
        where = [None] * 4 if origin is None else [origin.image, origin.row, origin.column, places.get(origin.file)]
        known.append([votes[prototype] if votes else None, *where])
    return known


def _details(
    collection: Collection, limits: Limits, left: int, notes: list[str], advance: Callable[[int], object]
) -> tuple[list[str], list[str], list[int]]:
    """Statements and images, image by image, as long as they fit; and for each item its place among them, or -1."""
    window = window_of(collection.source.preprocessing)
    details: list[str] = []
    images: list[str] = []
    full: list[int] = []
    unread: list[str] = []
    room, with_summary = left, 0
    for item in collection.items:
        advance(1)
        place = -1
        with_summary += item.summary is not None
        if item.summary is not None and room > 0:
            detail, image = _detail(collection, item), ""
            if item.file is not None:
                try:
                    image, *_ = thumbnail(item.file, window, limits.side, item.file_sha256)
                except InputError as error:
                    unread.append(str(error))
            room -= len(detail) + len(image) + _FRAME
            if room > 0:  # once something did not fit, nothing else does: the first so many are complete
                place = len(details)
                details.append(detail)
                images.append(image)
        full.append(place)
    if len(details) < with_summary:
        notes.append(
            f"Statements and images are here for the first {len(details)} of {with_summary} certificates; of the others"
            f" there are only the lines of the list, because the page would exceed {limits.size / 2**20:.3g} MiB"
            " (--max-size, --image-size)."
        )
    if unread:
        notes.append(f"{len(unread)} images are not shown; the first: {unread[0]}")
    if not collection.source.files:
        notes.append("The images are not known, so that only their grids are drawn (--images).")
    elif window.unknown:
        notes.append(
            f"What {', '.join(window.unknown)} does to images is not known here, so that squares may be displaced."
        )
    return details, images, full


def _detail(collection: Collection, item: Item) -> str:
    """One certificate with what is decoded for people: JSON, deflated, base64."""
    from verale.report.decode import decoded, grid_at

    data, certificate = read_item(item)
    summary, said = Summary.of(certificate), decoded(collection, item, certificate)
    grid = grid_at(collection, summary.patches)
    margin = None if summary.margin is None else below(summary.margin, 4)
    name = collection.name_of(summary.predicted)
    detail = {
        "text": data.decode(),
        "claim": "" if margin is None else claim(name, summary.size, margin, summary.spatial),
        "grid": None if grid is None else asdict(grid),
        "similarity": [None if value is None else f"{value:.4g}" for value in said.similarity],
        "place": said.place if any(place is not None for place in said.place) else [],
        "ahead": [f"{value:.4g}" for value in said.ahead],
    }
    return b64encode(zlib.compress(json.dumps(detail, separators=(",", ":")).encode(), 9)).decode()
