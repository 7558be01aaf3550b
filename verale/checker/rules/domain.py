"""The range of every observable over the latents of the head's domain, on the grid (`space`)."""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from ..dyadic import ceil_shift, dot, floor_at, floor_shift, sqrt_ends
from ..head import COSINES, Head

__all__ = ["ball", "domain_ranges"]

_Ends: TypeAlias = tuple[list[int], list[int] | None]


def domain_ranges(head: Head, bits: int) -> _Ends:
    """The lower and the upper end of every working observable; no upper ones where they are infinite."""
    if head.geometry == "euclidean":
        return _distances(head, bits)
    if head.geometry in COSINES:
        return _within(head, Fraction(1), bits, 0)
    if head.geometry == "inner_product":
        return _products(head, bits)
    least = 1 << bits if head.count == 1 else 0
    return [least] * head.count, [1 << bits] * head.count


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


def _distances(head: Head, bits: int) -> _Ends:
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
    return near, far if far else None


def _products(head: Head, bits: int) -> _Ends:
    """<z, p>: per prototype [sum_i min(lower p_i, upper p_i), sum_i max(lower p_i, upper p_i)] over a box with two
    ends, met with the range over the ball |z| <= radius."""
    ranges = []
    if head.lower is not None and head.upper is not None:
        places = max(end.denominator.bit_length() - 1 for end in (head.lower, head.upper))
        unit = bits - places - head.prototypes.bits
        least, most = floor_at(head.lower, places), floor_at(head.upper, places)  # exact
        ends = [[(least * entry, most * entry) for entry in row] for row in head.prototypes.rows]
        ranges.append(
            (
                [floor_shift(sum(map(min, row)), unit) for row in ends],
                [ceil_shift(sum(map(max, row)), unit) for row in ends],
            )
        )
    if head.radius is not None:
        ranges.append(_within(head, head.radius, bits, head.prototypes.bits))
    lower, upper = zip(*ranges, strict=True)
    return list(map(max, zip(*lower, strict=True))), list(map(min, zip(*upper, strict=True)))


def _within(head: Head, length: Fraction, bits: int, places: int) -> tuple[list[int], list[int]]:
    """<z, A 2^-places> for vectors z of at most that length: per prototype [-length |A|, length |A|]; where the domain
    has no negative coordinate [-length |A^-|, length |A^+|], A^+ and A^- the positive and the negative part of A.

    Soundness: Cauchy and Schwarz. If z >= 0 then <z, A> <= <z, A^+> <= |z| |A^+| and <z, A> >= -|z| |A^-|. A cosine's
    u = z / (|z| + E) or z / (|z|^2 + E)^(1/2) has |u| <= 1, and u >= 0 where z >= 0.
    """
    rows = head.prototypes.rows
    positive = negative = [dot(row, row) for row in rows]
    if head.lower is not None and head.lower >= 0:
        negative = [sum(entry * entry for entry in row if entry < 0) for row in rows]
        positive = [square - part for square, part in zip(positive, negative, strict=True)]
    factor, unit = length.numerator * length.numerator, 2 * (bits - places) - 2 * (length.denominator.bit_length() - 1)

    def reach(square: int) -> int:
        return sqrt_ends(ceil_shift(square * factor, unit))[1]

    return [-reach(square) for square in negative], [reach(square) for square in positive]
