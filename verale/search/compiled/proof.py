"""What exact statements prove of one image in one pass, and which are needed; the numbers are those of `span`.

Unlike the rest of this package, this enters proofs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch

from verale.bounds import Projection
from verale.rounding import Enclosure
from verale.search.compiled.arrays import overwrite
from verale.search.compiled.enclosed import Enclosed, enclosed
from verale.search.compiled.image import Booleans, Floats, ImageArrays, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part
from verale.search.compiled.pool import Pooled, all_margins, pool, pooled_of, try_pooled
from verale.search.compiled.rows import add_rows
from verale.search.compiled.shrink import StatedPairs, by_patch
from verale.search.compiled.span import (
    ListedStatements,
    Span,
    errors_of,
    find_spans,
    normal,
    span_of,
    spans_of,
)
from verale.search.problem import Pair, Problem

__all__ = ["prove", "prove_statements", "range_of", "range_without"]


def prove(
    problem: Problem, paradigm: Projection, image: ImageArrays, pairs: list[Pair], noise: float
) -> tuple[Enclosure, list[Pair]] | None:
    """What exact statements say of the only image's observables (L, P), and those that are not surely needed.

    Args:
        noise: by how much a margin without a statement has to miss 0.

    Returns:
        None if some patch has a statement that adds next to nothing to the others.
    """
    statements = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    whole, ranges, needed = prove_statements(image, enclosed(paradigm, problem.observed), statements, noise)
    if not whole:
        return None
    lower, upper = map(torch.from_numpy, ranges)
    doubtful = [pair for pair, sure in zip(pairs, needed.tolist(), strict=True) if not sure]
    return Enclosure(lower, upper), doubtful


class Proofs(NamedTuple):
    """Memory for proofs about S statements.

    Attributes:
        outer, inner: (2, L, P) what the statements prove of all observables, from without and from within.
        needed: (S,) which statements are surely needed.
        margins, tried: (K,) from within, and those without a statement.
        lower, upper, middle, across: (P,) of a patch without a statement.
        unit: (M,) a statement's unit vector.
        places: (M,) 0, 1, 2...
    """

    outer: Floats
    inner: Floats
    needed: Booleans
    margins: Floats
    tried: Floats
    lower: Floats
    upper: Floats
    middle: Floats
    across: Floats
    unit: Floats
    places: Integers


def prove_statements(
    image: ImageArrays, known: Enclosed, statements: Integers, noise: float
) -> tuple[bool, Floats, Booleans]:
    """Whether all patches can be treated here, what the statements prove of all observables (2, L, P), and which of
    them (S,) are surely needed: see `verale.search.needed`.

    Args:
        image: the image; what it says of the head's readout, similarity and pooling is used.
        known: what is proved of its numbers.
        statements: (S, 2) patches and prototypes.
        noise: by how much a margin without a statement has to miss 0.
    """
    (patches, size), count = known.low.shape, len(statements)
    stated, rivals = by_patch(image, statements), len(image.bias)
    room = stated.prototype.shape[1]
    used = ListedStatements(stated.length.copy(), stated.prototype.copy(), np.zeros(patches + 1, np.int64))
    spans = spans_of(known, used)
    find_spans(known, used, spans)
    proofs = Proofs(
        np.empty((2, patches, size)),
        np.empty((2, patches, size)),
        np.zeros(count, np.bool_),
        np.empty(rivals),
        np.empty(rivals),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(size),
        np.empty(room),
        np.arange(room),
    )
    whole = bool((used.counts == stated.length).all())
    if whole:
        _prove(image, known, stated, noise, used.first, spans, proofs, pooled_of(image))
    return whole, proofs.outer, proofs.needed


@entry
def _prove(
    image: ImageArrays, known: Enclosed, stated: StatedPairs, noise: float, first: Integers, spans: Span,
    proofs: Proofs, pooled: Pooled,
) -> None:  # fmt: skip
    """See `prove_statements`."""
    outer, inner = proofs.outer, proofs.inner
    patches = len(stated.length)
    for patch in range(patches):
        span = span_of(spans, first, patch)
        range_of(known, stated, span, patch, False, outer[0, patch], outer[1, patch])
        range_of(known, stated, span, patch, True, inner[0, patch], inner[1, patch])
        _with_actual(known, patch, inner[0, patch], inner[1, patch])
    pool(image, pooled, inner[0], inner[1])
    margins, tried, lower, upper = proofs.margins, proofs.tried, proofs.lower, proofs.upper
    all_margins(image, pooled, margins)
    for patch in range(patches):
        span = span_of(spans, first, patch)
        for place in range(stated.length[patch]):
            if range_without(
                known, stated, span, patch, place, proofs.places, proofs.unit, proofs.middle, proofs.across,
                lower, upper,
            ):  # fmt: skip
                _with_actual(known, patch, lower, upper)
                try_pooled(image, image.weights, pooled, patch, lower, upper, margins, tried)
                for margin in tried:
                    if margin < -noise:
                        proofs.needed[stated.statement[patch, place]] = True


@part
def range_of(
    known: Enclosed, stated: StatedPairs, span: Span, patch: int, within: bool, lower: Floats,
    upper: Floats,
) -> None:  # fmt: skip
    """The ranges (P,) of a patch's observables, from without or from within."""
    domain = known.inner if within else known.outer
    overwrite(lower, domain[0])
    overwrite(upper, domain[1])
    if stated.length[patch] > 0:
        errors = errors_of(known, span, 0.0, 0.0, 0.0, False)
        _ends(known, domain, span.middle, span.across, span.numbers[5], errors, within, lower, upper)
        _cut(known, stated, patch, -1, lower, upper)


@part
def range_without(
    known: Enclosed, stated: StatedPairs, span: Span, patch: int, place: int, places: Integers,
    unit: Floats, middle: Floats, across: Floats, lower: Floats, upper: Floats,
) -> bool:  # fmt: skip
    """Write the ranges (P,) from within without one of the statements; false where rounding hides them.

    Args:
        places: 0, 1, 2... to as many directions as there are, or more.
    """
    overwrite(lower, known.inner[0])
    overwrite(upper, known.inner[1])
    if stated.length[patch] == 1:
        return True
    clear, constant, zeta, unit_error = normal(known, span, place, unit)
    if not clear:
        return False
    across[:] = constant
    add_rows(span.duals, places[: len(span.duals)], unit, across)
    share = 2 * zeta if known.distance else -zeta
    for k in range(len(across)):
        tau = across[k]
        middle[k] = span.middle[k] + share * tau
        across[k] = span.across[k] + tau * tau
    errors = errors_of(known, span, unit_error, constant, zeta, True)
    _ends(known, known.inner, middle, across, span.numbers[5] + zeta * zeta, errors, True, lower, upper)
    _cut(known, stated, patch, place, lower, upper)
    return True


@part
def _ends(
    known: Enclosed, domain: Floats, middle: Floats, across: Floats, ball: float,
    errors: tuple[float, float, float, float], within: bool, lower: Floats, upper: Floats,
) -> None:  # fmt: skip
    """The ends of all observables, within those of the domain."""
    across_error, ball_error, middle_error, share = errors
    sign = -1.0 if within else 1.0
    factor = (2.0 if known.distance else 1.0) * (1 + sign * share)
    radius = factor * math.sqrt(max(ball + sign * ball_error, 0.0))
    across_error, middle_error = sign * across_error, sign * middle_error
    first, last = domain[0], domain[1]
    for k in range(len(lower)):
        rest = across[k] + across_error
        lower[k] = radius * math.sqrt(rest if rest > 0.0 else 0.0) + middle_error
    for k in range(len(lower)):
        swing = lower[k]
        lower[k], upper[k] = middle[k] - swing, middle[k] + swing
    for k in range(len(lower)):
        low, high = lower[k], upper[k]
        lower[k] = low if low > first[k] else first[k]
        upper[k] = high if high < last[k] else last[k]


@part
def _cut(known: Enclosed, stated: StatedPairs, patch: int, without: int, lower: Floats, upper: Floats) -> None:
    """Cut the ranges by the statements themselves, all but one."""
    for place in range(stated.length[patch]):
        if place != without:
            k = stated.prototype[patch, place]
            lower[k] = max(lower[k], known.low[patch, k])
            upper[k] = min(upper[k], known.high[patch, k])


@part
def _with_actual(known: Enclosed, patch: int, lower: Floats, upper: Floats) -> None:
    """Ranges from within, and the image's own observables."""
    low, high = known.low[patch], known.high[patch]
    for k in range(len(lower)):
        lower[k] = high[k] if high[k] < lower[k] else lower[k]
        upper[k] = low[k] if low[k] > upper[k] else upper[k]
