"""What the rules need of one head, computed once: the grid, the prototypes, the ranges over the domain.

The **grid** has `bits` fractional bits. For each patch and prototype the rules bound the *working observable*:
euclidean |z - p_k|^2, inner product <z, p_k>, softmax the mass, both cosines <u, A_k> with u = z / (|z| + E) or
z / (|z|^2 + E)^(1/2). A_k are the prototypes as integers at a common exponent 2^-s: euclidean and inner product keep
that unit, so <A_j, A_k> 2^-2s is a product of prototypes. Scaling all prototypes does not change a cosine, so there
the unit is 1. In every case `<A_j, A_k> << lift` is exactly on the grid.

The range of every observable over the latents of the head's domain, on the grid (`space`).

certificates/v1.md has the table ("Reference ranges"). Rounded outward, every end lies outside that of the table, or on
it; rounded inward, within it, or on it. A rational end that is on the grid is exact both ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt
from typing import TypeAlias

from ..arithmetic import Arithmetic, Matrix
from ..deployment import are_binary32
from ..dyadic import ceil_at, ceil_shift, dot, floor_at, floor_shift, sqrt_ends
from ..head import COSINES, Head

__all__ = ["Ranges", "Space", "ball", "domain_ranges"]

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
    """One head in one arithmetic.

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
    """

    def __init__(self, head: Head, arithmetic: Arithmetic) -> None:
        self.head = head
        self.arithmetic = arithmetic
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
        self.domain = self._over_domain(False)

    @cached_property
    def matrix(self) -> Matrix:
        """The prototypes, a row each, as the arithmetic takes it."""
        return self.arithmetic.matrix(self.vectors)

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
        return Ranges(*domain_ranges(self.head, self.arithmetic, self.bits, inward))


_Ends: TypeAlias = tuple[list[int], list[int] | None]


def domain_ranges(head: Head, arithmetic: Arithmetic, bits: int, inward: bool = False) -> _Ends:
    """The lower and the upper end of every working observable; no upper ones where they are infinite. Inward, of every
    observable: a cosine's end is divided by |A| under the root, so that one that is rational stays so."""
    if head.geometry == "euclidean":
        return _distances(head, bits, inward)
    if head.geometry in COSINES:
        return _cosines(head, bits, inward)
    if head.geometry == "inner_product":
        return _products(head, bits, inward)
    return _masses(head, arithmetic, bits, inward)


def ball(head: Head) -> tuple[Fraction, Fraction]:
    """(c, R^2) of the smaller ball that holds the latents of an inner product head: its centre is (c, ..., c); of two
    alike the one about 0.

    Soundness: in a box each coordinate is at most half an edge from the middle.
    """
    balls = []
    if head.radius is not None:
        balls.append((head.radius * head.radius, Fraction(0)))
    if head.lower is not None and head.upper is not None:
        half = (head.upper - head.lower) / 2
        balls.append((head.depth * half * half, head.lower + half))
    square, centre = min(balls, key=lambda each: each[0])
    return centre, square


def _distances(head: Head, bits: int, inward: bool) -> _Ends:
    """Per prototype [sum_i dist(p_i, [lower, upper])^2, sum_i max((p_i - lower)^2, (upper - p_i)^2)]."""
    ends = [end for end in (head.lower, head.upper) if end is not None]
    unit = max([head.prototypes.bits, *(end.denominator.bit_length() - 1 for end in ends)])
    lower, upper = (None if end is None else floor_at(end, unit) for end in (head.lower, head.upper))  # exact
    raise_by = unit - head.prototypes.bits
    near, far = [], []
    lowest, highest = _rounded(inward)
    for row in head.prototypes.rows:
        entries = [entry << raise_by for entry in row]
        below = [0 if lower is None else max(0, lower - entry) for entry in entries]
        above = [0 if upper is None else max(0, entry - upper) for entry in entries]
        near.append(lowest(dot(below, below) + dot(above, above), bits - 2 * unit))
        if lower is not None and upper is not None:
            span = [max(entry - lower, upper - entry) for entry in entries]
            far.append(highest(dot(span, span), bits - 2 * unit))
    return near, far if far else None


def _masses(head: Head, arithmetic: Arithmetic, bits: int, inward: bool) -> _Ends:
    """Of P masses [e / (e + P - 1), 1 / (1 + (P - 1) e)], e = exp(lower - upper), 0 without two ends; of one it is 1.

    Soundness: a mass is 1 / (1 + sum over the others of exp(z_i - z_j)), and each of these P - 1 powers lies in
    [e, 1 / e]. The lower end rises with e and the upper one falls, so e is rounded down for both; inward it is
    rounded up.
    """
    one, others = 1 << bits, head.count - 1
    least = 0
    if head.lower is not None and head.upper is not None:
        gap = head.lower - head.upper
        least = arithmetic.exp(gap.numerator, 1 - gap.denominator.bit_length(), bits)[inward]
    if others == 0:
        return [one] * head.count, [one] * head.count
    low, high = (least << bits, least + others * one), (one << bits, one + others * least)
    lower, upper = (-(-low[0] // low[1]), high[0] // high[1]) if inward else (low[0] // low[1], -(-high[0] // high[1]))
    return [lower] * head.count, [upper] * head.count


def _cosines(head: Head, bits: int, inward: bool) -> tuple[list[int], list[int]]:
    """<u, A>, inward <u, A> / |A|: as `_within` for vectors of length 1. But if E = 0 and u >= 0, a product with an A
    that has no positive coordinate is at most the greatest one, and with an A that has no negative coordinate at least
    the least one.

    Soundness: u = z / (|z| + E) or z / (|z|^2 + E)^(1/2) has |u| <= 1 and the signs of z. If E = 0 then |u| = 1, so a
    u >= 0 has sum u_d >= |u| = 1; and where t = max A_d <= 0, <u, A> <= t sum u_d <= t. The rest are mirror images:
    -A for A, and -u for u <= 0.
    """
    lower, upper = _within(head, Fraction(1), bits, 0, inward)
    sign = _sign(head)
    if sign and head.epsilon == 0:
        for k, row in enumerate(head.prototypes.rows):
            least, most = (min(row), max(row)) if sign > 0 else (-max(row), -min(row))
            if least > 0:
                lower[k] = _root(least * least, dot(row, row), 2 * bits)[1] if inward else least << bits
            if most < 0:
                upper[k] = -_root(most * most, dot(row, row), 2 * bits)[1] if inward else most << bits
    return lower, upper


def _products(head: Head, bits: int, inward: bool) -> tuple[list[int], list[int]]:
    """<z, p>: per prototype [sum_i min(l p_i, u p_i), sum_i max(l p_i, u p_i)] with l = max(lower, -R) and
    u = min(upper, R), met with the range over the ball |z| <= R. Without a radius there are two ends.

    Soundness: |z_i| <= |z| <= R.
    """
    lows = [end for end in (head.lower, None if head.radius is None else -head.radius) if end is not None]
    highs = [end for end in (head.upper, head.radius) if end is not None]
    places = max(end.denominator.bit_length() - 1 for end in (*lows, *highs))
    unit = bits - places - head.prototypes.bits
    least, most = floor_at(max(lows), places), floor_at(min(highs), places)  # exact
    ends = [[(least * entry, most * entry) for entry in row] for row in head.prototypes.rows]
    lowest, highest = _rounded(inward)
    lower = [lowest(sum(map(min, row)), unit) for row in ends]
    upper = [highest(sum(map(max, row)), unit) for row in ends]
    if head.radius is not None:
        near, far = _within(head, head.radius, bits, head.prototypes.bits, inward)
        lower, upper = list(map(max, lower, near)), list(map(min, upper, far))
    return lower, upper


def _within(head: Head, length: Fraction, bits: int, places: int, inward: bool) -> tuple[list[int], list[int]]:
    """<z, A 2^-places> for vectors z of at most that length: per prototype [-length |A|, length |A|]; where the domain
    has no negative coordinate [-length |A^-|, length |A^+|], A^+ and A^- the positive and the negative part of A; where
    it has no positive one [-length |A^+|, length |A^-|].

    Soundness: Cauchy and Schwarz. If z >= 0 then <z, A> <= <z, A^+> <= |z| |A^+| and <z, A> >= -|z| |A^-|. If z <= 0
    this holds of -z and -A, whose product is the same.
    """
    rows, sign = head.prototypes.rows, _sign(head)
    positive = negative = [dot(row, row) for row in rows]
    if sign:
        negative = [sum(entry * entry for entry in row if entry < 0) for row in rows]
        positive = [square - part for square, part in zip(positive, negative, strict=True)]
    if sign < 0:
        positive, negative = negative, positive
    factor, unit = length.numerator * length.numerator, 2 * (bits - places) - 2 * (length.denominator.bit_length() - 1)

    # Cosines divide by |A|: outward where similarities are computed, from an enclosure of it.
    shares = [dot(row, row) if inward and head.geometry in COSINES else 1 for row in rows]

    def reach(square: int, share: int) -> int:
        return _root(square * factor, share, unit)[not inward]

    return [-reach(*each) for each in zip(negative, shares, strict=True)], [
        reach(*each) for each in zip(positive, shares, strict=True)
    ]


def _root(numerator: int, denominator: int, places: int) -> tuple[int, int]:
    """Integers (lo, hi) about sqrt(2^places numerator / denominator), equal if it is one."""
    if places < 0:
        numerator, denominator, places = numerator, denominator << -places, 0
    low, rest = divmod(numerator << places, denominator)
    return sqrt_ends(low)[0], sqrt_ends(low + (rest != 0))[1]


def _rounded(inward: bool) -> tuple[Callable[[int, int], int], Callable[[int, int], int]]:
    """How a lower and how an upper end is shifted."""
    return (ceil_shift, floor_shift) if inward else (floor_shift, ceil_shift)


def _sign(head: Head) -> int:
    """1 if no coordinate of the domain is negative, -1 if none is positive, otherwise 0."""
    if head.lower is not None and head.lower >= 0:
        return 1
    return -1 if head.upper is not None and head.upper <= 0 else 0
