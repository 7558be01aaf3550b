"""One certificate as a figure: image, prototypes, the sentence, the points, what is proved, and the statements.

It tells what the page tells, in the words of `Telling`. A compact figure is as wide as a column of a paper, and lists
only the statements whose numbers the sentence leaves out.
"""

from __future__ import annotations

import hashlib
import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle

from verale.certificate import Certificate
from verale.certificate.words import PROTOTYPES, VerdictInWords, as_claimed
from verale.checker import Verdict
from verale.checker import certificate as checked
from verale.checker.verdict import printable
from verale.errors import InputError, LatentsError, naming
from verale.report.collect import Collection, own_latents
from verale.report.explanation import Telling
from verale.report.grid import Grid, grid_of_image
from verale.report.outlined import MOST, marks_of, outline, pixels_of, pixels_of_given
from verale.report.single import Shown, shown_of
from verale.report.thumbnails import ImageFile, Window, image_of, to_draw, window_of

if TYPE_CHECKING:
    from verale.adapters.fields import ReceptiveFields
    from verale.head import Head

_EDGE, _LINE, _SIZE = 0.06, 0.115, 6.5
"""The margin of the figure and the height of a line in inches, and the size of letters in points."""
_PICTURES, _PICTURED = 6, 1.0
"""The most prototypes that are pictured, and the height of their pictures where points stand below them."""
_ORIGINS = 8
"""Of so many prototypes it is said which patches they are."""
_BULLET, _INDENT = "\N{BULLET} ", "   "
_YELLOW = "#ffd84d"
_SQUARES = "Numbers in squares: prototypes."


@dataclass(frozen=True)
class _Layout:
    """How much room there is: width and height of the image in inches, the most statements and rivals that are listed,
    and the columns of the list."""

    width: float
    image: float
    statements: int
    rivals: int
    columns: int


_COMPACT, _WHOLE = _Layout(3.3, 1.5, 8, 1, 1), _Layout(7.0, 2.6, MOST, 12, 2)


class _Pictured(NamedTuple):
    """A prototype's picture: its pixels, the cell that the prototype is where it is a whole image, and whether that is
    the picture from which it is proved to come."""

    pixels: Any
    cell: tuple[int, int] | None
    is_proved: bool = False


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
        head: gives class names, and with a verdict the points that the statements prove.
        latents: (N, D, H, W) or (N, L, D), the certificate's image among them; gives the shape of the grid, and with
            the head the patches where prototypes are most active.
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
    said = VerdictInWords() if verdict is None else VerdictInWords(verdict.status.value, verdict.claims)
    pixels, known = (None, "") if image is None else pixels_of_given(image, given.picture)
    # Of a head from a file with other bytes than `Head.save` writes, no more than the names of its classes is known.
    is_saved = head is not None and hashlib.sha256(head.to_bytes()).hexdigest() == head.digest
    names, in_points = (None if head is None else head.labels) or classes, said.status == "PROVED" and not said.caveat
    shown = shown_of(data, head if is_saved else None, said, names, in_points)
    shown, grid = replace(shown, image_is=said.image_is(known)), grid_of_image(given.patches, head, latents)
    return _drawn(_WHOLE, shown, pixels, [said.not_proved], grid, marks_of(given, head, own))


def picture(collection: Collection, kind: str, compact: bool = False) -> bytes:
    """The one certificate of a collection as a `pdf`, `svg` or `png` file.

    If the image cannot be read, the picture says so and shows the grid.

    Raises:
        InputError: the certificate cannot be read; latents that do not fit the head.
    """
    (item,) = collection.items
    data, given = item.data, item.certificate
    if given is None:
        raise InputError(item.path, f"cannot be drawn: {item.problem}")
    telling = Telling.of(data, collection.read_head, collection.classes, collection.numbers)
    file, pixels, known = to_draw(collection.source, item.image), None, item.image_is
    if file is None and not collection.embeds:
        known = "not shown: the figure was made without pictures"
    elif file is not None:
        try:
            pixels = pixels_of(file)
        except InputError as error:
            known = f"not shown: {Path(file.path).name}: {error.problem}"
    grid = collection.grid_of(given.patches, given.network)
    drawn = ((j, _prototype(collection, j, given.network)) for j in telling.prototypes)
    shown = dict(islice(((j, each) for j, each in drawn if each is not None), _PICTURES))
    with naming(collection.latents_path, LatentsError):
        marks = marks_of(given, collection.head, collection.latents_of(item))
    told = collection.origins
    named = [j for j in telling.prototypes or tuple(told) if j in told]
    proved = {j for j, each in shown.items() if each.is_proved}
    origins = [f"{told[j].caption if j in proved else told[j].sentence}." for j in named[:_ORIGINS]]
    origins += [f"And {len(named) - _ORIGINS} more prototypes."] if len(named) > _ORIGINS else []
    said = Shown(telling, item.verdict, label=collection.name_of(item.label), correct=item.correct, image_is=known)
    notes, fields = collection.notes_on(item), collection.fields_of(grid, given.network)
    layout = _COMPACT if compact else _WHOLE
    return saved(lambda: _drawn(layout, said, pixels, notes, grid, marks, fields, shown, origins), kind)


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


def _drawn(
    layout: _Layout,
    said: Shown,
    pixels: Any,
    notes: Sequence[str],
    grid: Grid | None,
    marks: Mapping[int, Sequence[int]],
    fields: ReceptiveFields | None = None,
    shown: Mapping[int, _Pictured] = MappingProxyType({}),
    origins: Sequence[str] = (),
) -> Picture:
    """The figure: text, the image with prototypes and points beside or below it, text, and the list of statements.

    The notes are what the verdict does not say, and what nothing checks; `marks` the prototypes to name in patches;
    `shown` pictures of prototypes; `origins` which patches they are, as it was proved now.
    """
    figure = Picture(dpi=300)
    lines = _Lines(figure)
    wide, beside = layout.width - 2 * _EDGE, layout is _WHOLE
    telling, verdict = said.telling, said.verdict
    above = lines.of(said.heading, wide, "bold")
    bold = len(above)
    above += lines.of(telling.sentence, wide)
    # The image is drawn first in a corner: what is said of it is part of the text that decides the figure's height.
    image: Any = figure.add_axes((0, 0, 0.1, 0.1))
    given = telling.certificate
    outlined = outline(image, given, pixels, grid, marks, fields, size=5)
    outlined = f"In the image: {outlined}.".replace("\n", "; ") if outlined and beside else ""
    # Below the image and the points: what is proved, and what is not.
    facts, rivals, claimed = list[str](), telling.margins[: layout.rivals], as_claimed(verdict.status)
    named_points = () if verdict.caveat else said.points  # none unless it is PROVED of some image
    if layout is _COMPACT and rivals and not named_points:
        who = "Every other class" if len(telling.margins) > 1 else rivals[0][0]
        facts.append(f"{who} stays at least {rivals[0][1]} below {telling.predicted}{claimed}.")
    elif layout is _WHOLE and rivals:
        leads = [f"{name}: at least {margin}" for name, margin in rivals]
        more = len(telling.margins) - len(rivals)
        leads += [f"{more} more classes"] if more else []
        facts.append(f"Leads, how far other classes stay below {telling.predicted}{claimed}: {'; '.join(leads)}.")
    begun = verdict.begun(given.picture, given.arithmetic)
    facts += [*([begun] if begun else []), *origins]
    is_image = f"The image is {said.image_is}." if said.image_is else ""
    proved = all(each.is_proved for each in shown.values())
    facts.append(" ".join(filter(None, [_SQUARES, outlined, is_image, *notes, "" if proved else PROTOTYPES])))
    below = [line for text in facts for line in lines.of(text, wide)]
    columns = _columns(_statements(telling, layout, lines), layout.columns)
    start = layout.image + 2 * _EDGE
    room = layout.width - start - _EDGE
    points = []  # what gives or takes points at the left, and how many at the right; below each other if too wide
    for pair in named_points:
        left, right = map(printable, pair)
        width = room if beside else wide
        if len(lines.of(f"{left}:   {right}", width)) == 1:
            points.append((f"{left}:", right))
        else:
            points += [(line, "") for line in lines.of(f"{left}:", width)]
            points += [("", line) for line in lines.of(right, width)]
    pictured = _PICTURED if beside and points and shown else layout.image
    panel = max(layout.image, (pictured if shown else 0) + _EDGE + len(points) * _LINE) if beside else layout.image
    rows = len(above) + len(below) + max(map(len, columns)) + (0 if beside else len(points))
    height = rows * _LINE + panel + 5 * _EDGE
    figure.set_size_inches(layout.width, height)

    def write(texts: Sequence[str], x: float, top: float, bold: int = 0, align: str = "left") -> float:
        for number, line in enumerate(texts):
            place, weight = (top - number * _LINE) / height, "bold" if number < bold else "normal"
            style: dict[str, Any] = {"fontsize": _SIZE, "fontweight": weight, "va": "top", "ha": align}
            figure.text(x / layout.width, place, line, parse_math=False, **style)
        return top - len(texts) * _LINE

    top = write(above, _EDGE, height - _EDGE, bold) - _EDGE / 2
    high = layout.image / height
    image.set_position((_EDGE / layout.width, top / height - high, layout.image / layout.width, high))
    _prototypes(figure, shown, grid, (start, room, pictured, top))
    from_top = top - (pictured if shown else 0) - _EDGE if beside else top - panel - _EDGE
    write([left for left, _ in points], start if beside else _EDGE, from_top)
    end = write([right for _, right in points], layout.width - _EDGE, from_top, align="right")
    top = write(below, _EDGE, top - panel - 2 * _EDGE if beside else end - _EDGE / 2)
    for number, column in enumerate(columns):
        write(column, _EDGE + number * wide / layout.columns, top - _EDGE / 2)
    return figure


def _statements(telling: Telling, layout: _Layout, lines: _Lines) -> list[list[str]]:
    """The size, and the statements that are listed, each as lines that fit a column."""
    listed = telling.unsaid if layout is _COMPACT else telling.statements
    texts = [f"{telling.size[0].upper()}{telling.size[1:]}."]
    texts += [f"{_BULLET}{subject}: {bounds}" for subject, bounds in listed[: layout.statements]]
    if len(listed) > layout.statements:
        texts.append(f"{_BULLET}and {len(listed) - layout.statements} more")
    wide = (layout.width - 2 * _EDGE) / layout.columns - (_EDGE if layout.columns > 1 else 0)
    return [lines.of(text, wide) for text in texts]


def _columns(entries: Sequence[list[str]], most: int) -> list[list[str]]:
    """Entries in columns of about the same height, each entry in one of them."""
    height = -(-sum(map(len, entries)) // most)
    while True:
        columns: list[list[str]] = [[]]
        for entry in entries:
            if len(columns[-1]) + len(entry) > height:
                columns.append([])
            columns[-1] += entry
        if len(columns) <= most:
            return columns
        height += 1


class _Lines:
    """Lines of text that are no wider than there is room; each word is measured once."""

    def __init__(self, figure: Figure) -> None:
        self._dpi, self._known = figure.dpi, dict[tuple[str, str], float]()
        self._renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]

    def _width(self, text: str, weight: str) -> float:
        """In pixels."""
        if (text, weight) not in self._known:
            font = FontProperties(size=_SIZE, weight=weight)
            self._known[text, weight] = self._renderer.get_text_width_height_descent(text, font, False)[0]
        return self._known[text, weight]

    def of(self, text: str, inches: float, weight: str = "normal") -> list[str]:
        """The lines of a text, broken between words where it has to be, and within those that are too long. What is
        not printable is written as an escape."""
        text = printable(text)
        most, indent = inches * self._dpi, _INDENT if text.startswith(_BULLET) else ""
        rows, wide = [""], 0.0
        for number, word in enumerate(text.split(" ")):
            more = self._width(word, weight) + (self._width(" ", weight) if number else 0)
            if number and wide + more > most:
                rows.append(f"{indent}{word}")
                wide = self._width(rows[-1], weight)
            else:
                rows[-1] += f" {word}" if number else word
                wide += more
            while wide > most and len(rows[-1]) > 1:
                line = rows[-1]
                fits = next(n for n in range(len(line) - 1, 0, -1) if n == 1 or self._width(line[:n], weight) <= most)
                rows[-1:] = line[:fits], line[fits:]
                wide = self._width(rows[-1], weight)
        return rows


def _prototypes(
    figure: Figure,
    shown: Mapping[int, _Pictured],
    grid: Grid | None,
    place: tuple[float, float, float, float],
) -> None:
    """The pictures of prototypes, each with its number; `place` is left, width, height and top in inches."""
    start, room, high, top = place
    width, height = figure.get_size_inches()
    most = max(1, int(room / (high - _LINE)))
    columns = len(shown) if len(shown) <= most else 2 if len(shown) <= 4 else 3
    rows = max(1, -(-len(shown) // max(1, columns)))
    side = min(room / max(1, columns) - 2 * _EDGE, high / rows - _LINE)
    for number, (prototype, (pixels, cell, _)) in enumerate(shown.items()):
        row, column = divmod(number, columns)
        x, y = start + column * (side + 2 * _EDGE), top - (row + 1) * (side + _LINE)
        axes = figure.add_axes((x / width, y / height, side / width, side / height))
        axes.imshow(pixels, cmap="gray")
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"prototype {prototype}", fontsize=5.5, pad=1.5)
        if cell is None or grid is None:
            continue
        tall, wide = pixels.shape[0] / grid.rows, pixels.shape[1] / grid.columns
        corner = (cell[1] * wide - 0.5, cell[0] * tall - 0.5)
        for colour, line in (("black", 1.6), (_YELLOW, 0.8)):
            axes.add_patch(Rectangle(corner, wide, tall, fill=False, edgecolor=colour, linewidth=line, clip_on=False))


def _prototype(collection: Collection, prototype: int, network: str | None) -> _Pictured | None:
    """A prototype's picture; None without one. Where an origin is proved, that is the picture from which it is."""
    part = collection.origin_of(prototype, network)
    if part is not None:
        return _Pictured(np.asarray(image_of(part[0])), part[1], True)
    drawn, origin = collection.pictures.get(prototype), collection.source.origins.get(prototype)
    known: list[tuple[Path | None, Window, tuple[int, int] | None]] = [(drawn, Window(), None)]
    if origin is not None:
        known.append((origin.file, window_of(collection.source.preprocessing), (origin.row, origin.column)))
    for file, window, cell in known:
        if file is not None and (admitted := collection.source.admitted(file)) is not None:
            try:
                return _Pictured(pixels_of(ImageFile(admitted, window)), cell)
            except InputError:
                continue
    return None
