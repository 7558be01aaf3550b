"""One certificate's file, audited now, with what lies beside it. Needs no torch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from verale.certificate.words import class_name
from verale.checker import AuditOptions, CheckerError, Status
from verale.checker.file_auditor import Outcome
from verale.errors import CertificateError, InputError
from verale.report.collect import Item, item_beside, read_item
from verale.report.images import AS_NOTED, BY_ORDER, OUTSIDE
from verale.report.shown import Shown
from verale.report.telling import Telling
from verale.runs.arguments import HeadFile
from verale.runs.audit import AuditSetup, auditor_of
from verale.runs.explained_run import HeadOfRun
from verale.runs.inputs import PICTURES, SOURCE, Inputs, find_seen
from verale.runs.source import Source, load_source

__all__ = ["Single", "single", "source_beside"]


@dataclass(frozen=True)
class Single:
    """What is known of one certificate.

    Attributes:
        shown: what is shown of it; None if it is malformed.
        outcome: the checker's verdict, given now; None without a head.
        head: the head's file, which is read once; None without one.
    """

    shown: Shown | None
    outcome: Outcome | None
    head: HeadFile | None = None


def source_beside(folder: Path) -> Source:
    """What `source.json` in a folder says; images outside of the folder are not opened. Raises InputError."""
    return load_source(folder / SOURCE).within(folder)


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
    source = source_beside(Path(path).parent)
    item = item_beside(path, source)
    data = None if item.summary is None else read_item(item)[0]
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
        return Single(None, outcome, file)
    item = item if outcome is None else replace(item, record=outcome.record)
    try:
        telling = Telling.of(data, head, source.classes, numbers, path)
    except (CheckerError, CertificateError) as error:
        raise InputError(path, f"cannot be shown: {error}") from error
    return Single(_shown(item, telling, head, source), outcome, file)


def _shown(item: Item, telling: Telling, head: HeadOfRun | None, source: Source) -> Shown:
    own = head is not None and head.sha256 == telling.head
    labels = head.labels if own and head is not None else None
    names = labels or source.classes
    label = "" if item.label is None else class_name(item.label, names)
    return Shown(
        telling=telling,
        status=item.status.replace("_", " "),
        caveat=item.caveat,
        image=_image(item, source),
        label=label,
        correct=item.correct,
        image_is=_image_is(item, source),
        origins={j: str(origin) for j, origin in source.origins.items()},
        digests=telling.digests,
        own_names=labels is None and source.classes is not None,
        proved=item.proved,
        not_compared=own and head is not None and not head.compared,
    )


def _image_is(item: Item, source: Source) -> str:
    """What is known of the image. Only its name is shown, so what lies outside of the folder may be named."""
    if item.image_note != OUTSIDE:
        return item.image_is
    named = None if item.summary is None else item.summary.latents or item.summary.picture
    return AS_NOTED if named in (*source.latents, *source.pictures) else BY_ORDER


def _image(item: Item, source: Source) -> str:
    """The image's name: its file's, from the folder of the images on; otherwise its number among the latents."""
    if item.file is None:
        return "" if item.index is None else str(item.index)
    roots = [source.folder, None if item.path is None else item.path.parent / PICTURES]
    inside = [item.file.relative_to(root) for root in roots if root is not None and item.file.is_relative_to(root)]
    return str(inside[0]) if inside else item.file.name
