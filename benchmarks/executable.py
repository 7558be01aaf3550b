"""The executable that an auditor asks: its processor time and memory, which are not those of this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path

from verale.checker import Auditor

__all__ = ["megabytes", "seconds"]


def seconds(auditor: Auditor) -> float:
    """Processor time up to now of the executable, and of those before it that took too long and were ended; where none
    runs, as under JavaScript, which this process runs, of those alone."""
    ended = os.times()
    return (
        ended.children_user
        + ended.children_system
        + _of_process(auditor, "schedstat", lambda text: int(text.split()[0]) / 1e9)
    )


def megabytes(auditor: Auditor) -> float:
    """Its largest memory up to now; 0 where none runs."""
    return _of_process(auditor, "status", lambda text: int(text.split("VmHWM:")[1].split()[0]) / 1024)


def _of_process(auditor: Auditor, file: str, read: Callable[[str], float]) -> float:
    """What a file of /proc says of it; 0 where it has ended."""
    process = _process(auditor)
    try:
        return 0.0 if process is None else read(Path(f"/proc/{process}/{file}").read_text())
    except (OSError, IndexError):  # of one that has ended and was not waited for there is no memory
        return 0.0


def _process(auditor: Auditor) -> int | None:
    side = auditor._sides.get("proved")
    dialogue = side.keywords["claims"]._dialogue if isinstance(side, partial) else None
    return getattr(getattr(dialogue, "_process", None), "pid", None)
