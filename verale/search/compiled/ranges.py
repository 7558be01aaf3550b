r"""What statements of any width say of all observables of their patches, from without or from within.

Unlike the rest of this package, this enters proofs. The names are those of `span`; its directions and feet are those
for the middles of the stated intervals. Let each stated observable o_j be within delta_j of a middle. The foot f of
z - x_0 is linear in the o_j, and |z - x_0 - f|^2 is concave in them, so it lies below its tangent at the middles. With
the offsets <b_j, z - x_0> for coordinates, their slopes are, in real numbers,

    alpha_k = C^T (I + D)^-1 t_k of <f, b_k>, and -2 beta, beta = C^T (I + D)^-1 w, of |z - x_0|^2 - |f|^2.

What is computed, C^T t_k and C^T w, is off in entry j by at most the length of C's column j, times what t_k and w are
off by and 1.01 delta of their lengths. Offsets become observables:

    squared distances: f = 2, alpha and beta as they are, and for the base 1 less all others
    products:          f = 1, beta with a minus

For any h > 0, with A >= |r_k|^2, and with B >= |z - x_0|^2 - |f|^2 at the middles,

    2 |<z - x_0 - f, r_k>| <= h |z - x_0 - f|^2 + A / h <= h (B + 2/f sum_j beta_j (o_j - middle_j)) + A / h,

since 2 p q <= h p^2 + q^2 / h. So each end of the observable is what it is at the middles, with f (h B + A / h) / 2 for
the swing, and moves by at most sum_j |alpha_kj +- h_k beta_j| delta_j. h = (A / B)^(1/2) is best for narrow intervals,
(A / B')^(1/2) with B' the greatest B over the intervals for wide ones; the lesser result of both is taken. It is the
bound of a concave function by its tangent at the middles (certificates/v1.md, "Weights that serve").

**From within.** Let theta_j be of size delta_j, with the sign of alpha_kj +- h_k beta_j. If |z - x_0 - f|^2 is positive
there, which is B + 2/f sum_j beta_j theta_j less the square of how far the foot moves, then some z has the observables
middle_j + theta_j, in a space of one dimension more if need be. A checker knows the products of prototypes alone, which
are the same there: its ranges hold what that z attains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from verale.bounds import Projection
from verale.bounds.at_once import INFLATE
from verale.bounds.rows import cut
from verale.rounding import UNIT, Enclosure
from verale.search.compiled.enclosed import Enclosed, enclosed
from verale.search.compiled.image import Floats, Integers
from verale.search.compiled.jit import entry
from verale.search.compiled.parts import part
from verale.search.compiled.rows import add_rows
from verale.search.compiled.span import (
    ListedStatements,
    Span,
    errors_of,
    find_spans,
    list_statements,
    span_of,
    spans_of,
)

__all__ = ["ranges_of_statements"]

_TOO_WIDE = 1 - 1e-6
"""See `verale.bounds.hulls`."""
_LEAST = 1e-300


class Slopes(NamedTuple):
    """How observables of one patch depend on N stated ones, and room to sum up what that does to their ends.

    Attributes:
        half: (N,) delta.
        alpha: (N, P).
        beta: (N,).
        error, bend_error: (N,) what alpha, of any observable, and beta may be off by.
        sums: (3,) over all statements, delta times the sizes of beta, of its errors and of those of alpha.
        column: (N,) of C.
        places: (N,) 0, 1, 2...
        bend: (P,) h.
        less, more: (P,) sums for lower and upper ends.
        low, high: (P,) how far the ends are from the observables for the middles.
    """

    half: Floats
    alpha: Floats
    beta: Floats
    error: Floats
    bend_error: Floats
    sums: Floats
    column: Floats
    places: Integers
    bend: Floats
    less: Floats
    more: Floats
    low: Floats
    high: Floats


def ranges_of_statements(paradigm: Projection, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
    """(R, P) ranges; see `SpatialParadigm.ranges`. Those of `Projection.inner` are from within.

    An interval without an end says nothing of other observables.
    """
    known = enclosed(paradigm, Enclosure.unchecked(*[(observed.lower + observed.upper) / 2] * 2))
    finite = np.isfinite(known.low)
    used = list_statements([[j for j in each if finite[row, j]] for row, each in enumerate(stated)])
    (rows, room), size = used.prototype.shape, paradigm.size
    ends = np.stack([observed.lower.numpy(), observed.upper.numpy()])
    spans = spans_of(known, used)
    half, beta, error, bend_error, column = (np.zeros(room) for _ in range(5))
    bend, less, more, low, high = (np.empty(size) for _ in range(5))
    alpha, sums, places = np.empty((room, size)), np.zeros(3), np.arange(room)
    slopes = Slopes(half, alpha, beta, error, bend_error, sums, column, places, bend, less, more, low, high)
    find_spans(known, used, spans)
    lower, upper = (np.tile(end, (rows, 1)) for end in (known.inner if paradigm.is_from_within else known.outer))
    _find_ranges(known, used, ends, paradigm.is_from_within, spans, slopes, lower, upper)
    if paradigm.is_from_within:
        hidden = used.counts < [len(each) for each in stated]  # the checker may use what is not used here
        lower[hidden], upper[hidden] = np.inf, -np.inf
    return cut(Enclosure.unchecked(torch.from_numpy(lower), torch.from_numpy(upper)), stated, observed)


@entry
def _find_ranges(
    known: Enclosed, stated: ListedStatements, ends: Floats, within: bool, spans: Span, slopes: Slopes, lower: Floats,
    upper: Floats,
) -> None:  # fmt: skip
    """Move the ends (R, P) of all patches, which are those of the domain.

    Args:
        ends: (2, R, P) those that statements give.
    """
    for row in range(len(stated.counts)):
        count = stated.counts[row]
        for place in range(count):
            k = stated.prototype[row, place]
            below, above = known.low[row, k] - ends[0, row, k], ends[1, row, k] - known.low[row, k]
            half = max(min(below, above) * (1 - 4 * UNIT), 0.0) if within else max(below, above) * (1 + 4 * UNIT)
            slopes.half[place] = half
        if count > 0:
            span = span_of(spans, stated.first, row)
            _find_slopes(known, span, slopes)
            if within:
                _move_within(known, span, slopes, count, lower[row], upper[row])
            elif count > 1 or known.distance or not _is_wider(known, stated.prototype[row, 0], slopes.half[0]):
                _move_out(known, span, slopes, count, lower[row], upper[row])


@part
def _is_wider(known: Enclosed, prototype: int, half: float) -> bool:
    """Whether an interval is wider than the ball. The checker takes no direction from it, if it is the only one."""
    own: float = known.gram[prototype, prototype]
    return half * half > _TOO_WIDE * known.whole * own


@part
def _find_slopes(known: Enclosed, span: Span, slopes: Slopes) -> None:
    """The slopes of all observables, what they may be off by, and their sums."""
    room, skipped, numbers, sums = len(span.centre), 1 if known.distance else 0, span.numbers, slopes.sums
    delta, long, dual_error, wide, centre_error = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    alpha, beta, error, bend_error = slopes.alpha, slopes.beta, slopes.error, slopes.bend_error
    share = 2 * (2 * room + 64) * UNIT
    off = INFLATE * (1.01 * delta * long + dual_error + share * long)
    bent = INFLATE * (1.01 * delta * wide + centre_error + share * wide)
    sums[:] = 0.0
    if skipped:
        alpha[0] = 1.0
        beta[0], error[0], bend_error[0] = 1.0, share, share
    for j in range(room):
        own, squared, along = skipped + j, 0.0, 0.0
        for i in range(j, room):
            weight = span.coefficients[i, j]
            slopes.column[i] = weight
            squared += weight * weight
            along += weight * span.centre[i]
        alpha[own] = 0.0
        add_rows(span.duals[j:], slopes.places[: room - j], slopes.column[j:room], alpha[own])
        length = INFLATE * math.sqrt(squared)
        beta[own], error[own], bend_error[own] = -along, length * off, length * bent
        if skipped:
            for k in range(len(span.middle)):
                alpha[0, k] -= alpha[own, k]
            beta[own] = along
            beta[0] -= along
            error[0] += length * (off + 2 * share * long)
            bend_error[0] += length * (bent + 2 * share * wide)
    for j in range(skipped + room):
        sums[0] += slopes.half[j] * abs(beta[j])
        sums[1] += slopes.half[j] * bend_error[j]
        sums[2] += slopes.half[j] * error[j]


@part
def _move_out(known: Enclosed, span: Span, slopes: Slopes, count: int, lower: Floats, upper: Floats) -> None:
    """Tighten the ends of all observables, from without; the lesser result of two h is taken."""
    across_error, ball_error, middle_error, _ = errors_of(known, span, 0.0, 0.0, 0.0, False)
    factor, bent, off = 2.0 if known.distance else 1.0, slopes.sums[1], slopes.sums[2]
    ball = max(span.numbers[5] + ball_error, 0.0)
    widest = ball + 2 / factor * INFLATE * (slopes.sums[0] + bent)
    bend, less, more, low, high = slopes.bend, slopes.less, slopes.more, slopes.low, slopes.high
    low[:], high[:] = math.inf, math.inf
    for turn in range(2):
        reach = max(widest if turn else ball, _LEAST)
        for k in range(len(lower)):
            rest = max(span.across[k] + across_error, 0.0)
            h = math.sqrt(rest / reach)
            swing = h * ball + (rest / h if h > 0.0 else 0.0)
            bend[k] = h
            less[k] = more[k] = swing * factor / 2 + off + h * bent
        for j in range(count):
            half, beta, alpha = slopes.half[j], slopes.beta[j], slopes.alpha[j]
            for k in range(len(lower)):
                bow = bend[k] * beta
                less[k] += half * abs(alpha[k] - bow)
                more[k] += half * abs(alpha[k] + bow)
        for k in range(len(lower)):  # what is NaN says nothing
            low[k] = less[k] if less[k] < low[k] else low[k]
            high[k] = more[k] if more[k] < high[k] else high[k]
    for k in range(len(lower)):
        least = span.middle[k] - (INFLATE * low[k] + middle_error)
        most = span.middle[k] + (INFLATE * high[k] + middle_error)
        lower[k] = least if least > lower[k] else lower[k]
        upper[k] = most if most < upper[k] else upper[k]


@part
def _move_within(known: Enclosed, span: Span, slopes: Slopes, count: int, lower: Floats, upper: Floats) -> None:
    """Move the ends of all observables inward, to what some z attains.

    Where |z - x_0 - f|^2 may not be positive at a corner, the middles serve; if it may not be there either, nothing is
    known.
    """
    across_error, ball_error, middle_error, share = errors_of(known, span, 0.0, 0.0, 0.0, False)
    factor, off, skipped = 2.0 if known.distance else 1.0, slopes.sums[2], 1 if known.distance else 0
    moved = 0.0  # the square of how far the foot is from that for the middles
    for i in range(len(span.centre)):
        along = 0.0
        for j in range(i + 1):
            along += abs(span.coefficients[i, j]) * (slopes.half[skipped + j] + skipped * slopes.half[0]) / factor
        moved += along * along
    bent = INFLATE * (slopes.sums[1] + INFLATE * (1 + 2 * span.numbers[0]) * moved)
    ball = span.numbers[5] - ball_error
    for k in range(len(lower)):
        slopes.bend[k] = math.sqrt(max(span.across[k] - across_error, 0.0) / max(ball, _LEAST))
    inside, reached = slopes.less, slopes.more
    for turn in range(2):
        sign, ends = (1.0, upper) if turn else (-1.0, lower)
        inside[:], reached[:] = 0.0, 0.0
        for j in range(count):
            half, beta, alpha = slopes.half[j], slopes.beta[j], slopes.alpha[j]
            for k in range(len(ends)):
                way = half if sign * alpha[k] + slopes.bend[k] * beta > 0.0 else -half
                inside[k] += beta * way
                reached[k] += sign * alpha[k] * way
        for k in range(len(ends)):
            left = ball + 2 / factor * (inside[k] - bent)
            reach = reached[k] if left > 0.0 else (0.0 if ball > 0.0 else -math.inf)
            left = left if left > 0.0 else max(ball, 0.0)
            reach += factor * (1 - share) * math.sqrt(max(span.across[k] - across_error, 0.0) * left)
            end = span.middle[k] + sign * (reach - INFLATE * off - middle_error)
            ends[k] = ends[k] if sign * end > sign * ends[k] else end  # NaN is kept, and then given up
    for k in range(len(lower)):
        if math.isnan(lower[k]) or math.isnan(upper[k]):
            lower[k], upper[k] = math.inf, -math.inf
