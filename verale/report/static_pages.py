"""Comparisons of two runs, rule lists and attributions as pages: each contains all that it shows, has no script, and
makes no request."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from verale.certificate import ActivationStatement, Certificate, PatchStatement
from verale.certificate.statements import bounds_in_words, statement_in_words
from verale.certificate.words import LABELS, NAMED_PICTURE, PROTOTYPES, below, class_name, not_proved, part_of, percent
from verale.errors import InputError
from verale.report.grid import grid_of_image
from verale.report.images import AS_NOTED, OUTSIDE, Matcher, prototype_pictures
from verale.report.templates import Bar, last_names, rendered
from verale.report.thumbnails import ImageFile, Thumbnails, thumbnail, to_draw, window_of
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
from verale.runs.inputs import SOURCE
from verale.runs.source import load_source

if TYPE_CHECKING:
    from verale.adapters.fields import Origin
    from verale.head import Head
    from verale.runs.attribute import Attribution, Share
    from verale.runs.rules import Rule, RuleList, RuleSet
    from verale.runs.source import Source

__all__ = ["attribution_page", "compare_page", "pictures_of", "rules_page"]

_log = logging.getLogger(__name__)

_COMPARE_STYLES = ("page.css", "compare.css")
_MOST_IMAGES = 1000
"""The most images that the page lists."""
_FAILING = 10
"""The most bars of what fails."""
_IMAGE_SIDE = 56
"""Pixels a side of an image."""


def compare_page(
    comparison: RunComparison,
    counts: Counts,
    listed: Sequence[ComparedImage],
    allow: Sequence[str] = (),
    embeds: bool = True,
) -> bytes:
    """The bytes of the page's file, UTF-8 HTML: of a comparison, with what it came to, and the images that are listed.
    Images are shown if it `embeds` any, of those that `source.json` names also from the folders to `allow`."""
    shown, classes = listed[:_MOST_IMAGES], comparison.a.names
    pictures = _pictures(comparison, shown, allow) if embeds else {}
    return rendered(
        "compare.html",
        _COMPARE_STYLES,
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
        rows=[_row(one, pictures.get(one.a.index), classes) for one in shown],
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
    cards = [("keep their class", _share_of(counts.of(True), images))]
    if not comparison.why_not:
        kept = sum(number for (_, kept), number in counts.outcomes.items() if kept)
        cards.append(("satisfy all statements of A", _share_of(kept, images)))
        total = sum(counts.answers.values())
        cards += [("statements of A that are true in B", _share_of(counts.answers[True], total))] if total else []
    return cards


def _share_of(part: int, whole: int) -> str:
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


def _row(one: ComparedImage, picture: str | None, classes: Sequence[str] | None) -> dict[str, object]:
    """An image as the page shows it."""
    a, b = one.a, one.b
    reach = [None if side.bounded is None else side.bounded.prototypes for side in (a, b)]
    return {
        "one": one,
        "picture": picture,
        "change": _change(one),
        "classes": two(class_of(a), class_of(b)),
        "label": "-" if a.label is None else class_name(a.label, classes),
        "held": held(one),
        "sizes": two(a.size, b.size),
        "bounded": two(*reach),
        "margins": two(a.margin, b.margin),
        "minimal": two(a.minimal, b.minimal),
        "paradigms": two(a.paradigm, b.paradigm),
    }


def _pictures(comparison: RunComparison, listed: Sequence[ComparedImage], allow: Sequence[str]) -> dict[int, str]:
    """The images of A as data URIs, by their index: the pictures that certificates name; of others those that
    `source.json` binds by their digest. They lie in the folder or where it is allowed."""
    source = comparison.a.source.within(comparison.a.folder, comparison.b.folder, *map(Path, allow))
    matcher, made = Matcher(source, None, comparison.a.folder), Thumbnails(_IMAGE_SIDE)
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


_RULES_STYLES = ("page.css", "rules.css")
_PROTOTYPE_SIDE = 64
"""Pixels a side of a prototype's picture."""


def pictures_of(latents: str | Path, folder: str | None) -> dict[int, str]:
    """The pictures of prototypes as data URIs: in a folder, if one is given, of the files whose names are numbers, such
    as 0005.png. Otherwise of what lies beside a latents file: the folder `prototypes`, or else, of the training images
    that `source.json` names in that folder, what each prototype's patch can depend on, as `source.json` says.

    Raises:
        InputError: a file that is not an image, or no image whose name is a number.
    """
    if folder is not None:
        files = prototype_pictures(Path(folder), Path(folder))
        return {number: thumbnail(ImageFile(path), _PROTOTYPE_SIDE) for number, path in files.items()}
    beside = Path(latents).parent
    source, shown = load_source(beside / SOURCE).within(beside), {}
    for number, path in prototype_pictures(beside).items():
        if (admitted := source.admitted(path)) is not None:
            shown[number] = thumbnail(ImageFile(admitted), _PROTOTYPE_SIDE)
    for number, origin in source.origins.items():
        admitted = None if origin.file is None else source.admitted(origin.file)
        if admitted is not None and number not in shown:
            file = ImageFile(admitted, window_of(source.preprocessing))
            shown[number] = thumbnail(file, _PROTOTYPE_SIDE, _part(source, origin))
    return shown


def _part(source: Source, origin: Origin) -> tuple[float, float, float, float] | None:
    """Left, top, right, bottom of what a patch of a training image can depend on, as shares; None where not known."""
    fields = source.fields
    if fields is None or origin.row >= len(fields.rows) or origin.column >= len(fields.columns):
        return None
    left, top, right, bottom = fields.box(origin.row, origin.column)
    high, wide = fields.size
    return left / wide, top / high, right / wide, bottom / high


def rules_page(rules: RuleList, pictures: dict[int, str]) -> bytes:
    """The bytes of the page's file, UTF-8 HTML, with pictures of prototypes by number, as data URIs."""
    sets = [("Fitted to", rules.fitted), *([] if rules.held_out is None else [("Held out", rules.held_out)])]
    return rendered(
        "rules.html",
        _RULES_STYLES,
        rules=[_rule(*each, pictures, rules) for each in zip(rules.rules, rules.certificates, strict=True)],
        proved=sum(rule.status == "PROVED" for rule in rules.rules),
        list=rules,
        sets=[(f"{name}: {last_names(each.file)}", each, *_numbers(each)) for name, each in sets],
        labelled=rules.fitted.correct is not None,
        not_proved=not_proved(),
        pictured=PROTOTYPES if pictures else "",
    )


def _rule(rule: Rule, certificate: Certificate, pictures: dict[int, str], rules: RuleList) -> dict[str, object]:
    """One rule as the page shows it: its statements with their pictures, and its numbers."""
    parts = [
        (f"prototype {each.prototype}", bounds_in_words(each), pictures.get(each.prototype))
        if isinstance(each, PatchStatement | ActivationStatement)
        else (statement_in_words(each, rules.prototypes)[0], bounds_in_words(each), None)
        for each in certificate.statements
    ]
    held_out = rules.held_out
    return {
        "rule": rule,
        "parts": parts,
        "margin": below(certificate.margin) if rule.margin is not None else "",
        "fitted": _share(rule.fitted.images, rules.fitted.images),
        "held_out": "-" if rule.held_out is None or held_out is None else _share(rule.held_out.images, held_out.images),
    }


def _numbers(each: RuleSet) -> tuple[str, str, str]:
    """Of a data set the share covered, the share of these that is correct, and the share that no rule covers."""
    correct = "-" if each.correct is None or not each.covered else _share(each.correct, each.covered)
    return _share(each.covered, each.images), correct, _share(each.images - each.covered, each.images)


def _share(part: int, whole: int) -> str:
    """A count and its share."""
    return f"{part:,} ({percent(part, whole)})"


_ATTRIBUTION_STYLES = ("page.css", "attribution.css")
_MOST_BARS = 40
"""The most bars of one kind."""


def attribution_page(found: Attribution, head: Head, pictures: dict[int, str]) -> bytes:
    """The bytes of the page's file, UTF-8 HTML, with pictures of prototypes by number, as data URIs."""
    bars = {kind: [_bar(each, found, pictures) for each in found.of(kind)] for kind in ("prototype", "patch")}
    clauses = [_bar(each, found, {}) for kind in ("ceiling", "floor") for each in found.of(kind)]
    sizes = sorted(each.size for each in found.explanations)
    return rendered(
        "attribution.html",
        _ATTRIBUTION_STYLES,
        found=found,
        file=last_names(found.file),
        total=len(found.explanations),
        proved=sum(each.status == "PROVED" for each in found.explanations),
        minimal=sum(each.minimal for each in found.explanations),
        least=sizes[0],
        most=sizes[-1],
        median=sizes[len(sizes) // 2],
        prototypes=[*clauses, *bars["prototype"]][:_MOST_BARS],
        more_prototypes=max(0, len(clauses) + len(bars["prototype"]) - _MOST_BARS),
        unused=head.size - len(bars["prototype"]),
        patches=bars["patch"][:_MOST_BARS],
        more_patches=max(0, len(bars["patch"]) - _MOST_BARS),
        maps=_maps(found, head),
        margins=[below(each.margin) for each in found.explanations],
        not_proved=not_proved(),
        pictured=PROTOTYPES if pictures else "",
    )


def _bar(each: Share, found: Attribution, pictures: dict[int, str]) -> Bar:
    subject = f"the {each.kind}" if each.number is None else f"{each.kind} {each.number}"
    picture = pictures.get(each.number) if each.kind == "prototype" and each.number is not None else None
    words = part_of(each.count, len(found.explanations))
    if found.of("patch"):
        words += f", {each.statements:.1f} statements"
    return Bar(subject, round(100 * each.share, 2), words, picture)


def _maps(found: Attribution, head: Head) -> list[dict[str, Any]]:
    """Heat maps of the patches, of shares and of statements: the title of each, its shape, its cells, and whether the
    shape is a guess. None where no statement is about a patch, or the patches have no known shape."""
    shares = {each.number: each for each in found.of("patch")}
    grid = grid_of_image(found.patches, head, found.latents) if shares else None
    if grid is None:
        return []
    total, most = len(found.explanations), max(each.statements for each in shares.values())
    cells: dict[str, list[dict[str, object]]] = {
        "Share. Full colour: in all explanations; none: in no explanation.": [],
        f"Statements. Full colour: {most:.1f} an explanation.": [],
    }
    for patch in range(found.patches):
        place, share = grid.cell(patch), shares.get(patch)
        if place is not None:
            count, statements = (0, 0.0) if share is None else (share.count, share.statements)
            words = f"patch {patch}: {part_of(count, total)}, {statements:.1f} statements"
            for cell, shade in zip(cells.values(), (count / total, statements / most), strict=True):
                cell.append({"row": place[0], "column": place[1], "shade": round(shade, 4), "words": words})
    return [{**asdict(grid), "title": title, "cells": shown} for title, shown in cells.items()]
