"""Comparisons of two runs, rule lists and attributions as pages: each contains all that it shows, has no script, and
makes no request."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from verale.certificate import ActivationStatement, PatchStatement
from verale.certificate.statements import bounds_in_words, statement_in_words
from verale.certificate.words import LABELS, NAMED_PICTURE, PROTOTYPES, below, class_name, not_proved, part_of, percent
from verale.errors import InputError
from verale.report.grid import grid_of_image
from verale.report.images import AS_NOTED, OUTSIDE, Matcher, prototype_pictures
from verale.report.templates import Bar, last_names, rendered
from verale.report.thumbnails import ImageFile, thumbnail, to_draw, window_of
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
    from verale.head import Head
    from verale.runs.attribute import Attribution, Share
    from verale.runs.rules import RuleList

_log = logging.getLogger(__name__)

_MOST_IMAGES = 1000
"""The most images that the page of a comparison lists."""
_FAILING = 10
"""The most bars of what fails."""
_IMAGE_SIDE, _PROTOTYPE_SIDE = 56, 64
"""Pixels a side of an image, and of a prototype's picture."""
_MOST_BARS = 40
"""The most bars of one kind, of an attribution."""
_SIGNS: dict[tuple[bool | None, bool | None], tuple[str, str]] = {
    (False, True): ("corrected", "✓ B is right, A was wrong"),
    (True, False): ("lost", "✗ B is wrong, A was right"),
    (False, False): ("changed", "≠ both are wrong"),
}
"""What a change of class is, for the style and in words, by whether A and B are right. The sign goes before words:
colour alone tells nobody anything."""


def compare_page(
    comparison: RunComparison,
    counts: Counts,
    listed: Sequence[ComparedImage],
    allow: Sequence[str] = (),
    embeds: bool = True,
) -> bytes:
    """The bytes of the page's file, UTF-8 HTML: of a comparison, with what it came to, and the images that are listed.
    Images are shown if it `embeds` any, of those that `source.json` names also from the folders to `allow`."""
    shown, classes, images = listed[:_MOST_IMAGES], comparison.a.names, counts.images
    pictures = _pictures(comparison, shown, allow) if embeds else {}
    outcomes = [("keep their class", _share(counts.of(True), images, " of "))]
    if not comparison.why_not:
        kept = sum(number for (_, kept), number in counts.outcomes.items() if kept)
        outcomes.append(("satisfy all statements of A", _share(kept, images, " of ")))
        if total := sum(counts.answers.values()):
            outcomes.append(("statements of A that are true in B", _share(counts.answers[True], total, " of ")))
    named = {one.a.picture is not None for one in shown if one.a.index in pictures}
    kinds = [words for kind, words in ((True, NAMED_PICTURE), (False, AS_NOTED)) if kind in named]
    labelled = any(one.a.label is not None for one in shown)
    of_images = [f"Each image is {', or '.join(kinds)}."] if named else []
    of_images += ["Names of images are as source.json says.", *([LABELS] if labelled else [])]
    rows = []
    for one in shown:
        a, b = one.a, one.b
        change = _SIGNS.get((a.correct, b.correct), ("changed", "≠ another class"))
        rows.append(
            {
                "one": one,
                "picture": pictures.get(a.index),
                "change": change if one.same_class is False else None,
                "classes": two(class_of(a), class_of(b)),
                "label": "-" if a.label is None else class_name(a.label, classes),
                "held": held(one),
                "sizes": two(a.size, b.size),
                "bounded": two(*(None if side.bounded is None else side.bounded.prototypes for side in (a, b))),
                "margins": two(a.margin, b.margin),
                "minimal": two(a.minimal, b.minimal),
                "paradigms": two(a.paradigm, b.paradigm),
            }
        )
    return rendered(
        "compare.html",
        ("page.css", "compare.css"),
        runs=[("A", comparison.a), ("B", comparison.b)],
        matched=matched(comparison),
        sentences=sentences(comparison, counts),
        how=comparison.how,
        outcomes=outcomes,
        sides=about_sides(comparison, counts),
        bars=[
            Bar(subject, round(100 * number / stated, 2), f"{number} of {stated}")
            for subject, number, stated in counts.fails_most[:_FAILING]
        ],
        more_bars=max(0, len(counts.failing) - _FAILING),
        folders=[last_names(run.folder.resolve()) for run in (comparison.a, comparison.b)],
        labelled=labelled,
        rows=rows,
        pictured=bool(pictures),
        of_images=" ".join(of_images),
        unlisted=len(listed) - len(shown),
        images=images,
        changed=counts.changed,
    )


def _share(part: int, whole: int, of: str = "") -> str:
    """A count and its share, or a count `of` another and its share."""
    return f"{part:,}{of}{format(whole, ',') if of else ''} ({percent(part, whole)})"


def _pictures(comparison: RunComparison, listed: Sequence[ComparedImage], allow: Sequence[str]) -> dict[int, str]:
    """The images of A as data URIs, by their index: the pictures that certificates name; of others those that
    `source.json` binds by their digest. They lie in the folder or where it is allowed."""
    source = comparison.a.source.within(comparison.a.folder, comparison.b.folder, *map(Path, allow))
    matcher = Matcher(source, None, comparison.a.folder)
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
            pictures[index] = thumbnail(file, _IMAGE_SIDE)
        except InputError as error:
            _log.warning("%s", error)
    if outside:
        where = source.folder or min(outside)
        _log.warning("images in %s are not shown; if you mean them, say --allow %s", where, quote(str(where)))
    return pictures


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
    fields = source.fields
    for number, origin in source.origins.items():
        admitted = None if origin.file is None else source.admitted(origin.file)
        if admitted is not None and number not in shown:
            part = None  # left, top, right, bottom of what the patch can depend on, as shares
            if fields is not None and origin.row < len(fields.rows) and origin.column < len(fields.columns):
                high, wide = fields.size
                box = fields.box(origin.row, origin.column)
                part = box[0] / wide, box[1] / high, box[2] / wide, box[3] / high
            shown[number] = thumbnail(ImageFile(admitted, window_of(source.preprocessing)), _PROTOTYPE_SIDE, part)
    return shown


def rules_page(rules: RuleList, pictures: dict[int, str]) -> bytes:
    """The bytes of the page's file, UTF-8 HTML, with pictures of prototypes by number, as data URIs."""
    held_out, sets, shown = rules.held_out, [], []
    for name, each in (("Fitted to", rules.fitted), ("Held out", held_out)):
        if each is not None:
            # The share covered, the share of these that is correct, and the share that no rule covers.
            correct = "-" if each.correct is None or not each.covered else _share(each.correct, each.covered)
            shares = _share(each.covered, each.images), correct, _share(each.images - each.covered, each.images)
            sets.append((f"{name}: {last_names(each.file)}", each, *shares))
    for rule, certificate in zip(rules.rules, rules.certificates, strict=True):
        parts = [
            (f"prototype {each.prototype}", bounds_in_words(each), pictures.get(each.prototype))
            if isinstance(each, PatchStatement | ActivationStatement)
            else (statement_in_words(each, rules.prototypes)[0], bounds_in_words(each), None)
            for each in certificate.statements
        ]
        shown.append(
            {
                "rule": rule,
                "parts": parts,
                "margin": below(certificate.margin) if rule.margin is not None else "",
                "fitted": _share(rule.fitted.images, rules.fitted.images),
                "held_out": "-"
                if rule.held_out is None or held_out is None
                else _share(rule.held_out.images, held_out.images),
            }
        )
    return rendered(
        "rules.html",
        ("page.css", "rules.css"),
        rules=shown,
        proved=sum(rule.status == "PROVED" for rule in rules.rules),
        list=rules,
        sets=sets,
        labelled=rules.fitted.correct is not None,
        not_proved=not_proved(),
        pictured=PROTOTYPES if pictures else "",
    )


def attribution_page(found: Attribution, head: Head, pictures: dict[int, str]) -> bytes:
    """The bytes of the page's file, UTF-8 HTML, with pictures of prototypes by number, as data URIs."""
    bars = {kind: [_bar(each, found, pictures) for each in found.of(kind)] for kind in ("prototype", "patch")}
    clauses = [_bar(each, found, {}) for kind in ("ceiling", "floor") for each in found.of(kind)]
    sizes = sorted(each.size for each in found.explanations)
    return rendered(
        "attribution.html",
        ("page.css", "attribution.css"),
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
