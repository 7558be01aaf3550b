"""Certificates that the checker proves, attacked (`slack`): none may be refuted. Of most `tight` ones it comes near.

The *slack* of a margin says how near the attack comes: 0 where it attains the margin, 1 where it finds nothing better
than the image, less than 0 where it refutes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isnan

import flint
from attacks.slack import Attempt, attack
from attacks.targets import Key, Target, of_random_heads, of_tight_heads
from support.arithmetic import PRECISION

from verale.soundness.combinations import Combination

__all__ = ["SHARP", "Attacked", "attacked", "targets"]

SHARP = 1 / 100
"""An attack with a slack below this has come near. Where the image is near its margin already, it may have more."""


@dataclass
class Attacked:
    """What the attack found, by paradigm, pooling and readout, and by kind of certificate.

    Attributes:
        tried: how many were attacked.
        slacks: the least slack of each certificate whose image does not attain its margins.
        blunt: the names of tight certificates to no margin of which it came near.
        wrong: certificates that were refuted.
    """

    tried: Counter[tuple[Key, str]] = field(default_factory=Counter)
    slacks: dict[tuple[Key, str], list[float]] = field(default_factory=dict)
    blunt: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, target: Target, attempts: Sequence[Attempt]) -> None:
        """Count a certificate, given what was tried against each of its margins."""
        at = target.key, target.kind
        with flint.ctx.workprec(PRECISION):
            if any(attempt.refutes() for attempt in attempts):
                self.wrong.append(f"{target.name}: latents satisfy the statements and fall short of a margin")
            slacks = [attempt.slack for attempt in attempts]
        self.tried[at] += 1
        found = [slack for slack in slacks if not isnan(slack)]
        if found:
            self.slacks.setdefault(at, []).append(min(found))
        if target.kind == "tight" and not any(isnan(slack) or slack < SHARP for slack in slacks):
            self.blunt.append(target.name)


def targets(combinations: tuple[Combination, ...], draws: range, brief: bool = False) -> Iterator[Target]:
    """Certificates of random and of tight heads, draw by draw of each combination."""
    for number in draws:
        for combination in combinations:
            yield from of_random_heads(combination, number)
            yield from of_tight_heads(combination, number, brief)


def attacked(certificates: Iterable[Target]) -> Attacked:
    """Attack certificates that are proved."""
    tally = Attacked()
    for target in certificates:
        tally.add(target, attack(target.certificate, target.head, target.latents))
    return tally
