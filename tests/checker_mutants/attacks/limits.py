"""Attacks on the limits of time and memory. Returns what it finds wrong, "" for nothing."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from checker_mutants.mutant import Import

from verale.soundness.corpus.cases import stored

__all__ = ["limits_end_proofs"]


def limits_end_proofs(module: Import, kernel: str) -> str:
    """A proof passes where the limit is large, and ends by the reason `limit` where it is small, or memory is."""
    limit = module("limit")
    with patch.multiple(limit, thread_time=limit.thread_time, _BETWEEN=0):  # the first is set by `_wrong_clock`
        wrong = _wrong_limit(module) or _wrong_clock(module)
    return wrong or _seldom(module) or _wrong_audits(module, kernel)


def _wrong_limit(module: Import) -> str:
    limit = module("limit")
    for size, times in ((0, 1), (1, 1), (2**20, 1), (2**20 + 1, 2), (5 * 2**20, 5)):
        if limit.allowed(0.5, size) != 0.5 * times:
            return "the limit of larger files"
    return "" if limit.LIMIT == 30 else "the limit"


def _wrong_clock(module: Import) -> str:
    limit, error = module("limit"), module("errors").UnprovedError
    now = 100.0
    limit.thread_time = lambda: now
    clock = limit.Clock()
    now += 10.0**9
    if not _passes(clock.look, error):
        return "no limit"
    clock.start(30)
    if clock.taken or not _passes(clock.look, error):
        return "what was taken before"
    now += 29
    if clock.taken != 29 or not _passes(clock.look, error):
        return "less than is allowed"
    now += 2
    if _passes(clock.look, error):
        return "more than is allowed"
    clock.start(30)
    if not _passes(lambda: clock.keep(2**20), error) or _passes(lambda: clock.keep(2**24), error):
        return "numbers"
    had, limit._resident = limit._resident, lambda: 0
    clock.start(60)
    limit._resident = lambda: 2**31 - 1
    now += 1
    if not _passes(clock.look, error):
        return "memory that twice the time allows"
    limit._resident = lambda: 2**31 + 1
    now += 1
    passes = _passes(clock.look, error)
    limit._resident = had
    return "memory" if passes else ""


def _seldom(module: Import) -> str:
    """A look asks for the time at the first, and again as soon as a tenth of the limit has passed by the wall."""
    limit, error = module("limit"), module("errors").UnprovedError
    now = 100.0
    with patch.multiple(limit, thread_time=lambda: now, monotonic=lambda: now):
        clock = limit.Clock()
        clock.start(1e-3)
        clock.look()
        now += 2e-3
        return "a short limit" if _passes(clock.look, error) else ""


def _passes(action: Any, error: Any) -> bool:
    try:
        action()
    except error as unproved:
        return bool(unproved.reason != "limit")
    return True


def _wrong_audits(module: Import, kernel: str) -> str:
    auditor = module("").Auditor
    names = {f"accept/{name}" for name in ("projection-euclidean", "top_k-euclidean", "assignment-prices")}
    for case in (case for case in stored() if case.name in names):
        for limit, reason in ((1000.0, ""), (1e-9, "limit")):
            verdict = auditor(case.head, case.latents, kernel, limit=limit).check(case.certificate, minimality=True)
            if verdict.reason != reason:
                return f"{case.name} within {limit} s: {verdict.reason}"
    return ""
