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

from ..certificate import Certificate, PatchStatement
from ..errors import UnprovedError
from .margin import margin_steps
from .quadratic import TOGETHER
from .space import Space
from .work import OPERATION, Work

__all__ = ["Cost", "cost", "require_within"]

_STEPS_A_NUMBER = 96  # a proof of 3 2^27 steps may keep 2^22 numbers: 300 MB
_STATEMENT = 400  # steps to read a statement and to bring its ends to the grid
_SWEEP = 7  # steps of an operation on 320 bits
_OUTWARD, _INWARD = (24, 6), (100, 25)  # operations for the range of an observable, and as many more for each statement
_BITS = 512  # a number of so many bits takes the memory of two


@dataclass(frozen=True)
class Cost:
    """Steps, and how many numbers of few bits are kept at once."""

    steps: int
    numbers: int


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
    def patch(n: int, operations: tuple[int, int] = _OUTWARD) -> int:
        return _patch(certificate.paradigm, n, count, head.depth, work, operations)

    mean = head.pooling in ("top_mean", "max_minus_mean", "max_minus_mean_distance")
    parts = len(groups) + head.columns
    box = OPERATION * (count * (4 + 3 * parts if mean else 4) + 2 * sum(map(len, head.mask)) + head.columns - 1)
    steps = sum(map(patch, groups.values())) + parts * OPERATION * count + box
    steps += _STATEMENT * statements + head.classes * margin_steps(head)
    steps += len(certificate.prices) * (2 * margin_steps(head) + OPERATION * parts * count)
    kept = parts if mean else min(parts, head.columns)
    if minimality:
        kept = parts * min(head.k, parts) if head.pooling == "top_mean" else parts
        steps += sum(patch(n, _INWARD) + n * patch(n - 1, _INWARD) for n in groups.values()) + box
        steps += 3 * OPERATION * count * kept
        if groups:
            steps += statements * (box + OPERATION * count)
        else:  # activations are pooled once, and cut for each statement
            steps += statements * (OPERATION * count + _STATEMENT // 10 * statements)
    # For each patch that is bounded with others: five numbers a prototype, and matrices of its anchors.
    anchors = min(head.depth, max(groups.values(), default=0))
    alike = min(TOGETHER, len(groups)) if head.prototypes.rows else 0
    together = alike * (5 * count + anchors * (head.depth + 4 * anchors))
    numbers = 2 * kept * count + together + 2 * count + statements
    return Cost(work.scaled(steps), numbers * (_BITS + work.bits) // _BITS)


def require_within(limit: int, counted: Cost) -> None:
    """Raises UnprovedError if proving takes more than `limit` steps, or keeps too many numbers at once."""
    if counted.steps > limit:
        raise UnprovedError(
            "limit",
            f"proving takes about {counted.steps} steps, expected at most {limit} for files of this size;"
            " raise the limit to try it",
        )
    if counted.numbers > limit // _STEPS_A_NUMBER:
        raise UnprovedError(
            "limit",
            f"proving keeps about {counted.numbers} numbers at once, expected at most {limit // _STEPS_A_NUMBER} for"
            " files of this size; raise the limit to try it, or state less, about fewer patches",
        )


def _patch(paradigm: str, n: int, count: int, depth: int, work: Work, operations: tuple[int, int]) -> int:
    """The ranges of one patch with n statements, of all observables: Gram matrix, its sweeps, and all targets.

    Args:
        operations: of a target, and for each statement as many more.
    """
    if n == 0 or paradigm in ("simplex", "assignment"):
        return OPERATION * (count + n)
    kept = min(n, depth)
    once, each = operations
    target = work.products(n * (depth + 2 * n)) + OPERATION * (once + each * n)
    return work.products(n * n * depth) + _SWEEP * n * n * kept + count * target
