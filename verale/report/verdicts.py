"""What the checker says of a collection: its verdicts, from an audit on the spot, or read from an audit log of `verale
audit`; and where prototypes come from, one sentence each, of an origins file that is audited now.

The sentences are in the words of certificates/origins-v1.md, "How it is told": a prototype *is* a patch where that is
proved and the distance is at most a hundredth of the prototype's length, or the cosine at least 1 - 1/20000.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from verale.certificate.words import above, below
from verale.checker import AuditOptions, Auditor, PictureError
from verale.checker.errors import FormatError, UnprovedError
from verale.checker.file_auditor import checker_digest, picture_files
from verale.checker.options import in_words, program_in_words
from verale.checker.origins import JudgedOrigin
from verale.checker.verdict import UNUSABLE, most_severe
from verale.errors import InputError, option
from verale.files import opener_of, reading
from verale.report.collect import Collection, ToldOrigin
from verale.runs.arguments import HeadFile
from verale.runs.audit import AuditSetup, audited_by, auditor_of, judged_origins, origins_auditor
from verale.runs.audit_log import read_records
from verale.runs.inputs import SOURCE, find_seen, sha256_of
from verale.runs.listed import StoredBytes
from verale.runs.options import RunOptions
from verale.runs.source import load_source

_log = logging.getLogger(__name__)
_CHECKED_WITH = ("latents", "network", "pictures")
"""What an audit may go without; `run` names each by a digest."""


def audited(
    collection: Collection,
    options: AuditOptions | None = None,
    jobs: int = 1,
    advance: Callable[[int], object] = lambda done: None,
) -> Collection:
    """The collection with the verdicts of an audit that runs now, in so many processes; unchanged without a head.
    `advance` is called with the number of certificates audited since the last call. Raises InputError: a head or
    latents file that the checker cannot use, or that changes while processes read it."""
    if collection.head_file is None:
        return collection
    records = {}
    network, pictures = find_seen(collection.folder) or (None, None)
    files = collection.head_file.path, collection.latents_path
    setup = AuditSetup(*files, options or AuditOptions(), network, pictures)
    auditor = auditor_of(setup, collection.head_file.data)
    stored = [StoredBytes(str(item.path), item.data) for item in collection.items if item.path is not None]
    for outcome in audited_by(auditor, stored, setup, RunOptions(jobs)):
        records[outcome.record["certificate"], outcome.record["sha256"]] = outcome.record
        advance(1)
    when = "when this page was written"
    return collection.with_records(lambda item: records.get((str(item.path), item.sha256)), when, auditor.auditor)


def with_verdicts_from(collection: Collection, audit_log: str | Path) -> Collection:
    """The collection with the verdicts of an audit log (certificates/audit-log-v1.md).

    A record counts for a certificate with the same bytes if the audit used what is here: the collection's head (without
    one, the head that the certificate names), its latents, network and pictures; or no latents, or no network, and then
    the instance or the picture is not checked. Of several records the weakest counts.

    Raises:
        InputError: a file that is not an audit log, or contradicts itself.
    """
    latents, seen = collection.latents_path, find_seen(collection.folder)
    here = dict.fromkeys(("head", *_CHECKED_WITH)) | {
        "head": None if collection.head is None else collection.head.digest,
        "latents": None if latents is None else sha256_of(latents),
    }  # the digests of what an audit of the collection would use, as `run` has them; None for what is not there
    if seen is not None:
        try:
            here |= {"network": sha256_of(seen[0]), "pictures": picture_files(seen[1], opener_of(seen[1]))[1]}
        except (PictureError, OSError) as error:
            raise InputError(seen[1], f"cannot be read ({error}); expected pictures") from error
    shown = {item.sha256: item.certificate for item in collection.items if item.path is not None}
    weakest: dict[str, Mapping[str, Any]] = {}
    others = set()
    with reading(audit_log, "an audit log of verale audit") as stream:
        for record, *_ in read_records(audit_log, stream):
            digest, run = record["sha256"], record["run"]
            if digest not in shown:
                continue
            certificate = shown[digest]
            head = here["head"] or (None if certificate is None else certificate.head)
            if run["head"] != head or any(run.get(name) not in (None, here[name]) for name in _CHECKED_WITH):
                others.add(digest)
                continue
            other = weakest.get(digest)
            weakest[digest] = record if other is None else _weaker(other, record, here)
    left_out = sum(item.path is not None and item.sha256 in others - weakest.keys() for item in collection.items)
    if left_out:
        _log.warning(
            "%s has verdicts on %d of these certificates with another head, or with latents, a network or pictures that"
            " are not those here: they do not count; give %s and %s of that audit, or audit again",
            *(audit_log, left_out, option("head"), option("latents")),
        )
    earlier = any(record["run"]["checker"]["sha256"] != checker_digest() for record in weakest.values())
    said = f"read from {Path(audit_log).name}{', by another version of the checker' if earlier else ''}"
    return collection.with_records(lambda item: weakest.get(item.sha256 or ""), said)


def _weaker(one: Mapping[str, Any], other: Mapping[str, Any], here: Mapping[str, object]) -> Mapping[str, Any]:
    """The record that says less. A certificate's verdict comes before that it had none, and a failure before a proof;
    of proofs that with all that is here comes before one without, and then that of fewer claims, with less margin."""
    without = [record["status"] == UNUSABLE for record in (one, other)]
    if without[0] != without[1]:
        return other if without[0] else one
    if one["exit_code"] != other["exit_code"]:
        return one if most_severe([one["exit_code"], other["exit_code"]]) == one["exit_code"] else other

    return min(
        *(one, other),
        key=lambda record: (
            sum(record["run"].get(name) != here[name] for name in _CHECKED_WITH),
            sum(state == "proved" for state in record["claims"].values()),
            Decimal(record["margin"] or 0),
        ),
    )


_NEAR = 100
"""A prototype is a patch to within this part of its length."""
_LEAST_COSINE = 1 - Fraction(1, 2 * _NEAR**2)
_COSINE_DIGITS = 10


def told_origins(
    path: str | Path, head: HeadFile, network: str | Path, images: str | Path, options: AuditOptions | str | None = None
) -> dict[int, ToldOrigin]:
    """What is said of each prototype of a head, by an origins file; `images` are the pictures that it names
    (`judged_origins`).

    Raises:
        InputError: a file that cannot be used, or an origins file that is malformed or about another head or network.

    Soundness: every sentence that says "proved" follows from what the checker has proved in this call. A caption's
    picture is found by the digest of which that was proved.
    """
    auditor = origins_auditor(head, network, images, options)
    try:
        judged = judged_origins(path, auditor, images)
    except (FormatError, UnprovedError) as error:
        raise InputError(path, str(error)) from error
    decoded = load_source(Path(images) / SOURCE).decoded if Path(images).is_dir() else ""
    unsaid = "of where it comes from the origins file says nothing"
    told = {prototype: ToldOrigin(f"prototype {prototype}: {unsaid}") for prototype in range(auditor.head.count)}
    return told | {each.origin.prototype: replace(_told(each, auditor), decoded=decoded) for each in judged}


def origins_beside(
    folder: Path, head: HeadFile | None, origins: tuple[str, str], options: AuditOptions, named: str | None = None
) -> dict[int, ToldOrigin]:
    """What is said of each prototype, by the network beside the certificates of a folder, and by an origins file and
    the pictures that it names; nothing of another head than that whose digest is `named`, if one is.

    Raises:
        InputError: there is no network or no head; otherwise as `told_origins`.
    """
    seen = find_seen(folder)
    if seen is None or head is None:
        raise InputError(folder, "has no network and pictures, or no head, and origins are about them")
    if named not in (None, head.sha256):
        return {}
    return told_origins(origins[0], head, seen[0], origins[1], options)


def _told(judged: JudgedOrigin, auditor: Auditor) -> ToldOrigin:
    origin, network = judged.origin, auditor.network
    shape = () if network is None else network.layers[-1].shape
    row, column = cell = divmod(origin.patch, shape[2] if len(shape) == 3 else 1)
    patch = f"the patch in row {row}, column {column} of the picture {origin.picture[:16]}..."
    near = "" if origin.cosine is None else f"with a cosine of at least {below(origin.cosine, _COSINE_DIGITS)}"
    near = near if origin.distance is None else f"to within {above(origin.distance)}"
    if not judged.by:
        return ToldOrigin(f"prototype {origin.prototype} is not proved to be {patch}, {near}: {judged.message}")
    by = in_words(judged.by, "" if judged.program is None else program_in_words(judged.program.named))
    before, after = f"proved: prototype {origin.prototype} is", f", {near} (by {by})"
    if origin.distance is None:
        is_near = origin.cosine is not None and origin.cosine >= _LEAST_COSINE
    else:
        exact = auditor.head.prototypes
        length = sum(Fraction(number, 1 << exact.bits) ** 2 for number in exact.rows[origin.prototype])
        is_near = (_NEAR * origin.distance) ** 2 <= length
    if not is_near:
        before = (
            f"prototype {origin.prototype} is not shown to be a patch of these pictures; the nearest that was found is"
        )
        after = f", proved to lie {near} (by {by})"
    sentence, caption = (f"{before} {which}{after}" for which in (patch, "this part of this picture"))
    known = "" if network is None else network.sha256
    return ToldOrigin(sentence, caption, cell, known, _digest=origin.picture, _pictures=auditor.pictures)
