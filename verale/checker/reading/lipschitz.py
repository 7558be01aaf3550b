"""The Lipschitz rule: what is known of one activation bounds the others (pooling max; distances and cosines).

x_j stands for the pooled observable of prototype j, the least squared distance or the greatest cosine over the patches.
So a_j = S_j(x_j) for a similarity S_j that falls with distances and rises with cosines, not always strictly.

**Inverse.** If S_k(t) > high and a_k <= high, then x_k is on the far side of t: x_k > t for distances, x_k < t for
cosines. If S_k(t) < low and a_k >= low, then it is on the near side. *Proof.* Otherwise S_k(x_k) >= S_k(t), or <=. So
x_k is bounded by where S_k is high, and low (`chain`).

**Distances.** Let D = |p_j - p_k|^2.
    x_k >= t > D implies x_j >= t + D - 2 (t D)^(1/2);    x_k <= t implies x_j <= t + D + 2 (t D)^(1/2).
*Proof.* |x_j^(1/2) - x_k^(1/2)| <= D^(1/2), as the patch z nearest to p_k has x_j^(1/2) <= |z - p_j| <= x_k^(1/2) +
D^(1/2), and likewise with j and k exchanged. The squares of t^(1/2) -+ D^(1/2) are what is written.

**Cosines.** Let -1 <= c <= <p_j, p_k> / (|p_j| |p_k|) and -1 <= t <= 1.
    x_k <= t < c implies x_j <= c t + ((1 - c^2)(1 - t^2))^(1/2);
    x_k >= t > -c implies x_j >= c t - ((1 - c^2)(1 - t^2))^(1/2).
*Proof.* The u of a patch (`space`) has |u| <= 1. One coordinate more, 0 in every prototype, gives it the length 1 and
changes no product, so cosines are those of angles on a sphere, where angles are a metric. Let C = arccos c, which is at
least the angle of p_j and p_k, and T = arccos t. In the first case every u is at an angle of at least T from p_k, hence
of at least T - C > 0 from p_j. In the second, one u is at an angle of at most T from p_k, hence of at most T + C < pi
from p_j. The cosines of T - C and T + C are what is written.

Both are written for the *dissimilarity* y, x of distances and -x of cosines, so that every similarity falls with y.

**Inward.** Minimality needs ends within the reference ranges, so every end of x_k is one where S_k is certainly as
stated, D is exact, c is rounded up, and all that is computed of them is rounded to the other side. *Proof.* Each end of
x_j above is monotone in t, and with a smaller angle C it moves inward. An end of x_k where S_k is certainly as stated
lies within the range of x_k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import TypeAlias

from ..dyadic import ceil_shift, dot, quotient, sqrt_ends
from .pooling import Pooling
from .space import Box, Space

Stated: TypeAlias = Sequence[tuple[int | None, int | None]]
"""What is stated of each activation; None of a side of which nothing is."""


Named: TypeAlias = tuple[Set[int], Set[int], Set[int]]
"""Prototypes whose range bounds all others, those whose upper end the others' upper ends bound, and of lower ends."""

_Most: TypeAlias = list[int | None]
_Ends: TypeAlias = dict[int, int | None]
"""An end of y of some prototypes; None is infinite."""


class _NotShownError(Exception):
    """No observable was found at which a similarity is certainly as stated."""


class Lipschitz:
    """What the activations of one head say of each other. Its similarity is monotone, its pooling is max."""

    def __init__(self, space: Space) -> None:
        self._space, self._pooling = space, Pooling(space)
        self._distances = space.head.geometry == "euclidean"
        self._one = 1 << space.bits
        self._least = 0 if self._distances else -self._one
        self._most: Sequence[int | None] = [self._one] * space.head.count
        if self._distances:
            self._most = space.domain.upper or [None] * space.head.count

    def cut(self, box: Box, named: Named) -> Box:
        """Ranges that enclose all activations, cut by what some of them say of others. Any choice is sound."""
        stated, above, below = named
        every = range(len(box.lower))
        near: _Ends = {k: self._inverse(k, box.upper[k])[0] for k in (every if above else stated)}
        far: _Ends = {k: self._inverse(k, box.lower[k])[1] for k in (every if below else stated)}
        return self._spread(box, [self._least] * len(every), list(self._most), near, far, named)

    def cut_inward(self, box: Box, ends: Stated, named: Named) -> Box | None:
        """The same of ranges that certainly lie within the reference ranges; None where that is not shown.

        Args:
            ends: what is stated of each activation, rounded inward.
        """
        within = self._space.within
        if within is None or not any(named):
            return box if within is not None else None
        stated, above, below = named
        highest = [None] * len(ends) if within.upper is None else within.upper
        if self._distances:
            least, most = within.lower.copy(), list(highest)
        else:
            least, most = [-(end or 0) for end in highest], [-end for end in within.lower]
        every = range(len(ends)) if above or below else stated
        try:
            near: _Ends = {k: self._certain(k, least[k], most[k], ends[k][1], 1) for k in every}
            far: _Ends = {k: self._certain(k, most[k], least[k], ends[k][0], -1) for k in every}
        except _NotShownError:
            return None
        return self._spread(box, least, most, near, far, named, inward=True)

    def _spread(
        self, box: Box, least: list[int], most: _Most, near: _Ends, far: _Ends, named: Named, inward: bool = False
    ) -> Box:
        """The box, cut by where stated ends of y, lower ones in `near` and upper ones in `far`, put all y; `least` and
        `most` are their ends over the domain."""
        stated, above, below = named
        for i in sorted(stated | above | below):
            self._space.arithmetic.clock.look()
            for k, link in enumerate(self._links(i, inward)):
                if i == k:
                    continue
                if i in stated:
                    least[k] = self._raised(least[k], near[i], link, inward)
                    most[k] = self._lowered(most[k], far[i], link, inward)
                if i in above:
                    least[i] = self._raised(least[i], near[k], link, inward)
                if i in below:
                    most[i] = self._lowered(most[i], far[k], link, inward)
        highs, lows = enumerate(zip(box.upper, least, strict=True)), enumerate(zip(box.lower, most, strict=True))
        upper = [min(high, self._at(y, j)[not inward]) for j, (high, y) in highs]
        lower = [low if y is None else max(low, self._at(y, j)[inward]) for j, (low, y) in lows]
        return replace(box, lower=lower, upper=upper)

    def _certain(self, k: int, first: int | None, last: int | None, end: int | None, towards: int) -> int | None:
        """The first y_k on the way from one end of the domain to the other at which S_k is certainly as stated: at most
        `end` on the way up, at least `end` on the way down; about the first. None is infinite.

        Raises:
            _NotShownError: none is found.
        """

        def holds(y: int | None) -> bool:
            if y is None:
                return end is None or end <= 0  # only similarities above 0 have a domain without an end
            low, high = self._at(y, k)
            return end is None or (high <= end if towards > 0 else low >= end)

        if holds(first):
            return first
        if end is None:
            raise _NotShownError
        about = self._space.head.similarity.inverse(self._space.arithmetic, k, end, self._space.bits)
        ends = sorted((each if self._distances else -each for each in about if each is not None), key=towards.__mul__)
        if ends:
            ends += [ends[-1] + (towards << step) for step in range(self._space.bits)]
        for y in ends:
            if first is not None and y * towards < first * towards:
                continue
            if last is not None and y * towards > last * towards:
                break
            if holds(y):
                return y
        if last is not None and holds(last):
            return last
        raise _NotShownError

    def _inverse(self, k: int, activation: int) -> tuple[int, int | None]:
        """A lower bound of y_k where a_k is at most this, and an upper one where it is at least this; None if there is
        none."""
        low, high = self._space.head.similarity.inverse(self._space.arithmetic, k, activation, self._space.bits)
        if not self._distances:
            low, high = (None if end is None else -end for end in (high, low))
        most, least = self._most[k], self._least
        low = least if low is None else max(least, low)
        return low if most is None else min(low, most), None if high is None else max(least, high)

    def _at(self, y: int, k: int) -> tuple[int, int]:
        """The similarity with prototype k where the dissimilarity is y."""
        return self._pooling.at(k, y if self._distances else -y)

    def _links(self, i: int, inward: bool = False) -> Iterator[int]:
        """For every prototype D, or c rounded down; inward, c rounded up."""
        space = self._space
        products = [dot(space.vectors[i], vector) for vector in space.vectors]
        if self._distances:
            for product, square in zip(products, space.squares, strict=True):
                yield space.squares[i] + square - 2 * product << space.lift
        else:
            least, greatest = space.norms[i]
            for product, (low, high) in zip(products, space.norms, strict=True):
                if inward:
                    norms = least * low if product > 0 else greatest * high
                    yield min(self._one, quotient(product << 3 * space.bits, norms, True))
                else:
                    norms = greatest * high if product > 0 else least * low
                    yield max(-self._one, (product << 3 * space.bits) // norms)

    def _raised(self, known: int, y: int | None, link: int, inward: bool = False) -> int:
        """A lower bound of y_j, given one of y_j and one of y_k; inward, no less than what follows."""
        if y is None:
            return known
        if self._distances:
            # What the rule gives is at most y - D, and nothing where that is negative.
            return known if y - link <= known else max(known, y + link - 2 * sqrt_ends(y * link)[not inward])
        if y + link <= 0:
            return known
        new = y * link - self._across(y, link, not inward)
        return max(known, ceil_shift(new, -self._space.bits) if inward else new >> self._space.bits)

    def _lowered(self, known: int | None, y: int | None, link: int, inward: bool = False) -> int | None:
        """An upper bound of y_j, given one of y_j and one of y_k; inward, no more than what follows."""
        if y is None:
            return known
        if self._distances:
            if known is not None and y + link >= known:
                return known
            new = y + link + 2 * sqrt_ends(y * link)[not inward]
        elif y < link:
            new = y * link + self._across(y, link, not inward)
            new = new >> self._space.bits if inward else ceil_shift(new, -self._space.bits)
        else:
            return known
        return new if known is None else min(known, new)

    def _across(self, y: int, c: int, up: bool) -> int:
        """((1 - c^2)(1 - y^2))^(1/2), rounded up or down, in the unit of y c."""
        square = self._one * self._one
        return sqrt_ends((square - c * c) * (square - y * y))[up]
