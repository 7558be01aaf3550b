"""Certificates audited in several processes, each of which may die."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from verale.checker.file_auditor import Outcome, unusable
from verale.errors import InputError, UsageError, option
from verale.runs.auditor import AuditSetup, Stored, auditor_of, name_of, outcome_of
from verale.runs.workers.local import Done, Processes

__all__ = ["DIED", "in_processes"]

_log = logging.getLogger(__name__)

DIED = "the process that audited it died, perhaps because memory ran out"
"""The message for a certificate that killed the process that audited it."""

_Task = tuple[int, str | Stored]
"""A certificate and its place among all."""


def in_processes(paths: Sequence[str | Stored], setup: AuditSetup, jobs: int, run: dict[str, Any]) -> Iterator[Outcome]:
    """The outcomes, in the order of the paths. A certificate whose process dies is audited once more, alone.

    Args:
        paths: the certificates.
        setup: what to audit them with.
        jobs: the number of processes.
        run: `FileAuditor.run` of this process.

    Raises:
        InputError: the head or the latents file changes meanwhile; each process reads them when it starts.
    """
    waiting: dict[int, Outcome] = {}
    todo: deque[_Task] = deque(enumerate(paths))
    with _started(min(jobs, len(paths)), setup, todo) as processes:
        for number in range(len(paths)):
            while number not in waiting:
                done = processes.awaited()
                if done.died:
                    _log.warning("a process died; %s is audited alone", name_of(done.task[1]))
                    _start(processes, 1 if todo else 0)
                waiting[done.task[0]] = _alone(done.task[1], setup, run) if done.died else _known(done, setup, run)
            yield waiting.pop(number)


def _started(number: int, setup: AuditSetup, todo: deque[_Task]) -> Processes[_Task]:
    processes = Processes(_auditing, (setup,), todo, lambda task: task[1:])
    _start(processes, number)
    processes.begin()
    return processes


def _start(processes: Processes[_Task], number: int) -> None:
    if not processes.start(number):
        raise UsageError(
            f"a process cannot be started, expected one that audits: use {option('jobs', 1)}, or end other programs"
        )


def _auditing(setup: AuditSetup) -> Callable[[str | Stored], Outcome]:
    """The job of a process. Where head or latents cannot be used any more, its outcomes are about no run."""
    try:
        auditor = auditor_of(setup)
    except InputError:
        return lambda path: unusable(name_of(path), "", {})
    return lambda path: outcome_of(auditor, path)


def _known(done: Done[_Task], setup: AuditSetup, run: dict[str, Any]) -> Outcome:
    """The outcome. Raises InputError: it is about another head or other latents than this process has read."""
    outcome: Outcome = done.result or outcome_of(auditor_of(setup), done.task[1])
    if outcome.record["run"] != run:
        raise InputError(setup.head, "or the latents changed while certificates were audited; run the command again")
    return outcome


def _alone(path: str | Stored, setup: AuditSetup, run: dict[str, Any]) -> Outcome:
    with _started(1, setup, deque([(0, path)])) as processes:
        done = processes.awaited()
    return unusable(name_of(path), DIED, run) if done.died else _known(done, setup, run)
