"""How long a proof may take, and how much memory (certificates/v1.md, step 4): processor seconds, of whoever is asked.

Larger files may take longer: the limit is for each megabyte that they begin. So an honest proof about a large head
passes, and what anybody sends in less than a megabyte is answered in seconds. Nothing that is proved depends on a
limit: it can cost a proof, never soundness.
"""

from __future__ import annotations

import os
from math import inf
from time import monotonic, thread_time

from .errors import UnprovedError

LIMIT = 30
"""Seconds for each megabyte: five times what the slowest checker, the proved one as JavaScript, takes for the
explanations of published heads, so that slower processors have time enough."""
_MEGABYTE = 2**20
_MEMORY = 2**30
"""Bytes that a proof may take for each `LIMIT` seconds that it may take."""
_NUMBER = 96
"""Bytes of an integer on the grid, with its place in a list."""
_BETWEEN = 0.02
"""Seconds by the wall between measurements, or a tenth of the limit where that is less. To ask for processor
time may take as long as a target does."""
_LONGEST = 10**9
"""Seconds, thirty years."""


def allowed(limit: float, size: int) -> float:
    """The seconds that files of `size` bytes may take: `limit` for each megabyte that they begin."""
    return limit * max(1, -(-size // _MEGABYTE))


def wrong_limit(limit: float) -> str | None:
    """What is wrong with a limit in seconds; None if it can be used."""
    if 0 < limit <= _LONGEST:  # of NaN neither is true
        return None
    return f"limit is {limit!r}, expected a number of seconds above 0, at most {_LONGEST}"


def seconds_in_words(seconds: float) -> str:
    """So many seconds of processor time, for a message."""
    return f"{seconds:.3g} s"


class Clock:
    """The processor time and the memory that a proof in this thread may still take; everything before `start`.

    Whoever computes looks at it before each piece of work that takes at most a second or so.
    """

    def __init__(self) -> None:
        self.start(None)

    def start(self, seconds: float | None) -> None:
        """Begin to measure; None allows everything."""
        self._seconds = seconds
        self._memory = inf if seconds is None else _MEMORY * max(1.0, seconds / LIMIT)
        self._between = _BETWEEN if seconds is None else min(_BETWEEN, seconds / 10)
        self._begun, self._next = thread_time(), 0.0
        self._before = 0 if seconds is None else _resident()

    @property
    def taken(self) -> float:
        """Seconds since `start`."""
        return thread_time() - self._begun

    def look(self) -> None:
        """Raises UnprovedError if more time or memory was taken than is allowed."""
        if self._seconds is None:
            return
        now = monotonic()
        if now < self._next:
            return
        self._next = now + self._between
        if self.taken > self._seconds:
            raise UnprovedError(
                "limit",
                f"it takes more than {seconds_in_words(self._seconds)} of processor time, the most for files of this"
                " size; raise the limit to try it",
            )
        self._require(_resident() - self._before)

    def keep(self, numbers: int, size: int = _NUMBER) -> None:
        """Raises UnprovedError if so many numbers of some bytes each take more memory than is allowed."""
        self._require(size * numbers)

    def _require(self, size: int) -> None:
        if size > self._memory:
            raise UnprovedError(
                "limit",
                f"it takes more than {self._memory / 2**20:.0f} MiB of memory, the most for files of this size;"
                " raise the limit to try it, or state less, about fewer patches",
            )


def _resident() -> int:
    """The bytes of memory that this process has; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0
