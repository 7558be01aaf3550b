"""What is known about one patch, and the one rule that bounds everything else about it.

y stands for what the statements of a patch speak of, relative to an origin: z - p_0 with euclidean distances, p_0 the
prototype of one statement, the base; u = z / (|z| + E) or z / (|z|^2 + E)^(1/2) with cosines; z - c with inner
products, c the centre of the ball that holds the domain. A **form** is q(y) = a |y|^2 - 2 <y, b>. A **fact** is a form
whose value is known to lie in [low, high]:

| known | a | b | value |
|---|---|---|---|
| d_i^2 = |z - p_i|^2 | 1 | p_i - p_0 | d_i^2 - |b|^2 |
| x_i = <y, A_i> | 0 | A_i | -2 x_i |
| |y| <= R, of cosines and inner products | 1 | 0 | from 0 to R^2 |

**Rule.** Let q be a form, the target, w any real weights of the facts q_i, and A = a - sum w_i a_i > 0. Then
    q(y) >= sum w_i e_i - |b - sum w_i b_i|^2 / A,   e_i = low_i where w_i > 0, else high_i.
*Proof.* With Q = b - sum w_i b_i, q(y) - sum w_i q_i(y) = A |y|^2 - 2 <y, Q> = A |y - Q / A|^2 - |Q|^2 / A, and
w_i q_i(y) >= w_i e_i.

This is weak duality: any weights are sound, so they come from code that need not be right (`weights`). The best ones
give the least value that latents of a space with a dimension to spare attain. All of it is exact in integers, but for
one division, which is rounded down.

**Targets** are combinations sum s_k m_k of working observables, with integers s_k. Of distances this is the form with
a = sum s_k and b = sum s_k (p_k - p_0), and the constant sum s_k |p_k - p_0|^2. Of products it is half of the form with
a = 0 and b = - sum s_k A_k, and the constant sum s_k <c, p_k>. An upper end is minus the lower end of the combination
with all -s_k.

The intervals of the working observables that the statements about one patch give, on the grid; ends may be missing.

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

**A ball** that holds a patch's latent says something of every observable: less than the best weights do, but of all of
them at once. Let g = sum v_i b_i, and e_j = sum l_ji b_i be nearly orthonormal: in no row do
the sizes of <e_i, e_j> - [i = j] sum to more than h. Let |<y - g, e_j>| <= d_j and |y - g| <= R for every y that
satisfies the facts.

**Rule.** For every vector b, with f_j = <b, e_j>,
    |<y, b> - <g, b>| <= |d| |f| + R (|b|^2 - |f|^2 + h |f|^2)^(1/2).
*Proof.* Let r = b - sum f_j e_j. Then <y - g, b> = sum f_j <y - g, e_j> + <y - g, r>, where the sum is at most |d| |f|
and the rest at most R |r| (Cauchy and Schwarz). And |r|^2 = |b|^2 - 2 |f|^2 + |sum f_j e_j|^2, where the last term is
at most (1 + h) |f|^2: the matrix of the <e_i, e_j> has no eigenvalue greater than its greatest row sum of sizes.

**Facts** say where y is. As b_0 = 0 and a_0 = 1, |y|^2 lies in [low_0, high_0], and 2 <y, b_i> = a_i |y|^2 - q_i(y) in
[a_i low_0 - high_i, a_i high_0 - low_i]. So each |<y - g, b_i>| is bounded, and with it d_j, the sum of these bounds
times |l_ji|; and |y - g|^2 = |y|^2 - sum v_i 2 <y, b_i> + |g|^2.

Any v and l are sound, so they come from code that need not be right (`weights`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from operator import sub
from typing import TypeAlias

from ..arithmetic import Rows
from ..certificate import ActivationStatement, FloorStatement, OrderStatement, PatchStatement, Statement, SumStatement
from ..dyadic import ceil_at, ceil_shift, dot, floor_at, floor_shift
from ..read.similarities import COSINES
from .space import Space

OfActivations: TypeAlias = ActivationStatement | OrderStatement | FloorStatement


@dataclass(frozen=True)
class Target:
    """A combination of working observables: the form a |y|^2 - 2 <y, b>, or half of it, and a constant.

    Attributes:
        curve: a.
        square: |b|^2.
        products: <b, b_i> for every fact.
        constant: on the grid.
        shares: the s_k.
    """

    curve: int
    square: int
    products: list[int]
    constant: int
    shares: Mapping[int, int]


class Facts:
    """The facts that the statements about one patch of a head with prototypes give.

    Attributes:
        distances: whether they are of distances; else of products.
        curves: the a_i.
        vectors: the b_i; the first is 0.
        gram: the rows of all <b_i, b_j>.
        intervals: of the working observables, in the order of the statements.
        ends: (low, high) of every form, on the grid (`space`).
        lift: `<b_i, b_j> << lift` is on the grid.
        parts: how many parts of this kind a form has: 1 of distances, 2 of products.

    Args:
        space: the head.
        statements: those about the patch, at least one.
        inward: whether the ends are rounded inward.
    """

    def __init__(self, space: Space, statements: Sequence[PatchStatement], inward: bool = False) -> None:
        self._space, self.lift = space, space.lift
        self.look = space.arithmetic.clock.look
        self.distances = space.head.geometry == "euclidean"
        self.parts = 1 if self.distances else 2
        self.intervals = intervals(space, statements, inward)
        stated = list(zip((s.prototype for s in statements), self.intervals, strict=True))
        if self.distances:
            stated.sort(key=lambda pair: pair[1][1] - pair[1][0])  # the first is the base
        own = [j for j, _ in stated]
        self._columns = space.products(own)
        if self.distances:
            base = self._columns[0]
            self._origin, square = space.vectors[own[0]], base[own[0]]
            self._moved = [base[j] - square for j in own]
            self.vectors = [list(map(sub, space.vectors[j], self._origin)) for j in own]
            self.curves = [1] * len(own)
            rows = [(base[j], [column[j] for column in self._columns]) for j in own]
            self.gram = [[x - at - y for x, y in zip(row, self._moved, strict=True)] for at, row in rows]
            squares = [row[i] << self.lift for i, row in enumerate(self.gram)]
            self.ends = [(low - own, high - own) for (_, (low, high)), own in zip(stated, squares, strict=True)]
        else:
            self._origin = [0] * space.head.depth
            self.vectors = [self._origin, *(space.vectors[j] for j in own)]
            self.curves = [1] + [0] * len(own)
            self.gram = [[0] * len(self.vectors), *([0, *(column[j] for column in self._columns)] for j in own)]
            reach = space.least_reach if inward else space.reach
            ends = [(-2 * (high - space.offsets[j]), -2 * (low - space.offsets[j])) for j, (low, high) in stated]
            self.ends = [(0, reach), *ends]

    def target(self, shares: Mapping[int, int]) -> Target:
        """The combination with these shares, at least one, of observables."""
        self.look()
        weights, curve = shares.values(), sum(shares.values()) if self.distances else 0
        products = [dot(weights, [column[k] for k in shares]) for column in self._columns]
        if self.distances:
            products = [x - products[0] - curve * y for x, y in zip(products, self._moved, strict=True)]
        else:
            products = [0, *(-entry for entry in products)]
        if len(shares) == 1:
            square = sum(share * share * self.squares[k] for k, share in shares.items())
        else:
            vector = self.vector(shares)
            square = dot(vector, vector)
        return Target(curve, square, products, sum(share * self.constants[k] for k, share in shares.items()), shares)

    def vector(self, shares: Mapping[int, int]) -> list[int]:
        """b of the combination with these shares."""
        rows = [list(map(sub, self._space.vectors[k], self._origin)) for k in shares]
        return [
            dot(shares.values(), row) if self.distances else -dot(shares.values(), row)
            for row in zip(*rows, strict=True)
        ]

    @cached_property
    def squares(self) -> list[int]:
        """|b|^2 of every observable."""
        own = self._space.squares
        if not self.distances:
            return own
        square = dot(self._origin, self._origin)
        return [each - 2 * entry + square for each, entry in zip(own, self._columns[0], strict=True)]

    @cached_property
    def constants(self) -> list[int]:
        """What every observable adds to its form, or to half of it, on the grid."""
        return [each << self.lift for each in self.squares] if self.distances else self._space.offsets

    def sums(self, rows: Rows) -> Rows:
        """For each row of weights of the facts, and every observable, sum w_i <b, b_i>. Of products b is the
        observable's vector A_k."""
        arithmetic = self._space.arithmetic
        if not self.distances:
            return arithmetic.product(arithmetic.matrix([row[1:] for row in rows]), self._columns)
        # <b_k, b_i> = <p_k, p_i> - <p_k, p_0> - <p_i, p_0> + |p_0|^2
        products = arithmetic.product(arithmetic.matrix([[-sum(row[1:]), *row[1:]] for row in rows]), self._columns)
        moved = [dot(row, self._moved) for row in rows]
        return [[entry - less for entry in row] for row, less in zip(products, moved, strict=True)]

    def least(self, target: Target, weights: Sequence[int], bits: int, images: Sequence[int] = ()) -> int:
        """A lower bound of a combination, on the grid.

        Args:
            target: the combination.
            weights: of every fact, at 2^-bits. Where they give no bound, the first fact gives one.
            images: `gram` times the weights, where that is known.
        """
        curve = (target.curve << bits) - dot(weights, self.curves)
        if curve <= 0:
            weights, curve = [(target.curve - 1) << bits, *[0] * (len(self.curves) - 1)], 1 << bits
            images = [0] * len(weights)  # the first vector is 0
        sides = dot(weights, [low if w > 0 else high for w, (low, high) in zip(weights, self.ends, strict=True)])
        images = images or [dot(row, weights) for row in self.gram]
        square = (target.square << 2 * bits) - (dot(weights, target.products) << bits + 1) + dot(weights, images)
        form = (sides * curve - (square << self.lift)) // (curve << bits)
        return form // self.parts + target.constant


def by_patch(statements: Sequence[Statement]) -> tuple[dict[int, list[PatchStatement]], list[OfActivations]]:
    """The statements about each patch, and those about activations, one by one."""
    groups: dict[int, list[PatchStatement]] = {}
    others: list[OfActivations] = []
    for statement in statements:
        if isinstance(statement, PatchStatement):
            groups.setdefault(statement.patch, []).append(statement)
        elif not isinstance(statement, SumStatement):
            others.append(statement)
    return groups, others


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


@dataclass(frozen=True)
class Frame:
    """The foot g = sum v_i b_i, v_i at 2^-`foot_places`, and the vectors e_j = sum l_ji b_i, l_ji at 2^-`places`."""

    foot: list[int]
    foot_places: int
    basis: Rows
    places: int


def enclosures(facts: Facts, frame: Frame) -> list[tuple[int, int]]:
    """The range of every working observable, on the grid."""
    facts.look()
    lift, below, places = facts.lift, frame.foot_places, frame.places
    (least, most), basis = facts.ends[0], frame.basis
    # 2 <y, b_i> and 2 <g, b_i>, on the grid.
    twice = [(a * least - high, a * most - low) for a, (low, high) in zip(facts.curves, facts.ends, strict=True)]
    twice[0] = 0, 0
    feet = [dot(row, frame.foot) for row in facts.gram]
    off = [
        max(0, high - floor_shift(foot, lift + 1 - below), ceil_shift(foot, lift + 1 - below) - low)
        for (low, high), foot in zip(twice, feet, strict=True)
    ]
    parts = sum([v * (low if v > 0 else high) for v, (low, high) in zip(frame.foot, twice, strict=True)])
    square = most - floor_shift(parts, -below) + ceil_shift(dot(frame.foot, feet), lift - 2 * below)
    radius = isqrt(max(0, square) << lift) + 1  # R, at 2^-lift of the grid
    across = isqrt(sum([dot(map(abs, row), off) ** 2 for row in basis])) + 1  # |d|, at 2^-(places + 1) of the grid
    images, excess = [[dot(row, vector) for row in facts.gram] for vector in basis], 0  # h, at 2^-(2 places)
    for j, vector in enumerate(basis):
        facts.look()
        products = [dot(vector, image) for image in images]
        products[j] -= 1 << 2 * places
        excess = max(excess, sum(map(abs, products)))
    *along, middles = facts.sums([*basis, frame.foot])
    ranges = []
    for k, (middle, *shares) in enumerate(zip(middles, *along, strict=True)):  # |f| and |r| are at 2^-places
        share = dot(shares, shares)
        rest = (facts.squares[k] << 2 * places) - share - (-share * excess >> 2 * places)
        half = across * (isqrt(share) + 1) + (radius * (isqrt(max(0, rest)) + 1) << places + 1)
        half = ceil_shift(half, -2 * places - 1)
        low, high = floor_shift(middle, lift - below) - half, ceil_shift(middle, lift - below) + half
        if facts.distances:  # |y|^2 - 2 <y, b> + |b|^2
            low, high = least - 2 * high, most - 2 * low
        ranges.append((low + facts.constants[k], high + facts.constants[k]))
    return ranges
