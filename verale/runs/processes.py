"""Certificates audited in several processes, each of which may die."""

from __future__ import annotations

import logging
import signal
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict
from multiprocessing import get_context
from typing import Any

from verale.checker.file_auditor import FileAuditor, Outcome, unusable
from verale.runs.auditor import AuditOptions, Stored, name_of, outcome_of

__all__ = ["DIED", "in_processes"]

_log = logging.getLogger(__name__)

DIED = "the process that audited it died, perhaps because memory ran out"
"""The message for a certificate that killed the process that audited it."""


_auditor: FileAuditor
"""The auditor of a process of the pool; `_begin` sets it."""


def _begin(options: AuditOptions) -> None:
    global _auditor
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends the process without a message
    _let_interrupts(through=True)
    _auditor = FileAuditor(**asdict(options))


def _audit(path: str | Stored) -> Outcome:
    return outcome_of(_auditor, path)


def _let_interrupts(through: bool) -> None:
    """Let Ctrl-C through to this thread, or block it; processes started meanwhile inherit this."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK if through else signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _starting() -> Iterator[None]:
    """Block Ctrl-C while a pool starts: a process interrupted during its imports would print a traceback."""
    _let_interrupts(through=False)
    try:
        yield
    finally:
        _let_interrupts(through=True)


def _pool(jobs: int, options: AuditOptions) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (options,))


def in_processes(
    paths: Sequence[str | Stored], options: AuditOptions, jobs: int, run: dict[str, Any]
) -> Iterator[Outcome]:
    """The outcomes, in the order of the paths. If a process dies, the next file is audited alone, then the rest."""
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


def _alone(path: str | Stored, options: AuditOptions, run: dict[str, Any]) -> Outcome:
    with _pool(1, options) as pool:
        try:
            with _starting():
                audited = pool.submit(_audit, path)
            return audited.result()
        except BrokenProcessPool:
            return unusable(name_of(path), DIED, run)
