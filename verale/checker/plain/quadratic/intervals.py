"""The intervals of the working observables that the statements about one patch give, on the grid; ends may be missing.

In the place of a missing end stands one that every y of the space keeps which satisfies the statements (certificates/
v1.md, "Reference ranges"). So nothing changes: neither what follows, nor which points satisfy all of it.

**Products.** |<v, p_j>| <= R |p_j|, v = y - c, in a ball about c. *Proof.* Cauchy and Schwarz. And no distance is less
than 0.

**Near.** If |y - p_i|^2 <= h then |y - p_j|^2 <= (h^(1/2) + |p_i - p_j|)^2. *Proof.* The triangle inequality.

**Far.** No distance has an upper end. Let M be any number, h_j = (M^(1/2) + r_j)^2, and r_j no less than any
|p_j - p_k|. If |y - p_k|^2 >= L_k follows from the lower ends and from |y - p_j|^2 <= h_j for all stated j, then
|y - p_k|^2 >= min(L_k, M) follows from the lower ends alone. *Proof.* If not all |y - p_j|^2 <= h_j, then |y - p_j| >
M^(1/2) + r_j for some j, and |y - p_k| >= |y - p_j| - |p_j - p_k| > M^(1/2).
M is the greatest lower end that is stated. Then nothing is lost: in a space with a dimension to spare, the point at
the height M^(1/2) above p_k satisfies all lower ends. No upper end follows of any distance: far away all lower ends
hold. Points that keep the h_j satisfy more than is stated, so what they reach is in reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isqrt

from ...certificate import PatchStatement
from ...dyadic import ceil_at, ceil_shift, dot, floor_at
from ...head import COSINES
from ..space import Space

__all__ = ["far", "intervals", "most_stated"]


def far(space: Space, statements: Sequence[PatchStatement]) -> bool:
    """Whether the statements about a patch are distances without upper ends."""
    return space.head.geometry == "euclidean" and all(statement.upper is None for statement in statements)


def most_stated(space: Space, statements: Sequence[PatchStatement]) -> int:
    """M, rounded up."""
    return max([0, *(ceil_at(s.lower, space.bits) for s in statements if s.lower is not None)])


def intervals(space: Space, statements: Sequence[PatchStatement], inward: bool = False) -> list[tuple[int, int]]:
    """For each statement about a patch the interval of its working observable. Stated ends are rounded outward, or
    inward. Where the statements are `far`, the upper ends are the h_j."""
    bits, geometry = space.bits, space.head.geometry
    lowest, highest = (ceil_at, floor_at) if inward else (floor_at, ceil_at)
    least: list[int] = []
    most: list[int | None] = []
    for s in statements:
        low = None if s.lower is None else lowest(s.lower, bits)
        high = None if s.upper is None else highest(s.upper, bits)
        if geometry == "euclidean":
            least.append(max(low or 0, 0))
            most.append(high if inward or high is None else max(high, 0))
            continue
        if geometry in COSINES:
            norm = space.norms[s.prototype]
            low = None if low is None else _scaled(low, norm, bits, inward)
            high = None if high is None else _scaled(high, norm, bits, not inward)
        middle = space.offsets[s.prototype]
        reach = isqrt(space.reach * space.squares[s.prototype] << space.lift) + 1
        least.append(middle - reach if low is None else low)
        most.append(middle + reach if high is None else high)
    return list(zip(least, _completed(space, statements, most), strict=True))


def _scaled(end: int, norm: tuple[int, int], bits: int, up: bool) -> int:
    """An end of a cosine times |A|, which lies between the two norms; rounded up or down."""
    products = [end * each for each in norm]
    return ceil_shift(max(products), -bits) if up else min(products) >> bits


def _completed(space: Space, statements: Sequence[PatchStatement], most: Sequence[int | None]) -> list[int]:
    """These upper ends, those that are missing by `near`, or if all are, the h_j."""
    known = [(high, s.prototype) for high, s in zip(most, statements, strict=True) if high is not None]
    if not known:
        height, longest = most_stated(space, statements), _length(space, space.longest**2)
        return [_moved(space, height, _length(space, space.squares[s.prototype]) + longest) for s in statements]
    nearest, i = min(known)

    def near(j: int) -> int:
        between = [a - b for a, b in zip(space.vectors[i], space.vectors[j], strict=True)]
        return _moved(space, max(0, nearest), _length(space, dot(between, between)))

    return [near(s.prototype) if high is None else high for high, s in zip(most, statements, strict=True)]


def _moved(space: Space, square: int, length: int) -> int:
    """(square^(1/2) + length)^2, rounded up."""
    return ceil_shift((isqrt(square << space.bits) + 1 + length) ** 2, -space.bits)


def _length(space: Space, square: int) -> int:
    """No less than the length of a vector, given its square in the unit of prototypes."""
    return isqrt(square << space.lift + space.bits) + 1
