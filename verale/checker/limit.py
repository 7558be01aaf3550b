"""How long a proof may take (certificates/v1.md, step 4): processor seconds, of whoever is asked.

Larger files may take longer: the limit is for each megabyte that they begin. So an honest proof about a large head
passes, and what anybody sends in less than a megabyte is answered in seconds. The rules in Python count steps instead,
of at most 25 ns each, so that they give up at the same step everywhere.
"""

from __future__ import annotations

from math import isfinite

__all__ = ["LIMIT", "STEPS_A_SECOND", "allowed", "seconds_in_words", "wrong_limit"]

LIMIT = 30
"""Seconds for each megabyte: five times what the slowest checker, the proved one as JavaScript, takes for the
explanations of published heads, so that slower processors have time enough."""
STEPS_A_SECOND = 40_000_000
_MEGABYTE = 2**20
_LONGEST = 10**9
"""Seconds, thirty years."""


def allowed(limit: float, size: int) -> int:
    """The steps that files of `size` bytes may take: `limit` seconds of them for each megabyte that they begin."""
    return round(limit * STEPS_A_SECOND) * max(1, -(-size // _MEGABYTE))


def wrong_limit(limit: float) -> str | None:
    """What is wrong with a limit in seconds; None if it can be used."""
    if isfinite(limit) and 0 < limit <= _LONGEST:
        return None
    return f"limit is {limit!r}, expected a number of seconds above 0, at most {_LONGEST}"


def seconds_in_words(steps: int) -> str:
    """So many steps in seconds of processor time, for a message."""
    return f"{steps / STEPS_A_SECOND:.3g} s"
