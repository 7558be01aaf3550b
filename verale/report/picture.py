"""One certificate as a picture: the image with outlined patches, the margins, and the statements."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from textwrap import fill, shorten, wrap
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.figure import Figure

from verale.certificate import Certificate
from verale.certificate.words import (
    NAMED_PICTURE,
    PROVED_PICTURE,
    about,
    as_claimed,
    below,
    caveat,
    class_name,
    from_picture,
    not_proved,
    proved_claims,
    where_wrong,
)
from verale.checker import Verdict
from verale.checker import certificate as checked
from verale.checker.verdict import printable
from verale.errors import InputError
from verale.report.collect import CertificateSummary, Collection, own_latents, read_item
from verale.report.estimates import Estimates, estimates_of, estimates_of_item
from verale.report.explanation import named_prototypes
from verale.report.grid import Grid, grid_of_image
from verale.report.outlined import (
    MOST,
    marks_of,
    marks_of_item,
    outline,
    pixels_of_given,
    pixels_of_item,
    stated_prototypes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from verale.adapters.fields import ReceptiveFields
    from verale.head import Head

__all__ = ["Picture", "picture", "plot", "saved"]

_RIVALS = 12
_COLUMNS = 3
"""Of the list of statements."""
_WIDE = 150
"""The most characters of a line of the heading."""
_WIDE_NOTE = 230
"""The same of the notes below."""
_LINE = 0.125
"""The height of a listed line in inches."""
_LETTERS = 64
"""The most characters of a line in a column of the list."""
_LONGEST = 26
"""The most characters of a class's name beside its bar."""
_ORIGINS = 8
"""Of so many prototypes it is said which patches they are."""
_BAR = "#2a6fb5"


@dataclass(frozen=True)
class _Words:
    """What is said around a drawing.

    Attributes:
        status: the verdict.
        wrong: what follows the class where it is wrong.
        name: of the certificate.
        image: what is known of the image, or why none is shown.
        begun: what is claimed of the picture.
        notes: what the verdict does not say, and what nothing checks.
    """

    status: str
    wrong: str = ""
    name: str = ""
    image: str = ""
    begun: str = ""
    notes: str = ""

    @property
    def about(self) -> str:
        """Of the certificate and its image, in brackets."""
        said = "; ".join(filter(None, (self.name, f"the image is {self.image}" if self.image else "")))
        return f" ({said})" if said else ""


class Picture(Figure):
    """A matplotlib figure that notebooks show, whatever backend is in use."""

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png")
        return stream.getvalue()


def plot(
    certificate: Certificate,
    image: Any = None,
    head: Head | None = None,
    latents: Any = None,
    verdict: Verdict | None = None,
    classes: tuple[str, ...] | None = None,
) -> Picture:
    """Draw a certificate.

    Args:
        certificate: the certificate.
        image: what the network received: a file, a PIL image, or an array or tensor (H, W), (H, W, 3) or (3, H, W),
            bytes or floats. Without it the grid of patches is drawn. Whether it is the picture that the certificate
            names is said where it names one.
        head: gives class names, and similarities (float64, for people).
        latents: (N, D, H, W) or (N, L, D), the certificate's image among them; gives the shape of the grid, and with
            the head how far the class is ahead.
        verdict: the result of `verale.audit`. Without it nothing is called proved.
        classes: the names of the classes, if the head has none.

    Returns:
        A matplotlib Figure: `figure.savefig("0.pdf")`.

    Raises:
        InputError: an image that cannot be read.
        LatentsError: the certificate's image is not among the latents, or they do not fit the head.
    """
    data = certificate.to_bytes()
    given = checked.read_certificate(data)
    own = None if latents is None else own_latents(given, latents)
    names = (head.labels if head is not None else None) or classes
    status, unchecked, proved = "NOT AUDITED", "", frozenset[str]()
    if verdict is not None:
        unchecked = caveat(verdict.status.value, verdict.claims)
        status = ", ".join(filter(None, (verdict.status.value, unchecked))).replace("_", " ")
        proved = proved_claims(verdict.status.value, verdict.claims)
    pixels, known = (None, "") if image is None else pixels_of_given(image, given.picture)
    words = _Words(
        status,
        image=PROVED_PICTURE if "picture" in proved and known == NAMED_PICTURE else known,
        begun=from_picture(given.arithmetic) if given.picture is not None and not unchecked else "",
        notes=not_proved(proved),
    )
    grid = grid_of_image(given.patches, head, latents)
    count = head.size if head is not None and head.digest == given.head else None
    marks = marks_of(given, count, partial(estimates_of, head=head, image=own))
    return _draw(data, given, count, pixels, grid, names, estimates_of(given, head, own), marks, words)


def picture(collection: Collection, kind: str) -> bytes:
    """The one certificate of a collection as a `pdf`, `svg` or `png` file.

    If the image cannot be read, the picture says so and shows the grid.

    Raises:
        InputError: the certificate cannot be read.
    """
    (item,) = collection.items
    if item.summary is None:
        raise InputError(item.path, f"cannot be drawn: {item.problem}")
    data, given = read_item(item)
    pixels, known = pixels_of_item(collection, item)
    words = _Words(
        item.verdict,
        where_wrong(collection.name_of(item.label), item.correct),
        item.name,
        known,
        item.begun,
        " ".join([*collection.notes_on(item), *_origins(collection, given)]),
    )
    grid = collection.grid_of(given.patches, given.network)
    estimates = estimates_of_item(collection, item, given)
    fields = collection.fields_of(grid, given.network)
    marks = marks_of_item(collection, item, given)
    classes, count = collection.classes, collection.prototypes_of(given)
    return saved(lambda: _draw(data, given, count, pixels, grid, classes, estimates, marks, words, fields), kind)


def _origins(collection: Collection, certificate: checked.Certificate) -> list[str]:
    """Of the prototypes that are shown with the explanation, which patches they are; of many the first."""
    named = named_prototypes(certificate, collection.prototypes_of(certificate)) or tuple(collection.origins)
    told = [collection.origins[j].sentence for j in named if j in collection.origins]
    more = [f"and {len(told) - _ORIGINS} more prototypes"] if len(told) > _ORIGINS else []
    return [f"{each}." for each in [*told[:_ORIGINS], *more]]


def saved(draw: Callable[[], Figure], kind: str) -> bytes:
    """The bytes of a figure's file, `pdf`, `svg` or `png`: the same figure gives the same bytes."""
    stream = io.BytesIO()
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": None}
    with rc_context(), warnings.catch_warnings():
        # The matplotlibrc of the current folder may be a stranger's and name LaTeX.
        rcdefaults()
        rcParams["svg.hashsalt"] = "verale"
        warnings.filterwarnings("ignore", "Glyph .* missing")  # which is drawn as a box
        draw().savefig(stream, format=kind, metadata=dated[kind])
    return stream.getvalue()


def _draw(
    data: bytes,
    certificate: checked.Certificate,
    count: int | None,
    pixels: object,
    grid: Grid | None,
    classes: tuple[str, ...] | None,
    estimates: Estimates,
    marks: Mapping[int, Sequence[int]],
    words: _Words,
    fields: ReceptiveFields | None = None,
) -> Picture:
    columns = _columns(_entries(data, certificate, count, estimates))
    rows = max(map(len, columns))
    figure = Picture(figsize=(11, 6.2 + rows * _LINE), dpi=150, layout="constrained")
    panels: Any = figure.subfigures(2, 1, height_ratios=[6.2, max(rows * _LINE, 0.3)])
    top, listing = panels
    left, right = top.subplots(1, 2, width_ratios=[1, 1.3])
    left.set_title(outline(left, certificate, pixels, grid, marks, fields), fontsize=8)
    _margins(right, certificate, classes, estimates, as_claimed(words.status))
    predicted = printable(class_name(certificate.predicted, classes))
    heading = f"{words.status}: class {predicted}{words.wrong}{words.about}"
    claim = f"{CertificateSummary.of(certificate).claim(predicted)} {words.begun}".strip()
    # Lines are wrapped here, since matplotlib reads mathematics in those that it wraps itself.
    wrapped = "\n".join(fill(printable(line), _WIDE) for line in (heading, claim))
    top.suptitle(wrapped, fontsize=9, parse_math=False)
    for column, lines in enumerate(columns):
        x = (column + 0.02) / _COLUMNS
        listing.text(x, 1, "\n".join(lines), fontsize=6, family="monospace", va="top", parse_math=False)
    figure.supxlabel(fill(printable(words.notes), _WIDE_NOTE), fontsize=6, parse_math=False)
    return figure


def _shortened(name: str) -> str:
    """A name that fits beside a bar, cut between words where it has some."""
    return shorten(name, _LONGEST, placeholder="...") if " " in name.strip() else name[:_LONGEST]


def _margins(
    axes: Axes,
    certificate: checked.Certificate,
    classes: tuple[str, ...] | None,
    estimates: Estimates,
    claimed: str,
) -> None:
    """The closest rivals: the stated margins, and the leads of the image itself."""
    stated = sorted((margin, rival) for rival, margin in enumerate(certificate.margins) if margin is not None)
    shown = stated[:_RIVALS]
    for row, (margin, rival) in enumerate(shown):
        stated_margin = float(margin)
        axes.barh(row, stated_margin, color=_BAR, height=0.6)
        if estimates.ahead and estimates.ahead[rival] > stated_margin:
            axes.barh(
                row,
                estimates.ahead[rival] - stated_margin,
                left=stated_margin,
                height=0.6,
                fill=False,
                edgecolor=_BAR,
                linestyle="--",
            )
    named = [
        f"{_shortened(printable(class_name(rival, classes)))}\nat least {below(margin)}" for margin, rival in shown
    ]
    axes.set_yticks(range(len(shown)), named, fontsize=7, parse_math=False)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    rest = f", the {_RIVALS} closest of {len(stated)} rivals" if len(stated) > _RIVALS else ""
    here = "; dashed: the lead of the image (float64)" if estimates.ahead else ""
    axes.set_title(f"Margins{claimed}{rest}{here}", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)


def _entries(data: bytes, certificate: checked.Certificate, count: int | None, estimates: Estimates) -> list[list[str]]:
    """The statements, patch by patch: of each its lines, which are no longer than a column is wide."""
    words = [each.in_words(count) for each in Certificate.from_bytes(data).statements]
    numbered = list(enumerate(certificate.statements))
    numbered.sort(key=lambda one: one[1].patch if isinstance(one[1], checked.PatchStatement) else -1)
    lines = [_line(statement, words[number], estimates, number) for number, statement in numbered[:MOST]]
    spatial = "patch - prototype, similarity (about), interval:" if stated_prototypes(certificate) else ""
    more = f"and {len(numbered) - MOST} more" if len(numbered) > MOST else ""
    return [wrap(line, _LETTERS, subsequent_indent="  ") for line in (spatial, *lines, more) if line]


def _columns(entries: Sequence[list[str]]) -> list[list[str]]:
    """Entries in columns of about the same height, each entry in one of them."""
    height = -(-sum(map(len, entries)) // _COLUMNS)
    while True:
        columns: list[list[str]] = [[]]
        for entry in entries:
            if len(columns[-1]) + len(entry) > height:
                columns.append([])
            columns[-1] += entry
        if len(columns) <= _COLUMNS:
            return columns
        height += 1


def _line(statement: checked.Statement, words: tuple[str, str], estimates: Estimates, number: int) -> str:
    if not isinstance(statement, checked.PatchStatement):
        return ": ".join(words)
    similar = estimates.similarity[number] if estimates.similarity else None
    near = "" if similar is None else f" ~{about(similar)}"
    return f"{statement.patch} - {statement.prototype}{near} {words[1]}"
