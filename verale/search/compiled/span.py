r"""What exact statements prove of one image, in one pass: ranges from without, and those from within for each deletion.

Unlike the rest of this package, this enters proofs: every error is bounded. One patch at a time, let x_0 be its base,
b_k = x_k - x_0, z a latent that satisfies the statements, f the foot of z - x_0 on the span of the stated b_j, K their
Gram matrix and o_j = <b_j, z - x_0>. Let C be any floats (here nearly the inverse of K's Cholesky factor), e_i = sum_j
C_ij b_j, t_k = (<e_i, b_k>)_i, w = C o, and D = C K C^T - I with |D| <= delta < 1 (Frobenius). Then C is invertible and
K^-1 = C^T (I + D)^-1 C, where |(I + D)^-1 - I| <= delta / (1 - delta), so that for reals

    <f, b_k> = t_k^T (I + D)^-1 w,   |f|^2 = w^T (I + D)^-1 w,   |b_k|^2 - |r_k|^2 = t_k^T (I + D)^-1 t_k,

r_k being the part of b_k orthogonal to the span: t_k^T t_k, t_k^T w and w^T w are off by delta / (1 - delta), which is
at most 1.01 delta, times their lengths.

**From without.** <z - x_0, b_k> = <f, b_k> + <z - x_0 - f, r_k>, and |z - x_0 - f|^2 = |z - x_0|^2 - |f|^2.

**Without statement q.** Let s_q be the dual vector of b_q (<s_q, b_j> is 1 for j = q, else 0), n = s_q / |s_q|,
tau_k = <n, b_k> and zeta = <n, f>. The span without b_q is what is orthogonal to n, so the foot becomes f - zeta n:

    <f, b_k> loses zeta tau_k,   |f|^2 loses zeta^2,   |r_k|^2 gains tau_k^2.

With g the column q of C, <s_q, b_k> = g^T (I + D)^-1 t_k and |s_q|^2 = g^T (I + D)^-1 g. So tau_k and zeta are
h^T t_k and h^T w with h = g / |g|, but for 3 delta times the lengths of t_k and w.

**Without the base** (squared distances alone). Barycentric coordinates treat all points alike: that of x_0 is 1 - sum_j
<s_j, x - x_0>, so with g = - sum_q C_q and s_0 = - sum_j s_j both tau_k and zeta gain 1 / |s_0|, again 1 / |g| but for
a share of 2 delta. The observable d_k^2 = |z - x_0|^2 + |b_k|^2 - 2 <z - x_0, b_k> then ranges around its middle plus
2 zeta tau_k, as after any other deletion. Proof: let f' be the foot on the hull of the other points, w' = z - f'. Then
d_k^2 = |w'|^2 + |f' - x_k|^2 + 2 <w', f' - x_k>, where f' = x_0 + f - zeta n, |w'|^2 = |z - x_0 - f|^2 + zeta^2, and
<f - b_k, n> = zeta - tau_k, so that |f' - x_k|^2 = |f - b_k|^2 - zeta^2 + 2 zeta tau_k.

**From within.** The foot is that of the image's own latent, whose observables lie in the stated intervals. All points
at a distance |w'| from f' orthogonally to the hull satisfy the remaining statements (as do all nearer ones in a ball),
and both ends are attained, along the part of b_k orthogonal to the hull. So these ranges, less what their ends may be
off by, hold no observable that the remaining statements exclude; see `Projection.inner`.

Errors are constants of a patch and a deletion, from upper bounds T and W of the lengths of all t_k and of w; those of
tau_k and zeta are no longer, but for 1 / |s_0|. Products of errors are kept, sums are inflated, and gamma of more
operations than there are on any path, times upper bounds of all terms, covers what this module itself rounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from verale.bounds.at_once import INFLATE
from verale.rounding import UNIT
from verale.search.compiled.arrays import largest, sum_of
from verale.search.compiled.enclosed import Enclosed
from verale.search.compiled.hull import DEPENDENT
from verale.search.compiled.image import Floats, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part
from verale.search.compiled.rows import add_rows

__all__ = [
    "ListedStatements",
    "Span",
    "errors_of",
    "find_spans",
    "list_statements",
    "normal",
    "span_of",
    "spans_of",
]

_MOST_DEFECT = 2.0**-10
"""Directions that are farther from orthonormal than this prove nothing here."""


class ListedStatements(NamedTuple):
    """The statements about L patches, at most N about each, that give directions.

    Attributes:
        counts: (L,) how many.
        prototype: (L, N) which.
        first: (L + 1,) where the directions of each patch begin.
    """

    counts: Integers
    prototype: Integers
    first: Integers


def list_statements(stated: Sequence[Sequence[int]]) -> ListedStatements:
    """Statements, patch by patch."""
    counts = np.array(list(map(len, stated)), np.int64)
    prototype = np.zeros((len(stated), max(1, int(counts.max(initial=0)))), np.int64)
    for patch, each in enumerate(stated):
        prototype[patch, : len(each)] = each
    return ListedStatements(counts, prototype, np.zeros(len(stated) + 1, np.int64))


class Span(NamedTuple):
    """One patch with M directions; names as above.

    Attributes:
        middle: (P,) the middles of the observables' ranges.
        across: (P,) |r_k|^2.
        duals: (M, P) t.
        coefficients: (M, M) C, and zeros behind.
        centre: (M,) w.
        lengths: (M,) sums of the sizes of the rows of C.
        squares: (P,) t^T t; room for all patches alike.
        factor: (M, M) room for all patches alike.
        numbers: (9,) delta, T, the error of t, W, the error of w, |z - x_0|^2 - |f|^2, half the width of |z - x_0|^2,
            the greatest |z - x_0|^2, the greatest |b_k|^2.
    """

    middle: Floats
    across: Floats
    duals: Floats
    coefficients: Floats
    centre: Floats
    lengths: Floats
    squares: Floats
    factor: Floats
    numbers: Floats


def spans_of(known: Enclosed, stated: ListedStatements) -> Span:
    """Room for all patches: those of one patch stand together, as `span_of` takes them."""
    (patches, size), statements, room = known.low.shape, int(stated.counts.sum()), stated.prototype.shape[1]
    return Span(
        np.empty((patches, size)),
        np.empty((patches, size)),
        np.empty((statements, size)),
        np.zeros((statements, room)),
        np.zeros(statements),
        np.zeros(statements),
        np.empty(size),
        np.empty((room, room)),
        np.zeros((patches, 9)),
    )


@entry
def find_spans(known: Enclosed, stated: ListedStatements, spans: Span) -> None:
    """Find the directions of all patches. A statement that adds too little to those before it is no longer listed."""
    counts, first = stated.counts, stated.first
    for patch in range(len(counts)):
        while True:
            first[patch + 1] = first[patch] + max(counts[patch] - (1 if known.distance else 0), 0)
            prototypes = stated.prototype[patch]
            if counts[patch] == 0:
                break
            without = _find_span(known, patch, prototypes[: counts[patch]], span_of(spans, first, patch))
            if without < 0:
                break
            counts[patch] -= 1
            for place in range(without, counts[patch]):
                prototypes[place] = prototypes[place + 1]


@part
def _gamma(operations: int) -> float:
    """See `verale.rounding`."""
    product = operations * UNIT
    return product / (1 - product) * (1 + 8 * UNIT)


@part
def span_of(spans: Span, first: Integers, patch: int) -> Span:
    """Those of one patch, of those of all."""
    return Span(
        spans.middle[patch],
        spans.across[patch],
        spans.duals[first[patch] : first[patch + 1]],
        spans.coefficients[first[patch] : first[patch + 1]],
        spans.centre[first[patch] : first[patch + 1]],
        spans.lengths[first[patch] : first[patch + 1]],
        spans.squares,
        spans.factor,
        spans.numbers[patch],
    )


@part
def _find_span(known: Enclosed, patch: int, prototypes: Integers, span: Span) -> int:
    """Find a patch's directions and what follows; the place of a statement that adds too little to those before it, or
    -1 if there is none."""
    gram, size, skipped = known.gram, known.gram.shape[0], 1 if known.distance else 0
    base, anchors, room = prototypes[0], prototypes[skipped:], len(prototypes) - skipped
    reach = span.across
    for k in range(size):
        if known.distance:
            squared = gram[k, k] - 2 * gram[base, k] + gram[base, base]
            reach[k] = squared if squared > 0.0 else 0.0
        else:
            reach[k] = gram[k, k]
    without = _factorise(known, base, anchors, reach, span.factor, span.coefficients)
    if without >= 0:
        return skipped + without
    far, near, half = known.whole, known.whole, 0.0
    if known.distance:
        far, near = known.high[patch, base], known.low[patch, base]
        half = (far - near) / 2 * INFLATE
    farthest = INFLATE * (largest(reach) + known.reach_error)
    rounding, dual_error, centre_error, length = _gamma(2 * room + 16), 0.0, 0.0, 0.0
    for i in range(room):
        span.lengths[i] = 0.0
        for j in range(room):
            span.lengths[i] += abs(span.coefficients[i, j])
        error = INFLATE * 4 * span.lengths[i] * known.largest * _gamma(known.operations + 2 * room + 16)
        dual_error += error * error
        centre, spoiled = 0.0, 0.0
        for j in range(i + 1):
            offset, offset_error = _offset(known, patch, anchors[j], near, far, reach[anchors[j]])
            weight = span.coefficients[i, j]
            centre += weight * offset
            spoiled += abs(weight) * (offset_error + rounding * abs(offset))
        span.centre[i] = centre
        centre_error += spoiled * spoiled
        length += centre * centre
    dual_error, centre_error = INFLATE * math.sqrt(dual_error), INFLATE * math.sqrt(centre_error)
    along, squares = span.middle, span.squares
    along[:], squares[:] = 0.0, 0.0
    for i in range(room):
        _dual(known, base, anchors, span.coefficients[i], i, span.duals[i])
        dual, centre = span.duals[i], span.centre[i]
        for k in range(size):
            along[k] += centre * dual[k]
            squares[k] += dual[k] * dual[k]
    delta = _defect(known, anchors, span)
    if not delta < _MOST_DEFECT:
        return skipped + room - 1
    for k in range(size):
        if known.distance:
            along[k] = (near + far) / 2 + reach[k] - 2 * along[k]
        else:
            along[k] += known.shift[k]
        reach[k] -= squares[k]
    numbers = span.numbers
    numbers[0], numbers[1], numbers[2] = delta, INFLATE * (math.sqrt(largest(squares)) + dual_error), dual_error
    numbers[3], numbers[4] = INFLATE * (math.sqrt(length) + 2 * centre_error), centre_error
    numbers[5], numbers[6], numbers[7], numbers[8] = (near + far) / 2 - length, half, abs(far), farthest
    return -1


@part
def _factorise(known: Enclosed, base: int, anchors: Integers, reach: Floats, factor: Floats, inverse: Floats) -> int:
    """The inverse of the Cholesky factor of the Gram matrix of b_j, but for rounding; the place of the first b_j that
    adds too little, or -1."""
    gram, room = known.gram, len(anchors)
    for i in range(room):
        first = anchors[i]
        for j in range(i + 1):
            second = anchors[j]
            value = gram[first, second]
            if known.distance:
                value += gram[base, base] - gram[first, base] - gram[base, second]
            for each in range(j):
                value -= factor[i, each] * factor[j, each]
            if i == j:
                if not (value > DEPENDENT * reach[first] and value > known.least_residual):
                    return i
                factor[i, i] = math.sqrt(value)
            else:
                factor[i, j] = value / factor[j, j]
        for j in range(i):
            value = 0.0
            for each in range(j, i):
                value -= factor[i, each] * inverse[each, j]
            inverse[i, j] = value / factor[i, i]
        inverse[i, i] = 1 / factor[i, i]
    return -1


@part
def _offset(known: Enclosed, patch: int, anchor: int, near: float, far: float, reach: float) -> tuple[float, float]:
    """<b_j, z - x_0> and its error."""
    low, high = known.low[patch, anchor], known.high[patch, anchor]
    if known.distance:
        offset = ((near + far) / 2 + reach - (low + high) / 2) / 2
        width = (far - near + high - low) / 2 + known.reach_error
        return offset, INFLATE * (width / 2 + 8 * UNIT * (abs(far) + reach + abs(high)))
    size = max(abs(low), abs(high)) + abs(known.shift[anchor])
    offset = (low + high) / 2 - known.shift[anchor]
    return offset, INFLATE * ((high - low) / 2 + known.shift_error + 8 * UNIT * size)


@part
def _dual(known: Enclosed, base: int, anchors: Integers, weights: Floats, last: int, dual: Floats) -> None:
    """<e, b_k> for e = sum_j weights_j b_j, j <= last."""
    gram = known.gram
    dual[:] = 0.0
    total, corner = 0.0, 0.0
    if known.distance:
        for j in range(last + 1):
            total += weights[j]
            corner += weights[j] * (gram[anchors[j], base] - gram[base, base])
        shared = gram[base]
        for k in range(len(dual)):
            dual[k] -= total * shared[k] + corner
    add_rows(gram, anchors[: last + 1], weights, dual)


@part
def _defect(known: Enclosed, anchors: Integers, span: Span) -> float:
    """An upper bound of |D|: <e_i, e_l> = sum_j C_lj <e_i, b_j> for l <= i, twice off the diagonal."""
    room, total = len(anchors), 0.0
    for i in range(room):
        most = 0.0
        for j in range(room):
            most = max(most, abs(span.duals[i, anchors[j]]))
        error = INFLATE * 4 * span.lengths[i] * known.largest * _gamma(known.operations + 2 * room + 16)
        error += _gamma(2 * room + 4) * most
        for other in range(i + 1):
            deviation = -1.0 if other == i else 0.0
            for j in range(other + 1):
                deviation += span.coefficients[other, j] * span.duals[i, anchors[j]]
            deviation = INFLATE * (abs(deviation) + span.lengths[other] * error + 4 * UNIT)
            total += deviation * deviation if other == i else 2 * deviation * deviation
    return INFLATE * math.sqrt(total)


@part
def errors_of(
    known: Enclosed, span: Span, unit_error: float, constant: float, zeta: float, without: bool
) -> tuple[float, float, float, float]:
    """What across, |z - x_0|^2 - |f|^2 and the middles may be off by, and the share that a product may lose.

    Args:
        unit_error: of the unit vector h.
        constant: what tau_k and zeta gain.
        zeta: <n, f>.
        without: whether a statement is left out.
    """
    delta, long, dual_error, wide, centre_error, _, half, far, farthest = span.numbers
    share = _gamma(2 * len(span.centre) + 32)
    tau_error = zeta_error = 0.0
    if without:
        lost = constant * (2 * delta + 2 * unit_error + share)
        tau_error = INFLATE * (3 * delta * long + dual_error + 2 * (unit_error + share) * long + lost)
        zeta_error = INFLATE * (3 * delta * wide + centre_error + 2 * (unit_error + share) * wide + lost)
    most, greatest, own = 1.01 * (long + constant), 1.01 * (wide + constant), abs(zeta)
    defect = 1.01 * delta
    across = defect * long * long + (2 * long + dual_error) * dual_error + (2 * most + tau_error) * tau_error
    ball = defect * wide * wide + (2 * wide + centre_error) * centre_error + (2 * own + zeta_error) * zeta_error
    middle = defect * long * wide + dual_error * wide + (long + dual_error) * centre_error
    middle += own * tau_error + (most + tau_error) * zeta_error
    if known.distance:
        middle = 2 * middle + half + known.reach_error
    else:
        middle += known.shift_error
    ball += half + share * (far + 3 * greatest * greatest)
    across += known.reach_error + share * (farthest + 3 * most * most)
    middle += share * (far + farthest + 6 * greatest * most)
    return INFLATE * across, INFLATE * ball, INFLATE * middle, share


@part
def normal(known: Enclosed, span: Span, place: int, unit: Floats) -> tuple[bool, float, float, float]:
    """Write a statement's unit vector h; whether it is known well enough, 1 / |s_0| for the base, zeta, h's error."""
    room, skipped = len(span.centre), 1 if known.distance else 0
    squared, long, q = 0.0, 0.0, place - skipped
    for i in range(room):
        unit[i] = -sum_of(span.coefficients[i]) if q < 0 else span.coefficients[i, q]
        squared += unit[i] * unit[i]
        long += span.lengths[i] * span.lengths[i]
    scale, error = 1 / math.sqrt(squared), _gamma(2 * room + 16)
    constant = scale if q < 0 else 0.0
    if q < 0:
        error *= 1 + 2 * INFLATE * math.sqrt(long) * scale
    zeta = constant
    for i in range(room):
        unit[i] *= scale
        zeta += unit[i] * span.centre[i]
    return error < _MOST_DEFECT, constant, zeta, error
