"""One certificate as a picture: the image with outlined patches, the margins, and the statements."""

from __future__ import annotations

import io
import warnings
from collections import Counter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context, rcdefaults, rcParams
from matplotlib.figure import Figure

from verale.certificate import Certificate
from verale.certificate.words import NOT_PROVED, below, between, caveat, lower_end, others, upper_end
from verale.checker import Verdict
from verale.checker import certificate as checked
from verale.checker.verdict import printable
from verale.errors import InputError, LatentsError
from verale.report.collect import CertificateSummary, Collection, indices_by_digest, read_item
from verale.report.estimates import Estimates, estimates_of, estimates_of_item
from verale.report.grid import Grid, fields_of_grid, grid_of_image
from verale.report.thumbnails import Window, open_image, window_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from verale.adapters.fields import ReceptiveFields
    from verale.head import Head

__all__ = ["Picture", "picture", "plot"]

_SIDE = 1024
_RIVALS = 12
_COLUMNS, _MOST = 3, 360
"""The columns of the list of statements, and the most statements that are listed, and patches that are numbered."""
_WIDE = 150
"""The most characters of a line of the heading."""
_LINE = 0.125
"""The height of a listed statement in inches."""
_FRAMED = 3
"""Of so many outlined patches, the receptive fields are drawn."""
_DARK, _LIGHT, _FRAME, _BAR = "#000000", "#ffd84d", "#ffffff", "#2a6fb5"


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
            bytes or floats. Without it the grid of patches is drawn.
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
    given = checked.read_certificate(certificate.to_bytes())
    own = None
    if latents is not None:
        index = indices_by_digest(latents).get(given.latents or "")
        if index is None:
            raise LatentsError("the certificate's image is not among these latents: give those it was computed from")
        own = latents[index : index + 1]
    names = (head.labels if head is not None else None) or classes
    status = "NOT AUDITED"
    if verdict is not None:
        said = verdict.status.value, caveat(verdict.status.value, verdict.claims)
        status = ", ".join(filter(None, said)).replace("_", " ")
    grid = grid_of_image(given.patches, head, latents)
    return _draw(given, _pixels(image), grid, names, estimates_of(given, head, own), status, "")


def picture(collection: Collection, kind: str) -> bytes:
    """The one certificate of a collection as a `pdf`, `svg` or `png` file.

    If the image cannot be read, the picture says so and shows the grid.

    Raises:
        InputError: the certificate cannot be read.
    """
    (item,) = collection.items
    if item.summary is None:
        raise InputError(item.path, f"cannot be drawn: {item.problem}")
    _, given = read_item(item)
    window = window_of(collection.source.preprocessing)
    pixels, name = None, "" if item.path is None else item.path.name
    if item.file is not None and collection.source.admits(item.file):
        try:
            pixels = _pixels(item.file, window, item.file_sha256)
        except InputError as error:
            name += f"; not shown: {error}"
    if pixels is not None and item.image_note:
        name += f"; the image is {item.image_note}"
    grid = grid_of_image(given.patches, collection.head, collection.latents)
    estimates = estimates_of_item(collection, item, given)
    fields = fields_of_grid(collection.source.fields, grid)
    stream = io.BytesIO()
    dated = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "png": None}
    with rc_context(), warnings.catch_warnings():
        # The same picture, the same bytes. The matplotlibrc of the current folder may be a stranger's and name LaTeX.
        rcdefaults()
        rcParams["svg.hashsalt"] = "verale"
        warnings.filterwarnings("ignore", "Glyph .* missing")  # which is drawn as a box
        figure = _draw(given, pixels, grid, collection.classes, estimates, item.verdict, name, fields)
        figure.savefig(stream, format=kind, metadata=dated[kind])
    return stream.getvalue()


def _pixels(image: Any, window: Window | None = None, sha256: str | None = None) -> Any:
    """An image in a form that matplotlib draws: (H, W) or (H, W, 3), floats in [0, 1] or bytes."""
    if image is None:
        return None
    import numpy as np

    if isinstance(image, (str, Path)):
        return np.asarray(open_image(Path(image), window or Window(), _SIDE, sha256))
    pixels = np.asarray(image)
    if pixels.ndim == 3 and pixels.shape[0] in (1, 3) and pixels.shape[2] not in (1, 3, 4):
        pixels = pixels.transpose(1, 2, 0)
    if pixels.ndim == 3 and pixels.shape[2] == 1:
        pixels = pixels[:, :, 0]
    if pixels.dtype.kind == "f" and (pixels.min() < 0 or pixels.max() > 1):  # normalised, say
        pixels = (pixels - pixels.min()) / max(pixels.max() - pixels.min(), np.finfo(pixels.dtype).tiny)
    return pixels


def _draw(
    certificate: checked.Certificate,
    pixels: Any,
    grid: Grid | None,
    classes: tuple[str, ...] | None,
    estimates: Estimates,
    status: str,
    name: str,
    fields: ReceptiveFields | None = None,
) -> Picture:
    lines = _lines(certificate, estimates)
    rows = -(-len(lines) // _COLUMNS)
    figure = Picture(figsize=(11, 6.2 + rows * _LINE), dpi=150, layout="constrained")
    panels: Any = figure.subfigures(2, 1, height_ratios=[6.2, max(rows * _LINE, 0.3)])
    top, listing = panels
    left, right = top.subplots(1, 2, width_ratios=[1, 1.3])
    _outline(left, certificate, pixels, grid, estimates, fields)
    _margins(right, certificate, classes, estimates)
    predicted = _name(certificate.predicted, classes)
    heading = f"{status}: class {predicted}" + (f" ({name})" if name else "")
    claim = CertificateSummary.of(certificate).claim(predicted)
    # Lines are wrapped here, since matplotlib reads mathematics in those that it wraps itself.
    wrapped = "\n".join(fill(printable(line), _WIDE) for line in (heading, claim))
    top.suptitle(wrapped, fontsize=9, parse_math=False)
    for column in range(_COLUMNS):
        text = "\n".join(lines[column * rows : (column + 1) * rows])
        x = (column + 0.02) / _COLUMNS
        listing.text(x, 1, text, fontsize=6, family="monospace", va="top", parse_math=False)
    figure.supxlabel(NOT_PROVED, fontsize=6)
    return figure


def _name(index: int, classes: tuple[str, ...] | None) -> str:
    return printable(classes[index]) if classes is not None and index < len(classes) else str(index)


def _patches(certificate: checked.Certificate) -> Counter[int]:
    """The number of statements about each patch."""
    return Counter(s.patch for s in certificate.statements if isinstance(s, checked.PatchStatement))


def _outline(
    axes: Axes,
    certificate: checked.Certificate,
    pixels: Any,
    grid: Grid | None,
    estimates: Estimates,
    fields: ReceptiveFields | None,
) -> None:
    """The image, stretched to the grid, with each stated patch's cell outlined and its number of statements; and of a
    few patches the receptive fields, dashed."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    axes.set_axis_off()
    if grid is None:
        axes.text(0.5, 0.5, f"{certificate.patches} patches;\ntheir grid is unknown", ha="center", va="center")
        return
    extent = (0, grid.columns, grid.rows, 0)
    high, wide = (grid.rows, grid.columns) if pixels is None else pixels.shape[:2]
    axes.set(xlim=extent[:2], ylim=extent[2:], aspect=(high / wide) * (grid.columns / grid.rows))
    if pixels is None:
        axes.hlines(range(grid.rows + 1), 0, grid.columns, colors="#b0b0b0", linewidth=0.5)
        axes.vlines(range(grid.columns + 1), 0, grid.rows, colors="#b0b0b0", linewidth=0.5)
    else:
        axes.imshow(pixels, extent=extent, cmap="gray", aspect=axes.get_aspect())
    counts = _patches(certificate) or Counter(patch for patch in estimates.attained if patch is not None)
    cells = [(cell, count) for patch, count in counts.items() if (cell := grid.cell(patch)) is not None]
    squares = [Rectangle((column, row), 1, 1) for (row, column), _ in cells]
    for colour, width in ((_DARK, 2.5), (_LIGHT, 1.2)):
        axes.add_collection(PatchCollection(squares, facecolor="none", edgecolor=colour, linewidth=width))
    title = _title(bool(_patches(certificate)), len(cells), fields)
    if fields is not None and not fields.whole and len(cells) <= _FRAMED:
        frames = [_frame(fields.box(*cell), fields.size, grid) for cell, _ in cells]
        for colour, style in ((_DARK, "-"), (_FRAME, "--")):
            shapes = [Rectangle(*each) for each in frames]
            axes.add_collection(
                PatchCollection(
                    shapes, facecolor="none", edgecolor=colour, linewidth=1.2, linestyle=style, clip_on=False
                )
            )
    stroke = [withStroke(linewidth=1.5, foreground=_DARK)]
    for (row, column), count in cells[:_MOST]:
        axes.text(
            column + 0.5, row + 0.5, str(count), ha="center", va="center", fontsize=6, color=_LIGHT, path_effects=stroke
        )
    axes.set_title(title + (", square grid assumed" if grid.assumed else ""), fontsize=8)


def _title(stated: bool, outlined: int, fields: ReceptiveFields | None) -> str:
    """What stands above the image.

    Args:
        stated: whether statements are about patches.
        outlined: how many patches are outlined.
        fields: their receptive fields, where known.
    """
    what = "statements a patch" if stated else "where stated activations are greatest"
    what += f", of the first {_MOST} patches" if outlined > _MOST else ""
    if not outlined or fields is None:
        return what
    if fields.whole:
        return f"{what}\nsquares: cells of the grid; each patch can depend on the whole image"
    return f"{what}\nsolid: cells of the grid; dashed: receptive fields" if outlined <= _FRAMED else what


def _frame(
    box: tuple[int, int, int, int], size: tuple[int, int], grid: Grid
) -> tuple[tuple[float, float], float, float]:
    """A receptive field in cells of the grid: its corner, width and height."""
    left, top, right, bottom = box
    across, down = grid.columns / size[1], grid.rows / size[0]
    return (left * across, top * down), (right - left) * across, (bottom - top) * down


def _margins(
    axes: Axes, certificate: checked.Certificate, classes: tuple[str, ...] | None, estimates: Estimates
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
    named = [f"{_name(rival, classes)[:24]}\nat least {below(margin, 4)}" for margin, rival in shown]
    axes.set_yticks(range(len(shown)), named, fontsize=7, parse_math=False)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    rest = f", the {_RIVALS} closest of {len(stated)} rivals" if len(stated) > _RIVALS else ""
    here = "; dashed: the lead of the image (float64)" if estimates.ahead else ""
    axes.set_title(f"Margins{rest}{here}", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)


def _lines(certificate: checked.Certificate, estimates: Estimates) -> list[str]:
    """The statements, one a line, patch by patch."""
    numbered = list(enumerate(certificate.statements))
    numbered.sort(key=lambda one: one[1].patch if isinstance(one[1], checked.PatchStatement) else -1)
    lines = [_line(statement, estimates, number) for number, statement in numbered[:_MOST]]
    spatial = "patch - prototype, similarity (about), interval:" if _patches(certificate) else ""
    more = f"and {len(numbered) - _MOST} more" if len(numbered) > _MOST else ""
    return [line for line in (spatial, *lines, more) if line]


def _line(statement: checked.Statement, estimates: Estimates, number: int) -> str:
    if isinstance(statement, checked.OrderStatement):
        return f"{others(statement.exempt)}: at most {upper_end(statement.upper)}"
    if isinstance(statement, checked.FloorStatement):
        return f"{others(statement.exempt)}: at least {lower_end(statement.lower)}"
    interval = between(statement.lower, statement.upper)
    if isinstance(statement, checked.ActivationStatement):
        return f"prototype {statement.prototype}: activation {interval}"
    similar = estimates.similarity[number] if estimates.similarity else None
    about = "" if similar is None else f" ~{similar:.3g}"
    return f"{statement.patch} - {statement.prototype}{about} {interval}"
