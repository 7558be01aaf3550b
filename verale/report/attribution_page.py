"""An attribution as one static page: it contains everything that it shows, has no script, and makes no request."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from verale.certificate.words import PROTOTYPES, below, not_proved, part_of
from verale.report.grid import grid_of_image
from verale.report.templates import Bar, last_names, rendered

if TYPE_CHECKING:
    from verale.head import Head
    from verale.runs.attribute import Attribution, Share

__all__ = ["attribution_page"]

_STYLES = ("page.css", "attribution.css")
_MOST = 40
"""The most bars of one kind."""


class _Cell(NamedTuple):
    """A cell of the heat map."""

    row: int
    column: int
    shade: float
    words: str


class _Map(NamedTuple):
    """A heat map: what it shows, its shape, its cells, and whether the shape is a guess."""

    title: str
    rows: int
    columns: int
    cells: list[_Cell]
    assumed: bool


def attribution_page(found: Attribution, head: Head, pictures: dict[int, str]) -> bytes:
    """The bytes of the page's file, UTF-8 HTML.

    Args:
        found: the attribution.
        head: its head.
        pictures: of prototypes, by number, as data URIs.
    """
    bars = {kind: [_bar(each, found, pictures) for each in found.of(kind)] for kind in ("prototype", "patch")}
    clauses = [_bar(each, found, {}) for kind in ("ceiling", "floor") for each in found.of(kind)]
    sizes = sorted(each.size for each in found.explanations)
    return rendered(
        "attribution.html",
        _STYLES,
        found=found,
        file=last_names(found.file),
        total=len(found.explanations),
        proved=sum(each.status == "PROVED" for each in found.explanations),
        minimal=sum(each.minimal for each in found.explanations),
        least=sizes[0],
        most=sizes[-1],
        median=sizes[len(sizes) // 2],
        prototypes=[*clauses, *bars["prototype"]][:_MOST],
        more_prototypes=max(0, len(clauses) + len(bars["prototype"]) - _MOST),
        unused=head.size - len(bars["prototype"]),
        patches=bars["patch"][:_MOST],
        more_patches=max(0, len(bars["patch"]) - _MOST),
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


def _maps(found: Attribution, head: Head) -> list[_Map]:
    """Heat maps of the patches, of shares and of statements; none where no statement is about a patch, or the patches
    have no known shape."""
    shares = {each.number: each for each in found.of("patch")}
    grid = grid_of_image(found.patches, head, found.latents) if shares else None
    if grid is None:
        return []
    total = len(found.explanations)
    most = max(each.statements for each in shares.values())
    by_share, by_statements = [], []
    for patch in range(found.patches):
        place, share = grid.cell(patch), shares.get(patch)
        if place is not None:
            count, statements = (0, 0.0) if share is None else (share.count, share.statements)
            words = f"patch {patch}: {part_of(count, total)}, {statements:.1f} statements"
            by_share.append(_Cell(*place, round(count / total, 4), words))
            by_statements.append(_Cell(*place, round(statements / most, 4), words))
    shape = grid.rows, grid.columns
    return [
        _Map("Share. Full colour: in all explanations; none: in no explanation.", *shape, by_share, grid.assumed),
        _Map(f"Statements. Full colour: {most:.1f} an explanation.", *shape, by_statements, grid.assumed),
    ]
