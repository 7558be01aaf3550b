"""What the rules need of one head in one kernel, computed once: the grid, the prototypes, the domain's own ranges.

The **grid** has `bits` fractional bits. What the rules bound per patch and prototype is the *working observable*:
euclidean |z - p_k|^2, cosine <u, A_k> with u = z / (|z| + E), softmax the mass. A_k are the prototypes as integers at a
common exponent 2^-s: euclidean keeps that unit, so <A_j, A_k> 2^-2s is a product of prototypes; the cosine does not
change when all prototypes are scaled, so there the unit is 1. In both cases `<A_j, A_k> << lift` lies on the grid,
exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..dyadic import ceil_shift, dot, floor_at, floor_shift, sqrt_ends
from ..head import Head
from ..kernel import Kernel

__all__ = ["Chunk", "Ranges", "Space"]

_LEAST_BITS = 128
_BITS_BELOW_GRAM = 64
_CHUNK = 128  # targets done together: enough for matrix products, few enough for a processor's cache


@dataclass(frozen=True)
class Ranges:
    """Enclosures of one working observable per prototype, on the grid. `upper` is None where all upper ends are
    infinite:
    a squared distance over an unbounded domain."""

    lower: list[int]
    upper: list[int] | None

    def met(self, other: Ranges) -> Ranges:
        """Both hold."""
        lower = [a if a > b else b for a, b in zip(self.lower, other.lower, strict=True)]
        if self.upper is None or other.upper is None:
            return Ranges(lower, other.upper if self.upper is None else self.upper)
        return Ranges(lower, [a if a < b else b for a, b in zip(self.upper, other.upper, strict=True)])


@dataclass(frozen=True)
class Chunk:
    """Some targets, consecutive: their <A_k, A_k>, and the matrix (D + 1, targets) of the A_k as columns over a row of
    ones, in the kernel's type."""

    squares: list[int]
    extended: Any


class Space:
    """One head in one kernel.

    Attributes:
        bits: fractional bits of the grid.
        lift: see above.
        vectors: the integer prototypes A_k.
        squares: <A_k, A_k>.
        norms: cosine only: (lo, hi) of |A_k| on the grid.
        chunks: all targets.
        domain: the range of every observable over the head's domain.
    """

    def __init__(self, head: Head, kernel: Kernel) -> None:
        self.head = head
        self.kernel = kernel
        self.bits = self.lift = _LEAST_BITS
        self.vectors = head.prototypes.rows
        squares = [dot(row, row) for row in self.vectors]
        self.squares = list(map(kernel.integer, squares))
        self.chunks = [
            Chunk(
                self.squares[start : start + _CHUNK],
                kernel.matrix(
                    list(zip(*([*vector, 1] for vector in self.vectors[start : start + _CHUNK]), strict=True))
                ),
            )
            for start in range(0, len(self.vectors), _CHUNK)
        ]
        if head.geometry == "euclidean":
            unit = 2 * head.prototypes.bits
            whole = max(0, max(squares).bit_length() - unit)
            self.bits = max(_LEAST_BITS, unit + _BITS_BELOW_GRAM) + whole
            self.lift = self.bits - unit
            domain = _euclidean_domain(head, self.bits)
        elif head.geometry == "cosine":
            self.norms = [sqrt_ends(square << 2 * self.bits) for square in squares]
            domain = _cosine_domain(head, squares, self.bits)
        else:
            least = 1 << self.bits if head.count == 1 else 0
            domain = Ranges([least] * head.count, [1 << self.bits] * head.count)
        self.domain = Ranges(
            list(map(kernel.integer, domain.lower)),
            None if domain.upper is None else list(map(kernel.integer, domain.upper)),
        )


def _euclidean_domain(head: Head, bits: int) -> Ranges:
    """Per prototype [sum_i dist(p_i, [lower, upper])^2, sum_i max((p_i - lower)^2, (upper - p_i)^2)]."""
    ends = [end for end in (head.lower, head.upper) if end is not None]
    unit = max([head.prototypes.bits, *(end.denominator.bit_length() - 1 for end in ends)])
    lower, upper = (None if end is None else floor_at(end, unit) for end in (head.lower, head.upper))  # exact
    raise_by = unit - head.prototypes.bits
    near, far = [], []
    for row in head.prototypes.rows:
        entries = [entry << raise_by for entry in row]
        below = [0 if lower is None else max(0, lower - entry) for entry in entries]
        above = [0 if upper is None else max(0, entry - upper) for entry in entries]
        near.append(floor_shift(dot(below, below) + dot(above, above), bits - 2 * unit))
        if lower is not None and upper is not None:
            span = [max(entry - lower, upper - entry) for entry in entries]
            far.append(ceil_shift(dot(span, span), bits - 2 * unit))
    return Ranges(near, far if far else None)


def _cosine_domain(head: Head, squares: list[int], bits: int) -> Ranges:
    """Per prototype [-|A|, |A|]; where the domain has no negative coordinate [-|A^-|, |A^+|], A^+ and A^- the positive
    and the negative part of A.

    Soundness: |u| <= 1 by definition. If z >= 0 then u >= 0, so <u, A> <= <u, A^+> <= |A^+| and <u, A> >= -|A^-|.
    """
    if head.lower is None or head.lower < 0:
        positive = negative = squares
    else:
        positive = [sum(entry * entry for entry in row if entry > 0) for row in head.prototypes.rows]
        negative = [square - part for square, part in zip(squares, positive, strict=True)]
    return Ranges(
        [-sqrt_ends(square << 2 * bits)[1] for square in negative],
        [sqrt_ends(square << 2 * bits)[1] for square in positive],
    )
