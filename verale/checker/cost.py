"""How much work a proof takes, counted from the certificate's shape before it begins (certificates/v1.md, step 4).

A certificate of a few kilobytes can ask for years: the range of an observable under n statements about one patch takes
some n^2 operations for each anchor that the patch keeps, n times that where they are wide, n times that again for
minimality. So the work is counted first, roughly, and not begun if it exceeds a limit. Nothing is proved about the
count, and no proof depends on it: a limit can cost a proof, never soundness.

Under `assignment`, minimality needs matchings, seldom more than a few, as they are kept from statement to statement.
One is counted; a hostile certificate can need one for each statement and rival.

A step is a multiplication and addition in a matrix product of exact integers of a few hundred bits, some 20 to 50 ns.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from .certificate import ActivationStatement, Certificate, PatchStatement
from .errors import UnprovedError
from .head import Head
from .rules.projection import TOGETHER, WIDE

__all__ = ["LIMIT", "Cost", "cost", "require_within"]

LIMIT = 2**35
"""Steps: about a quarter of an hour."""
_MOST_NUMBERS = 2**25  # two to four GB
_OPERATION = 10  # steps of one operation of Python on such an integer
_SIMILARITY = 200  # steps of a logarithm or an exponential, kernel arb
_BITS = 256  # grids of more bits take more in proportion


@dataclass(frozen=True)
class Cost:
    """Steps, and how many numbers are kept at once."""

    steps: int
    numbers: int


def cost(certificate: Certificate, head: Head, bits: int, patches: int, minimality: bool) -> Cost:
    """About how much steps 5 to 8 take.

    Args:
        certificate: one that fits the head.
        bits: of the grid.
        patches: of the image at which the statements are tried; 0 without an image.
        minimality: whether to prove it.
    """
    count, depth, statements = head.count, head.depth, len(certificate.statements)
    groups = Counter(s.patch for s in certificate.statements if isinstance(s, PatchStatement))
    wide = {s.patch for s in certificate.statements if isinstance(s, PatchStatement) and s.upper - s.lower > WIDE}
    each = {patch: _patch(certificate.paradigm, n, patch in wide, count, depth) for patch, n in groups.items()}
    mean = head.pooling in ("top_mean", "max_minus_mean", "max_minus_mean_distance")
    parts = len(groups) + 1
    similarities = 2 * _SIMILARITY * count
    box = similarities + _OPERATION * count * parts if mean else similarities
    steps = sum(each.values()) + parts * (similarities if mean else _OPERATION * count) + box
    steps += _OPERATION * (statements + head.classes * count)
    steps += _OPERATION * len(certificate.prices) * parts * count
    kept = parts if mean else 1
    if patches:
        steps += statements * (_OPERATION * depth + _SIMILARITY) + patches * depth
        if any(isinstance(s, ActivationStatement) for s in certificate.statements):
            steps += patches * count * (depth + (_SIMILARITY if mean else _OPERATION))
    if minimality:
        again = sum(n * each[patch] for patch, n in groups.items())
        steps += again + statements * (box + 2 * _OPERATION * count)
        if not groups:
            steps += statements * statements
        if certificate.paradigm == "assignment":
            rows = min(certificate.patches, parts + count)
            steps += statements * _OPERATION * rows * count + min(rows, count) ** 2 * max(rows, count)
        kept = parts * min(head.k, parts) if head.pooling == "top_mean" else parts
    # For each patch that is bounded with others: three numbers a prototype, and matrices of its anchors.
    anchors = min(depth, max(groups.values(), default=0))
    together = min(TOGETHER, len(groups)) * (3 * count + anchors * (depth + 4 * anchors))
    return Cost(steps * max(1, bits // _BITS), 2 * kept * count + together)


def require_within(limit: int, counted: Cost) -> None:
    """Raises UnprovedError if proving takes more than `limit` steps, or keeps too many numbers at once."""
    if counted.steps > limit:
        raise UnprovedError(
            "limit", f"proving takes about {counted.steps} steps, expected at most {limit}; raise the limit to try it"
        )
    if counted.numbers > _MOST_NUMBERS:
        raise UnprovedError(
            "limit",
            f"proving keeps about {counted.numbers} numbers at once, expected at most {_MOST_NUMBERS};"
            " state less, about fewer patches",
        )


def _patch(paradigm: str, n: int, wide: bool, count: int, depth: int) -> int:
    """The ranges of one patch with n statements."""
    if paradigm in ("simplex", "assignment"):
        return _OPERATION * (count + n)
    if paradigm == "triangle":
        return n * _projection(1, count, depth)
    if paradigm == "hypersphere":
        return n * count * (depth + 10 * _OPERATION) + _OPERATION * n * n * depth
    return _projection(n, count, depth) * (n + 1 if wide and n > 1 else 1)


def _projection(n: int, count: int, depth: int) -> int:
    """One use of the lemma of `projection`: Gram matrix, its sweeps, and all targets."""
    kept = min(n, depth)
    return _OPERATION * n * n * kept + count * (kept * (depth + kept) + _OPERATION * (10 + 2 * kept))
