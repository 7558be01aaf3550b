"""Audit certificates: the files and options of an audit, and the checker, called on objects or on paths, in one process
or several; and what one audit proved, as an in-toto statement that can be signed (certificates/attestation-v1.md).
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verale.checker import Auditor, CheckerError, LatentsError, NetworkError, PictureError, Verdict
from verale.checker.certificate import LARGEST
from verale.checker.file_auditor import FileAuditor, Outcome, picture_files, unusable
from verale.checker.options import CHOICES, KERNELS, PROVED, AuditOptions
from verale.checker.read.head_file import LARGEST as LARGEST_HEAD
from verale.checker.verdict import Status
from verale.errors import InputError, UsageError, option
from verale.files import opener_of, read, remove_file, write_atomically
from verale.options import keywords
from verale.runs.listed import Stored, name_of
from verale.runs.options import RunOptions, audit_options

if TYPE_CHECKING:
    from verale.certificate import Certificate
    from verale.checker.origins import JudgedOrigin
    from verale.head import Head
    from verale.runs.arguments import HeadFile
    from verale.runs.audit_log import AuditLog
    from verale.runs.workers.local import Cluster

_log = logging.getLogger(__name__)

DIED = "the process that audited it died, perhaps because memory ran out"
"""The message for a certificate that killed the process that audited it."""


@dataclass(frozen=True)
class AuditSetup:
    """The files with which certificates are audited, and the options.

    Attributes:
        head, latents, network: paths.
        options: who proves, what, and how long it may take.
        pictures: a file, or a folder of PNG files.
    """

    head: str
    latents: str | None = None
    options: AuditOptions = field(default_factory=AuditOptions)
    network: str | None = None
    pictures: str | None = None


def auditor_of(setup: AuditSetup, head: bytes | None = None) -> FileAuditor:
    """The auditor; of the head's bytes, where its file has been read. Raises InputError: a file that cannot be used."""
    try:
        files = setup.head, setup.latents, setup.network, setup.pictures
        return FileAuditor(**vars(setup), opener=opener_of(*files), head_data=head)
    except CheckerError as error:
        path, named, problem = str(error).partition(": ")
        raise (InputError(path, problem) if named else UsageError(path)) from error
    except OSError as error:
        raise InputError(error.filename, f"cannot be read ({error.strerror}); expected a file") from error


def outcome_of(auditor: FileAuditor, path: str | Stored) -> Outcome:
    """Audit a certificate, in a file or stored otherwise. One that cannot be read is an outcome too."""
    if isinstance(path, str):
        return auditor.audit(path)
    try:
        data = path.read()
    except InputError as error:
        return unusable(path.name, str(error), auditor.run)
    return auditor.audit(path.name, data)


def origins_auditor(
    head: str | Path | HeadFile, network: str | Path, images: str | Path, options: AuditOptions | str | None = None
) -> Auditor:
    """The checker for origins files, of a head, a network and pictures: a folder, or a file. Raises InputError."""
    from verale.runs.arguments import HeadFile

    file = HeadFile.of(head)
    setup = AuditSetup(file.path, None, audit_options(options), str(network), str(images))
    return auditor_of(setup, file.data).auditor


def judged_origins(path: str | Path, auditor: Auditor, images: str | Path) -> tuple[JudgedOrigin, ...]:
    """What the checker proves of each origin of a file. Raises InputError; FormatError, UnprovedError: of the whole
    file."""
    from verale.checker.origins import judge_origins

    try:
        return judge_origins(auditor, read(path, "an origins file", LARGEST + 1))
    except PictureError as error:
        raise InputError(images, str(error)) from error


@keywords(AuditOptions)
def audit(
    certificate: str | Path | Certificate,
    head: str | Path | Head,
    latents: Any = None,
    options: AuditOptions | str | None = None,
    *,
    network: str | Path | None = None,
    pictures: str | Path | None = None,
    **fields: Any,
) -> Verdict:
    """Prove a certificate again, from bytes, in interval arithmetic.

    Args:
        certificate: the certificate, or the path of its file.
        head: the head that it is about, or the path of its file.
        latents: latents with those of its image, (N, D, H, W) or (N, L, D), or the path of their file; without them the
            instance claim is not checked.
        options: the options as one object; or the name of a kernel alone.
        network: the path of the network file, where the certificate claims a picture; without it that claim is not
            checked.
        pictures: the path of the network's pictures: a tensor file, a PNG file or a folder of them.
        fields: options, and `ulps` beside `deployment`: within how many units in the last place its functions are,
            "log=4,exp=4,sqrt=1" by default. Without `entailment_only`, the verdict on a certificate that claims nothing
            of an image has, if PROVED, the reason `unclaimed` and the exit code 14.

    Returns:
        The verdict: PROVED, NOT_PROVED, REFUTED or MALFORMED, with the reason.

    Raises:
        InputError: a file that cannot be read, or an invalid head, latents or network file, or picture.
        LatentsError: latents, not in a file, whose shape or values do not fit the head.
        UsageError: something else than a certificate or a head, an unknown option or value, a network without pictures
            or pictures without a network, or a kernel that cannot prove what is asked for.

    Soundness: PROVED means that the checker, which shares no code with the search, proved every checked claim. It reads
        bytes: of an object, those of the file that its `save` writes.
    """
    from verale.checker.read.network_file import LARGEST as LARGEST_NETWORK
    from verale.runs.arguments import HeadFile, auditor_for, certificate_bytes, latents_bytes, named

    asked = audit_options(options, fields)
    if asked.in_vain is not None:
        raise UsageError(asked.in_vain)
    if (network is None) != (pictures is None):
        raise UsageError("network and pictures belong together, expected both or neither")
    file = HeadFile.of(head, LARGEST_HEAD + 1)
    images = None if latents is None else latents_bytes(latents, file)
    document = certificate_bytes(certificate, LARGEST + 1)
    seen: dict[str, object] = {}
    try:
        if network is not None and pictures is not None:
            try:
                files, _ = picture_files(str(pictures))
            except OSError as error:
                raise InputError(pictures, f"cannot be read ({error.strerror}); expected a file or a folder") from error
            data = read(network, "a network file (safetensors)", LARGEST_NETWORK + 1)
            seen = {"network": data, "pictures": files}
        return auditor_for(file, images, asked, **seen).check(document)
    except LatentsError as error:
        raise InputError(named(latents, "latents"), str(error)) from error
    except NetworkError as error:
        raise InputError(str(network), str(error)) from error
    except PictureError as error:
        raise InputError(*str(error).split(": ", 1)) from error


def audit_files(
    paths: Sequence[str | Stored], setup: AuditSetup, jobs: int = 1, log: AuditLog | None = None
) -> Iterator[Outcome]:
    """Audit certificate files; give each outcome as soon as it is known, in the order of the paths.

    Args:
        paths: files, or certificates that are stored otherwise.
        setup: the files and options to audit them with.
        jobs: number of processes; with 1 this process does everything.
        log: gets every outcome. A verdict that it already has, on the same bytes, for the same head, latents, options
            and checker, is taken from it, whatever the certificate is called; the outcome says so.

    Raises:
        InputError: a head or latents file that cannot be used or changes meanwhile, or a log that cannot be written.

    A file that cannot be used is an outcome too, even where auditing it kills its process.
    """
    yield from audit_groups([(paths, setup)], RunOptions(jobs), log)


def audit_groups(
    groups: Sequence[tuple[Sequence[str | Stored], AuditSetup]],
    options: RunOptions | None = None,
    log: AuditLog | None = None,
    announce: Callable[[AuditSetup, dict[str, Any]], object] = lambda setup, run: None,
    refuse: Callable[[InputError], object] | None = None,
) -> Iterator[Outcome]:
    """Audit certificates of several heads or latents, group by group, each as `audit_files` does, into one log.

    `announce` is called before each group with `FileAuditor.run`, which has the digests of what was read for it: every
    verdict of the group is about these bytes. `refuse`, if given, is called instead where a head, latents, a network or
    pictures cannot be used; nothing of the group is audited then, and the others are. The log keeps what it had of it.
    """
    outcomes, refused = [], False
    for paths, setup in groups:
        try:
            auditor = auditor_of(setup)
        except InputError as error:
            if refuse is None:
                raise
            refuse(error)
            refused = True
            continue
        announce(setup, auditor.run)
        for outcome in audited_by(auditor, paths, setup, options, log):
            outcomes.append(outcome)
            yield outcome
    if log is not None and not refused:
        log.finish(outcomes)


def audited_by(
    auditor: FileAuditor,
    paths: Sequence[str | Stored],
    setup: AuditSetup,
    options: RunOptions | None = None,
    log: AuditLog | None = None,
) -> Iterator[Outcome]:
    """The same by the auditor of this setup, if it is there already. Other processes make their own; those of a cluster
    that is started here, if any certificate is new, or else so many of this machine, by default this one alone."""
    run = RunOptions() if options is None else options
    jobs = run.jobs or 1
    known = [None if log is None else log.known(path, auditor.run) for path in paths]
    new = [path for path, outcome in zip(paths, known, strict=True) if outcome is None]
    _log.info("%d certificates, %d of them new, %d processes", len(paths), len(new), jobs)
    with ExitStack() as stack:
        audited: Iterator[Outcome]
        if run.start_cluster is not None and new:
            cluster = stack.enter_context(run.start_cluster(False))
            audited = in_processes(new, setup, cluster.size, auditor.run, cluster)
        elif jobs == 1:
            audited = (outcome_of(auditor, path) for path in new)
        else:
            audited = in_processes(new, setup, jobs, auditor.run)
        for outcome in known:
            if outcome is None:
                outcome = next(audited)
                if log is not None:
                    log.add(outcome)
            yield outcome


_Task = tuple[int, str | Stored]  # A certificate and its place among all


def in_processes(
    paths: Sequence[str | Stored], setup: AuditSetup, jobs: int, run: dict[str, Any], cluster: Cluster | None = None
) -> Iterator[Outcome]:
    """The outcomes, in the order of the paths, by processes of this machine or of a cluster. A certificate whose
    process dies is audited once more, by a new process: another one may be as near to the limit of memory. Raises
    InputError: the head or the latents file changes meanwhile; each process reads them when it starts."""
    from verale.runs.workers.local import Processes

    waiting: dict[int, Outcome] = {}
    died: set[int] = set()
    todo: deque[_Task] = deque(enumerate(paths))
    with Processes(_auditing, (setup,), todo, lambda task: task[1:], cluster) as processes:
        missing, again = min(jobs, len(paths)), list[_Task]()
        for number in range(len(paths)):
            while number not in waiting:
                if missing and not processes.start(missing, first=again):
                    raise UsageError(
                        f"a process cannot be started, expected one that audits: use {option('jobs', 1)}, or end other"
                        " programs"
                    )
                processes.begin()
                done = processes.awaited()
                again, (place, path) = [], done.task
                if not done.died:
                    outcome: Outcome = done.result or outcome_of(auditor_of(setup), path)
                    if outcome.record["run"] != run:
                        raise InputError(
                            setup.head, "or the latents changed while certificates were audited; run the command again"
                        )
                    waiting[place] = outcome
                elif place in died:
                    waiting[place] = unusable(name_of(path), DIED, run)
                else:
                    _log.warning("a process died; %s is audited once more", name_of(path))
                    died.add(place)
                    again = [done.task]
                missing = 1 if done.died and (again or todo) else 0
            yield waiting.pop(number)


def _auditing(setup: AuditSetup) -> Callable[[str | Stored], Outcome]:
    """The job of a process. Where head or latents cannot be used any more, its outcomes are about no run."""
    try:
        auditor = auditor_of(setup)
    except InputError:
        return lambda path: unusable(name_of(path), "", {})
    return lambda path: outcome_of(auditor, path)


_TYPE = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://in-toto.io/attestation/svr/v0.1"
_VERIFIER = "urn:verale:checker:v1"
_START = (
    f'{{"_type": "{_TYPE}", "predicateType": "{_PREDICATE}", "predicate": {{"verifier": {{"id": "{_VERIFIER}"'.encode()
)
"""How every attestation of ours begins."""

_READ = ("head", "latents", "network", "pictures")
"""What an audit reads beside certificates: of each of these its run has the digest."""

_SUMMARY = ("status", "claims", "by", "predicted", "paradigm", "statements", "margin")
"""The fields of a record that its certificate carries."""
_CLAIMS = ("entailment", "instance", "picture", "minimality", "deployment")  # those that have a property
_COMPUTED = {"real": "VERALE_PICTURE_IN_REAL_ARITHMETIC", "float32": "VERALE_PICTURE_IN_FLOAT32"}
"""The property of a picture that is proved, by the arithmetic in which the network gives its latents."""


class Attestation:
    """The file of an attestation. It is there only once everything that it names was proved.

    An earlier attestation of that name is removed at once, so that it cannot be taken for this audit's. Raises
    InputError: the file exists and is not an attestation of ours, which stays as it is; or it cannot be written.
    """

    def __init__(self, path: str | Path, inputs: Iterable[str | Path | None] = ()) -> None:
        from verale.runs.folder import require_output

        self._path = Path(path)
        require_output(path, inputs)
        if self._path.exists():
            if read(path, "an attestation", len(_START)) != _START:
                raise InputError(path, "is not an attestation of an audit; choose another file, or remove this one")
            remove_file(self._path)

    def write(self, groups: Iterable[tuple[AuditSetup, Sequence[Outcome]]], created: datetime) -> None:
        """Write the attestation of these outcomes, at once. Raises InputError as `statement_of`."""
        write_atomically(self._path, json.dumps(statement_of(groups, created)).encode() + b"\n")


def statement_of(groups: Iterable[tuple[AuditSetup, Sequence[Outcome]]], created: datetime) -> dict[str, object]:
    """The statement that all these certificates are proved, of the outcomes of one audit, with the files and options of
    each, that ended at this time in UTC. Raises InputError: a certificate that this audit did not prove, or a file that
    changed while it was audited.

    Soundness: a property is stated if it is true of every certificate, and the digests of head, latents, network and
    certificate in a record are those of the bytes that the checker was given. A verdict from an audit log is refused:
    whoever can write to the log could otherwise have it signed.
    """
    subjects: dict[str, dict[str, Any]] = {}
    records: list[dict[str, Any]] = []
    for setup, outcomes in groups:
        for outcome in outcomes:
            record = outcome.record
            _require_proved_now(outcome)
            run = record["run"]
            about = {"head": run["head"], "latents": run["latents"] if _is_proved(record, "instance") else None}
            _add(subjects, setup.head, run["head"], {"kind": "head"})
            if about["latents"] is not None:
                _add(subjects, str(setup.latents), run["latents"], {"kind": "latents"})
            if _is_proved(record, "picture"):
                about |= {"network": run["network"], "pictures": run["pictures"], "arithmetic": record["arithmetic"]}
                _add(subjects, str(setup.network), run["network"], {"kind": "network"})
            summary = {field: record[field] for field in _SUMMARY}
            _add(subjects, record["certificate"], record["sha256"], {"kind": "certificate", **summary, **about})
            records.append(record)
    policies = [{name: value for name, value in r["run"].items() if name not in _READ} for r in records]
    if not policies or any(policy != policies[0] for policy in policies):
        raise InputError("the checker", "or its options changed during the audit; run the command again")
    return {
        "_type": _TYPE,
        "predicateType": _PREDICATE,
        "predicate": {
            "verifier": {"id": _VERIFIER, "verale": policies[0]},
            "timeCreated": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "properties": _properties(records),
        },
        "subject": list(subjects.values()),
    }


def _require_proved_now(outcome: Outcome) -> None:
    """Raise InputError for anything but a proof by this command."""
    record = outcome.record
    if (record["status"], record["exit_code"]) != (Status.PROVED.value, 0) or record["sha256"] is None:
        raise InputError(record["certificate"], "is not proved, so nothing can be attested")
    if outcome.reused:
        raise InputError(record["certificate"], "has its verdict from an audit log, on which no attestation may rest")


def _is_proved(record: dict[str, Any], claim: str) -> bool:
    return bool(record["claims"].get(claim) == "proved")


def _add(subjects: dict[str, dict[str, Any]], name: str, sha256: str, annotations: dict[str, Any]) -> None:
    """Add a subject unless it is there. Raises InputError: it is there with other bytes."""
    subject = {"name": name, "digest": {"sha256": sha256}, "annotations": {"verale": annotations}}
    if subjects.setdefault(name, subject) != subject:
        raise InputError(
            name, "changed during the audit, or is given with two heads, latents or networks; run the command again"
        )


def _properties(records: Sequence[dict[str, Any]]) -> list[str]:
    """What is true of every certificate: claims, of pictures the arithmetic, and kernels that proved all claims."""
    claims = [claim for claim in _CLAIMS if all(_is_proved(r, claim) for r in records)]
    ways = {record["arithmetic"] for record in records} if "picture" in claims else set()
    return [
        *(f"VERALE_{claim.upper()}_PROVED" for claim in claims),
        *(_COMPUTED[way] for way in ways if len(ways) == 1),
        *(
            f"VERALE_KERNEL_{name.upper()}"
            for name in (*KERNELS, PROVED)
            if all(name in CHOICES[by] for record in records for by in record["by"].values())
        ),
    ]
