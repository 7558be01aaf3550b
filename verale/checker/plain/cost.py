"""How much work a proof takes, counted from the certificate's shape before it begins (certificates/v1.md, step 4).

A certificate of a few kilobytes can ask for years: the range of an observable under n statements about one patch takes
some n^2 operations for each anchor that the patch keeps, n times that again for minimality. So the work is counted
first, roughly, and not begun if it exceeds a limit. What only the proof itself can tell is counted while it runs,
against the same limit (`work`, which also says what a step is).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

from ..certificate import ActivationStatement, Certificate, PatchStatement
from ..errors import UnprovedError
from ..limit import seconds_in_words
from .margin import margin_steps
from .space import Space
from .work import OPERATION, patch_steps, point_steps, quick_steps, target_steps

__all__ = ["Cost", "best_steps", "cost", "require_within"]

_STEPS_A_NUMBER = 288  # a proof of 30 s may keep 2^22 numbers: 300 MB
_STATEMENT = 400  # steps to read a statement and to bring its ends to the grid
_BITS = 512  # a number of so many bits takes the memory of two


@dataclass(frozen=True)
class Cost:
    """Steps, and how many numbers of few bits are kept at once."""

    steps: int
    numbers: int

    def plus(self, steps: int, numbers: int) -> Cost:
        """With more steps, before or after which so many numbers are kept."""
        return Cost(self.steps + steps, max(self.numbers, numbers))


def cost(certificate: Certificate, space: Space, minimality: bool) -> Cost:
    """About how much entailment and minimality take, without what `work` counts.

    Args:
        certificate: one that fits the head.
        space: the head.
        minimality: whether to prove it.
    """
    head, work = space.head, space.work
    count, statements = head.count, len(certificate.statements)
    groups = Counter(s.patch for s in certificate.statements if isinstance(s, PatchStatement))

    @cache
    def patch(n: int, points: bool = False) -> int:
        if n == 0 or head.geometry == "softmax":
            return OPERATION * (count + n)
        each = 2 * point_steps(head.depth, n) if points else quick_steps(head.depth, n)
        return count * each + patch_steps(head.depth, n)

    parts = len(groups) + head.columns
    box = count * (4 * OPERATION + 14 * parts) + OPERATION * (2 * sum(map(len, head.mask)) + head.columns - 1)
    steps = sum(map(patch, groups.values())) + parts * OPERATION * count + box
    steps += _STATEMENT * statements + head.classes * margin_steps(head)
    steps += len(certificate.prices) * (2 * margin_steps(head) + OPERATION * parts * count)
    if minimality:
        steps += sum(patch(n, True) + n * patch(n - 1, True) for n in groups.values()) + box
        if groups:
            steps += statements * (box + OPERATION * count)
        else:  # activations are pooled once, and cut again where a clause is left out
            clauses = statements - sum(isinstance(s, ActivationStatement) for s in certificate.statements)
            steps += statements * (OPERATION * count + _STATEMENT // 10 * clauses)
    numbers = 2 * parts * count + 2 * count + statements
    return Cost(work.scaled(steps), numbers * (_BITS + work.bits) // _BITS)


def best_steps(certificate: Certificate, space: Space) -> int:
    """About how much the best weights take, where quick ones do not prove the margins."""
    head, work = space.head, space.work
    groups = Counter(s.patch for s in certificate.statements if isinstance(s, PatchStatement))
    return work.scaled(sum(2 * head.count * target_steps(head.depth, n) for n in groups.values()))


def require_within(limit: int, counted: Cost, of_network: int = 0) -> None:
    """Raises UnprovedError if proving takes more than `limit` steps, or keeps too many numbers at once: `of_network`
    of them while latents are enclosed, which no other statements change."""
    if counted.steps > limit:
        raise UnprovedError(
            "limit",
            f"proving takes about {seconds_in_words(counted.steps)} of processor time, expected at most"
            f" {seconds_in_words(limit)} for files of this size; raise the limit to try it",
        )
    most = limit // _STEPS_A_NUMBER
    if counted.numbers > most:
        less = "" if of_network > most else ", or state less, about fewer patches"
        raise UnprovedError(
            "limit",
            f"proving keeps about {counted.numbers} numbers at once, expected at most {most} for files of this size;"
            f" raise the limit to try it{less}",
        )
