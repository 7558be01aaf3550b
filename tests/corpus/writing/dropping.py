"""Whether a statement is needless: for certificates that claim minimality wrongly.

certificates/v1.md says which: one without which the reference margins are all positive. This encloses reference ranges
without a rule of the checker. Where nothing is stated of a patch they are the domain's, a formula for each geometry.
Where something is, of distances or inner products, the space is cut into small boxes, and those where a statement is
certainly false are left out. Heads have few dimensions, the pooling max and a linear readout. Where the paradigm is
`assignment`, prices are counted as v1.md says: any will do, and multiples of 1/16 are tried. Where it is `joint`,
margins of distances count as one target too if nothing is left stated.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product as choices
from math import inf
from typing import Any

import flint

from verale.soundness.independent.arithmetic import (
    PRECISION,
    Ball,
    Interval,
    ball,
    ends,
    norm,
    product,
    squared_distance,
)
from verale.soundness.independent.claim import Claim, interval
from verale.soundness.independent.head import Head
from verale.soundness.independent.readers import Document, read_json

__all__ = ["is_needless"]

_CELLS = 4096
"""Boxes of one patch."""

_PIECES = 64
"""Into so many a range of an observable is cut, so that its similarities are enclosed closely."""


def is_needless(certificate: bytes, head: bytes, dropped: int) -> bool:
    """Whether every reference margin is certainly positive without the statement of this index."""
    predicate = read_json(certificate)["predicate"]
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(certificate, head, None)
        if claim.head.kind("readout") != "linear" or claim.head.kind("pooling") != "max":
            raise ValueError("only linear readouts of maxima are covered")
        statements = [s for index, s in enumerate(claim.statements) if index != dropped]
        rivals = [c for c in range(len(claim.head.weight)) if c != claim.predicted]
        if predicate["paradigm"] == "assignment":
            return all(any(_priced(claim, statements, c, prices) > 0 for prices in _prices(claim, c)) for c in rivals)
        ranges = _activations(claim, statements)
        if predicate["paradigm"] == "joint" and ranges is not None:
            return all(max(_margin(claim, ranges, c), _together(claim, statements, c)) > 0 for c in rivals)
        return ranges is None or all(_margin(claim, ranges, c) > 0 for c in rivals)


def _margin(claim: Claim, ranges: list[Interval], rival: int) -> Fraction:
    """The least margin of activations in these ranges, term by term."""
    head = claim.head
    own, other = head.weight[claim.predicted], head.weight[rival]
    bias = [0.0] * len(head.weight) if head.bias is None else head.bias
    total = Fraction(bias[claim.predicted]) - Fraction(bias[rival])
    for w, v, (low, high) in zip(own, other, ranges, strict=True):
        factor = Fraction(w) - Fraction(v)
        total += factor * (low if factor > 0 else high)
    return total


def _together(claim: Claim, statements: list[Document], rival: int) -> Fraction:
    """The least margin, rounded down, of one patch whose similarities are negated distances, if nothing is stated or
    one distance by equality; else -1, for nothing is known of it.

    sum_j T_j |y - p_j|^2 is least at the mean of the p_j with these weights. At the distance r from p it is that of p,
    plus sum_j T_j r^2 - 2 <y - p, q>, q = sum_j T_j (p_j - p), and <y - p, q> is at most r |q|.
    """
    head = claim.head
    if head.kind("similarity") != "negated" or claim.patches != 1:
        raise ValueError("of margins as one target only those of distances are covered")
    scale = head.scale or [1.0] * head.count
    factors = [
        Fraction(s) * (Fraction(v) - Fraction(w))
        for s, w, v in zip(scale, head.weight[claim.predicted], head.weight[rival], strict=True)
    ]
    bias = [0.0] * len(head.weight) if head.bias is None else head.bias
    total, points = sum(factors), [list(map(Fraction, row)) for row in head.prototypes or []]
    known = Fraction(bias[claim.predicted]) - Fraction(bias[rival])
    unknown = Fraction(-1)
    if len(statements) > 1:
        return unknown
    for statement in statements:
        if interval(statement)[0] != interval(statement)[1]:
            return unknown
        square = Fraction(interval(statement)[0])
        centre = points[statement["prototype"]]
        along = [
            sum(t * (x - c) for t, x in zip(factors, xs, strict=True)) for c, *xs in zip(centre, *points, strict=True)
        ]
        at = sum((t * Fraction(squared_distance(centre, row)) for t, row in zip(factors, points, strict=True)), known)
        return at + total * square - 2 * ends(ball(square * Fraction(product(along, along))).sqrt())[1]
    if total <= 0:
        return unknown
    mean = [sum(t * x for t, x in zip(factors, column, strict=True)) / total for column in zip(*points, strict=True)]
    return sum((t * Fraction(squared_distance(mean, row)) for t, row in zip(factors, points, strict=True)), known)


# Reference ranges.


def _activations(claim: Claim, statements: list[Document]) -> list[Interval] | None:
    """Ranges that enclose those of every activation; None where one of them is certainly empty."""
    head = claim.head
    domain = [_domain(head, j) for j in range(head.count)]
    patches = []
    for patch in range(claim.patches):
        stated = [s for s in statements if s.get("patch") == patch]
        given = _stated(head, stated) if stated else [(-inf, inf)] * head.count
        met = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(domain, given, strict=True)]
        if any(low > high for low, high in met):
            return None
        patches.append([_similarities(head, j, low, high) for j, (low, high) in enumerate(met)])
    ranges = [(max(low for low, _ in each), max(high for _, high in each)) for each in zip(*patches, strict=True)]
    for statement in statements:
        if "patch" in statement:
            continue
        low, high = interval(statement)
        for j in range(head.count):
            if ("except" in statement and j not in statement["except"]) or statement.get("prototype") == j:
                least, most = ranges[j]
                ranges[j] = max(least, _end(low, least)), min(most, _end(high, most))
    return None if any(low > high for low, high in ranges) else ranges


def _end(end: float, otherwise: Fraction) -> Fraction:
    """A stated end; if nothing is stated, the other number."""
    return otherwise if end in (-inf, inf) else Fraction(end)


def _similarities(head: Head, j: int, low: Any, high: Any) -> Interval:
    """An enclosure of the similarities of observables in [low, high]."""
    if inf in (high, -low):
        raise ValueError("only bounded observables are covered")
    width = (Fraction(high) - Fraction(low)) / _PIECES
    found = [ends(head.similarity(_between(low + width * i, low + width * (i + 1)), j)) for i in range(_PIECES)]
    return min(least for least, _ in found), max(most for _, most in found)


def _between(low: Any, high: Any) -> Ball:
    """A ball that holds [low, high]."""
    return ball((low + high) / 2) + flint.arb(0, ball((high - low) / 2).upper())


def _domain(head: Head, j: int) -> tuple[Any, Any]:
    """An enclosure of the domain's range of an observable, by v1.md's table."""
    low, high = (None if end is None else ball(float.fromhex(end)) for end in head.part("domain").values())
    geometry = head.part("geometry")
    if geometry["kind"] == "softmax":
        share = ball(0) if low is None or high is None else (low - high).exp()
        others = head.count - 1
        return ends(share / (share + others))[0], ends(1 / (1 + others * share))[1]
    p = [ball(x) for x in (head.prototypes or [])[j]]
    if geometry["kind"] == "euclidean":
        zero = ball(0)
        outside = [(zero if low is None else low - x).max(zero if high is None else x - high).max(zero) for x in p]
        least = ends(product(outside, outside))[0]
        if low is None or high is None:
            return least, inf
        return least, ends(sum(((x - low).max(high - x) ** 2 for x in p), zero))[1]
    orthant = 1 if low is not None and low >= 0 else -1 if high is not None and high <= 0 else 0
    if geometry["kind"] == "inner_product":
        return _products(p, low, high, geometry["radius"], orthant)
    if not orthant:
        return Fraction(-1), Fraction(1)
    bare = float.fromhex(geometry["epsilon"]) == 0
    above, below = (_greatest([sign * orthant * x for x in p], bare) / norm(p) for sign in (1, -1))
    return ends(-below)[0], ends(above)[1]


def _greatest(p: list[Ball], bare: bool) -> Ball:
    """h(p) of v1.md: the greatest product with a vector without negative coordinates, of length 1 at most."""
    if bare and all(x <= 0 for x in p):
        most = p[0]
        for x in p[1:]:
            most = most.max(x)
        return most
    return norm([x.max(ball(0)) for x in p])


def _products(p: list[Ball], low: Any, high: Any, radius: str | None, orthant: int) -> tuple[Any, Any]:
    """The range of inner products over a box, a ball or both."""
    if radius is not None:
        size = ball(float.fromhex(radius))
        low, high = -size if low is None else low.max(-size), size if high is None else high.min(size)
    least = ends(sum(((low * x).min(high * x) for x in p), ball(0)))[0]
    most = ends(sum(((low * x).max(high * x) for x in p), ball(0)))[1]
    if radius is None:
        return least, most
    below, above = ([(sign * orthant * x).max(ball(0)) for x in p] if orthant else p for sign in (-1, 1))
    return max(least, ends(-size * norm(below))[0]), min(most, ends(size * norm(above))[1])


def _stated(head: Head, stated: list[Document]) -> list[tuple[Any, Any]]:
    """An enclosure of the ranges given statements about a patch, box by box; all of them empty if no box is left."""
    if head.kind("geometry") not in ("euclidean", "inner_product"):
        raise ValueError("of statements about a patch those about cosines and masses are not covered")
    euclidean = head.kind("geometry") == "euclidean"
    ranges: list[tuple[Any, Any]] = [(inf, -inf)] * head.count
    for y, square in _sphere(head, stated) if euclidean else _ball(head):
        observables = [ball(head.observable(y, j)) + square for j in range(head.count)]
        if any(_misses(observables[s["prototype"]], interval(s)) for s in stated):
            continue
        own = map(ends, observables)
        ranges = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, own, strict=True)]
    return ranges


def _misses(value: Ball, stated: tuple[float, float]) -> bool:
    return bool(value < ball(stated[0])) or bool(value > ball(stated[1]))


def _sphere(head: Head, stated: list[Document]) -> Iterator[tuple[list[Ball], Ball]]:
    """Boxes that hold all y of v1.md's space that satisfy the statement with the least upper end, and squares of the
    coordinate that latents do not have: 0 to the greatest squared distance."""
    narrowest = min(stated, key=lambda s: interval(s)[1])
    if interval(narrowest)[1] == inf:
        raise ValueError("distances without an upper end are not covered")
    reach = max(Fraction(interval(narrowest)[1]), Fraction(0))
    centre = list(map(Fraction, (head.prototypes or [])[narrowest["prototype"]]))
    count = round(_CELLS ** (1 / (len(centre) + 1)))
    for y in _boxes(centre, ends(ball(reach).sqrt())[1], count):
        for k in range(count):
            yield y, _between(reach * k / count, reach * (k + 1) / count)


def _ball(head: Head) -> Iterator[tuple[list[Ball], Ball]]:
    """Boxes that hold the space of inner products: the smaller of two balls, of equal ones that about 0."""
    depth = len((head.prototypes or [])[0])
    low, high = (None if end is None else Fraction(float.fromhex(end)) for end in head.part("domain").values())
    radius = head.part("geometry")["radius"]
    middle, square = Fraction(0), None if radius is None else Fraction(float.fromhex(radius)) ** 2
    if low is not None and high is not None:
        half = depth * ((high - low) / 2) ** 2
        if square is None or half < square:
            middle, square = (low + high) / 2, half
    for y in _boxes([middle] * depth, ends(ball(square).sqrt())[1], round(_CELLS ** (1 / depth))):
        about = [x - ball(middle) for x in y]
        if not product(about, about) > ball(square):
            yield y, ball(0)


def _boxes(centre: list[Fraction], far: Fraction, count: int) -> Iterator[list[Ball]]:
    """The box of all points within `far` of a centre in each coordinate, cut `count` times along each."""
    step = 2 * far / count
    for cell in choices(range(count), repeat=len(centre)):
        yield [_between(x - far + k * step, x - far + (k + 1) * step) for x, k in zip(centre, cell, strict=True)]


# By prices.


def _prices(claim: Claim, rival: int) -> Iterator[dict[int, Fraction]]:
    """Prices against a rival, by prototype."""
    own, other = claim.head.weight[claim.predicted], claim.head.weight[rival]
    gaining = [k for k, (w, v) in enumerate(zip(own, other, strict=True)) if v > w]
    for prices in choices([Fraction(k, 16) for k in range(17)], repeat=len(gaining)):
        yield dict(zip(gaining, prices, strict=True))


def _priced(claim: Claim, statements: list[Document], rival: int, prices: dict[int, Fraction]) -> Fraction:
    """The margin that prices prove of masses: v1.md, "assignment", in rationals."""
    head, count = claim.head, claim.head.count
    own, other = head.weight[claim.predicted], head.weight[rival]
    gain = [Fraction(v) - Fraction(w) for w, v in zip(own, other, strict=True)]
    stated: list[dict[int, Any]] = [{} for _ in range(claim.patches)]
    for statement in statements:
        low, high = (_end(end, Fraction(none)) for none, end in enumerate(interval(statement)))
        stated[statement["patch"]][statement["prototype"]] = low, high
    left = [max(Fraction(0), 1 - sum(low for low, _ in each.values())) for each in stated]
    ordinary = [Fraction(0)] * count
    least = [Fraction(0)] * count
    for each, rest in zip(stated, left, strict=True):
        for k, (low, high) in each.items():
            ordinary[k] = max(ordinary[k], min(high, low + rest))
            # What the others leave to it at least: they take no more than their upper ends, if all are stated.
            others = sum((h for j, (_, h) in each.items() if j != k), Fraction(0))
            least[k] = max(least[k], low, 1 - others if len(each) == count else Fraction(0))
    total = sum(
        (w * least[k] if w <= 0 else w * ordinary[k] + prices.get(k, Fraction(0)) for k, w in enumerate(gain)),
        Fraction(0),
    )
    for each, rest in zip(stated, left, strict=True):
        gains = [
            w * max(Fraction(0), rest - ordinary[k]) - prices.get(k, Fraction(0))
            for k, w in enumerate(gain)
            if w > 0 and k not in each
        ]
        total += max([Fraction(0), *gains])
    bias = [0.0] * len(head.weight) if head.bias is None else head.bias
    return Fraction(bias[claim.predicted]) - Fraction(bias[rival]) - total
