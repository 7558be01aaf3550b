"""Coarse bounds for all prototypes at once, from few bits. They hold, and show which exact ones are not needed.

They bound the *closeness* of a patch to a prototype: minus the squared distance |z - p_k|^2, or the product <y, A_k>
(`facts`), so pooling over patches takes the greatest. About each patch a ball is known. Write A_k = 2^x (a_k + e_k),
a_k integers, every entry of e_k in [0, 1), so |e_k| < s, s an integer above the root of the depth; and the centre of
the ball as 2^x (c + e) or 2^-q (c + e) in the same way.

**Distances.** The radius is 2^x n. Then 2^-x |z - A_k| >= |c - a_k| - n - 2 s, by the triangle inequality.

**Products.** |y| <= R, the radius is 2^-q n, and |<y - g, g>| <= 2^-2q m, g the centre. With w = 2^q y - c we have
2^(q - x) <y, A_k> = <c, a_k> + <w, a_k> + 2^q <y, e_k>. The last term is at most 2^q R s. Let t = <c, a_k> / |c|^2;
then a_k - t c is perpendicular to c, and by Cauchy and Schwarz
    <w, a_k> = <w, a_k - t c> + t <w, c> <= (n + s) (|a_k|^2 - <c, a_k>^2 / |c|^2)^(1/2) + |t| (m + s n + s |c|),
because w = 2^q (y - g) + e and c = 2^q g - e, so that <w, c> = 2^2q <y - g, g> - 2^q <y - g, e> + <e, c>.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from ...dyadic import ceil_shift, dot
from ..space import Space

__all__ = ["Ball", "Coarse"]

_BITS = 26  # of an entry of a_k: squared distances then have less than 64 bits, unless there are many entries


@dataclass(frozen=True)
class Ball:
    """Where the latent of a patch is: no farther than `radius` from a point that, rounded down, is `centre`. About how
    near it may be to that point, and how far along the span of what is stated, nothing is proved. `lean` is no less
    than the product of that point and the way from it to the latent; for distances it does not matter."""

    centre: Sequence[int]
    radius: int
    lean: int
    near: int
    stray: int


class Coarse:
    """Coarse bounds for one head with prototypes.

    Attributes:
        places: the unit of centres is 2^-places times that of the A_k (distances) or 1 (products).
        lift: the unit of bounds is 2^lift on the grid.
    """

    def __init__(self, space: Space) -> None:
        self._kernel, self._smallest = space.kernel, space.head.geometry == "euclidean"
        drop = max(0, max(abs(entry) for row in space.vectors for entry in row).bit_length() - _BITS)  # x
        rows = [[entry >> drop for entry in row] for row in space.vectors]
        self._columns = self._kernel.matrix(list(zip(*rows, strict=True)))
        self._squares = [dot(row, row) for row in rows]
        self._lengths = [isqrt(square) + 1 for square in self._squares]
        self._longest = max(self._lengths)
        self._slack = isqrt(space.head.depth) + 1  # s
        self.places, self._edge = -drop, 0
        if not self._smallest:
            self.places = _BITS - (space.reach.bit_length() - space.lift >> 1)  # q
            self._edge = (isqrt(ceil_shift(space.reach, 2 * self.places - space.lift)) + 1) * self._slack
        self.lift = space.lift + drop - self.places

    def bounds(self, balls: Sequence[Ball]) -> tuple[list[list[int]], list[list[int]]]:
        """For every patch two rows: no less than its closeness to every prototype; and about the most that the low end
        of an exact range of it can be, of which nothing is proved."""
        kernel, most, hopes = self._kernel, [], []
        products = kernel.rows(kernel.product(kernel.matrix([ball.centre for ball in balls]), self._columns))
        for ball, row in zip(balls, products, strict=True):
            row, radius = list(map(int, row)), ball.radius + self._slack
            own = dot(ball.centre, ball.centre)
            doubt = 8 * self._slack * (isqrt(own) + radius + self._longest)
            if self._smallest:
                reach, least = radius + self._slack, doubt - ball.near * ball.near
                squares = [own + square - 2 * product for square, product in zip(self._squares, row, strict=True)]
                roots = list(map(isqrt, squares))
                most.append([-((root - reach) ** 2) if root > reach else 0 for root in roots])
                hopes.append([least - square for square in squares])
                if ball.stray > self._slack:
                    hopes[-1] = [hope + 2 * ball.stray * root for hope, root in zip(hopes[-1], roots, strict=True)]
            else:
                edge, stray, size = self._edge + 1, ball.stray, max(1, own)
                lean = ball.lean + self._slack * (ball.radius + isqrt(own) + 1)
                most.append(
                    [
                        p + radius * (isqrt(square - p * p // size) + 1) + abs(p) * lean // size + edge
                        for p, square in zip(row, self._squares, strict=True)
                    ]
                )
                hopes.append([p + stray * length + doubt for p, length in zip(row, self._lengths, strict=True)])
        return most, hopes
