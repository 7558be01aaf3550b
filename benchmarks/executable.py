"""The executable that an auditor asks: its processor time and memory, which are not those of this process."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from verale.checker import Auditor

__all__ = ["megabytes", "seconds"]


def seconds(auditor: Auditor) -> float:
    """Processor time of the executable up to now; 0 where none runs, as under JavaScript, which this process runs."""
    process = _process(auditor)
    if process is None:
        return 0.0
    nanoseconds, *_ = Path(f"/proc/{process}/schedstat").read_text().split()
    return int(nanoseconds) / 1e9


def megabytes(auditor: Auditor) -> float:
    """Its largest memory up to now."""
    process = _process(auditor)
    status = "" if process is None else Path(f"/proc/{process}/status").read_text()
    return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)


def _process(auditor: Auditor) -> int | None:
    audits = auditor._proved
    dialogue = audits.keywords["claims"]._dialogue if isinstance(audits, partial) else None
    return getattr(getattr(dialogue, "_process", None), "pid", None)
