"""What a search may take: how large certificates it accepts, how much it computes at once, and when it stops."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass

from verale.certificate import Certificate, FloorStatement, OrderStatement, PatchStatement
from verale.errors import UsageError, option
from verale.head import Head

__all__ = ["ENDLESS", "GRACE", "TOGETHER", "Clock", "TimeIsUpError", "require_searchable"]

TOGETHER = 2**20
"""Numbers of one array of a batch: some ten such arrays exist at a time."""

_MOST_NUMBERS = 2**20
"""The most coordinates and similarities of an image, for each megabyte that the head's numbers begin. The checker keeps
coordinates as integers of 200 bytes."""
_MEGABYTE = 2**20
_EQUATIONS = 2**22
"""The most numbers in the equations of one patch."""
_MOST_DEMANDS = 2**18
"""The most demands on single observables: each takes some hundred microseconds."""
_PER_SECOND = 2**26
"""Multiplications of exact numbers in a second: the checker evaluates a candidate, which takes L P D of them."""

GRACE = 5.0
"""Seconds that the first climb may take beyond those asked for."""


class TimeIsUpError(Exception):
    """The search has to stop. It never leaves `counterexamples`."""


@dataclass(frozen=True)
class Clock:
    """When to stop, on the clock of `time.monotonic`.

    Attributes:
        deadline: when no further climb begins.
        latest: when a climb that began is given up.
    """

    deadline: float
    latest: float

    @classmethod
    def of(cls, seconds: float, grace: float = GRACE) -> Clock:
        """A clock that starts now."""
        now = time.monotonic()
        return cls(now + seconds, now + seconds + grace)

    @property
    def is_over(self) -> bool:
        """Whether no further climb begins."""
        return time.monotonic() > self.deadline

    def check(self) -> None:
        """Raises TimeIsUpError when even what began is given up."""
        if time.monotonic() > self.latest:
            raise TimeIsUpError


ENDLESS = Clock(math.inf, math.inf)
"""A clock that never stops anything."""


def require_searchable(head: Head, certificate: Certificate, seconds: float) -> None:
    """Raise UsageError, which names the limit, unless a search stays within memory and about its time."""
    patches, depth, size = certificate.patches, head.depth, head.size
    stated = Counter(s.patch for s in certificate.statements if isinstance(s, PatchStatement))
    own = max(stated.values(), default=0)
    whole = sum(not isinstance(s, PatchStatement) for s in certificate.statements)
    clause = any(isinstance(s, OrderStatement | FloorStatement) for s in certificate.statements)
    each = size if clause else min(size, own + whole)
    count = patches * each if whole else len(certificate.statements)
    megabytes = 1 + 4 * (head.weight.numel() + head.points.numel()) // _MEGABYTE
    what = f"the certificate has {patches} patches of {depth} channels, for {size} prototypes"
    for number, limit, name in (
        (patches * (depth + size), _MOST_NUMBERS * megabytes, "coordinates and similarities of an image"),
        (each * max(each, depth), _EQUATIONS, f"numbers in the equations of a patch with {each} demands"),
        (count, _MOST_DEMANDS, "demands on observables"),
    ):
        if number > limit:
            raise UsageError(f"{what}: a search would have {number} {name}, expected at most {limit}")
    steps, most = patches * size * depth, int((seconds + GRACE) * _PER_SECOND)
    if head.prototypes is not None and steps > most:
        raise UsageError(
            f"{what}: evaluating one candidate exactly takes {steps} multiplications, expected at most {most} in"
            f" {seconds:g} seconds; search longer ({option('seconds', -(-steps // _PER_SECOND))})"
        )
