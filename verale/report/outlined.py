"""An image with outlined patches, as a panel of a figure: each square has the numbers of its prototypes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verale.certificate.words import NAMED_PICTURE
from verale.checker import certificate as checked
from verale.checker.read.pictures import Picture
from verale.files import read
from verale.report.estimates import estimates_of
from verale.report.explanation import named_prototypes
from verale.report.grid import Grid
from verale.report.images import AS_GIVEN, pictures_in
from verale.report.thumbnails import ImageFile, image_of, open_image

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from torch import Tensor

    from verale.adapters.fields import ReceptiveFields
    from verale.head import Head

_SIDE = 1024
MOST = 360
"""The most patches that are numbered, and statements that are listed."""
_NUMBERS = 2
"""The most prototypes that are named in a patch's square."""
_FRAMED = 3
"""Of so many outlined patches, the receptive fields are drawn."""
_DARK, _LIGHT, _FRAME = "#000000", "#ffd84d", "#ffffff"


def pixels_of(file: ImageFile) -> object:
    """What is drawn of an image's file in a form that matplotlib draws: (H, W, 3) bytes. Raises InputError."""
    return np.asarray(open_image(file, _SIDE))


def pixels_of_given(image: Any, picture: str | None) -> tuple[Any, str]:
    """An image that somebody gave in a form that matplotlib draws, (H, W) or (H, W, 3), floats in [0, 1] or bytes; and
    what is known of it.

    Args:
        image: a file, a PIL image, or an array or tensor (H, W), (H, W, 3) or (3, H, W).
        picture: the digest of the picture that the certificate names; None where it names none.

    Raises:
        InputError: a file that cannot be read.
    """
    known: Iterable[Picture]
    if isinstance(image, (str, Path)):
        pixels, known = None, () if picture is None else pictures_in(read(Path(image), "an image"))
    else:
        pixels = np.asarray(image)
        if pixels.ndim == 3 and pixels.shape[0] in (1, 3) and pixels.shape[2] not in (1, 3, 4):
            pixels = pixels.transpose(1, 2, 0)
        if pixels.ndim == 3 and pixels.shape[2] == 1:
            pixels = pixels[:, :, 0]
        if pixels.dtype.kind == "f" and (pixels.min() < 0 or pixels.max() > 1):  # normalised, say
            pixels = (pixels - pixels.min()) / max(pixels.max() - pixels.min(), np.finfo(pixels.dtype).tiny)
        # The pictures that an array of bytes can be: (H, W) those of one channel and of three.
        is_plain = pixels.dtype == "uint8" and (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3))
        planes = [pixels] if pixels.ndim == 2 else list(pixels.transpose(2, 0, 1)) if is_plain else []
        known = [
            Picture((len(each), *pixels.shape[:2]), b"".join(plane.tobytes() for plane in each))
            for each in ([planes, planes * 3] if len(planes) == 1 else [planes])
            if is_plain
        ]
    for each in known:
        if each.digest == picture:
            return np.asarray(image_of(each)), NAMED_PICTURE
    return pixels_of(ImageFile(image)) if pixels is None else pixels, AS_GIVEN


def stated_prototypes(certificate: checked.Certificate) -> dict[int, list[int]]:
    """For each patch that has statements, the prototypes that it is compared with in them."""
    stated: dict[int, list[int]] = {}
    for each in certificate.statements:
        if isinstance(each, checked.PatchStatement):
            stated.setdefault(each.patch, []).append(each.prototype)
    return stated


def marks_of(certificate: checked.Certificate, head: Head | None, image: Tensor | None) -> dict[int, list[int]]:
    """The prototypes to name in the patches that are outlined.

    Of statements about patches, those that they are compared with; otherwise the prototypes to show with the
    explanation, where the image, latents (1, D, H, W) or (1, L, D), activates them most, if the head is the
    certificate's. Raises LatentsError: latents that do not fit the head.
    """
    marks = stated_prototypes(certificate)
    if marks:
        return marks
    count = head.size if head is not None and head.digest == certificate.head else None
    active = tuple(checked.ActivationStatement(j, Fraction(0), None) for j in named_prototypes(certificate, count))
    attained = estimates_of(replace(certificate, statements=active), head, image).attained
    for each, patch in zip(active, attained, strict=False):
        if patch is not None:
            marks.setdefault(patch, []).append(each.prototype)
    return marks


def outline(
    axes: Axes,
    certificate: checked.Certificate,
    pixels: Any,
    grid: Grid | None,
    marks: Mapping[int, Sequence[int]],
    fields: ReceptiveFields | None,
    size: float = 7,
) -> str:
    """Draw the image, stretched to the grid, with the cells of marked patches outlined and their prototypes' numbers;
    and of a few patches the receptive fields, dashed. Returns what to say of it."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle
    from matplotlib.patheffects import withStroke

    axes.set_axis_off()
    if grid is None:
        axes.text(0.5, 0.5, f"{certificate.patches} patches;\ntheir grid is unknown", ha="center", va="center")
        return ""
    extent = (0, grid.columns, grid.rows, 0)
    high, wide = (grid.rows, grid.columns) if pixels is None else pixels.shape[:2]
    axes.set(xlim=extent[:2], ylim=extent[2:], aspect=(high / wide) * (grid.columns / grid.rows))
    if pixels is None:
        axes.hlines(range(grid.rows + 1), 0, grid.columns, colors="#b0b0b0", linewidth=0.5)
        axes.vlines(range(grid.columns + 1), 0, grid.rows, colors="#b0b0b0", linewidth=0.5)
    else:
        axes.imshow(pixels, extent=extent, cmap="gray", aspect=axes.get_aspect())
    cells = []
    for patch, prototypes in marks.items():
        if (cell := grid.cell(patch)) is not None:
            more = f"\n+{len(prototypes) - _NUMBERS}" if len(prototypes) > _NUMBERS else ""
            cells.append((cell, ", ".join(map(str, prototypes[:_NUMBERS])) + more))
    squares = [Rectangle((column, row), 1, 1) for (row, column), _ in cells]
    for colour, width in ((_DARK, 2.5), (_LIGHT, 1.2)):
        axes.add_collection(PatchCollection(squares, facecolor="none", edgecolor=colour, linewidth=width))
    # What to say of it, by whether statements are about patches, and how many are outlined.
    stated, framed = bool(stated_prototypes(certificate)), len(cells) <= _FRAMED
    title = "prototypes that patches are compared with" if stated else "prototypes where they are most active (float64)"
    title += f", of the first {MOST} patches" if len(cells) > MOST else ""
    if cells and fields is not None and fields.whole:
        title += "\nsquares: cells of the grid; each patch can depend on the whole image"
    elif cells and fields is not None and framed:
        title += "\nsolid: cells of the grid; dashed: receptive fields"
        across, down = grid.columns / fields.size[1], grid.rows / fields.size[0]
        boxes = [fields.box(*cell) for cell, _ in cells]
        for colour, style in ((_DARK, "-"), (_FRAME, "--")):
            shapes = [
                Rectangle((left * across, top * down), (right - left) * across, (bottom - top) * down)
                for left, top, right, bottom in boxes
            ]
            axes.add_collection(
                PatchCollection(
                    shapes, facecolor="none", edgecolor=colour, linewidth=1.2, linestyle=style, clip_on=False
                )
            )
    stroke = [] if pixels is None else [withStroke(linewidth=1.5, foreground=_DARK)]
    colour = _DARK if pixels is None else _LIGHT
    for (row, column), mark in cells[:MOST]:
        axes.text(
            column + 0.5, row + 0.5, mark, ha="center", va="center", fontsize=size, color=colour, path_effects=stroke
        )
    return title + (", square grid assumed" if grid.assumed else "")
