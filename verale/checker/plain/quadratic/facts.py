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

This is weak duality: any weights are sound, so they come from code that need not be right (`dual`). The best ones
give the least value that latents of a space with a dimension to spare attain. All of it is exact in integers, but for
one division, which is rounded down.

**Targets** are combinations sum s_k m_k of working observables, with integers s_k. Of distances this is the form with
a = sum s_k and b = sum s_k (p_k - p_0), and the constant sum s_k |p_k - p_0|^2. Of products it is half of the form with
a = 0 and b = - sum s_k A_k, and the constant sum s_k <c, p_k>. An upper end is minus the lower end of the combination
with all -s_k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import sub

from ...certificate import PatchStatement
from ...dyadic import dot
from ..space import Space
from .intervals import intervals

__all__ = ["Facts", "Target"]


@dataclass(frozen=True)
class Target:
    """A combination of working observables: the form a |y|^2 - 2 <y, b>, or half of it, and a constant.

    Attributes:
        curve: a.
        vector: b.
        square: |b|^2.
        products: <b, b_i> for every fact.
        constant: on the grid.
    """

    curve: int
    vector: list[int]
    square: int
    products: list[int]
    constant: int


class Facts:
    """The facts that the statements about one patch of a head with prototypes give.

    Attributes:
        curves: the a_i.
        vectors: the b_i; the first is 0.
        gram: the rows of all <b_i, b_j>.
        stated: the prototypes of the statements, in the order of the facts.
        intervals: of the working observables, in the order of the statements.
        ends: (low, high) of every form, on the grid (`space`).
        lift: `<b_i, b_j> << lift` is on the grid.
        work: what a proof may still take.
        parts: how many parts of this kind a form has: 1 of distances, 2 of products.

    Args:
        space: the head.
        statements: those about the patch, at least one.
        inward: whether the ends are rounded inward.
    """

    def __init__(self, space: Space, statements: Sequence[PatchStatement], inward: bool = False) -> None:
        self._space, self.lift, self.work = space, space.lift, space.work
        self._distances = space.head.geometry == "euclidean"
        self.parts = 1 if self._distances else 2
        self.intervals = intervals(space, statements, inward)
        pairs = zip((s.prototype for s in statements), self.intervals, strict=True)
        if self._distances:
            stated = sorted(pairs, key=lambda pair: pair[1][1] - pair[1][0])  # the first is the base
            self._origin = space.vectors[stated[0][0]]
            self.vectors = [list(map(sub, space.vectors[j], self._origin)) for j, _ in stated]
            self.curves = [1] * len(stated)
            squares = [dot(row, row) << self.lift for row in self.vectors]
            self.ends = [(low - own, high - own) for (_, (low, high)), own in zip(stated, squares, strict=True)]
        else:
            stated = [(j, (low - space.offsets[j], high - space.offsets[j])) for j, (low, high) in pairs]
            self._origin = [0] * space.head.depth
            self.vectors = [self._origin, *(space.vectors[j] for j, _ in stated)]
            self.curves = [1] + [0] * len(stated)
            reach = space.least_reach if inward else space.reach
            self.ends = [(0, reach), *((-2 * high, -2 * low) for _, (low, high) in stated)]
        self.stated = [j for j, _ in stated]
        self.gram = [[dot(row, other) for other in self.vectors] for row in self.vectors]

    def target(self, shares: Mapping[int, int]) -> Target:
        """The combination with these shares, at least one, of observables."""
        space = self._space
        rows = [list(map(sub, space.vectors[k], self._origin)) for k in shares]
        vector = [dot(shares.values(), entries) for entries in zip(*rows, strict=True)]
        if self._distances:
            curve = sum(shares.values())
            constant = sum(share * dot(row, row) for share, row in zip(shares.values(), rows, strict=True)) << self.lift
        else:
            vector = [-entry for entry in vector]
            curve, constant = 0, sum(share * space.offsets[k] for k, share in shares.items())
        return Target(curve, vector, dot(vector, vector), [dot(vector, own) for own in self.vectors], constant)

    def least(self, target: Target, weights: Sequence[int], bits: int, images: Sequence[int] = ()) -> int:
        """A lower bound of a combination, on the grid.

        Args:
            target: the combination.
            weights: of every fact, at 2^-bits. Where they give no bound, the first fact gives one.
            images: `gram` times the weights, where that is known.
        """
        curve = (target.curve << bits) - dot(weights, self.curves)
        if curve <= 0:
            weights, curve, images = [(target.curve - 1) << bits, *[0] * (len(self.curves) - 1)], 1 << bits, ()
        sides = sum(w * (low if w > 0 else high) for w, (low, high) in zip(weights, self.ends, strict=True))
        images = images or [dot(row, weights) for row in self.gram]
        square = (target.square << 2 * bits) - (dot(weights, target.products) << bits + 1) + dot(weights, images)
        form = (sides * curve - (square << self.lift)) // (curve << bits)
        return form // self.parts + target.constant
