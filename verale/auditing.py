"""Audit certificates' files: the checker, called on paths, on as many processes as are wanted."""

from __future__ import annotations

import hashlib
import json
import logging
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol

from verale.checker import Auditor, CheckerError, HeadError, LatentsError, Verdict
from verale.checker.certificate import LARGEST
from verale.checker.cost import LIMIT
from verale.checker.head_file import LARGEST as LARGEST_HEAD
from verale.checker.report import UNUSABLE, FileAuditor, Outcome, file_digest, unusable
from verale.errors import InputError
from verale.files import read, write_atomically

__all__ = ["DIED", "Options", "Report", "Stored", "audit", "audit_files", "auditor_of", "name_of"]

_log = logging.getLogger(__name__)

DIED = "the process that audited it died, perhaps for want of memory"
"""What is told of a certificate that killed the process that audited it."""


class Stored(Protocol):
    """A certificate that is no file of its own."""

    @property
    def name(self) -> str:
        """What it is called."""

    def read(self) -> bytes:
        """Its bytes."""


def name_of(path: str | Stored) -> str:
    """What a certificate is called: its file, or its name."""
    return path if isinstance(path, str) else path.name


@dataclass(frozen=True)
class Options:
    """What certificates are audited with; see `audit`. `limit` is the most steps that a proof may take."""

    head: str
    latents: str | None = None
    kernel: str = "arb"
    minimality: bool = False
    limit: int = LIMIT


def audit(
    certificate: str | Path,
    head: str | Path,
    latents: str | Path | None = None,
    kernel: str = "arb",
    minimality: bool = False,
) -> Verdict:
    """Prove a certificate again, from bytes, in interval arithmetic.

    Args:
        certificate: file of the certificate.
        head: file of the head it speaks of.
        latents: file that holds the image's latents; without it the instance claim is not checked.
        kernel: `arb` (fast), `mpmath` (reference) or `both` (proves only what both prove).
        minimality: also prove that no statement can be dropped, if the certificate claims it.

    Returns:
        The verdict: PROVED, NOT_PROVED, REFUTED or MALFORMED, with the reason.

    Raises:
        InputError: a file that cannot be read, or a head or latents file that is none.

    Soundness: PROVED means that the checker, which shares no code with the search, proved every checked claim.
    """
    try:
        auditor = Auditor(
            read(head, "a head file (safetensors)", LARGEST_HEAD + 1),
            None if latents is None else read(latents, "a latents file (safetensors)"),
            kernel,
        )
    except HeadError as error:
        raise InputError(head, str(error)) from error
    except LatentsError as error:
        raise InputError(latents, str(error)) from error
    return auditor.check(read(certificate, "a certificate (.ale.json)", LARGEST + 1), minimality)


def audit_files(
    paths: Sequence[str | Stored], options: Options, jobs: int = 1, report: Report | None = None
) -> Iterator[Outcome]:
    """Audit certificates' files; what is told of each, in their order, as soon as it is known.

    Args:
        paths: files, or certificates that are stored otherwise.
        jobs: processes; with 1 everything is done in this one.
        report: gets every outcome; what it has already, from the same bytes, head, latents, options and checker, is
            taken from it.

    Raises:
        InputError: a head or latents file that cannot be used, or a report that cannot be written.

    A file that cannot be used is an outcome too, even where auditing it kills its process.
    """
    auditor = auditor_of(options)
    known = {} if report is None else {name_of(path): report.known(path, auditor.run) for path in paths}
    new = [path for path in paths if known.get(name_of(path)) is None]
    _log.info("%d certificates, %d of them new, %d processes", len(paths), len(new), jobs)
    audited = (_told(auditor, path) for path in new) if jobs == 1 else _in_processes(new, options, jobs, auditor.run)
    outcomes = []
    for path in paths:
        outcome = known.get(name_of(path))
        if outcome is None:
            outcome = next(audited)
            if report is not None:
                report.add(outcome)
        outcomes.append(outcome)
        yield outcome
    if report is not None:
        report.finish(outcomes)


def auditor_of(options: Options) -> FileAuditor:
    """The auditor. Raises InputError: a head or latents file that cannot be used."""
    try:
        return FileAuditor(**asdict(options))
    except CheckerError as error:
        raise InputError(*str(error).split(": ", 1)) from error
    except OSError as error:
        raise InputError(error.filename, f"cannot be read ({error.strerror}); expected a file") from error


class Report:
    """A report file: one JSON object a line (certificates/report-v1.md). Raises InputError where the file is no report.

    While certificates are audited, records are appended, so that what has been done survives whatever stops it.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._found: dict[str, dict[str, Any]] = {}
        lines = read(path, "a report").decode("utf-8", "replace").split("\n") if self._path.exists() else [""]
        for number, line in enumerate(lines[:-1]):  # what follows the last newline is a record cut short, or nothing
            try:
                record = json.loads(line)
                self._found[_key(record["sha256"], record["run"])] = record
            except (ValueError, TypeError, KeyError):
                raise InputError(path, f"line {number + 1} is no record of a report; choose another file") from None
        if lines[-1] and not self._found:
            raise InputError(path, "is no report; choose another file")
        self._write(self._found.values())

    def known(self, path: str | Stored, run: dict[str, Any]) -> Outcome | None:
        """What the report has of the same bytes, audited with the same: never of a file that could not be used."""
        digest = file_digest(path) if isinstance(path, str) else hashlib.sha256(path.read()).hexdigest()
        record = None if digest is None else self._found.get(_key(digest, run))
        if record is None or record["status"] == UNUSABLE:
            return None
        return Outcome(record | {"certificate": name_of(path)}, reused=True)

    def add(self, outcome: Outcome) -> None:
        """Append an outcome."""
        try:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps(outcome.record) + "\n")
        except OSError as error:
            raise InputError(self._path, f"cannot be written ({error.strerror})") from error

    def finish(self, outcomes: Sequence[Outcome]) -> None:
        """Make these the whole report, in their order."""
        self._write([outcome.record for outcome in outcomes])

    def _write(self, records: Any) -> None:
        write_atomically(self._path, "".join(json.dumps(record) + "\n" for record in records).encode())


def _key(digest: str, run: dict[str, Any]) -> str:
    return json.dumps([digest, run], sort_keys=True)


_own: FileAuditor
"""That of a process of the pool."""


def _begin(options: Options) -> None:
    global _own
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word
    _let_interrupts(through=True)
    _own = FileAuditor(**asdict(options))


def _audit(path: str | Stored) -> Outcome:
    return _told(_own, path)


def _told(auditor: FileAuditor, path: str | Stored) -> Outcome:
    return auditor.audit(path) if isinstance(path, str) else auditor.audit(path.name, path.read())


def _let_interrupts(through: bool) -> None:
    """Let Ctrl-C through to this thread, or make it wait; processes that are started meanwhile begin likewise."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK if through else signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _starting() -> Iterator[None]:
    """While processes of a pool start: what they import would otherwise end in a traceback each on Ctrl-C."""
    _let_interrupts(through=False)
    try:
        yield
    finally:
        _let_interrupts(through=True)


def _pool(jobs: int, options: Options) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (options,))


def _in_processes(paths: Sequence[str | Stored], options: Options, jobs: int, run: dict[str, Any]) -> Iterator[Outcome]:
    """The outcomes in the order of the paths. Where a process dies, the next file is audited alone, then the rest."""
    left = deque(paths)
    while left:
        pool = _pool(min(jobs, len(left)), options)
        try:
            with _starting():
                audited = pool.map(_audit, tuple(left))
            for outcome in audited:
                left.popleft()
                yield outcome
        except BrokenProcessPool:
            _log.warning("a process died; %s is audited alone", name_of(left[0]))
            yield _alone(left.popleft(), options, run)
        finally:
            pool.shutdown(cancel_futures=True)


def _alone(path: str | Stored, options: Options, run: dict[str, Any]) -> Outcome:
    with _pool(1, options) as pool:
        try:
            with _starting():
                audited = pool.submit(_audit, path)
            return audited.result()
        except BrokenProcessPool:
            return unusable(name_of(path), DIED, run)
