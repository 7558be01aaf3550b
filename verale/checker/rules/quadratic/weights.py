"""Weights for the facts about one patch. They need not be right: the rule holds for any (`facts`), so poor weights can
cost a proof of entailment, never its soundness.

**Statements by equality.** Let X be an approximate inverse of the matrix of <b_i, b_j> (`multipliers`), tau = X <b_i,
b> and sigma = X <y, b_i>: then sum tau_i b_i and g = sum sigma_i b_i are the feet of b and of y on the span of the b_i.
With r = b - sum tau_i b_i and |y - g| <= rho, the best weights are tau - kappa sigma, kappa = |r| / rho.

**Intervals.** Which end of an interval serves best, if any, depends on the target. Where intervals have some width, the
weights that `dual` finds are tried too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from math import isqrt
from operator import mul
from typing import Any

from ...dyadic import dot, floor_shift
from ...kernel import Kernel
from .dual import Dual
from .facts import Facts, Target
from .multipliers import approximate_inverse

__all__ = ["Weights"]

_PRECISION = 128  # bits of the inverse below that of the longest vector's square
_ROUNDED = 100  # tau is off by less than 2^-100, unless the b_i nearly depend on each other
_ROOT = 192
_WIDE = 32  # intervals of less than 2^-32 of what their form can be are taken for equalities


class Weights:
    """Weights for the facts about one patch.

    Attributes:
        bits: the unit of all weights is 2^-bits.
        foot: the weights sigma of the foot g.
        far, near: about the greatest and the least |y - g|^2, on the grid.
        stray: about the greatest squared distance from g to the foot of y, on the grid.

    Args:
        facts: what is known.
        kernel: for matrix products.
        lift: `<b_i, b_j> << lift` is on the grid.
    """

    def __init__(self, facts: Facts, kernel: Kernel, lift: int) -> None:
        self._facts, self._kernel, self._lift = facts, kernel, lift
        ends, curves, gram = facts.ends, facts.curves, facts.gram
        widths = [high - low for low, high in ends]
        noise = [width + curve * widths[0] >> 2 for width, curve in zip(widths[1:], curves[1:], strict=True)]
        self._reach = max(0, ends[0][1])
        kept, inverse, self.bits = approximate_inverse(
            [row[1:] for row in gram[1:]], noise, self._reach << lift, max(_PRECISION, lift)
        )
        self._kept = [i + 1 for i in kept]
        # 4 <y, b_i> = 2 (a_i |y|^2 - q_i), at the middles
        middles = [curves[i] * sum(ends[0]) - sum(ends[i]) for i in self._kept]
        self.foot = self._balanced([dot(row, middles) >> lift + 2 for row in inverse], 1 << self.bits)
        form = dot(self.foot, [dot(row, self.foot) for row in gram])
        whole, half = (
            sum([w * (end[k] if w > 0 else end[1 - k]) for w, end in zip(self.foot, ends, strict=True)]) for k in (1, 0)
        )
        self.far, near = (max(1, (sides << self.bits) + (form << lift) >> 2 * self.bits) for sides in (whole, half))
        strays = [noise[i] for i in kept]
        stray = dot(strays, [dot(map(abs, row), strays) for row in inverse])
        self.near, self.stray = near, stray >> self.bits + lift
        if len(kept) < len(ends) - 1:  # what is left out may say more than is counted here
            self.near, self.stray = 0, 4 * (self._reach + (max(row[i] for i, row in enumerate(gram)) << lift))
        self._shares, self._inverse = inverse, kernel.matrix(inverse) if kept else None

    def rows(self, targets: Sequence[Target], sign: int) -> Iterator[list[list[int]]]:
        """Weights for `sign` times these targets, found in one way after the other."""
        yield self._even(targets, sign)
        if self._wide:
            yield [self._dual.weights(target, sign, self.bits) for target in targets]

    def swing(self, square: int, along: Any) -> int:
        """About |r| rho on the grid, for a prototype with this <A_k, A_k> and `along` (`Facts`)."""
        kernel = self._kernel
        ((explained,),) = kernel.rows(kernel.product(kernel.product(along, self._form), kernel.transposed(along)))
        left = (square << self.bits) - explained  # |r|^2
        return kernel.isqrt(left * self.near << self._lift >> self.bits) if left > 0 else 0

    @cached_property
    def _form(self) -> Any:
        """The quadratic form of `along` that gives |A_k|^2 - |r|^2."""
        size = len(self._facts.vectors) + 1
        form = [[0] * size for _ in range(size)]
        for i, row in zip(self._kept, self._shares, strict=True):
            for j, entry in zip(self._kept, row, strict=True):
                form[i][j] = entry
        form[0][-1] = 2 << self.bits
        form[-1][-1] = dot(self._facts.origin, self._facts.origin) << self.bits
        return self._kernel.matrix(form)

    def _even(self, targets: Sequence[Target], sign: int) -> list[list[int]]:
        """The weights for statements by equality."""
        kernel, bits, rows = self._kernel, self.bits, []
        products = [[target.products[i] for i in self._kept] for target in targets]
        shares: list[list[int]] = [[] for _ in targets]
        if self._inverse is not None:
            shares = kernel.rows(kernel.product(kernel.matrix(products), self._inverse))
        foot = [kernel.integer(self.foot[i]) for i in self._kept]
        for target, each, tau in zip(targets, products, shares, strict=True):
            kappa = self._kappa(target.square, sum(map(mul, tau, each)))
            kept = [sign * t - (kappa * s >> bits) for t, s in zip(tau, foot, strict=True)]
            rows.append(self._balanced(kept, (sign * target.curve << bits) - kappa))
        return rows

    def _kappa(self, square: int, explained: int) -> int:
        """|r| / rho, given |b|^2 and |b|^2 - |r|^2 at 2^-bits: half of _ROOT bits of it are enough, because the bound
        hardly changes where it is the greatest. Of |r| no less is taken than tau is rounded."""
        left = max((square << self.bits) - explained, square << self.bits >> 2 * _ROUNDED, 1)
        places = _ROOT + self.far.bit_length() - left.bit_length()
        places += places + self.bits + self._lift & 1
        root = isqrt(int(floor_shift(left, places) // self.far))
        return self._kernel.integer(max(1, floor_shift(root, self.bits + self._lift - places >> 1)))

    def _balanced(self, kept: Sequence[int], curve: int) -> list[int]:
        """Weights of all facts, the first such that sum w_i a_i = curve."""
        first = curve - sum(kept) if self._facts.curves[-1] else curve
        if len(kept) + 1 == len(self._facts.vectors):
            return [first, *kept]
        row = [first] + [0] * (len(self._facts.vectors) - 1)
        for i, weight in zip(self._kept, kept, strict=True):
            row[i] = weight
        return row

    @cached_property
    def _wide(self) -> bool:
        """Whether intervals have some width, as their forms go."""
        for i, (low, high) in enumerate(self._facts.ends):
            if self._facts.curves[-1]:
                size = self._reach
            else:  # |<y, b_i>| is at most R |b_i|; that |y| is at most R is no statement
                size = isqrt(self._reach * (self._facts.gram[i][i] << self._lift)) if i else high << _WIDE
            if high - low << _WIDE > size:
                return True
        return False

    @cached_property
    def _dual(self) -> Dual:
        return Dual(self._facts, self._lift, self._kept)
