"""What the rules need of one head in one kernel, computed once: the grid, the prototypes, the ranges over the domain.

The **grid** has `bits` fractional bits. For each patch and prototype the rules bound the *working observable*:
euclidean |z - p_k|^2, inner product <z, p_k>, softmax the mass, both cosines <u, A_k> with u = z / (|z| + E) or
z / (|z|^2 + E)^(1/2). A_k are the prototypes as integers at a common exponent 2^-s: euclidean and inner product keep
that unit, so <A_j, A_k> 2^-2s is a product of prototypes. Scaling all prototypes does not change a cosine, so there
the unit is 1. In every case `<A_j, A_k> << lift` is exactly on the grid.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt

from ..deployment import are_binary32
from ..dyadic import ceil_at, dot, floor_at, sqrt_ends
from ..head import COSINES, Head
from ..kernel import Kernel, Matrix
from .domain import ball, domain_ranges
from .work import Work

__all__ = ["Ranges", "Space"]

_LEAST_BITS = 128
_BITS_BELOW_GRAM = 64


@dataclass(frozen=True)
class Ranges:
    """One range for each prototype, on the grid: an enclosure of the working observable or, rounded inward, what lies
    within the reference range of the observable. `upper` is None if all upper ends are infinite: squared distances over
    an unbounded domain."""

    lower: list[int]
    upper: list[int] | None

    def met(self, other: Ranges) -> Ranges:
        """The intersection."""
        lower = [a if a > b else b for a, b in zip(self.lower, other.lower, strict=True)]
        if self.upper is None or other.upper is None:
            return Ranges(lower, other.upper if self.upper is None else self.upper)
        return Ranges(lower, [a if a < b else b for a, b in zip(self.upper, other.upper, strict=True)])

    def filled(self) -> Ranges | None:
        """These ranges; None if one is empty. An intersection of ranges that are rounded inward is not empty only if
        that of the real ones is not."""
        upper = self.lower if self.upper is None else self.upper
        return self if all(low <= high for low, high in zip(self.lower, upper, strict=True)) else None


class Space:
    """One head in one kernel.

    Attributes:
        bits: fractional bits of the grid.
        lift: `<A_j, A_k> << lift` is on the grid.
        vectors: the integer prototypes A_k.
        squares: <A_k, A_k>.
        longest: no less than any |A_k|.
        norms: cosines only: (lo, hi) of |A_k| on the grid.
        reach: an upper bound of |v|^2 on the grid, v = u for cosines, v = z - c for inner products, whose latents lie
            in a ball about c; missing for other geometries. Rounded down it is `least_reach`.
        offsets: <c, p_k> on the grid, exactly, for inner products; otherwise 0.
        domain: the range of every working observable over the head's domain, rounded outward.
        work: what a proof may still take.
    """

    def __init__(self, head: Head, kernel: Kernel) -> None:
        self.head = head
        self.kernel = kernel
        self.bits = self.lift = _LEAST_BITS
        self.vectors = head.prototypes.rows
        self.squares = [dot(row, row) for row in self.vectors]
        self.longest = isqrt(max(self.squares, default=0)) + 1
        self.offsets = [0] * head.count
        if head.geometry in ("euclidean", "inner_product"):
            unit = 2 * head.prototypes.bits
            whole = max(0, max(self.squares).bit_length() - unit)
            self.bits = max(_LEAST_BITS, unit + _BITS_BELOW_GRAM) + whole
            if head.geometry == "inner_product":
                centre, square = ball(head)
                places = head.prototypes.bits + centre.denominator.bit_length() - 1
                self.bits = max(self.bits, places)
                self.reach, self.least_reach = ceil_at(square, self.bits), floor_at(square, self.bits)
                self.offsets = [sum(row) * centre.numerator << self.bits - places for row in self.vectors]
            self.lift = self.bits - unit
        elif head.geometry in COSINES:
            self.reach = self.least_reach = 1 << self.bits
            self.norms = [sqrt_ends(square << 2 * self.bits) for square in self.squares]
        weight, own = max(map(_most_bits, head.weight.rows)), _most_bits(head.similarity.own.rows[0])
        self.work = Work(kernel.name, max(self.bits, 2 * self.longest.bit_length(), weight, own))
        self.domain = self._over_domain(False)

    @cached_property
    def matrix(self) -> Matrix:
        """The prototypes, a row each, as the kernel's matrix."""
        return self.kernel.matrix(self.vectors)

    @cached_property
    def within(self) -> Ranges | None:
        """The range of every observable (not working) over the domain, rounded inward; None if one may be empty."""
        return self._over_domain(True).filled()

    @cached_property
    def known_prototypes(self) -> bool:
        """Whether the prototypes are binary32 numbers."""
        return are_binary32(self.head.prototypes)

    @cached_property
    def known_readout(self) -> bool:
        """Whether the weights and biases are binary32 numbers."""
        return are_binary32(self.head.bias) and are_binary32(self.head.weight)

    def _over_domain(self, inward: bool) -> Ranges:
        return Ranges(*domain_ranges(self.head, self.kernel, self.bits, inward))


def _most_bits(row: list[int]) -> int:
    return max(max(row), -min(row)).bit_length()
