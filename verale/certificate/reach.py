"""How much statements bound: of which prototypes, and of which pairs of a patch and a prototype, they say anything.

A clause is one statement, and may bound every prototype of the head. So the number of statements alone says little
about how much of an image an explanation needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Bounded", "bounded"]


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
