"""One certificate as it is shown in a terminal and in a notebook, with what is known of its image, head and verdict."""

from __future__ import annotations

import html
import io
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.certificate.words import (
    AS_LABELLED,
    NOT_COMPARED,
    OWN_NAMES,
    VerdictInWords,
    as_claimed,
    class_name,
    where_wrong,
)
from verale.checker import AuditOptions, CheckerError, Status
from verale.checker.file_auditor import Outcome
from verale.checker.verdict import printable
from verale.errors import CertificateError, InputError
from verale.report.collect import Item, item_beside
from verale.report.explanation import Telling
from verale.report.images import AS_NOTED, BY_ORDER, OUTSIDE
from verale.report.templates import printable_on_pages
from verale.runs.arguments import HeadFile, auditor_for, certificate_bytes, is_path
from verale.runs.audit import AuditSetup, audit, auditor_of
from verale.runs.explained_run import HeadOfRun
from verale.runs.inputs import PICTURES, SOURCE, Inputs, find_inputs, find_seen
from verale.runs.source import Source, load_source

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.head import Head

WHY = "Why, in points: similarity x weight, where all statements hold"
"""What stands above the account."""

_STATEMENTS, _RIVALS, _ORIGINS = 10, 3, 8
"""How many statements, rivals and origins of prototypes are shown unless all are asked for."""
_INCHES = 2.6
"""The width of the image in a notebook."""
_ORIGINS_TITLE = "Where the prototypes come from (nothing proves it)"
_CAVEATS = {
    "instance not checked": "That the image satisfies the statements was not checked.",
    "picture not checked": "That the network gives the picture such latents was not checked.",
    "no instance claimed": "It names no image: perhaps no input satisfies the statements.",
}


@dataclass(frozen=True)
class Shown:
    """What is shown of one certificate.

    Attributes:
        telling: what it says.
        verdict: the checker's, which was given now; or that there is none.
        image: the name of its image, where known.
        label: the name of the image's true class, where known: nothing checks it.
        correct: whether that is the predicted class.
        image_is: what is known of the image: that it is the proved picture, or why it is perhaps another one.
        origins: where prototypes come from, in words, where known.
        judged_origins: of each prototype a sentence that says which patch of which picture it is, as it was proved now.
        own_names: whether the names of classes are not the head's.
        not_compared: whether nobody noted that the head's logits were compared with the network's.
        drawn: a PNG file of the image with outlined patches, for notebooks; empty without one.
    """

    telling: Telling
    verdict: VerdictInWords = field(default_factory=VerdictInWords)
    image: str = ""
    label: str = ""
    correct: bool | None = None
    image_is: str = ""
    origins: Mapping[int, str] = field(default_factory=dict)
    judged_origins: Mapping[int, str] = field(default_factory=dict)
    own_names: bool = False
    not_compared: bool = False
    drawn: bytes = field(default=b"", repr=False)

    def __str__(self) -> str:
        return "\n".join(map(printable, self.lines()))

    def __repr__(self) -> str:
        return printable(self.heading)

    def _repr_html_(self) -> str:
        """The HTML that notebooks show, without scripts and outside resources. All text is escaped."""
        image = f'<img alt="" src="data:image/png;base64,{b64encode(self.drawn).decode()}">' if self.drawn else ""
        origins = [(f"prototype {j}", self.origins[j]) for j in self.telling.prototypes if j in self.origins]
        notes = filter(None, (self.about_image, OWN_NAMES if self.own_names else "", self.verdict.not_proved))
        rivals, fewer = self.margins()
        return "\n".join(
            [
                f"<div><p><b>{_escaped(self.heading)}</b></p>",
                f"<p>{_escaped(self.claim)}</p>{image}",
                "".join(f"<p>{_escaped(line)}</p>" for line in self.narrower),
                _table(WHY, ("what", "points"), self.points),
                _table(self.telling.size, ("what is stated", "how much"), *self.statements()),
                _table(f"Leads{as_claimed(self.verdict.status)}", ("class", "behind by at least"), rivals, fewer),
                _table(_ORIGINS_TITLE, ("prototype", "copied from"), origins),
                *(f"<p><small>{_escaped(note)}</small></p>" for note in notes),
                _table("Digests (SHA-256)", ("what", "digest"), list(self.telling.digests.items())),
                "</div>",
            ]
        )

    @property
    def heading(self) -> str:
        """The verdict and the class, and whether it is wrong: names from outside come last."""
        return f"{self.verdict.heading}: class {self.telling.predicted}{where_wrong(self.label, self.correct)}"

    @property
    def claim(self) -> str:
        """The sentence, and before it whether it is proved."""
        said = {"PROVED": "Proved", "NOT_AUDITED": "Claimed, and not audited here"}
        claimed, certificate = said.get(self.verdict.status, "Claimed, and not proved"), self.telling.certificate
        begun = self.verdict.begun(certificate.picture, certificate.arithmetic)
        parts = f"{claimed}: {self.telling.sentence}", begun, _CAVEATS.get(self.verdict.caveat)
        return " ".join(filter(None, parts))

    @property
    def about_image(self) -> str:
        """The image, its true class and whether the network is right, as far as known; empty without any of it."""
        right = {True: "the network is right", False: "the network is wrong", None: ""}[self.correct]
        true = f"true class {self.label} ({AS_LABELLED})" if self.label else ""
        named = f"image {self.image}" if self.image else "image" if self.image_is else ""
        known = f" ({self.image_is})" if self.image_is else ""
        return ": ".join(filter(None, (named + known, ", ".join(filter(None, (true, right))))))

    @property
    def points(self) -> tuple[tuple[str, str], ...]:
        """Why the class is ahead, line by line; none unless it is PROVED."""
        return self.telling.points if self.verdict.status == "PROVED" else ()

    @property
    def narrower(self) -> Sequence[str]:
        """That it is too long to be read, why, and what can be asked instead; none where it is not."""
        return [] if self.telling.narrower is None else [self.telling.narrower.line]

    def statements(self, whole: bool = False) -> tuple[Sequence[tuple[str, str]], int]:
        """The statements that are shown, and how many are left out."""
        return _cut(self.telling.statements, None if whole else _STATEMENTS)

    def margins(self, whole: bool = False) -> tuple[Sequence[tuple[str, str]], int]:
        """The closest rivals, and how many are left out."""
        return _cut(self.telling.margins, None if whole else _RIVALS)

    def lines(self, whole: bool = False) -> Iterator[str]:
        """All of it as lines of text."""
        yield self.heading
        yield ""
        yield self.claim
        yield from self.narrower
        yield ""
        if self.points:
            yield WHY
            yield from _listed(self.points, 0, "lines")
            yield ""
        yield f"{self.telling.size[0].upper()}{self.telling.size[1:]}"
        yield from _listed(*self.statements(whole), "statements")
        if self.telling.margins:
            yield f"Every other class stays behind, by at least{as_claimed(self.verdict.status)}"
            yield from _listed(*self.margins(whole), "classes", "class ")
        origins = [(str(j), self.origins[j]) for j in self.telling.prototypes if j in self.origins]
        if origins:
            yield _ORIGINS_TITLE
            yield from _listed(*_cut(origins, None if whole else _ORIGINS), "prototypes", "prototype ")
        shown = self.telling.prototypes or tuple(self.judged_origins)
        judged = [self.judged_origins[j] for j in shown if j in self.judged_origins]
        if judged:
            yield "Which patches the prototypes are, asked of the checker now"
            yield from (f"  {each}" for each in (judged if whole else judged[:_ORIGINS]))
            if not whole and len(judged) > _ORIGINS:
                yield f"  and {len(judged) - _ORIGINS} more prototypes (--all)"
        yield ""
        if self.about_image:
            yield self.about_image
        if self.own_names:
            yield OWN_NAMES
        yield self.verdict.not_proved
        if self.not_compared:
            yield NOT_COMPARED
        for what, digest in self.telling.digests.items():
            yield f"sha256 of the {what} {digest}"


def _cut(pairs: Sequence[tuple[str, str]], most: int | None) -> tuple[Sequence[tuple[str, str]], int]:
    """The first pairs, and how many are left out: none for the sake of one line."""
    if most is None or len(pairs) <= most + 1:
        return pairs, 0
    return pairs[:most], len(pairs) - most


def _listed(pairs: Sequence[tuple[str, str]], left_out: int, what: str, before: str = "") -> Iterator[str]:
    yield from (f"  {before}{subject}: {said}" for subject, said in pairs)
    if left_out:
        yield f"  and {left_out} more {what} (--all)"


def _escaped(text: str) -> str:
    """The HTML of a text on one line: names from outside are no markup, and turn no number around."""
    return html.escape(printable_on_pages(text))


def _table(title: str, headings: tuple[str, str], rows: Iterable[tuple[str, str]], left_out: int = 0) -> str:
    """A table. Its caption says how many rows are left out."""
    lines = "".join(f"<tr><td>{_escaped(left)}</td><td>{_escaped(right)}</td></tr>" for left, right in rows)
    if not lines:
        return ""
    caption = _escaped(title) + (f"; {left_out} more are left out" if left_out else "")
    heading = "".join(f'<th scope="col">{name}</th>' for name in headings)
    return f"<table><caption>{caption}</caption><thead><tr>{heading}</tr></thead><tbody>{lines}</tbody></table>"


@dataclass(frozen=True)
class Single:
    """What is known of one certificate: what is shown of it, None if it is malformed; the checker's verdict, given now,
    and the head's file, which is read once, None without a head; and what `source.json` beside it says."""

    shown: Shown | None
    outcome: Outcome | None
    head: HeadFile | None
    item: Item
    source: Source


def shown_of(
    data: bytes, head: Any, verdict: VerdictInWords, classes: Sequence[str] | None, in_points: bool = True
) -> Shown:
    """What is shown of the bytes of a certificate that lies in no folder, with a head, or the path of its file. The
    checker is asked what the statements prove, which gives the account, where the class is to be told `in_points`.

    Raises:
        InputError, UsageError: as `HeadFile.of` and `HeadOfRun.of`.
        CertificateError: the checker cannot read the certificate.
    """
    facts = numbers = None
    if head is not None:
        file = HeadFile.of(head)
        facts = HeadOfRun.of(file.path, file.data)
        numbers = auditor_for(file).numbers if in_points else None
    try:
        telling = Telling.of(data, facts, classes, numbers)
    except CheckerError as error:
        raise CertificateError(f"cannot be shown: {error}") from error
    return Shown(telling, verdict)


def single(path: str, inputs: Inputs, options: AuditOptions | None = None) -> Single:
    """Read a certificate and audit it.

    Args:
        path: its file.
        inputs: the files of its head and latents. Without a head nothing is proved.
        options: of the audit.

    Raises:
        InputError: a file that cannot be used, or a certificate that changes meanwhile; without a head, a certificate
            that cannot be read.

    Soundness: the verdict is about the bytes that are shown, which the checker gets from here, and about the head that
        they name. Names and numbers of a head count only if its digest is the one that the checker read.
    """
    source = load_source(Path(path).parent / SOURCE).within(Path(path).parent)
    item = item_beside(path, source)
    data = None if item.certificate is None else item.data
    file, head, outcome, numbers = None, None, None, None
    if inputs.head is not None:
        network, pictures = find_seen(Path(path).parent) or (None, None)
        file = HeadFile.of(inputs.head)
        setup = AuditSetup(inputs.head, inputs.latents, options or AuditOptions(), network, pictures)
        auditor = auditor_of(setup, file.data)
        outcome, numbers = auditor.audit(path, data), auditor.auditor.numbers
        head = HeadOfRun.of(file.path, file.data)
    if data is None and outcome is None:
        raise InputError(path, f"is not a certificate: {item.problem}")
    if data is None or (outcome is not None and outcome.record["status"] == Status.MALFORMED.value):
        return Single(None, outcome, file, item, source)
    item = item if outcome is None else replace(item, record=outcome.record)
    try:
        telling = Telling.of(data, head, source.classes, numbers, path)
    except CheckerError as error:
        raise InputError(path, f"cannot be shown: {error}") from error
    own = head is not None and head.sha256 == telling.certificate.head
    labels = head.labels if own and head is not None else None
    image_is = item.image_is
    image = "" if item.index is None else str(item.index)
    if item.image_note == OUTSIDE:  # only its name is shown, so what lies outside of the folder may be named
        named = telling.certificate.latents or telling.certificate.picture
        image_is = AS_NOTED if named in (*source.latents, *source.pictures) else BY_ORDER
    if item.file is not None:  # its name, from the folder of the images on
        roots = [root for root in (source.folder, Path(path).parent / PICTURES) if root is not None]
        inside = [item.file.relative_to(root) for root in roots if item.file.is_relative_to(root)]
        image = str(inside[0]) if inside else item.file.name
    shown = Shown(
        telling=telling,
        verdict=item.verdict,
        image=image,
        label="" if item.label is None else class_name(item.label, labels or source.classes),
        correct=item.correct,
        image_is=image_is,
        origins={j: str(origin) for j, origin in source.origins.items()},
        own_names=labels is None and source.classes is not None,
        not_compared=own and head is not None and not head.compared,
    )
    return Single(shown, outcome, file, item, source)


def show(
    certificate: str | Path | Certificate,
    head: str | Path | Head | None = None,
    latents: object = None,
    image: object = None,
    classes: Sequence[str] | None = None,
    pictures: bool = True,
) -> Shown:
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
    pixels, index, folder = None, None, None
    if is_path(certificate) and all(each is None or is_path(each) for each in (head, latents)):
        folder = Path(str(certificate)).parent
        inputs = find_inputs(folder, *(None if each is None else str(each) for each in (head, latents)))
        result = single(str(certificate), inputs)
        if result.shown is None:
            problem = "the certificate cannot be read" if result.outcome is None else result.outcome.record["message"]
            raise InputError(certificate, problem)
        shown, index, head, latents = result.shown, result.item.index, inputs.head, inputs.latents
        if pictures and image is None and find_spec("matplotlib") is not None:
            from verale.report.outlined import pixels_of  # which loads torch
            from verale.report.thumbnails import to_draw

            file = to_draw(result.source, result.item.image)
            pixels = None if file is None or result.item.image_note == BY_ORDER else pixels_of(file)
    else:
        data = certificate_bytes(certificate)
        verdict = None if head is None else audit(certificate, head, latents)
        said = VerdictInWords() if verdict is None else VerdictInWords(verdict.status.value, verdict.claims)
        shown = shown_of(data, head, said, classes)
    if pictures and image is not None:
        from verale.report.outlined import pixels_of_given

        pixels, known = pixels_of_given(image, shown.telling.certificate.picture)
        shown = replace(shown, image="", image_is=shown.verdict.image_is(known))
    return shown if pixels is None else replace(shown, drawn=_drawn(shown, head, latents, pixels, index, folder))


def _drawn(shown: Shown, head: Any, latents: Any, pixels: Any, index: int | None, folder: Path | None) -> bytes:
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
