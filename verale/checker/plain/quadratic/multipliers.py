"""An approximate inverse of the Gram matrix of one patch's anchors, with the rank it really has.

Entailment does not need it to be right: the rule holds for any weights, so a poor choice can cost a proof, never
soundness. For minimality it matters: statements then seem needed that are not.

The matrix is swept pivot by pivot: next comes the anchor with the largest squared distance to the span of those before.
An anchor is left out, and never divided by, if that distance is negligible (a duplicate, a combination of others)
or if its statement is too wide to say anything along its own direction.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dyadic import floor_shift

__all__ = ["approximate_inverse"]

_WORK_BITS = 320
_NEGLIGIBLE = 1 << _WORK_BITS - 80  # of an anchor's own square: 10^-12 of its length


def approximate_inverse(
    gram: Sequence[Sequence[int]], noise: Sequence[int], reach: int, precision: int
) -> tuple[list[int], list[list[int]], int]:
    """The anchors kept and X, the approximate inverse of their Gram matrix.

    Args:
        gram: (n, n) integers <b_i, b_j>.
        noise: half the width of the enclosure of <v, b_i>, in any unit 2^-t.
        reach: an upper bound of |v|^2, in the unit 2^-2t.
        precision: bits of X below the inverse of the largest <b_i, b_i>.

    Returns:
        the kept indices, X as integers, and the exponent e of their unit 2^-e.
    """
    halves = [gram[i][i].bit_length() // 2 for i in range(len(gram))]  # |b_i| is about 2^halves[i]
    work = [
        [floor_shift(entry, _WORK_BITS - halves[i] - halves[j]) for j, entry in enumerate(row[: i + 1])]
        for i, row in enumerate(gram)
    ]
    scaled_noise = [floor_shift(value, _WORK_BITS - half) for value, half in zip(noise, halves, strict=True)]
    kept: list[int] = []
    left = list(range(len(gram)))
    while left:
        pivot = max(left, key=lambda i: work[i][i])
        left.remove(pivot)
        # The uncertainty that the other anchors leave along the new direction, against how far v can reach along it.
        doubt = scaled_noise[pivot] + sum(abs(_entry(work, pivot, i)) * scaled_noise[i] >> _WORK_BITS for i in kept)
        if work[pivot][pivot] > _NEGLIGIBLE and doubt * doubt < (reach * work[pivot][pivot] << _WORK_BITS):
            _sweep(work, pivot)
            kept.append(pivot)
    kept.sort()
    exponent = 2 * max((halves[i] for i in kept), default=0) + precision
    inverse = [
        [floor_shift(-_entry(work, i, j), exponent - _WORK_BITS - halves[i] - halves[j]) for j in kept] for i in kept
    ]
    return kept, inverse, exponent


def _sweep(work: list[list[int]], pivot: int) -> None:
    """Gauss's sweep: afterwards the swept block holds minus its inverse and the rest its Schur complement. The matrix
    is symmetric, and stays so: its lower half is kept."""
    row = [_entry(work, pivot, j) for j in range(len(work))]
    size = row[pivot]
    scaled = [(entry << _WORK_BITS) // size for entry in row]
    scaled[pivot] = -(1 << 2 * _WORK_BITS) // size
    for i, (factor, other) in enumerate(zip(row, work, strict=True)):
        if i != pivot:
            work[i] = [entry - (factor * share >> _WORK_BITS) for entry, share in zip(other, scaled, strict=False)]
        if i > pivot:
            work[i][pivot] = scaled[i]
    work[pivot] = scaled[: pivot + 1]


def _entry(work: list[list[int]], i: int, j: int) -> int:
    """An entry of a symmetric matrix that is stored as its lower half."""
    return work[i][j] if j <= i else work[j][i]
