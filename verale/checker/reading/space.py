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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isqrt
from operator import le
from typing import Self

from ..arithmetic import Arithmetic, Matrix, Rows
from ..deployment import are_binary32
from ..dyadic import ceil_at, ceil_shift, dot, floor_at, floor_shift, quotient, sqrt_ends
from ..head import Head
from ..read.similarities import COSINES

_LEAST_BITS = 128
_BITS_BELOW_GRAM = 64
_KEPT = 2**21
"""Products of prototypes that are kept, at most: some 200 megabytes."""


@dataclass(frozen=True)
class Ranges:
    """One range for each prototype, on the grid: an enclosure of the working observable or, rounded inward, what lies
    within the reference range of the observable. `upper` is None if all upper ends are infinite: squared distances over
    an unbounded domain."""

    lower: list[int]
    upper: list[int] | None

    def met(self, other: Ranges) -> Self:
        """The intersection."""
        upper = [each.upper for each in (self, other) if each.upper is not None]
        least = list(map(min, upper[0], upper[-1])) if upper else None
        return replace(self, lower=list(map(max, self.lower, other.lower)), upper=least)

    def filled(self) -> Self | None:
        """These ranges; None if one is empty. An intersection of ranges that are rounded inward is not empty only if
        that of the real ones is not."""
        return self if all(map(le, self.lower, self.lower if self.upper is None else self.upper)) else None


@dataclass(frozen=True)
class Box(Ranges):
    """Ranges [lower[j], upper[j]] of the activations of all prototypes, at 2^-bits: enclosures, or if they are rounded
    inward, within the reference ranges; then a lower end may exceed an upper one by rounding."""

    upper: list[int]
    bits: int
    inward: bool = False


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
        self.domain = domain_ranges(head, arithmetic, self.bits)
        self._products: dict[int, list[int]] = {}

    @cached_property
    def _matrix(self) -> Matrix:
        """The prototypes, a row each, as the arithmetic takes it."""
        return self.arithmetic.matrix(self.vectors)

    def by_prototypes(self, rows: Sequence[Sequence[int]]) -> Rows:
        """The product of every prototype with each of these vectors: a row for each prototype."""
        return self.arithmetic.product(self._matrix, [list(column) for column in zip(*rows, strict=True)])

    def products(self, prototypes: Sequence[int]) -> Rows:
        """For each of these prototypes its <A_j, A_k> with every prototype. Some are kept: many patches, and many
        certificates, speak of the same ones."""
        kept = self._products
        if len(kept.keys() | set(prototypes)) * self.head.count > _KEPT:
            kept.clear()
        missing = [j for j in dict.fromkeys(prototypes) if j not in kept]
        if missing:
            products = self.by_prototypes([self.vectors[j] for j in missing])
            kept |= {j: column for j, *column in zip(missing, *products, strict=True)}
        return [kept[j] for j in prototypes]

    @cached_property
    def within(self) -> Ranges | None:
        """The range of every observable (not working) over the domain, rounded inward; None if one may be empty."""
        return domain_ranges(self.head, self.arithmetic, self.bits, True).filled()

    @cached_property
    def known_prototypes(self) -> bool:
        """Whether the prototypes are binary32 numbers."""
        return are_binary32(self.head.prototypes)

    @cached_property
    def known_readout(self) -> bool:
        """Whether the weights and biases are binary32 numbers."""
        return are_binary32(self.head.bias) and are_binary32(self.head.weight)


def at(value: Fraction, bits: int, up: bool) -> int:
    """A number at 2^-bits, rounded up or down."""
    return ceil_at(value, bits) if up else floor_at(value, bits)


def divided(low: int, high: int, length: Sequence[int], bits: int, inward: bool = False) -> tuple[int, int]:
    """The range of a quotient at 2^-bits, rounded outward or inward, given that of a product and, at the same unit,
    that of a positive length. It is least over the greater length where the product is positive, over the smaller where
    it is negative."""
    least = quotient(low << bits, length[(low > 0) != inward], inward)
    return least, quotient(high << bits, length[(high <= 0) != inward], not inward)


def distances_over(lower: Sequence[int], upper: Sequence[int], point: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest squared distance to a point over a box: coordinate by coordinate they are those of the
    box's nearest and farthest end, and the least is 0 where the point's lies between."""
    ends = list(zip(lower, upper, point, strict=True))
    near = sum([max(0, low - entry, entry - high) ** 2 for low, high, entry in ends])
    return near, sum([max(entry - low, high - entry) ** 2 for low, high, entry in ends])


def products_over(lower: Sequence[int], upper: Sequence[int], vector: Sequence[int]) -> tuple[int, int]:
    """The least and the greatest inner product with a vector over a box."""
    ends = list(zip(lower, upper, vector, strict=True))
    least = sum([entry * (low if entry > 0 else high) for low, high, entry in ends])
    return least, sum([entry * (high if entry > 0 else low) for low, high, entry in ends])


def domain_ranges(head: Head, arithmetic: Arithmetic, bits: int, inward: bool = False) -> Ranges:
    """The range of every working observable; no upper ends where they are infinite. Inward, of every observable: a
    cosine's end is divided by |A| under the root, so that one that is rational stays so."""
    match head.geometry:
        case "euclidean":
            return _distances(head, bits, inward)
        case "inner_product":
            return _products(head, bits, inward)
        case "softmax":
            return _masses(head, arithmetic, bits, inward)
        case _:
            return _within(head, Fraction(1), 2 * bits, inward)


def ball(head: Head) -> tuple[Fraction, Fraction]:
    """(c, R^2) of the smaller ball that holds the latents of an inner product head: its centre is (c, ..., c); of two
    alike the one about 0.

    Soundness: in a box each coordinate is at most half an edge from the middle.
    """
    balls = [] if head.radius is None else [(head.radius * head.radius, Fraction(0))]
    if head.lower is not None and head.upper is not None:
        half = (head.upper - head.lower) / 2
        balls.append((head.depth * half * half, head.lower + half))
    square, centre = min(balls, key=lambda each: each[0])
    return centre, square


def _distances(head: Head, bits: int, inward: bool) -> Ranges:
    """Per prototype [sum_d max(0, lower - p_d, p_d - upper)^2, sum_d max(p_d - lower, upper - p_d)^2]."""
    ends = [end for end in (head.lower, head.upper) if end is not None]
    unit = max([head.prototypes.bits, *(_places(end) for end in ends)])
    rows = [[entry << unit - head.prototypes.bits for entry in row] for row in head.prototypes.rows]
    # All ends are exact. No coordinate of a prototype lies beyond one that is missing.
    low = min(map(min, rows)) if head.lower is None else floor_at(head.lower, unit)
    high = max(map(max, rows)) if head.upper is None else floor_at(head.upper, unit)
    pairs = [distances_over([low] * head.depth, [high] * head.depth, row) for row in rows]
    ranges = _ranges(pairs, bits - 2 * unit, inward)
    return ranges if len(ends) == 2 else replace(ranges, upper=None)


def _masses(head: Head, arithmetic: Arithmetic, bits: int, inward: bool) -> Ranges:
    """Of P masses [e / (e + P - 1), 1 / (1 + (P - 1) e)], e = exp(lower - upper), 0 without two ends; of one any e.

    Soundness: a mass is 1 / (1 + sum over the others of exp(z_i - z_j)), and each of these P - 1 powers lies in
    [e, 1 / e]. The lower end rises with e and the upper one falls, so e is rounded down for both; inward it is
    rounded up.
    """
    one, others = 1 << bits, head.count - 1
    ratio = 0 if others else one
    if others and head.lower is not None and head.upper is not None:
        gap = head.lower - head.upper
        ratio = arithmetic.exp(gap.numerator, -_places(gap), bits)[inward]
    least = quotient(ratio << bits, ratio + others * one, inward)
    most = quotient(one << bits, one + others * ratio, not inward)
    return Ranges([least] * head.count, [most] * head.count)


def _products(head: Head, bits: int, inward: bool) -> Ranges:
    """<z, p>: per prototype [sum_d min(lo p_d, hi p_d), sum_d max(lo p_d, hi p_d)] with lo = max(lower, -R) and
    hi = min(upper, R), met with the range over the ball |z| <= R. Without a radius there are two ends.

    Soundness: |z_d| <= |z| <= R.
    """
    lows = [end for end in (head.lower, None if head.radius is None else -head.radius) if end is not None]
    highs = [end for end in (head.upper, head.radius) if end is not None]
    places = max(map(_places, (*lows, *highs)))
    low, high = floor_at(max(lows), places), floor_at(min(highs), places)  # exact
    pairs = [products_over([low] * head.depth, [high] * head.depth, row) for row in head.prototypes.rows]
    box, unit = _ranges(pairs, bits - places - head.prototypes.bits, inward), 2 * (bits - head.prototypes.bits)
    return box if head.radius is None else box.met(_within(head, head.radius, unit, inward))


def _within(head: Head, length: Fraction, places: int, inward: bool) -> Ranges:
    """The square root of 2^places times the square of <z, p>, z of at most that length: [-most(-p), most(p)], where no
    coordinate of the domain is positive [-most(p), most(-p)]; inward, of a cosine, divided by |p|. most(p) is the
    length times |p|, or |p+| where the domain has an orthant's signs; but if E = 0 and no p_d is positive, the greatest
    p_d of a cosine.

    Soundness: Cauchy and Schwarz. If z >= 0 then <z, p> <= <z, p+> <= |z| |p+|. If z <= 0 this holds of -z and -p,
    whose product is the same. u = z / (|z| + E) or z / (|z|^2 + E)^(1/2) has |u| <= 1 and the signs of z. If E = 0 then
    |u| = 1, so a u >= 0 has sum u_d >= |u| = 1; and where t = max p_d <= 0, <u, p> <= t sum u_d <= t.
    """
    cosine = head.geometry in COSINES
    mirrored = head.upper is not None and head.upper <= 0
    orthant = mirrored or (head.lower is not None and head.lower >= 0)

    def most(row: Sequence[int], share: int, up: bool) -> int:
        part = [entry for entry in row if entry > 0] if orthant else row
        if not part and cosine and head.epsilon == 0:
            return -_root(max(row) ** 2, share, places)[not up]
        return _root(length.numerator**2 * dot(part, part), length.denominator**2 * share, places)[up]

    lower, upper = [], []
    for row in head.prototypes.rows:
        share, opposite = dot(row, row) if inward and cosine else 1, [-entry for entry in row]
        least, greatest = (row, opposite) if mirrored else (opposite, row)
        lower.append(-most(least, share, not inward))
        upper.append(most(greatest, share, not inward))
    return Ranges(lower, upper)


def _root(numerator: int, denominator: int, places: int) -> tuple[int, int]:
    """Integers (lo, hi) about sqrt(2^places numerator / denominator), equal if it is one."""
    low, rest = divmod(numerator << max(0, places), denominator << max(0, -places))
    return sqrt_ends(low)[0], sqrt_ends(low + (rest != 0))[1]


def _ranges(pairs: Sequence[tuple[int, int]], places: int, inward: bool) -> Ranges:
    """These ends times 2^places, rounded outward, or inward."""
    low, high = (ceil_shift, floor_shift) if inward else (floor_shift, ceil_shift)
    return Ranges([low(least, places) for least, _ in pairs], [high(most, places) for _, most in pairs])


def _places(value: Fraction) -> int:
    """How many fractional bits a dyadic number has."""
    return value.denominator.bit_length() - 1
