"""Weights for the facts about one patch. They need not be right: the rules hold for any (`facts`, `span`), so poor
weights can cost a proof of entailment, never its soundness.

**Statements by equality.** Let X be an approximate inverse of the matrix of <b_i, b_j> (`multipliers`), tau = X <b_i,
b> and sigma = X <y, b_i>: then sum tau_i b_i and g = sum sigma_i b_i are the feet of b and of y on the span of the b_i,
and `span` gives the best ends that there are.

**Intervals.** Which end of an interval serves best, if any, depends on the target. Where intervals have some width, the
weights that `dual` finds are tried too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from math import isqrt
from typing import Any

from ...dyadic import dot, floor_shift
from ...kernel import Kernel
from ..space import Chunk
from ..work import OPERATION
from .dual import Dual
from .facts import Facts, Target
from .multipliers import approximate_inverse

__all__ = ["Weights", "steps_at_middles"]

_PRECISION = 128  # bits of the inverse below that of the longest vector's square
_FEW = 64  # the same for sizes of ranges
_DOUBT = 48  # what of |A_k|^2 may be explained or not
_WIDE = 32  # intervals of less than 2^-32 of what their form can be are taken for equalities
_NARROW = 2  # of those of less than a fourth the best weights at the middles mostly prove enough
_LEAST = 80  # A is at least 2^-80: less is rounding


def steps_at_middles(statements: int) -> int:
    """About the steps of the weights at the middles for one target, twice, and of what they prove (`work`)."""
    return 2 * OPERATION * (24 + 4 * statements)


class Weights:
    """Weights for the facts about one patch.

    Attributes:
        bits: the unit of all weights is 2^-bits.
        inverse: X, for all facts but the first; 0 where what it would say is negligible.
        foot: the weights sigma of the foot g, of all facts; the first such that sum w_i a_i = 1.
        near: about the least |y - g|^2, on the grid.
        stray: about the greatest squared distance from g to the foot of y, on the grid.

    Args:
        facts: what is known.
        kernel: for matrix products.
        lift: `<b_i, b_j> << lift` is on the grid.
        hurried: whether narrow intervals get the best weights of their middles, which are found sooner than the best.
    """

    def __init__(self, facts: Facts, kernel: Kernel, lift: int, hurried: bool = False) -> None:
        self._facts, self._kernel, self._lift, self._hurried = facts, kernel, lift, hurried
        ends, curves, gram = facts.ends, facts.curves, facts.gram
        widths = [high - low for low, high in ends]
        noise = [width + curve * widths[0] >> 2 for width, curve in zip(widths[1:], curves[1:], strict=True)]
        self._reach, precision = max(0, ends[0][1]), max(_PRECISION, lift)
        kept, inverse, self.bits = approximate_inverse(
            [row[1:] for row in gram[1:]], noise, self._reach << lift, precision
        )
        self._cut, self._kept = precision - _FEW, [i + 1 for i in kept]
        self.inverse = inverse
        if len(kept) < len(noise):
            self.inverse = [[0] * len(noise) for _ in noise]
            for i, row in zip(kept, inverse, strict=True):
                for j, entry in zip(kept, row, strict=True):
                    self.inverse[i][j] = entry
        # 4 <y, b_i> = 2 (a_i |y|^2 - q_i), at the middles
        middles = [curve * sum(ends[0]) - sum(own) for curve, own in zip(curves[1:], ends[1:], strict=True)]
        sigma = [dot(row, middles) >> lift + 2 for row in self.inverse]
        self.foot = [(1 << self.bits) - dot(sigma, curves[1:]), *sigma]
        self.stray = dot(noise, [dot(map(abs, row), noise) for row in self.inverse]) >> self.bits + lift
        self.near = facts.ball(self.foot, self.bits)[0]
        if self.wide:
            square = dot(sigma, [dot(row[1:], sigma) for row in gram[1:]]) << lift
            sides = ends if curves[-1] else [(ends[0][1], ends[0][1]), *ends[1:]]
            half = sum([w * (low if w > 0 else high) for w, (low, high) in zip(self.foot, sides, strict=True)])
            self.near = max(1, (half << self.bits) + square >> 2 * self.bits)
            if len(kept) < len(noise):  # what is left out may say more than is counted here
                self.near, self.stray = 0, 4 * (self._reach + (max(row[i] for i, row in enumerate(gram)) << lift))

    def rows(self, targets: Sequence[Target], sign: int) -> Iterator[list[list[int]]]:
        """Weights for `sign` times these targets that may serve better than the multipliers; none if no others can."""
        if self.at_middles:
            for square in (self._square, max(1, self._facts.ball(self.foot, self.bits)[0])):
                yield self._of_middles(targets, sign, square)
        elif self.wide:
            yield [self._dual.weights(target, sign, self.bits) for target in targets]

    def _of_middles(self, targets: Sequence[Target], sign: int, square: int) -> list[list[int]]:
        """The best weights if every form were at the middle of its interval (`dual`, "Equality"): w = +-tau - kappa
        sigma, A = kappa = |r| / rho, where rho^2 is `square`.

        The best bound is a concave function of the values of the forms, and these weights give its tangent at the
        middles. So between narrow ends they lose only what it is curved; with the greatest rho^2 that the intervals
        allow they lose less where rho^2 is small.
        """
        kernel, bits, (_, *curves), (_, *sigma) = self._kernel, self.bits, self._facts.curves, self.foot
        products = kernel.matrix([target.products[1:] for target in targets])
        found = []
        for target, row in zip(targets, kernel.rows(kernel.product(products, self._columns)), strict=True):
            tau = list(map(int, row))
            left = (int(target.square) << bits) - dot(tau, list(map(int, target.products[1:])))  # |r|^2
            kappa = max(isqrt((max(0, left) << self._lift + bits) // square), 1 << bits - _LEAST)
            weights = [sign * one - (kappa * other >> bits) for one, other in zip(tau, sigma, strict=True)]
            found.append([(sign * target.curve << bits) - kappa - dot(weights, curves), *weights])
        return found

    @cached_property
    def _columns(self) -> Any:
        """X by columns."""
        return self._kernel.matrix([list(column) for column in zip(*self.inverse, strict=True)])

    @cached_property
    def _square(self) -> int:
        """About |y - g|^2 at the middles, on the grid; at least 1."""
        sides = [low + high for low, high in self._facts.ends]
        if not self._facts.curves[-1]:
            sides[0] = 2 * self._reach  # of a ball the greatest |y|^2 counts
        rest = self.foot[1:]
        square = dot(rest, [dot(row[1:], rest) for row in self._facts.gram[1:]]) << self._lift
        return max(1, (dot(self.foot, sides) << self.bits - 1) + square >> 2 * self.bits)

    def swings(self, chunks: Iterable[Chunk]) -> Iterator[int]:
        """About |r| rho on the grid, rather less, for every prototype, in chunks of one."""
        kernel, along, form, near, bits = self._kernel, self._facts.along, self._form, self.near, self.bits - self._cut
        product, rows, isqrt, transposed = kernel.product, kernel.rows, kernel.isqrt, kernel.transposed
        whole = kernel.integer((1 << bits) - (1 << bits >> _DOUBT))
        for chunk in chunks:
            row = along(chunk)
            ((explained,),) = rows(product(product(row, form), transposed(row)))
            left = chunk.squares[0] * whole - explained  # |r|^2
            yield isqrt(left * near << self._lift >> bits) if left > 0 else 0

    @cached_property
    def _form(self) -> Any:
        """The quadratic form of `along` that gives |A_k|^2 - |r|^2."""
        bits, (own, *constants) = self.bits - self._cut, self._facts.constants
        few = [[floor_shift(entry, -self._cut) for entry in row] for row in self.inverse]
        below = [-dot(constants, column) for column in zip(*few, strict=True)]
        right = [-dot(row, constants) for row in few]
        rows = [[0, *row, entry] for row, entry in zip(few, right, strict=True)]
        last = -dot(right, constants) - (own << bits)
        return self._kernel.matrix([[*[0] * (len(few) + 1), 2 << bits], *rows, [0, *below, last]])

    @cached_property
    def wide(self) -> bool:
        """Whether intervals have some width, as their forms go."""
        return self._is_wider(_WIDE)

    @cached_property
    def at_middles(self) -> bool:
        """Whether weights are those of the middles: in a hurry, if intervals have some width, but none has much."""
        return self._hurried and self.wide and bool(self.inverse) and not self._is_wider(_NARROW)

    def _is_wider(self, share: int) -> bool:
        """Whether some interval has more than 2^-share of what its form can be."""
        for i, (low, high) in enumerate(self._facts.ends):
            if self._facts.curves[-1]:
                size = self._reach
            else:  # |<y, b_i>| is at most R |b_i|; that |y| is at most R is no statement
                size = isqrt(self._reach * (self._facts.gram[i][i] << self._lift)) if i else high << share
            if high - low << share > size:
                return True
        return False

    @cached_property
    def _dual(self) -> Dual:
        return Dual(self._facts, self._lift, self._kept)
