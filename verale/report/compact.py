"""One explanation as a figure as wide as a column of a paper: image, prototypes, the sentence and its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from verale.certificate.words import PROTOTYPES, as_claimed, where_wrong
from verale.checker import certificate as checked
from verale.checker.verdict import printable
from verale.errors import InputError
from verale.report.collect import Collection, Item, read_item
from verale.report.outlined import marks_of_item, outline, pixels_of, pixels_of_item, pixels_of_picture
from verale.report.picture import saved
from verale.report.telling import Telling
from verale.report.thumbnails import ImageFile, Window, window_of
from verale.runs.arguments import auditor_for
from verale.runs.explained_run import HeadOfRun

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from verale.report.grid import Grid

__all__ = ["compact"]

_WIDTH, _EDGE, _ROW = 3.3, 0.06, 1.5
"""The width of the figure, its margin, and the height of the image, in inches."""
_SIZE, _LINE = 6.5, 0.115
"""The size of letters in points, and the height of a line in inches."""
_PICTURES, _STATEMENTS = 6, 8
"""The most prototypes that are pictured, and the most statements that are listed."""
_BULLET, _INDENT = "\N{BULLET} ", "   "
_YELLOW = "#ffd84d"
_SQUARES = "Numbers in squares: prototypes."


def compact(collection: Collection, kind: str) -> bytes:
    """The one certificate of a collection as a small `pdf`, `svg` or `png` file.

    Raises:
        InputError: the certificate cannot be read; latents that do not fit the head.
    """
    (item,) = collection.items
    if item.summary is None:
        raise InputError(item.path, f"cannot be drawn: {item.problem}")
    data, certificate = read_item(item)
    file = collection.head_file
    head = None if file is None else HeadOfRun.of(file.path, file.data)
    numbers = None if file is None else (collection.auditor or auditor_for(file)).numbers
    telling = Telling.of(data, head, collection.classes, numbers)
    return saved(lambda: _drawn(collection, item, certificate, telling), kind)


def _drawn(collection: Collection, item: Item, certificate: checked.Certificate, telling: Telling) -> Figure:
    figure = Figure(dpi=300)
    lines = _Lines(figure)
    predicted = printable(telling.predicted)
    wrong = printable(where_wrong(collection.name_of(item.label), item.correct))
    lines.add(f"{item.verdict}: class {predicted}{wrong}", "bold")
    above = len(lines.rows)
    lines.add(printable(telling.sentence))
    for subject, bounds in telling.unsaid[:_STATEMENTS]:
        lines.add(f"{_BULLET}{subject}: {bounds}")
    if len(telling.unsaid) > _STATEMENTS:
        lines.add(f"{_BULLET}and {len(telling.unsaid) - _STATEMENTS} more")
    lines.add(f"{telling.size[0].upper()}{telling.size[1:]}.")
    if item.status == "PROVED":
        for subject, said in telling.points[:-1]:  # the lead follows, not rounded part by part
            lines.add(f"{printable(subject)}: {printable(said)}")
    for rival, margin in telling.margins[:1]:
        who = "Every other class" if len(telling.margins) > 1 else printable(rival)
        lines.add(f"{who} stays at least {margin} below {predicted}{as_claimed(item.status)}.")
    if item.begun:
        lines.add(item.begun)
    pixels, known = pixels_of_item(collection, item)
    network = certificate.network
    drawn = [(j, _prototype(collection, j, network)) for j in telling.prototypes]
    shown = [(j, picture) for j, picture in drawn if picture is not None][:_PICTURES]
    parts = {j for j, _ in shown if collection.origin_of(j, network) is not None}
    named = telling.prototypes or tuple(collection.origins)
    for j in [j for j in named if j in collection.origins][:_PICTURES]:
        told = collection.origins[j]
        lines.add(printable(told.caption if j in parts else told.sentence))
    notes = [
        _SQUARES,
        f"The image is {known}." if known else "",
        *collection.notes_on(item),
        PROTOTYPES if any(j not in parts for j, _ in shown) else "",
    ]
    lines.add(printable(" ".join(filter(None, notes))))
    height = 2 * _EDGE + _ROW + _EDGE + len(lines.rows) * _LINE
    figure.set_size_inches(_WIDTH, height)
    top = height - _EDGE
    lines.draw(lines.rows[:above], top, height)
    top -= above * _LINE + _EDGE / 2
    grid = collection.grid_of(certificate.patches, certificate.network)
    left: Axes = figure.add_axes((_EDGE / _WIDTH, (top - _ROW) / height, _ROW / _WIDTH, _ROW / height))
    outline(left, certificate, pixels, grid, marks_of_item(collection, item, certificate), None, size=5)
    _prototypes(figure, shown, grid, top, height)
    lines.draw(lines.rows[above:], top - _ROW - _EDGE / 2, height)
    return figure


class _Lines:
    """Lines of text that are no wider than the figure."""

    def __init__(self, figure: Figure) -> None:
        self._figure = figure
        self._renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        self._most = (_WIDTH - 2 * _EDGE) * figure.dpi
        self.rows: list[tuple[str, str]] = []

    def add(self, text: str, weight: str = "normal") -> None:
        """Add a text, broken between words where it has to be, and within those that are too long."""
        font = FontProperties(size=_SIZE, weight=weight)
        first, *words = text.split(" ")
        indent, line = _INDENT if text.startswith(_BULLET) else "", first
        for word in words:
            if not self._wide(f"{line} {word}", font):
                line = f"{line} {word}"
                continue
            line = self._broken(line, weight, font)
            self.rows.append((line, weight))
            line = f"{indent}{word}"
        self.rows.append((self._broken(line, weight, font), weight))

    def _broken(self, line: str, weight: str, font: FontProperties) -> str:
        """Add the parts of a word that is too long; what is left of it fits."""
        while self._wide(line, font):
            fits = next(n for n in range(len(line), 0, -1) if n == 1 or not self._wide(line[:n], font))
            self.rows.append((line[:fits], weight))
            line = line[fits:]
        return line

    def draw(self, rows: Sequence[tuple[str, str]], top: float, height: float) -> None:
        """Draw rows from a height in inches downwards."""
        for number, (line, weight) in enumerate(rows):
            y = (top - number * _LINE) / height
            self._figure.text(_EDGE / _WIDTH, y, line, fontsize=_SIZE, fontweight=weight, va="top", parse_math=False)

    def _wide(self, text: str, font: FontProperties) -> bool:
        return bool(self._renderer.get_text_width_height_descent(text, font, False)[0] > self._most)


def _prototypes(
    figure: Figure,
    shown: Sequence[tuple[int, tuple[Any, tuple[int, int] | None]]],
    grid: Grid | None,
    top: float,
    height: float,
) -> None:
    """The pictures of prototypes beside the image, each with its number."""
    columns = 1 if len(shown) == 1 else 2 if len(shown) <= 4 else 3
    rows = max(1, -(-len(shown) // columns))
    room, start = _WIDTH - _ROW - 3 * _EDGE, _ROW + 2 * _EDGE
    side = min(room / columns - _EDGE, _ROW / rows - _LINE)
    for number, (prototype, (picture, cell)) in enumerate(shown):
        row, column = divmod(number, columns)
        x, y = start + column * (room / columns), top - (row + 1) * (side + _LINE)
        axes = figure.add_axes((x / _WIDTH, y / height, side / _WIDTH, side / height))
        axes.imshow(picture, cmap="gray")
        _cell(axes, picture, cell, grid)
        axes.set(xticks=[], yticks=[])
        axes.set_title(f"prototype {prototype}", fontsize=5.5, pad=1.5)


def _prototype(
    collection: Collection, prototype: int, network: str | None
) -> tuple[Any, tuple[int, int] | None] | None:
    """A prototype's picture, and the cell that it is where that is a whole training image; None without one.

    Where an origin is proved, that is the picture from which it is.
    """
    part = collection.origin_of(prototype, network)
    if part is not None:
        return pixels_of_picture(part[0]), part[1]
    drawn, origin = collection.pictures.get(prototype), collection.source.origins.get(prototype)
    known: list[tuple[Path | None, Window, tuple[int, int] | None]] = [(drawn, Window(), None)]
    if origin is not None:
        known.append((origin.file, window_of(collection.source.preprocessing), (origin.row, origin.column)))
    for file, window, cell in known:
        if file is not None and (admitted := collection.source.admitted(file)) is not None:
            try:
                return pixels_of(ImageFile(admitted, window)), cell
            except InputError:
                continue
    return None


def _cell(axes: Axes, picture: Any, cell: tuple[int, int] | None, grid: Grid | None) -> None:
    """Outline the cell of a training image that a prototype was copied from."""
    from matplotlib.patches import Rectangle

    if cell is None or grid is None:
        return
    high, wide = picture.shape[0] / grid.rows, picture.shape[1] / grid.columns
    corner = (cell[1] * wide - 0.5, cell[0] * high - 0.5)
    axes.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor="black", linewidth=1.6, clip_on=False))
    axes.add_patch(Rectangle(corner, wide, high, fill=False, edgecolor=_YELLOW, linewidth=0.8, clip_on=False))
