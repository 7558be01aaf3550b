"""Certificates audited in several processes, each of which may die."""

from __future__ import annotations

import logging
import os
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

from verale.checker import CheckerError
from verale.checker.file_auditor import FileAuditor, Outcome, unusable
from verale.errors import InputError
from verale.runs.auditor import AuditOptions, Stored, name_of, outcome_of

__all__ = ["DIED", "in_processes"]

_log = logging.getLogger(__name__)

DIED = "the process that audited it died, perhaps because memory ran out"
"""The message for a certificate that killed the process that audited it."""


_auditor: FileAuditor | None
"""The auditor of a process of the pool; `_begin` sets it. None where head or latents cannot be used any more."""


def _begin(options: AuditOptions) -> None:
    global _auditor
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the process without a message
    _let_interrupts(through=True)
    try:
        _auditor = FileAuditor(**vars(options))
    except (CheckerError, OSError):
        _auditor = None


def _audit(path: str | Stored) -> Outcome:
    return unusable(name_of(path), "", {}) if _auditor is None else outcome_of(_auditor, path)


def _require_same(outcome: Outcome, options: AuditOptions, run: dict[str, Any]) -> Outcome:
    """The outcome. Raises InputError: it is about another head or other latents than this process has read."""
    if outcome.record["run"] != run:
        raise InputError(options.head, "or the latents changed while certificates were audited; run the command again")
    return outcome


def _let_interrupts(through: bool) -> None:
    """Let Ctrl-C through to this thread, or block it; processes started meanwhile inherit this."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK if through else signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _importing_nothing_here() -> Iterator[None]:
    """While a pool and its processes start: nothing of the current folder is imported.

    multiprocessing runs `python -c`, which looks for modules in the current folder first: for its own, in the pool's
    processes and in the one that tracks their resources. That folder may be somebody else's.
    """
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Block Ctrl-C while processes start: one that is interrupted during its imports would print a traceback."""
    _let_interrupts(through=False)
    try:
        yield
    finally:
        _let_interrupts(through=True)


def _pool(jobs: int, options: AuditOptions) -> ProcessPoolExecutor:
    """A pool, which lets Ctrl-C through again as it starts to track resources."""
    return ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (options,))


def in_processes(
    paths: Sequence[str | Stored], options: AuditOptions, jobs: int, run: dict[str, Any]
) -> Iterator[Outcome]:
    """The outcomes, in the order of the paths. If a process dies, the next file is audited alone, then the rest.

    Args:
        paths: the certificates.
        options: what to audit them with.
        jobs: the number of processes.
        run: `FileAuditor.run` of this process.

    Raises:
        InputError: the head or the latents file changes meanwhile; each process reads them when it starts.
    """
    left = deque(paths)
    while left:
        with _importing_nothing_here():
            pool = _pool(min(jobs, len(left)), options)
            with _uninterrupted():
                audited = pool.map(_audit, tuple(left))
        try:
            for outcome in audited:
                left.popleft()
                yield _require_same(outcome, options, run)
        except BrokenProcessPool:
            _log.warning("a process died; %s is audited alone", name_of(left[0]))
            yield _alone(left.popleft(), options, run)
        finally:
            pool.shutdown(cancel_futures=True)


def _alone(path: str | Stored, options: AuditOptions, run: dict[str, Any]) -> Outcome:
    with _importing_nothing_here():
        pool = _pool(1, options)
        with _uninterrupted():
            audited = pool.submit(_audit, path)
    with pool:
        try:
            return _require_same(audited.result(), options, run)
        except BrokenProcessPool:
            return unusable(name_of(path), DIED, run)
