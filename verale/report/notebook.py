"""One certificate in a notebook: what `verale show` prints, as HTML, with the image where it is given."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.certificate.words import OWN_NAMES, VerdictInWords, as_claimed
from verale.errors import InputError
from verale.report.images import BY_ORDER
from verale.report.single import WHY, Shown, shown_of, single
from verale.runs.arguments import certificate_bytes, is_path
from verale.runs.audit import audit
from verale.runs.inputs import find_inputs

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.head import Head

__all__ = ["Showing", "show"]

_INCHES = 2.6
"""The width of the image."""


@dataclass(frozen=True)
class Showing:
    """A certificate as notebooks and terminals show it.

    Attributes:
        shown: what is shown.
        picture: a PNG file of the image with outlined patches; empty without one.
    """

    shown: Shown
    picture: bytes = b""

    def __str__(self) -> str:
        return "\n".join(self.shown.lines())

    def __repr__(self) -> str:
        return self.shown.heading

    def _repr_html_(self) -> str:
        """The HTML that notebooks show, without scripts and outside resources. All text is escaped."""
        shown = self.shown
        image = f'<img alt="" src="data:image/png;base64,{b64encode(self.picture).decode()}">' if self.picture else ""
        origins = [(f"prototype {j}", shown.origins[j]) for j in shown.telling.prototypes if j in shown.origins]
        notes = filter(None, (shown.about_image, OWN_NAMES if shown.own_names else "", shown.verdict.not_proved))
        rivals, fewer = shown.margins()
        return "\n".join(
            [
                f"<div><p><b>{escape(shown.heading)}</b></p>",
                f"<p>{escape(shown.claim)}</p>{image}",
                "".join(f"<p>{escape(line)}</p>" for line in shown.narrower),
                _table(WHY, ("what", "points"), shown.points),
                _table(shown.telling.size, ("what is stated", "how much"), *shown.statements()),
                _table(f"Leads{as_claimed(shown.verdict.status)}", ("class", "behind by at least"), rivals, fewer),
                _table("Where the prototypes come from (nothing proves it)", ("prototype", "copied from"), origins),
                *(f"<p><small>{escape(note)}</small></p>" for note in notes),
                _table("Digests (SHA-256)", ("what", "digest"), list(shown.telling.digests.items())),
                "</div>",
            ]
        )


def show(
    certificate: str | Path | Certificate,
    head: str | Path | Head | None = None,
    latents: object = None,
    image: object = None,
    classes: Sequence[str] | None = None,
    pictures: bool = True,
) -> Showing:
    """Show a certificate: the sentence, its numbers, the margins and the verdict; in a notebook as HTML, by `print`
    as text.

    Args:
        certificate: the certificate, or the path of its file.
        head: the head that it is about, or the path of its file. With it the certificate is audited, now; without it
            nothing is called proved. Beside a path, head and latents are those of the folder unless they are given.
        latents: latents with those of its image, or the path of their file.
        image: what the network received, as `plot` takes it; the patches that matter are outlined. Beside a path it is
            the one that `source.json` names in the folder.
        classes: the names of the classes, if the head has none.
        pictures: whether the image is shown; without it numbers and words stay, as with --no-pictures.

    Raises:
        InputError: a file that cannot be used, or an image that cannot be read.
        CertificateError: a certificate that the checker cannot read.
        LatentsError: latents, not in a file, whose shape or values do not fit the head.
        UsageError: something else than a certificate or a head.
    """
    if is_path(certificate) and all(each is None or is_path(each) for each in (head, latents)):
        return _of_file(str(certificate), head, latents, image, pictures)
    data = certificate_bytes(certificate)
    verdict = None if head is None else audit(certificate, head, latents)
    said = VerdictInWords() if verdict is None else VerdictInWords(verdict.status.value, verdict.claims)
    shown = shown_of(data, head, said, classes)
    if image is None or not pictures:
        return Showing(shown)
    pixels, known = _given(image, shown)
    return Showing(replace(shown, image_is=known), _drawn(shown, head, latents, pixels))


def _of_file(path: str, head: object, latents: object, image: object, pictures: bool) -> Showing:
    """What is shown of a file, with what lies beside it: its image too, if what draws it is installed."""
    folder = Path(path).parent
    inputs = find_inputs(folder, *(None if each is None else str(each) for each in (head, latents)))
    result = single(path, inputs)
    if result.shown is None:
        problem = "the certificate cannot be read" if result.outcome is None else result.outcome.record["message"]
        raise InputError(path, problem)
    shown, item, pixels = result.shown, result.item, None
    if pictures and image is not None:
        pixels, known = _given(image, shown)
        shown = replace(shown, image="", image_is=shown.verdict.image_is(known))
    elif pictures and find_spec("matplotlib") is not None:
        from verale.report.outlined import pixels_of  # which loads torch
        from verale.report.thumbnails import to_draw

        file = to_draw(result.source, item.image)
        pixels = None if file is None or item.image_note == BY_ORDER else pixels_of(file)
    if pixels is None:
        return Showing(shown)
    return Showing(shown, _drawn(shown, inputs.head, inputs.latents, pixels, item.index, folder))


def _given(image: object, shown: Shown) -> tuple[Any, str]:
    """An image that the caller gives, and whether it is the picture that the certificate names."""
    from verale.report.outlined import pixels_of_given  # which loads torch

    return pixels_of_given(image, shown.telling.certificate.picture)


def _drawn(
    shown: Shown, head: Any, latents: Any, pixels: Any, index: int | None = None, folder: Path | None = None
) -> bytes:
    """The image with outlined patches, as a PNG file, by its index among the latents and its network, where known."""
    from matplotlib.figure import Figure

    from verale.head import Head, load_latents
    from verale.report.collect import own_latents
    from verale.report.grid import NetworkBeside, grid_of_image
    from verale.report.outlined import marks_of, outline

    given = shown.telling.certificate
    head = Head.load(head) if is_path(head) else head
    latents = load_latents(latents) if is_path(latents) else latents
    own = None if latents is None else own_latents(given, latents, index)
    figure = Figure(figsize=(_INCHES, _INCHES), dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    known = None if folder is None or given.network is None else NetworkBeside.of(folder)
    shape = known.shape if known is not None and known.sha256 == given.network else None
    grid = grid_of_image(given.patches, head, latents, shape)
    outline(axes, given, pixels, grid, marks_of(given, head, own), None)
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    return stream.getvalue()


def _table(title: str, headings: tuple[str, str], rows: Iterable[tuple[str, str]], left_out: int = 0) -> str:
    """A table. Its caption says how many rows are left out."""
    lines = "".join(f"<tr><td>{escape(left)}</td><td>{escape(right)}</td></tr>" for left, right in rows)
    if not lines:
        return ""
    caption = escape(title) + (f"; {left_out} more are left out" if left_out else "")
    heading = "".join(f'<th scope="col">{name}</th>' for name in headings)
    return f"<table><caption>{caption}</caption><thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>"
