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
w_i q_i(y) >= w_i e_i. An upper end is minus a lower end of the form -q.

**Ball.** Let g = sum w_i b_i. If sum w_i a_i = 1 then |y - g|^2 <= sum w_i e_i + |g|^2, e_i the other ends. *Proof.*
The difference |y - g|^2 - |g|^2 = |y|^2 - 2 <y, g> is sum w_i q_i(y). If the sum is 0 instead, which w_0 can change
and g does not depend on, it is -2 <y, g>, which bounds 2 <y - g, g> = 2 <y, g> - 2 |g|^2.

This is weak duality: any weights are sound, so they come from code that need not be right (`weights`). The best ones
give the least value that latents of a space with a dimension to spare attain. All of it is exact in integers, but for
one division, which is rounded down.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import mul, sub
from typing import Any

from ...dyadic import ceil_shift, dot, floor_shift
from ..space import Chunk, Space

__all__ = ["Facts", "Target"]


@dataclass(frozen=True)
class Target:
    """A form a |y|^2 - 2 <y, b> to bound.

    Attributes:
        curve: a.
        square: |b|^2.
        products: <b, b_i> for every fact.
    """

    curve: int
    square: int
    products: Sequence[int]


class Facts:
    """The facts that the statements about one patch of a head with prototypes give.

    Attributes:
        curves: the a_i.
        vectors: the b_i; the first is 0.
        gram: the rows of all <b_i, b_j>.
        constants: <p_0, p_0>, and all <p_0, b_i> but the first.
        ends: (low, high) of every form, on the grid (`space`).

    Args:
        space: the head.
        stated: for each statement its prototype and the ends of its working observable, less the offset, on the grid.
    """

    def __init__(self, space: Space, stated: Sequence[tuple[int, int, int]]) -> None:
        self._space = space
        if space.head.geometry == "euclidean":
            first = min(range(len(stated)), key=lambda i: stated[i][2] - stated[i][1])  # the base
            stated = [stated[first], *stated[:first], *stated[first + 1 :]]
            self.origin = space.vectors[stated[0][0]]
            self.vectors = [list(map(sub, space.vectors[j], self.origin)) for j, _, _ in stated]
        else:
            self.origin = [0] * space.head.depth
            self.vectors = [self.origin, *(space.vectors[j] for j, _, _ in stated)]
        kernel = space.kernel
        rows = kernel.matrix(self.vectors)
        self._gram = kernel.product(rows, kernel.transposed(rows))
        self.gram = [list(map(int, row)) for row in kernel.rows(self._gram)]
        if space.head.geometry == "euclidean":
            self.curves = [1] * len(self.vectors)
            squares = [row[i] << space.lift for i, row in enumerate(self.gram)]
            self.ends = [(low - own, high - own) for (_, low, high), own in zip(stated, squares, strict=True)]
        else:
            self.curves = [1] + [0] * len(stated)
            self.ends = [(0, space.reach), *((-2 * high, -2 * low) for _, low, high in stated)]
        self._sides = [tuple(map(kernel.integer, each)) for each in self.ends]
        self.constants = [kernel.integer(dot(column, self.origin)) for column in (self.origin, *self.vectors[1:])]
        # Products with A_k, not with A_k - p_0: a constant among the factors makes all of them large, and slow.
        columns = [self.origin, *self.vectors[1:], [0] * space.head.depth]
        self._anchors = kernel.matrix([*zip(*columns, strict=True), [*[0] * len(self.vectors), 1]])

    def along(self, chunk: Chunk) -> Any:
        """For these prototypes the rows of <A_k, p_0>, all <A_k, b_i> but the first, and 1."""
        return self._space.kernel.product(chunk.extended, self._anchors)

    def square(self, square: int, first: int) -> int:
        """|b|^2 of a prototype's form, given <A_k, A_k> and <A_k, p_0>."""
        return square - 2 * first + self.constants[0]

    def targets(self, chunks: Iterable[Chunk]) -> list[Target]:
        """The forms of the observables of these prototypes."""
        kernel, found = self._space.kernel, []
        for chunk in chunks:
            rows = kernel.rows(self.along(chunk))
            for square, (first, *rest, _) in zip(chunk.squares, rows, strict=True):
                products = map(sub, rest, self.constants[1:])
                found.append(Target(self.curves[-1], self.square(square, first), [0, *products]))
        return found

    def target(self, curve: int, vector: Sequence[int]) -> Target:
        """The form with this vector."""
        return Target(curve, dot(vector, vector), [dot(vector, own) for own in self.vectors])

    def combination(self, shares: Mapping[int, int]) -> tuple[Target, int]:
        """The form of a combination of working observables: of distances, with the second number added; of products,
        minus half of the form, with that number added."""
        space = self._space
        rows = [(share, list(map(sub, space.vectors[k], self.origin))) for k, share in shares.items()]
        vector = [sum(share * row[d] for share, row in rows) for d in range(space.head.depth)]
        if self.curves[-1]:
            squares = sum(share * dot(row, row) for share, row in rows)
            return self.target(sum(shares.values()), vector), squares << space.lift
        return self.target(0, vector), sum(share * space.offsets[k] for k, share in shares.items())

    def centre(self, weights: Sequence[int], bits: int, places: int) -> list[int]:
        """p_0 + g, g = sum w_i b_i, at 2^-places, rounded down; the weights are at 2^-bits."""
        kernel = self._space.kernel
        column = [1 << bits, *weights[1:], 0]
        entries = kernel.rows(kernel.product(self._anchors, kernel.matrix([[entry] for entry in column])))
        return [int(floor_shift(entry, places - bits)) for (entry,) in entries[:-1]]

    def ball(self, weights: Sequence[int], bits: int) -> tuple[int, int]:
        """On the grid no less than |y - g|^2, and no less than |2 <y - g, g>|.

        Args:
            weights: of all facts, at 2^-bits; but the first, which is such that sum w_i a_i = 1, whatever it is.
        """
        rest = weights[1:]
        square = dot(rest, [dot(row[1:], rest) for row in self.gram[1:]]) << self._space.lift
        bent = dot(rest, self.curves[1:])
        _, most = self._value([(1 << bits) - bent, *rest])
        low, high = self._value([-bent, *rest])  # of -2 <y, g>
        lean = max(-(low << bits) - 2 * square, (high << bits) + 2 * square)
        far = (most << bits) + square
        return max(0, ceil_shift(far, -2 * bits)), max(0, ceil_shift(lean, -2 * bits))

    def _value(self, weights: Sequence[int]) -> tuple[int, int]:
        """The ends of sum w_i q_i(y)."""
        low = sum([w * (low if w > 0 else high) for w, (low, high) in zip(weights, self.ends, strict=True)])
        high = sum([w * (high if w > 0 else low) for w, (low, high) in zip(weights, self.ends, strict=True)])
        return low, high

    def least(self, targets: Sequence[Target], sign: int, weights: Sequence[Sequence[int]], bits: int) -> list[int]:
        """For each target a lower bound of `sign` times its form, on the grid.

        Args:
            targets: at least one.
            sign: 1 or -1.
            weights: for each target the weight of every fact, at 2^-bits. Where they give no bound, the first fact
                gives one.
        """
        kernel, lift, curved, found = self._space.kernel, self._space.lift, bool(self.curves[-1]), []
        matrix = kernel.matrix(weights)
        reached = kernel.rows(kernel.product(matrix, self._gram))
        for target, row, images in zip(targets, kernel.rows(matrix), reached, strict=True):
            curve = (sign * target.curve << bits) - (sum(row) if curved else row[0])
            if curve <= 0:
                row, images = [(sign * target.curve << bits) - (1 << bits), *[0] * (len(row) - 1)], [0] * len(row)
                curve = 1 << bits
            sides = sum([w * (low if w > 0 else high) for w, (low, high) in zip(row, self._sides, strict=True)])
            along = sum(map(mul, row, target.products))
            square = (target.square << 2 * bits) - (sign * along << bits + 1) + sum(map(mul, row, images))
            found.append((sides * curve - (square << lift)) // (curve << bits))
        return found
