"""A comparison of two runs as one static page: it contains all that it shows, has no script, and makes no request."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from verale.certificate.words import LABELS, NAMED_PICTURE, class_name, percent
from verale.errors import InputError
from verale.report.images import AS_NOTED, OUTSIDE, Matcher
from verale.report.templates import Bar, last_names, rendered
from verale.report.thumbnails import Thumbnails, to_draw
from verale.runs.compare import (
    ComparedImage,
    Counts,
    RunComparison,
    about_sides,
    class_of,
    held,
    matched,
    sentences,
    two,
)

__all__ = ["page"]

_log = logging.getLogger(__name__)

_STYLES = ("page.css", "compare.css")
_MOST = 1000
"""The most images that the page lists."""
_FAILING = 10
"""The most bars of what fails."""
_SIDE = 56
"""Pixels a side of an image."""


@dataclass(frozen=True)
class _Row:
    """An image as the page shows it."""

    one: ComparedImage
    picture: str | None
    change: tuple[str, str] | None
    classes: str
    label: str
    held: str
    sizes: str
    bounded: str
    margins: str
    minimal: str
    paradigms: str


def page(
    comparison: RunComparison,
    counts: Counts,
    listed: Sequence[ComparedImage],
    allow: Sequence[str] = (),
    embeds: bool = True,
) -> bytes:
    """The bytes of the page's file, UTF-8 HTML.

    Args:
        comparison: what was compared.
        counts: what that came to.
        listed: the images that are listed.
        allow: folders of which images may be shown that `source.json` names, beside the run's own.
        embeds: whether images are shown.
    """
    shown = listed[:_MOST]
    pictures = _pictures(comparison, shown, allow) if embeds else {}
    return rendered(
        "compare.html",
        _STYLES,
        runs=[("A", comparison.a), ("B", comparison.b)],
        matched=matched(comparison),
        sentences=sentences(comparison, counts),
        how=comparison.how,
        outcomes=_outcomes(comparison, counts),
        sides=about_sides(comparison, counts),
        bars=[
            Bar(subject, round(100 * number / stated, 2), f"{number} of {stated}")
            for subject, number, stated in counts.fails_most[:_FAILING]
        ],
        more_bars=max(0, len(counts.failing) - _FAILING),
        folders=[last_names(run.folder.resolve()) for run in (comparison.a, comparison.b)],
        labelled=any(one.a.label is not None for one in shown),
        rows=[_row(one, pictures.get(one.a.index), comparison.a.names) for one in shown],
        pictured=bool(pictures),
        of_images=_of_images(shown, pictures),
        unlisted=len(listed) - len(shown),
        images=counts.images,
        changed=counts.changed,
    )


def _of_images(shown: Sequence[ComparedImage], pictures: Mapping[int, str]) -> str:
    """What is known of the images that are shown, and of the true classes; empty without any of them."""
    named = {one.a.picture is not None for one in shown if one.a.index in pictures}
    kinds = [words for kind, words in ((True, NAMED_PICTURE), (False, AS_NOTED)) if kind in named]
    said = f"Each image is {', or '.join(kinds)}." if named else ""
    labels = LABELS if any(one.a.label is not None for one in shown) else ""
    return " ".join(filter(None, (said, "Names of images are as source.json says.", labels)))


def _outcomes(comparison: RunComparison, counts: Counts) -> list[tuple[str, str]]:
    """The greatest counts, each with what is counted."""
    images = counts.images
    cards = [("keep their class", _share(counts.of(True), images))]
    if not comparison.why_not:
        kept = sum(number for (_, kept), number in counts.outcomes.items() if kept)
        cards.append(("satisfy all statements of A", _share(kept, images)))
        total = sum(counts.answers.values())
        cards += [("statements of A that are true in B", _share(counts.answers[True], total))] if total else []
    return cards


def _share(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,} ({percent(part, whole)})"


def _change(one: ComparedImage) -> tuple[str, str] | None:
    """What a change of class is, for the style and in words; None where the class stays. The sign goes before words:
    colour alone tells nobody anything."""
    if one.same_class is not False:
        return None
    right = one.a.correct, one.b.correct
    if right == (False, True):
        return "corrected", "✓ B is right, A was wrong"
    if right == (True, False):
        return "lost", "✗ B is wrong, A was right"
    return "changed", "≠ both are wrong" if right == (False, False) else "≠ another class"


def _row(one: ComparedImage, picture: str | None, classes: Sequence[str] | None) -> _Row:
    a, b = one.a, one.b
    label = "-" if a.label is None else class_name(a.label, classes)
    reach = [None if side.bounded is None else side.bounded.prototypes for side in (a, b)]
    return _Row(
        *(one, picture, _change(one), two(class_of(a), class_of(b)), label),
        *(held(one), two(a.size, b.size), two(*reach)),
        *(two(a.margin, b.margin), two(a.minimal, b.minimal), two(a.paradigm, b.paradigm)),
    )


def _pictures(comparison: RunComparison, listed: Sequence[ComparedImage], allow: Sequence[str]) -> dict[int, str]:
    """The images of A as data URIs, by their index: the pictures that certificates name; of others those that
    `source.json` binds by their digest. They lie in the folder or where it is allowed."""
    source = comparison.a.source.within(comparison.a.folder, comparison.b.folder, *map(Path, allow))
    matcher, made = Matcher(source, None, comparison.a.folder), Thumbnails(_SIDE)
    pictures: dict[int, str] = {}
    outside: set[Path] = set()
    for one in listed:
        picture, index = one.a.picture, one.a.index
        match = matcher.image(index, True) if picture is None else matcher.matched(None, picture, index)[1]
        if match is not None and match.file is not None and match.note == OUTSIDE:
            outside.add(match.file.parent)
        file = to_draw(source, match)
        if match is None or file is None or match.note not in ("", AS_NOTED):
            continue
        try:
            pictures[index] = made.uri(file)
        except InputError as error:
            _log.warning("%s", error)
    if outside:
        where = source.folder or min(outside)
        _log.warning("images in %s are not shown; if you mean them, say --allow %s", where, quote(str(where)))
    return pictures
