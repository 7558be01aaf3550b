"""Coarse ranges of all prototypes at once, from few bits. They hold, and show which exact ranges are not needed.

They bound the *closeness* of a patch to a prototype: minus the squared distance |z - p_k|^2, or the product
<v, b_k> (`projection`), so pooling over patches takes the greatest. The statements give a point f, the foot, and
the ends of |t|, t = z - f or v - f, in the unit of the A_k (`space`). Write A_k = 2^x (a_k + e_k), a_k integers, every
entry of e_k in [0, 1), so |e_k| < s, s an integer above the root of the depth.

**Distances.** Let c be 2^-x f rounded down and y = |c - a_k|. Then 2^-x (z - A_k) = c - a_k + w with
w = 2^-x t + (2^-x f - c) - e_k. The last two terms are shorter than s, so |w| lies in [n, m],
n = 2^-x min |t| - 2 s or 0, m = 2^-x max |t| + 2 s, and by Cauchy and Schwarz
    2^-2x |z - A_k|^2 = y^2 + |w|^2 + 2 <w, c - a_k>  lies in  [y^2 + n^2 - 2 m y, y^2 + m^2 + 2 m y].

**Products.** |v| <= R. Let c be 2^q f rounded down: 2^q v = c + w, |w| <= m = 2^q max |t| + s, and
    2^(q - x) <v, A_k> = <c, a_k> + <w, a_k> + 2^q <v, e_k>  lies within  m |a_k| + 2^q R s  of  <c, a_k>.

**Swings.** -|z - A_k|^2 = -|t|^2 - |f - A_k|^2 - 2 <t, f - A_k>, and <v, A_k> = <f, A_k> + <t, A_k>. The last
term is at most swing + stray, with a swing for each k (`span`). In the coarse unit |f - A_k|^2 differs from y^2 by
at most 4 s y + 4 s^2, and <f, A_k> from <c, a_k> by at most s |a_k| + s (|c| + s); 8 s (|c| + m + max |a_k|), with |c|
rounded down, is more than either. The mirror image of t at the span satisfies the same statements, so the low end of an
exact range is at most the closeness without a swing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from ...dyadic import ceil_shift, dot, floor_shift
from ...kernel import Kernel

__all__ = ["Bound", "Coarse", "Foot"]

_BITS = 26  # of an entry of a_k: squared distances then have less than 64 bits, unless there are many entries


@dataclass(frozen=True)
class Foot:
    """What is known about a latent: the foot at 2^-places; on the grid the ends of |t|^2, and the stray."""

    at: Sequence[int]
    near: int
    far: int
    stray: int


@dataclass(frozen=True)
class Bound:
    """Ranges of the closeness to every prototype, in the coarse unit.

    Attributes:
        low, high: the ends.
        peak: no less than the low ends of the exact ranges, which affects only how tight bounds are.
        beside: the closeness lies in [peak - beside - swing, peak + swing].
    """

    low: list[int]
    high: list[int]
    peak: list[int]
    beside: int


class Coarse:
    """Coarse ranges for one head.

    Args:
        vectors: the A_k.
        kernel: for matrix products.
        lift: <A_j, A_k> << lift is on the grid.
        reach: R^2 on the grid; None for distances.

    Attributes:
        places: the unit of feet is 2^-places; q, or -x for distances.
        lift: the coarse unit is 2^lift on the grid.
    """

    def __init__(self, vectors: Sequence[Sequence[int]], kernel: Kernel, lift: int, reach: int | None) -> None:
        self._kernel, self._reach = kernel, reach
        drop = max(0, max(abs(entry) for vector in vectors for entry in vector).bit_length() - _BITS)  # x
        rows = [[entry >> drop for entry in vector] for vector in vectors]
        self._columns = kernel.matrix(list(zip(*rows, strict=True)))
        self._squares = [dot(row, row) for row in rows]
        self._lengths = [isqrt(square) + 1 for square in self._squares]
        self._slack = isqrt(len(vectors[0])) + 1  # s
        self.places = -drop if reach is None else _BITS - (reach.bit_length() - lift >> 1)
        self.lift = lift + drop - self.places
        self._drop = lift - 2 * self.places  # squares: 2^drop of the grid is 1 in the unit of feet

    def bounds(self, feet: Sequence[Foot]) -> list[Bound]:
        """For every foot the closeness to every prototype."""
        kernel = self._kernel
        bound = self._distances if self._reach is None else self._products
        products = kernel.rows(kernel.product(kernel.matrix([foot.at for foot in feet]), self._columns))
        return [bound(foot, list(map(int, row))) for foot, row in zip(feet, products, strict=True)]

    def _distances(self, foot: Foot, products: Sequence[int]) -> Bound:
        far = self._root(foot.far) + 2 * self._slack
        near = max(0, isqrt(floor_shift(foot.near, -self._drop)) - 2 * self._slack)
        own, most, least = dot(foot.at, foot.at), far * far, near * near
        squares = [own + square - 2 * product for square, product in zip(self._squares, products, strict=True)]
        swings = [2 * far * (isqrt(square) + 1) for square in squares]
        doubt = self._doubt(foot, far)
        peak = doubt - least
        return Bound(
            [-most - square - swing for square, swing in zip(squares, swings, strict=True)],
            [swing - square - least for square, swing in zip(squares, swings, strict=True)],
            [peak - square for square in squares],
            2 * doubt + most - least,
        )

    def _products(self, foot: Foot, products: Sequence[int]) -> Bound:
        far = self._root(foot.far) + self._slack
        edge = self._root(self._reach or 0) * self._slack
        swings = [far * length + edge for length in self._lengths]
        doubt = self._doubt(foot, far)
        return Bound(
            [product - swing for product, swing in zip(products, swings, strict=True)],
            [product + swing for product, swing in zip(products, swings, strict=True)],
            [product + doubt for product in products],
            2 * doubt,
        )

    def _root(self, square: int) -> int:
        """More than the root, in the unit of feet."""
        return isqrt(ceil_shift(square, -self._drop)) + 1

    def _doubt(self, foot: Foot, far: int) -> int:
        """More than the stray and all roundings in a middle."""
        rounded = 8 * self._slack * (isqrt(dot(foot.at, foot.at)) + far + max(self._lengths))
        return rounded + ceil_shift(foot.stray, -self.lift)
