r"""What statements of any width say of all observables of their patches, from without or from within.

The names are those of `spans`.

Directions and feet are those for the middles of the stated intervals. Let each stated observable o_j be within
delta_j of a middle. The foot f of z - x_0 is linear in the o_j, and |z - x_0 - f|^2 is concave in them, so it lies
below its tangent at the middles. With the offsets <b_j, z - x_0> for coordinates, their slopes are, in real numbers,

    alpha_k = C^T (I + D)^-1 t_k of <f, b_k>, and -2 beta, beta = C^T (I + D)^-1 w, of |z - x_0|^2 - |f|^2.

What is computed, C^T t_k and C^T w, is off in entry j by at most the length of C's column j, times what t_k and w are
off by and 1.01 delta of their lengths; C^T t_k is computed in coordinates, as the normals of deletions are. Offsets
become observables:

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

from collections.abc import Iterator, Sequence

import torch
from torch import Tensor

from verale.bounds.observables import cut
from verale.bounds.projection import TOO_WIDE, Hull
from verale.bounds.spans import Spans
from verale.rounding import INFLATE, UNIT, Enclosure

_LEAST = 1e-300

_ENTRIES_AT_ONCE = 2**18

_NARROW = 1.01
"""Where intervals raise |z - x_0 - f|^2 by less than this, only the h for narrow ones is tried."""


_EXACT = 1e-13
"""Statements that are narrower than this, beside what they state, count as exact: their widths are errors."""


class Projection(Hull):
    """Squared distances, cosines or products of a patch from some of them: see `Hull`, and the top of this file."""

    def ranges(self, stated: Sequence[Sequence[int]], observed: Enclosure) -> Enclosure:
        """See `SpatialParadigm`. An interval without an end says nothing of other observables."""
        most = max(1, *map(len, stated)) if len(stated) else 1
        table = torch.tensor([[*each, *[0] * (most - len(each))] for each in stated], dtype=torch.int64).view(-1, most)
        return ranges_of_listed(self, table, torch.tensor(list(map(len, stated)), dtype=torch.int64), observed)


def ranges_of_listed(paradigm: Hull, stated: Tensor, count: Tensor, observed: Enclosure) -> Enclosure:
    """`Projection.ranges` of statements as a tensor (R, M), of which the first `count` (R,) of a patch count."""
    there = torch.arange(stated.shape[1]) < count[:, None]
    low, high = observed.lower.gather(1, stated), observed.upper.gather(1, stated)
    finite = low.isfinite() & high.isfinite()
    used, number = stated, count
    if hidden := not bool((finite | ~there).all()):
        kept = finite & there
        used, number = stated.gather(1, (~kept).long().argsort(dim=1, stable=True)), kept.sum(1)
    domain, within = paradigm.domain, paradigm.is_from_within
    ranges = Enclosure.unchecked(*(end.repeat(len(stated), 1) for end in (domain.lower, domain.upper)))
    rows = number.nonzero()[:, 0]
    if len(rows):
        unclear = rows[~_enter(ranges, paradigm, rows, used[rows], number[rows], observed)]
        if within:
            unclear = torch.cat([unclear, (number < count).nonzero()[:, 0]]) if hidden else unclear
            ranges.lower[unclear], ranges.upper[unclear] = torch.inf, -torch.inf
        elif len(unclear):
            fewer = [paradigm.independent(used[row, : number[row]].tolist()) for row in unclear.tolist()]
            most = max(1, *map(len, fewer))
            table = torch.tensor([[*each, *[0] * (most - len(each))] for each in fewer], dtype=torch.int64)
            number = torch.tensor(list(map(len, fewer)), dtype=torch.int64)
            some = number > 0
            _enter(ranges, paradigm, unclear[some], table[some], number[some], observed)
    rows, places = there.nonzero(as_tuple=True)
    return cut(ranges, (rows, stated[rows, places]), Enclosure.unchecked(low[rows, places], high[rows, places]))


def _enter(
    ranges: Enclosure, paradigm: Hull, index: Tensor, stated: Tensor, count: Tensor, observed: Enclosure
) -> Tensor:
    """Enter the ranges of some patches; (S,) of which of them they are known. The others stay as they are."""
    clear = torch.zeros(len(index), dtype=torch.bool)
    if not len(index):
        return clear
    stated = stated[:, : int(count.max())]
    given = observed[index]
    low, high = given.lower.gather(1, stated), given.upper.gather(1, stated)
    there = torch.arange(stated.shape[1]) < count[:, None]
    exact = ((high - low <= _EXACT * torch.maximum(low.abs(), high.abs())) | ~there).all(1)
    for some, ranges_of in ((exact, _exact), (~exact, _from_within if paradigm.is_from_within else _from_without)):
        at = some.nonzero()[:, 0]
        if len(at):
            known, clear[at] = ranges_of(paradigm, stated[at], count[at], given[at])
            kept = at[clear[at]]
            ranges.lower[index[kept]], ranges.upper[index[kept]] = (
                end[clear[at]] for end in (known.lower, known.upper)
            )
    return clear


def _exact(paradigm: Hull, stated: Tensor, count: Tensor, observed: Enclosure) -> tuple[Enclosure, Tensor]:
    spans = Spans(paradigm, stated, count, observed)
    return spans.ranges(paradigm.is_from_within), spans.clear


class _Intervals:
    """R patches with statements about intervals.

    Args:
        stated: (R, M) prototypes, those that count first.
        count: (R,) how many count.
        observed: (R, P) the ends that statements give.

    Attributes:
        spans: those for the middles.
        below, above: (R, M) how far the ends are from the middles.
    """

    def __init__(self, paradigm: Hull, stated: Tensor, count: Tensor, observed: Enclosure) -> None:
        middle = (observed.lower + observed.upper) / 2
        self.spans = spans = Spans(paradigm, stated, count, Enclosure.unchecked(middle, middle))
        low, high, centre = (end.gather(1, stated) for end in (observed.lower, observed.upper, middle))
        self.below = torch.where(spans.there, centre - low, 0.0)
        self.above = torch.where(spans.there, high - centre, 0.0)
        self.factor = 2.0 if paradigm.is_of_distances else 1.0
        self.errors, self.slopes = spans.errors, spans.slopes()

    def parts(self) -> Iterator[slice]:
        """A few patches at a time."""
        rows, places = self.spans.stated.shape
        step = max(1, _ENTRIES_AT_ONCE // (places * self.spans.middle.shape[1]))
        return (slice(begin, begin + step) for begin in range(0, rows, step))


def _from_without(paradigm: Hull, stated: Tensor, count: Tensor, observed: Enclosure) -> tuple[Enclosure, Tensor]:
    """(R, P) ranges, and (R,) of which patches they are known."""
    intervals = _Intervals(paradigm, stated, count, observed)
    spans, slopes, errors, factor = intervals.spans, intervals.slopes, intervals.errors, intervals.factor
    half = torch.maximum(intervals.below, intervals.above).clamp(min=0) * (1 + 4 * UNIT)
    bent, off = (half * slopes.bend_error).sum(1), (half * slopes.error).sum(1)
    ball = (spans.ball + errors.ball).clamp(min=0)
    widest = ball + 2 / factor * INFLATE * ((half * slopes.beta.abs()).sum(1) + bent)
    across = (spans.across + errors.across[:, None]).clamp_(min=0)
    domain = paradigm.domain
    lower, upper = (end.repeat(len(stated), 1) for end in (domain.lower, domain.upper))
    for part in intervals.parts():
        less = more = torch.full_like(lower[part], torch.inf)
        alpha = spans.alpha(slopes, part)
        for reach in (ball, widest):
            if reach is widest and bool((widest[part] < _NARROW * ball[part]).all()):
                continue
            h = (across[part] / reach[part].clamp(min=_LEAST)[:, None]).sqrt_()
            rest = torch.where(h > 0, across[part] / h, 0.0)
            swing = (h * ball[part, None] + rest) * (factor / 2) + off[part, None] + h * bent[part, None]
            bow = h[:, None] * slopes.beta[part, :, None]
            ends = half[part, None]
            # fmin takes the other end where one is NaN
            less = torch.fmin(less, swing + (ends @ (alpha - bow).abs_())[:, 0])
            more = torch.fmin(more, swing + (ends @ bow.add_(alpha).abs_())[:, 0])
        moved = errors.middle[part, None]
        lower[part] = torch.fmax(spans.middle[part] - (INFLATE * less + moved), lower[part])
        upper[part] = torch.fmin(spans.middle[part] + (INFLATE * more + moved), upper[part])
    if not paradigm.is_of_distances:  # The checker takes no direction from a single statement wider than the ball.
        own = paradigm.gram.diagonal()[stated[:, 0]]
        nothing = (count == 1) & (half[:, 0].square() > TOO_WIDE * paradigm.whole * own)
        lower[nothing], upper[nothing] = domain.lower, domain.upper
    return Enclosure.unchecked(lower, upper), spans.clear


def _from_within(paradigm: Hull, stated: Tensor, count: Tensor, observed: Enclosure) -> tuple[Enclosure, Tensor]:
    """The same from within: what some z attains.

    Where |z - x_0 - f|^2 may not be positive at a corner, the middles serve; if it may not be there either, nothing is
    known.
    """
    intervals = _Intervals(paradigm, stated, count, observed)
    spans, slopes, errors, factor = intervals.spans, intervals.slopes, intervals.errors, intervals.factor
    half = (torch.minimum(intervals.below, intervals.above) * (1 - 4 * UNIT)).clamp(min=0)
    off = INFLATE * (half * slopes.error).sum(1)
    bent = INFLATE * ((half * slopes.bend_error).sum(1) + INFLATE * spans.moves(half / factor))
    ball = spans.ball - errors.ball
    across = (spans.across - errors.across[:, None]).clamp_(min=0)
    ends: list[Tensor] = []
    for sign, domain in ((-1.0, paradigm.domain.lower), (1.0, paradigm.domain.upper)):
        ends.append(torch.empty_like(spans.middle))
        for part in intervals.parts():
            alpha, beta, size = spans.alpha(slopes, part), slopes.beta[part, :, None], half[part, :, None]
            h = (across[part] / ball[part].clamp(min=_LEAST)[:, None]).sqrt_()
            way = torch.where(sign * alpha + h[:, None] * beta > 0, size, -size)
            left = ball[part, None] + 2 / factor * ((beta * way).sum(1) - bent[part, None])
            middle = torch.where(ball[part, None] > 0, 0.0, -torch.inf)
            reach = torch.where(left > 0, sign * (alpha * way).sum(1), middle)
            left = torch.where(left > 0, left, ball[part, None].clamp(min=0))
            reach = reach + factor * (1 - errors.share) * (across[part] * left).sqrt()
            reach = spans.middle[part] + sign * (reach - off[part, None] - errors.middle[part, None])
            ends[-1][part] = sign * torch.minimum(sign * reach, sign * domain)  # NaN stays
    unknown = ends[0].isnan() | ends[1].isnan()
    lower, upper = ends[0].masked_fill_(unknown, torch.inf), ends[1].masked_fill_(unknown, -torch.inf)
    return Enclosure.unchecked(lower, upper), spans.clear
