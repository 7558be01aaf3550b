"""A rule list as one static page: it contains everything that it shows, has no script, and makes no request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verale.certificate import ActivationStatement, Certificate, PatchStatement
from verale.certificate.statements import bounds_in_words, statement_in_words
from verale.certificate.words import PROTOTYPES, below, not_proved, percent
from verale.report.images import prototype_pictures
from verale.report.templates import last_names, rendered
from verale.report.thumbnails import ImageFile, thumbnail, window_of
from verale.runs.folder import SOURCE
from verale.runs.source import load_source

if TYPE_CHECKING:
    from verale.adapters.fields import Origin
    from verale.runs.rules import Rule, RuleList, RuleSet
    from verale.runs.source import Source

__all__ = ["page", "pictures_in", "pictures_of"]

_STYLES = ("page.css", "rules.css")
_SIDE = 64
"""Pixels a side of a prototype's picture."""


@dataclass(frozen=True)
class _Shown:
    """One rule as the page shows it: its statements with their pictures, and its numbers."""

    rule: Rule
    parts: list[tuple[str, str, str | None]]
    margin: str
    fitted: str
    held_out: str


def pictures_in(folder: Path) -> dict[int, str]:
    """The pictures of prototypes as data URIs: those of the files whose names are numbers, such as 0005.png.

    Raises:
        InputError: a file that is not an image, or no image whose name is a number.
    """
    pictures = prototype_pictures(folder, folder)
    return {number: thumbnail(ImageFile(path), _SIDE)[0] for number, path in pictures.items()}


def pictures_of(latents: str | Path, folder: str | None) -> dict[int, str]:
    """Those in a folder, if one is given; otherwise those beside a latents file. Raises InputError."""
    return _pictures_beside(latents) if folder is None else pictures_in(Path(folder))


def _pictures_beside(latents: str | Path) -> dict[int, str]:
    """The same of what lies beside a latents file: the folder `prototypes`, or else, of the training images that
    `source.json` names in that folder, what each prototype's patch can depend on, as `source.json` says."""
    folder = Path(latents).parent
    source = load_source(folder / SOURCE).within(folder)
    shown = {}
    for number, path in prototype_pictures(folder).items():
        if (admitted := source.admitted(path)) is not None:
            shown[number] = thumbnail(ImageFile(admitted), _SIDE)[0]
    for number, origin in source.origins.items():
        admitted = None if origin.file is None else source.admitted(origin.file)
        if admitted is not None and number not in shown:
            shown[number] = thumbnail(
                ImageFile(admitted, window_of(source.preprocessing)), _SIDE, _part(source, origin)
            )[0]
    return shown


def _part(source: Source, origin: Origin) -> tuple[float, float, float, float] | None:
    """Left, top, right, bottom of what a patch of a training image can depend on, as shares; None where not known."""
    fields = source.fields
    if fields is None or origin.row >= len(fields.rows) or origin.column >= len(fields.columns):
        return None
    left, top, right, bottom = fields.box(origin.row, origin.column)
    high, wide = fields.size
    return left / wide, top / high, right / wide, bottom / high


def page(rules: RuleList, pictures: dict[int, str]) -> bytes:
    """The bytes of the page's file, UTF-8 HTML.

    Args:
        pictures: of prototypes, by number, as data URIs.
    """
    shown = [_shown(rule, each, pictures, rules) for rule, each in zip(rules.rules, rules.certificates, strict=True)]
    sets = [("Fitted to", rules.fitted), *([] if rules.held_out is None else [("Held out", rules.held_out)])]
    return rendered(
        "rules.html",
        _STYLES,
        rules=shown,
        proved=sum(rule.status == "PROVED" for rule in rules.rules),
        list=rules,
        sets=[(f"{name}: {last_names(each.file)}", each, *_numbers(each)) for name, each in sets],
        labelled=rules.fitted.correct is not None,
        not_proved=not_proved(),
        pictured=PROTOTYPES if pictures else "",
    )


def _shown(rule: Rule, certificate: Certificate, pictures: dict[int, str], rules: RuleList) -> _Shown:
    parts: list[tuple[str, str, str | None]] = []
    for each in certificate.statements:
        if isinstance(each, PatchStatement | ActivationStatement):
            parts.append((f"prototype {each.prototype}", bounds_in_words(each), pictures.get(each.prototype)))
        else:
            parts.append((statement_in_words(each, rules.prototypes)[0], bounds_in_words(each), None))
    fitted = _share(rule.fitted.images, rules.fitted.images)
    held_out = rules.held_out
    measured = "-" if rule.held_out is None or held_out is None else _share(rule.held_out.images, held_out.images)
    margin = below(certificate.margin) if rule.margin is not None else ""
    return _Shown(rule, parts, margin, fitted, measured)


def _numbers(each: RuleSet) -> tuple[str, str, str]:
    """Of a data set the share covered, the share of these that is correct, and the share that no rule covers."""
    correct = "-" if each.correct is None or not each.covered else _share(each.correct, each.covered)
    return _share(each.covered, each.images), correct, _share(each.images - each.covered, each.images)


def _share(part: int, whole: int) -> str:
    """A count and its share."""
    return f"{part:,} ({percent(part, whole)})"
