"""Both ends of many forms, by weights that are linear in the form. The symbols are those of `facts`.

**Rule.** Let |y - g|^2 <= rho^2, q a form, tau_i any real weights with sum tau_i a_i = a, and r = b - sum tau_i b_i.
Then q(y) is within 2 rho |r| of sum tau_i q_i(y) - 2 <g, r>.
*Proof.* q(y) - sum tau_i q_i(y) = -2 <y, r> = -2 <g, r> - 2 <y - g, r>; Cauchy and Schwarz bound the last term.

It is the rule of `facts` with the ball as one more fact, of weight |r| / rho. The weights tau_i do not depend on the
end, so what both ends need is computed once, for many forms by matrix products.

**Remainders.** For i and j from 1 let G be the matrix of all <b_i, b_j>, h_i = <b, b_i> and X any matrix. Let
tau = X h, and tau_0 what is missing in sum tau_i a_i = a. With E = G X - 1
    |r|^2 = |b|^2 - <h, tau> + <X h, E h> <= (1 + epsilon) |b|^2 - <h, tau>,
epsilon = sum_m (sum_i |X_mi| |b_i|) (sum_j |E_mj| |b_j|).
*Proof.* |r|^2 = |b|^2 - 2 <h, X h> + <X h, G X h>, for b_0 = 0; and |h_i| <= |b| |b_i|.
If X is nearly the inverse of G (`multipliers`), epsilon is tiny and |r| the distance of b from the span of the b_i.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isqrt
from operator import mul

from ...dyadic import ceil_shift, dot
from ..space import Chunk, Space
from .facts import Facts, Target

__all__ = ["Span"]


class Span:
    """The ends of forms, given the facts about one patch.

    Args:
        space: the head.
        facts: what is known.
        inverse: X, at 2^-bits.
        foot: the weights of all facts for g, at 2^-bits; the first does not matter.
        radius: no less than |y - g|^2, on the grid (`Facts.ball`).
        bits: at least the head's lift.
    """

    def __init__(
        self,
        space: Space,
        facts: Facts,
        inverse: Sequence[Sequence[int]],
        foot: Sequence[int],
        radius: int,
        bits: int,
    ) -> None:
        kernel, self._facts, self._inverse, self._bits = space.kernel, facts, inverse, bits
        self._kernel, self._places, sigma = kernel, bits - space.lift, foot[1:]
        gram, curves, constants = [row[1:] for row in facts.gram[1:]], facts.curves[1:], facts.constants[1:]
        base, *sums = (low + high for low, high in facts.ends)
        self._base = base
        # Twice the middle is a base + <values, tau> - 4 <g, b>.
        values = [
            (own - curve * base << bits) + (dot(row, sigma) << space.lift + 2)
            for own, curve, row in zip(sums, curves, gram, strict=True)
        ]
        columns = list(zip(*inverse, strict=True))
        self._row = [
            dot(values, column) - (s << space.lift + bits + 2) for s, column in zip(sigma, columns, strict=True)
        ]
        self._bent = [-sum(column) for column in columns] if curves and curves[0] else [0] * len(columns)
        # From what `Facts.along` gives, where p_0 is not taken off: h = products - constants.
        linear = [*self._linear(facts.curves[-1]), ([dot(constants, column) for column in columns], 0)]
        last = [constant - dot(row, constants) for row, constant in linear]
        self._matrix = kernel.matrix([[0] * len(last), *zip(*(row for row, _ in linear), strict=True), last])
        first, *widths = (kernel.integer(high - low) for low, high in facts.ends)
        self._widths = [*widths, first]
        self._radius = kernel.integer(radius << 2)  # (2 rho)^2
        self._whole = kernel.integer((1 << bits) + self._epsilon(gram))

    def ends(self, chunks: Iterable[Chunk]) -> Iterator[tuple[int, int, int]]:
        """The ends of the form of each prototype's observable, on the grid; and |b|^2."""
        kernel, facts = self._kernel, self._facts
        for chunk in chunks:
            along = facts.along(chunk)
            rows = zip(chunk.squares, kernel.rows(along), kernel.rows(kernel.product(along, self._matrix)), strict=True)
            for square, (first, *products, _), (*tau, twice, fixed) in rows:
                square = facts.square(square, first)
                yield *self._between(square, sum(map(mul, products, tau)) - fixed, tau, twice), square

    def of(self, target: Target) -> tuple[int, int]:
        """The ends of one form, on the grid."""
        _, *products = target.products
        *tau, twice = [dot(row, products) + constant for row, constant in self._linear(target.curve)]
        return self._between(target.square, dot(products, tau), tau, twice)

    def _linear(self, curve: int) -> Iterator[tuple[Sequence[int], int]]:
        """For a form with this a, as <row, h> + constant: all tau_i at 2^-bits, tau_0 last, and at 2^-2bits twice the
        middle."""
        yield from ((row, 0) for row in self._inverse)
        yield self._bent, curve << self._bits
        yield self._row, curve * self._base << 2 * self._bits

    def _between(self, square: int, explained: int, tau: Sequence[int], twice: int) -> tuple[int, int]:
        """Both ends, given |b|^2, <h, tau>, tau, and twice the middle. 1 is added for whatever is rounded."""
        spread = sum(map(mul, map(abs, tau), self._widths))
        root = self._kernel.isqrt((square * self._whole - explained) * self._radius >> self._places)
        swing = (spread >> self._bits + 1) + root + 2
        middle = twice >> 2 * self._bits + 1
        return middle - swing, middle + swing + 1

    def _epsilon(self, gram: Sequence[Sequence[int]]) -> int:
        """epsilon at 2^-bits, rounded up."""
        if not gram:
            return 0
        kernel = self._kernel
        error = kernel.rows(kernel.product(kernel.matrix(gram), kernel.matrix(self._inverse)))
        lengths = [isqrt(row[i]) + 1 for i, row in enumerate(gram)]
        total = 0
        for i, (row, other) in enumerate(zip(self._inverse, error, strict=True)):
            other[i] -= 1 << self._bits
            total += dot(map(abs, row), lengths) * dot(map(abs, other), lengths)
        return int(ceil_shift(total, -self._bits))
