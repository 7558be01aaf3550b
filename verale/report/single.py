"""One certificate as it is shown in a terminal and in a notebook, with what is known of its image, head and verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

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
from verale.errors import CertificateError, InputError
from verale.report.collect import Item, item_beside
from verale.report.explanation import Telling
from verale.report.images import AS_NOTED, BY_ORDER, OUTSIDE
from verale.runs.arguments import HeadFile, auditor_for
from verale.runs.audit import AuditSetup, auditor_of
from verale.runs.explained_run import HeadOfRun
from verale.runs.inputs import PICTURES, SOURCE, Inputs, find_seen
from verale.runs.source import Source, load_source

__all__ = ["Shown", "Single", "WHY", "shown_of", "single"]

WHY = "Why, in points: similarity x weight, where all statements hold"
"""What stands above the account."""

_STATEMENTS, _RIVALS, _ORIGINS = 10, 3, 8
"""How many statements, rivals and origins of prototypes are shown unless all are asked for."""
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
            yield "Where the prototypes come from (nothing proves it)"
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


@dataclass(frozen=True)
class Single:
    """What is known of one certificate.

    Attributes:
        shown: what is shown of it; None if it is malformed.
        outcome: the checker's verdict, given now; None without a head.
        head: the head's file, which is read once; None without one.
        item: the certificate, with its image.
        source: what `source.json` beside it says; images outside of the folder are not opened.
    """

    shown: Shown | None
    outcome: Outcome | None
    head: HeadFile | None
    item: Item
    source: Source


def shown_of(
    data: bytes, head: Any, verdict: VerdictInWords, classes: Sequence[str] | None, in_points: bool = True
) -> Shown:
    """What is shown of a certificate that lies in no folder.

    Args:
        data: the bytes of its file.
        head: a head, or the path of its file; None without one.
        verdict: on the certificate.
        classes: the names of the classes, where the head has none.
        in_points: whether the checker is asked what the statements prove, which gives the account.

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
    return Single(_shown(item, telling, head, source), outcome, file, item, source)


def _shown(item: Item, telling: Telling, head: HeadOfRun | None, source: Source) -> Shown:
    own = head is not None and head.sha256 == telling.certificate.head
    labels = head.labels if own and head is not None else None
    names = labels or source.classes
    label = "" if item.label is None else class_name(item.label, names)
    return Shown(
        telling=telling,
        verdict=item.verdict,
        image=_image(item, source),
        label=label,
        correct=item.correct,
        image_is=_image_is(item, source),
        origins={j: str(origin) for j, origin in source.origins.items()},
        own_names=labels is None and source.classes is not None,
        not_compared=own and head is not None and not head.compared,
    )


def _image_is(item: Item, source: Source) -> str:
    """What is known of the image. Only its name is shown, so what lies outside of the folder may be named."""
    if item.image_note != OUTSIDE:
        return item.image_is
    named = None if item.certificate is None else item.certificate.latents or item.certificate.picture
    return AS_NOTED if named in (*source.latents, *source.pictures) else BY_ORDER


def _image(item: Item, source: Source) -> str:
    """The image's name: its file's, from the folder of the images on; otherwise its number among the latents."""
    if item.file is None:
        return "" if item.index is None else str(item.index)
    roots = [source.folder, None if item.path is None else item.path.parent / PICTURES]
    inside = [item.file.relative_to(root) for root in roots if root is not None and item.file.is_relative_to(root)]
    return str(inside[0]) if inside else item.file.name
