"""The paradigm `projection`: per patch, the exact range of every observable given the stated ones (ball lemma).

**Euclidean.** Let p_0 be the base anchor, v = z - p_0, b_i = p_i - p_0 for the other anchors i and b_k = p_k - p_0 for
a target k. **Cosines.** Let v = u = z / (|z| + E) or z / (|z|^2 + E)^(1/2), so |v| <= 1, and b_i = p_i, b_k = p_k.
**Inner product.** Let v = z - c, c the centre of the ball that holds the domain (`domain`), b_i = p_i and b_k = p_k. In
every case the statements bound beta_i = <v, b_i>: euclidean 2 beta_i = d_0^2 - d_i^2 + |b_i|^2, cosines
beta_i = |p_i| m_i, inner product beta_i = m_i - <c, p_i>, exactly.

**Lemma.** Let g_ij = <b_i, b_j>, tau and sigma any real multipliers, r = b_k - sum tau_i b_i, gamma = sum sigma_i b_i
and rho^2 >= |v - gamma|^2. Then <v, b_k> lies within rho |r| of sum tau_i beta_i + <gamma, r>, and
    |v - gamma|^2 = |v|^2 - 2 sum sigma_i beta_i + sigma^T g sigma,
    <gamma, r>    = sum_i sigma_i (g_ik - sum_j g_ij tau_j).
*Proof.* <v, b_k> = sum tau_i <v, b_i> + <v, r> = sum tau_i beta_i + <gamma, r> + <v - gamma, r>; Cauchy and Schwarz
bound the last term. The rest is expansion.

For X any matrix and tau = X g_k, |r|^2 = g_kk - tau.g_k + g_k^T X^T (g X - 1) g_k, and |g_ik| <= |b_i| |b_k|, so
    |r|^2 <= g_kk (1 + epsilon) - tau.g_k,   epsilon = sum_ij |X^T (g X - 1)|_ij |b_i| |b_j|.
X is an approximate inverse of g (`multipliers`), which makes epsilon tiny, gamma the foot of v on the span of the
anchors and the range the exact one: with exact statements both ends are attained as soon as the anchors leave a
direction free.

The euclidean observable is d_k^2 = d_0^2 - 2 <v, b_k> + g_kk
    = (1 - sum tau_i) d_0^2 + sum tau_i (d_i^2 - g_ii) + g_kk - 2 <gamma, r> -+ 2 rho |r|,
with d_0^2 grouped, so that every stated end is taken by the sign of its coefficient. An inner product is
<c, p_k> + <v, b_k>, and |v|^2 is at most the square of the ball's radius. All of it is exact in integers but
the root, which is rounded up, and the ends, which are rounded outward to the grid. A negative rho^2 means that no
latent satisfies the statements; 0 serves then as well as any.

**Wide statements.** Which anchors serve best depends on the target where intervals have some width. Where one about the
patch is wider than 2^-30, the lemma's ranges for the first, the first two, ... all statements, in their order, anchors
taken as they come, are met with its range for all of them, anchors chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from operator import add, sub

from ..certificate import Spatial
from ..dyadic import ceil_at, ceil_shift, dot, floor_at
from .gram import Gram
from .space import Ranges, Space
from .span import Reach, Span

__all__ = ["WIDE", "Projection"]

WIDE = Fraction(1, 2**30)
"""An interval wider than this makes the first, the first two, ... statements count too."""


class Projection:
    """Ranges of one patch of a head with prototypes."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._gram = Gram(space)
        self._reach = self._distances if space.head.geometry == "euclidean" else self._products

    def ranges(self, statements: Sequence[Spatial], known: Ranges | None = None) -> Ranges:
        """The range of every working observable of a patch, given its statements: the lemma's, cut by the domain's own
        and by what is stated of the observable itself.

        Where other patches' pooled ranges are `known`, what cannot change them is given by ranges that hold, and need
        not be tight.
        """
        if not statements:
            return self._space.domain
        wide = any(statement.upper - statement.lower > WIDE for statement in statements)
        found = self._given(statements, False, None if wide else known)
        if wide and len(statements) > 1:
            for count in range(1, len(statements) + 1):
                found = found.met(self._given(statements[:count], True, None))
        return found

    def _given(self, statements: Sequence[Spatial], in_order: bool, known: Ranges | None) -> Ranges:
        stated = [(statement.prototype, *self.stated(statement)) for statement in statements]
        offsets = self._space.offsets
        span, reach = self._reach([(j, low - offsets[j], high - offsets[j]) for j, low, high in stated], in_order)
        if known is None or known.upper is None:
            wanted, lower, upper = list(range(len(offsets))), list(offsets), list(offsets)
        else:
            moved = Ranges(list(map(sub, known.lower, offsets)), list(map(sub, known.upper, offsets)))
            wanted, lower, upper = span.screen(reach, moved)
            lower, upper = list(map(add, lower, offsets)), list(map(add, upper, offsets))
        for k, (low, high) in zip(wanted, span.ends(reach, wanted), strict=True):
            lower[k], upper[k] = low + offsets[k], high + offsets[k]
        for j, low, high in stated:
            lower[j], upper[j] = max(lower[j], low), min(upper[j], high)
        return Ranges(lower, upper).met(self._space.domain)

    def stated(self, statement: Spatial) -> tuple[int, int]:
        """The stated interval of the working observable on the grid."""
        bits = self._space.bits
        low, high = floor_at(statement.lower, bits), ceil_at(statement.upper, bits)
        if self._space.head.geometry == "euclidean":
            return max(low, 0), max(high, 0)
        if self._space.head.geometry == "inner_product":
            return low, high
        least, greatest = self._space.norms[statement.prototype]
        return min(low * least, low * greatest) >> bits, ceil_shift(max(high * least, high * greatest), -bits)

    def _distances(self, stated: Sequence[tuple[int, int, int]], in_order: bool) -> tuple[Span, Reach]:
        """Of |z - p_k|^2, given stated ones (prototype, low, high)."""
        lift = self._space.lift
        widths = [high - low for _, low, high in stated]
        first = 0 if in_order else widths.index(min(widths))
        base, low_0, high_0 = stated[first]
        others = [i for i in range(len(stated)) if i != first]
        span = Span(
            self._gram,
            [stated[i][0] for i in others],
            base,
            noise=[widths[i] + widths[first] >> 2 for i in others],
            reach=high_0 << lift,
            in_order=in_order,
        )
        ends = [stated[others[i]][1:] for i in span.kept]
        squares = [span.gram[i][i] << lift for i in range(len(ends))]
        # 4 beta_i at its middle; sigma = X beta; rho^2, each distance at the end that its coefficient asks for.
        middles = [low_0 + high_0 - low - high + 2 * square for (low, high), square in zip(ends, squares, strict=True)]
        sigma = span.times(middles, lift + 2)
        terms = [
            ((1 << span.bits) - sum(sigma), low_0, high_0),
            *((s, *end) for s, end in zip(sigma, ends, strict=True)),
        ]
        distances = sum(s * (high if s > 0 else low) for s, low, high in terms)
        rho = (distances - dot(sigma, squares) << span.bits) + (span.form(sigma) << lift)
        # Twice sum tau_i (d_i^2 - d_0^2 - g_ii) - 2 <gamma, r>, at the middles; to it come d_0^2 and g_kk.
        weights = [low + high - low_0 - high_0 - 2 * square for (low, high), square in zip(ends, squares, strict=True)]
        return span, Reach(
            sigma,
            centre=span.row(weights, sigma, -4 << lift),
            shift=low_0 + high_0 >> 1,
            widths=[high - low for low, high in ends],
            base_width=high_0 - low_0,
            rho=4 * max(0, ceil_shift(rho, -2 * span.bits)),
            distances=True,
        )

    def _products(self, stated: Sequence[tuple[int, int, int]], in_order: bool) -> tuple[Span, Reach]:
        """Of <v, b_k>, given stated ones (prototype, low, high); |v|^2 <= space.reach."""
        space, lift = self._space, self._space.lift
        span = Span(
            self._gram,
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
        rho = (space.reach << 2 * span.bits) - (2 * beta << span.bits) + (span.form(sigma) << lift)
        return span, Reach(
            sigma,
            centre=span.row(middles, sigma, 2 << lift),
            shift=0,
            widths=[high - low for low, high in ends],
            base_width=0,
            rho=max(0, ceil_shift(rho, -2 * span.bits)),
            distances=False,
        )
