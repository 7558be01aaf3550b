"""How much statements bound, and how much a reader of them has to read.

They bound the prototypes, and the pairs of a patch and a prototype, of which they say anything. A clause is one
statement, and may bound every prototype of the head; or name a hundred of them. A statement about a patch has two names
and two numbers. So the number of statements tells neither.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["READABLE", "Bounded", "bounded", "to_read"]

READABLE = 14
"""Numbers and names that are read at a glance: what has no more is not shortened, and of more a page says so."""


@dataclass(frozen=True)
class Bounded:
    """What statements bound.

    Attributes:
        prototypes: how many prototypes of which they bound the activation, or the comparison with some patch.
        pairs: how many comparisons of a patch with a prototype they state.
    """

    prototypes: int
    pairs: int


def bounded(statements: Iterable[object], prototypes: int, patches: int) -> Bounded:
    """What some statements bound. A clause bounds every prototype that it does not exempt.

    Args:
        statements: those of a certificate, of `verale.certificate` or as the checker reads them.
        prototypes: P of the head. What it lacks is bounded by none.
        patches: L of the image; likewise.
    """
    about: set[int] = set()
    pairs: set[tuple[int, int]] = set()
    for each in statements:
        exempt, prototype, patch = (getattr(each, name, None) for name in ("exempt", "prototype", "patch"))
        if exempt is not None:
            about |= set(range(prototypes)).difference(exempt)
        elif prototype is not None and prototype < prototypes and (patch is None or patch < patches):
            about.add(prototype)
            if patch is not None:
                pairs.add((patch, prototype))
    return Bounded(len(about), len(pairs))


def to_read(statements: Sequence[object], prototypes: int, patches: int) -> int:
    """How many numbers and names a reader of some statements meets.

    An end is a number. A statement names its prototype and, of an image of several patches, its patch. A clause names
    the prototypes that it speaks of, or those that it exempts though nothing else is stated of them ("no other"),
    whichever are fewer. A sum is one name, and names the rivals that it lists.

    Args:
        statements, prototypes, patches: see `bounded`.
    """
    stated = {each.prototype for each in statements if hasattr(each, "prototype") and not hasattr(each, "patch")}
    numbers = names = 0
    for each in statements:
        ends = (getattr(each, side, None) for side in ("lower", "upper"))
        numbers += sum(end is not None and math.isfinite(end) for end in ends)
        exempt = getattr(each, "exempt", None)
        if exempt is not None:
            names += min(prototypes - len(exempt), len(set(exempt) - stated))
        else:
            rivals = getattr(each, "rivals", None) or ()
            names += 1 + (hasattr(each, "patch") and patches > 1) + len(rivals)
    return numbers + names
