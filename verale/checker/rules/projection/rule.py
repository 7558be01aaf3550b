"""The paradigm `projection`: per patch, the exact range of every observable given the stated ones (ball lemma).

**Euclidean.** Let p_0 be the base anchor, v = z - p_0, b_i = p_i - p_0 for the other anchors i and b_k = p_k - p_0 for
a target k. **Cosines.** Let v = u = z / (|z| + E) or z / (|z|^2 + E)^(1/2), so |v| <= 1, and b_i = p_i, b_k = p_k.
**Inner product.** Let v = z - c, c the centre of the ball that holds the domain (`domain`), b_i = p_i and b_k = p_k. In
every case the statements bound beta_i = <v, b_i>: euclidean 2 beta_i = d_0^2 - d_i^2 + |b_i|^2, cosines
beta_i = |p_i| m_i, inner product beta_i = m_i - <c, p_i>, exactly.

**Lemma.** Let g_ij = <b_i, b_j>, tau and sigma any real multipliers, r = b_k - sum tau_i b_i, gamma = sum sigma_i b_i
and rho^2 >= |v - gamma|^2. Then <v, b_k> is within rho |r| of sum tau_i beta_i + <gamma, r>, and
    |v - gamma|^2 = |v|^2 - 2 sum sigma_i beta_i + sigma^T g sigma,
    <gamma, r>    = sum_i sigma_i (g_ik - sum_j g_ij tau_j).
*Proof.* <v, b_k> = sum tau_i <v, b_i> + <v, r> = sum tau_i beta_i + <gamma, r> + <v - gamma, r>; Cauchy and Schwarz
bound the last term. The rest is expansion.

For X any matrix and tau = X g_k, |r|^2 = g_kk - tau.g_k + g_k^T X^T (g X - 1) g_k, and |g_ik| <= |b_i| |b_k|, so
    |r|^2 <= g_kk (1 + epsilon) - tau.g_k,   epsilon = sum_ij |X^T (g X - 1)|_ij |b_i| |b_j|.
X is an approximate inverse of g (`multipliers`), which makes epsilon tiny, gamma the foot of v on the span of the
anchors and the range the exact one: with exact statements both ends are attained if the anchors leave a direction
free.

The euclidean observable is d_k^2 = d_0^2 - 2 <v, b_k> + g_kk
    = (1 - sum tau_i) d_0^2 + sum tau_i (d_i^2 - g_ii) + g_kk - 2 <gamma, r> -+ 2 rho |r|,
with d_0^2 grouped, so that the sign of its coefficient selects every stated end. An inner product is
<c, p_k> + <v, b_k>, and |v|^2 is at most the square of the ball's radius. All of it is exact in integers,
except the root, which is rounded up, and the ends, which are rounded outward to the grid. If rho^2 is negative, no
latent satisfies the statements, and any value is sound; it is 0 then.

**Wide statements.** If intervals have some width, the best anchors depend on the target. If an interval about the patch
is wider than 2^-30, the range for all statements, anchors chosen, is intersected with the lemma's ranges for the first,
the first two, ... all statements, anchors taken in this order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from operator import add, neg, sub

from ...certificate import PatchStatement
from ...dyadic import ceil_at, ceil_shift, dot, floor_at, floor_shift
from ..pooling import pool
from ..space import Chunk, Ranges, Space
from .coarse import Coarse, Foot
from .screen import Candidate, greatest
from .span import Reach, Span

__all__ = ["TOGETHER", "WIDE", "Projection"]

WIDE = Fraction(1, 2**30)
"""If an interval is wider than this, the ranges for the first, the first two, ... statements count too."""

TOGETHER = 64
"""How many patches have their coarse ranges in memory at once."""


@dataclass(frozen=True)
class _Use:
    """One use of the lemma: the span, the distance from it, and the stated intervals by prototype."""

    span: Span
    reach: Reach
    stated: dict[int, tuple[int, int]]

    def ends(self, targets: Iterable[int], chunks: Iterable[Chunk]) -> list[tuple[int, int]]:
        """The exact ranges for these targets, which the chunks hold."""
        ranges = list(self.span.ends(self.reach, chunks))
        for position, k in enumerate(targets):
            if k in self.stated:
                (low, high), (least, most) = ranges[position], self.stated[k]
                ranges[position] = max(low, least), min(high, most)
        return ranges

    def foot(self, places: int) -> Foot:
        return Foot(self.span.foot(self.reach.sigma, places), self.reach.near, self.reach.far, self.reach.stray)


class Projection:
    """Ranges of the patches of a head with prototypes. One serves many certificates.

    Attributes:
        space: the head.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._smallest = space.head.geometry == "euclidean"
        self._reach = self._distances if self._smallest else self._products

    @cached_property
    def coarse(self) -> Coarse:
        """Coarse ranges of products with the prototypes, computed once."""
        space = self.space
        return Coarse(space.vectors, space.kernel, space.lift, None if self._smallest else space.reach)

    def ranges(self, statements: Sequence[PatchStatement]) -> Ranges:
        """The range of every working observable of a patch, given its statements: the lemma's, cut by the domain's
        and by what is stated about the observable itself."""
        if not statements:
            return self.space.domain
        ranges = self._given(self._use(statements, False))
        if _wide(statements) and len(statements) > 1:
            for count in range(1, len(statements) + 1):
                ranges = ranges.met(self._given(self._use(statements[:count], True)))
        return ranges

    def pooled(self, groups: Sequence[Sequence[PatchStatement]], known: Ranges | None) -> Ranges:
        """The ranges of every working observable, pooled: the smallest distance or the greatest product among at least
        one patch with these statements, and another patch whose ranges are `known`."""
        narrow = [group for group in groups if group and not _wide(group)]
        full = [self.ranges(group) for group in groups if not group or _wide(group)]
        if full:
            known = pool(full if known is None else [known, *full], self._smallest)
        for start in range(0, len(narrow), TOGETHER):
            known = self._among(narrow[start : start + TOGETHER], known)
        return self.space.domain if known is None else known.met(self.space.domain)

    def _among(self, groups: Sequence[Sequence[PatchStatement]], known: Ranges | None) -> Ranges:
        """The same for narrow statements; the domain's ranges are not used."""
        coarse, offsets = self.coarse, self.space.offsets
        uses = [self._use(group, False) for group in groups]
        bounds = coarse.bounds([use.foot(coarse.places) for use in uses])
        ways = ((partial(self._closeness, use), partial(self._swings, use)) for use in uses)
        candidates = [Candidate(bound, *way) for bound, way in zip(bounds, ways, strict=True)]
        ends = (None, None) if known is None else (known.lower, known.upper)
        if self._smallest:
            far, near = (side and list(map(neg, side)) for side in ends)
            lows, highs = greatest(candidates, near, far, coarse.lift)
            return Ranges(list(map(neg, highs)), list(map(neg, lows)))
        low, high = (side and list(map(sub, side, offsets)) for side in ends)
        lows, highs = greatest(candidates, low, high, coarse.lift)
        return Ranges(list(map(add, lows, offsets)), list(map(add, highs, offsets)))

    def _closeness(self, use: _Use, targets: Sequence[int]) -> Iterable[tuple[int, int]]:
        """The exact ranges of minus the distance, or of <v, b_k>, for some targets."""
        ends = use.ends(targets, [self.space.singles[k] for k in targets])
        return [(-high, -low) for low, high in ends] if self._smallest else ends

    def _swings(self, use: _Use, targets: Sequence[int]) -> Iterable[int]:
        """The swings of `Bound`, in the coarse unit, rounded up."""
        swings = use.span.swings(use.reach, [self.space.singles[k] for k in targets])
        return [int(ceil_shift(swing, -self.coarse.lift)) for swing in swings]

    def _given(self, use: _Use) -> Ranges:
        offsets = self.space.offsets
        lower, upper = zip(*use.ends(range(len(offsets)), self.space.chunks), strict=True)
        return Ranges(list(map(add, lower, offsets)), list(map(add, upper, offsets))).met(self.space.domain)

    def _use(self, statements: Sequence[PatchStatement], in_order: bool) -> _Use:
        offsets = self.space.offsets
        each = ((statement.prototype, *self.stated(statement)) for statement in statements)
        stated = [(j, low - offsets[j], high - offsets[j]) for j, low, high in each]
        return _Use(*self._reach(stated, in_order), {j: (low, high) for j, low, high in stated})

    def stated(self, statement: PatchStatement) -> tuple[int, int]:
        """The stated interval of the working observable on the grid."""
        bits = self.space.bits
        low, high = floor_at(statement.lower, bits), ceil_at(statement.upper, bits)
        if self.space.head.geometry == "euclidean":
            return max(low, 0), max(high, 0)
        if self.space.head.geometry == "inner_product":
            return low, high
        least, greatest = self.space.norms[statement.prototype]
        return min(low * least, low * greatest) >> bits, ceil_shift(max(high * least, high * greatest), -bits)

    def _distances(self, stated: Sequence[tuple[int, int, int]], in_order: bool) -> tuple[Span, Reach]:
        """The span and the reach for |z - p_k|^2, given stated distances (prototype, low, high)."""
        space, lift = self.space, self.space.lift
        widths = [high - low for _, low, high in stated]
        first = 0 if in_order else widths.index(min(widths))
        base, low_0, high_0 = stated[first]
        rest = [i for i in range(len(stated)) if i != first]
        span = Span(
            space,
            [stated[i][0] for i in rest],
            base,
            noise=[widths[i] + widths[first] >> 2 for i in rest],
            reach=high_0 << lift,
            in_order=in_order,
        )
        ends = [stated[rest[i]][1:] for i in span.kept]
        squares = [span.gram[i][i] << lift for i in range(len(ends))]
        # 4 beta_i at its middle; sigma = X beta; rho^2, each distance at the end that makes it greatest.
        middles = [low_0 + high_0 - low - high + 2 * square for (low, high), square in zip(ends, squares, strict=True)]
        sigma = span.times(middles, lift + 2)
        terms = [
            ((1 << span.bits) - sum(sigma), low_0, high_0),
            *((s, *end) for s, end in zip(sigma, ends, strict=True)),
        ]
        distances = sum(s * (high if s > 0 else low) for s, low, high in terms)
        far = (distances - dot(sigma, squares) << span.bits) + (span.form(sigma) << lift)
        doubt = sum(abs(s) * (high - low) for s, low, high in terms)
        betas = [(low_0 - high + s, high_0 - low + s) for (low, high), s in zip(ends, squares, strict=True)]
        # Twice sum tau_i (d_i^2 - d_0^2 - g_ii) - 2 <gamma, r>, at the middles; d_0^2 and g_kk are added later.
        weights = [low + high - low_0 - high_0 - 2 * square for (low, high), square in zip(ends, squares, strict=True)]
        return span, Reach(
            sigma,
            linear=span.linear(span.row(weights, sigma, -4 << lift)),
            shift=low_0 + high_0 >> 1,
            widths=[high - low for low, high in ends],
            base_width=high_0 - low_0,
            near=max(0, floor_shift(far - (doubt << span.bits), -2 * span.bits)),
            far=max(0, ceil_shift(far, -2 * span.bits)),
            stray=span.stray(sigma, betas),
            distances=True,
        )

    def _products(self, stated: Sequence[tuple[int, int, int]], in_order: bool) -> tuple[Span, Reach]:
        """The span and the reach for <v, b_k>, given stated products (prototype, low, high); |v|^2 <= space.reach."""
        space, lift = self.space, self.space.lift
        span = Span(
            space,
            [j for j, _, _ in stated],
            None,
            noise=[high - low >> 1 for _, low, high in stated],
            reach=space.reach << lift,
            in_order=in_order,
        )
        ends = [stated[i][1:] for i in span.kept]
        middles = [low + high for low, high in ends]  # 2 beta_i
        sigma = span.times(middles, lift + 1)
        beta = sum(s * (low if s > 0 else high) for s, (low, high) in zip(sigma, ends, strict=True))
        far = (space.reach << 2 * span.bits) - (2 * beta << span.bits) + (span.form(sigma) << lift)
        return span, Reach(
            sigma,
            linear=span.linear(span.row(middles, sigma, 2 << lift)),
            shift=0,
            widths=[high - low for low, high in ends],
            base_width=0,
            near=0,
            far=max(0, ceil_shift(far, -2 * span.bits)),
            stray=span.stray(sigma, [(2 * low, 2 * high) for low, high in ends]),
            distances=False,
        )


def _wide(statements: Sequence[PatchStatement]) -> bool:
    return any(statement.upper - statement.lower > WIDE for statement in statements)
