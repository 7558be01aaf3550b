"""Whether a class is entailed without one of the statements: for certificates that claim minimality wrongly.

A proof by exhaustion, which knows no rule of a paradigm. Of every patch the space of latents is cut into small boxes;
those where a statement is certainly false are left out; what balls say of the similarities in the others encloses their
ranges. It serves heads in few dimensions, with the pooling max and a linear readout. Where the paradigm is
`assignment`, prices are counted as v1.md says: any will do, and multiples of 1/16 are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import flint

from verale.soundness.independent.arithmetic import PRECISION, Ball, Interval, Vector, ball, ends
from verale.soundness.independent.claim import Claim, interval
from verale.soundness.independent.head import Head
from verale.soundness.independent.readers import Document, read_json

__all__ = ["entailed_without"]

_CELLS = 4096
"""Boxes of one patch."""


def entailed_without(certificate: bytes, head: bytes, dropped: int) -> bool:
    """Whether every margin is certainly positive without the statement of this index."""
    predicate = read_json(certificate)["predicate"]
    with flint.ctx.workprec(PRECISION):
        claim = Claim.read(certificate, head, None)
        statements = [s for index, s in enumerate(claim.statements) if index != dropped]
        rivals = [c for c in range(len(claim.head.weight)) if c != claim.predicted]
        if predicate["paradigm"] == "assignment":
            return all(any(_priced(claim, statements, c, prices) > 0 for prices in _prices(claim, c)) for c in rivals)
        ranges = _activations(claim, statements)
        return all(_margin(claim, ranges, c) > 0 for c in rivals)


def _margin(claim: Claim, ranges: list[Interval], rival: int) -> Fraction:
    """The least margin of activations in these ranges, term by term."""
    head = claim.head
    if head.kind("readout") != "linear" or head.kind("pooling") != "max":
        raise ValueError("only linear readouts of maxima are covered")
    own, other = head.weight[claim.predicted], head.weight[rival]
    bias = [0.0] * len(head.weight) if head.bias is None else head.bias
    total = Fraction(bias[claim.predicted]) - Fraction(bias[rival])
    for w, v, (low, high) in zip(own, other, ranges, strict=True):
        factor = Fraction(w) - Fraction(v)
        total += factor * (low if factor > 0 else high)
    return total


# By exhaustion.


def _activations(claim: Claim, statements: list[Document]) -> list[Interval]:
    """Ranges that enclose every activation."""
    by_patch = [
        _similarities(claim.head, [s for s in statements if s.get("patch") == patch]) for patch in range(claim.patches)
    ]
    ranges = [(max(low for low, _ in each), max(high for _, high in each)) for each in zip(*by_patch, strict=True)]
    for statement in statements:
        if "patch" in statement:
            continue
        low, high = interval(statement)
        for j in range(claim.head.count):
            if "except" in statement and j not in statement["except"]:
                ranges[j] = ranges[j][0], min(ranges[j][1], Fraction(high))
            elif statement.get("prototype") == j:
                ranges[j] = max(ranges[j][0], Fraction(low)), min(ranges[j][1], Fraction(high))
    return ranges


def _similarities(head: Head, stated: list[Document]) -> list[Interval]:
    """Enclosures of one patch's similarities, box by box."""
    ranges: list[Interval] | None = None
    for z in _boxes(head):
        observables = [ball(head.observable(z, j)) for j in range(head.count)]
        if any(_misses(observables[s["prototype"]], interval(s)) for s in stated):
            continue
        if head.kind("geometry") == "euclidean":
            observables = [m.max(ball(0)) for m in observables]
        own = [ends(head.similarity(m, j)) for j, m in enumerate(observables)]
        ranges = own if ranges is None else [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(ranges, own, strict=True)]
    if ranges is None:
        raise ValueError("no latents satisfy the statements about a patch")
    return ranges


def _misses(value: Ball, stated: tuple[float, float]) -> bool:
    return bool(value < ball(stated[0])) or bool(value > ball(stated[1]))


def _boxes(head: Head) -> Iterator[Vector]:
    """The domain's box, cut into boxes: latents whose coordinates are wide balls."""
    bounds = list(head.part("domain").values())
    if head.prototypes is None or None in bounds:
        raise ValueError("only heads with prototypes and a bounded domain are covered")
    low, high = (Fraction(float.fromhex(end)) for end in bounds)
    depth = len(head.prototypes[0])
    count = round(_CELLS ** (1 / depth))
    half = (high - low) / (2 * count)
    middles = [low + half * (2 * k + 1) for k in range(count)]
    for z in product(middles, repeat=depth):
        yield [ball(middle) + flint.arb(0, ball(half)) for middle in z]


# By prices.


def _prices(claim: Claim, rival: int) -> Iterator[dict[int, Fraction]]:
    """Prices against a rival, by prototype."""
    own, other = claim.head.weight[claim.predicted], claim.head.weight[rival]
    gaining = [k for k, (w, v) in enumerate(zip(own, other, strict=True)) if v > w]
    for prices in product([Fraction(k, 16) for k in range(17)], repeat=len(gaining)):
        yield dict(zip(gaining, prices, strict=True))


def _priced(claim: Claim, statements: list[Document], rival: int, prices: dict[int, Fraction]) -> Fraction:
    """The margin that prices prove of masses: v1.md, "assignment", in rationals."""
    head, count = claim.head, claim.head.count
    own, other = head.weight[claim.predicted], head.weight[rival]
    gain = [Fraction(v) - Fraction(w) for w, v in zip(own, other, strict=True)]
    stated: list[dict[int, Any]] = [{} for _ in range(claim.patches)]
    for statement in statements:
        low, high = map(Fraction, interval(statement))
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
