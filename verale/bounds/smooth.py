r"""Smooth functions of numbers in several digits: sigmoid, tanh, the normal distribution, and inverse roots.

A function f of the first three is known at a centre c by its Taylor polynomial at the nearest multiple a of 2^-5, so
that t = c - a has at most 2^-6 and little more in size:

    f(c) = sum_{n < N} f^(n)(a) / n! t^n + R,    |R| <= 2^(8 - 6.5 N)

*Proof* (Cauchy). Where |f| <= M in the disc of radius q around a, |f^(n)(a) / n!| <= M q^-n, so |R| <= M (|t| / q)^N /
(1 - |t| / q). With q = 3 for sigmoid, |1 + exp(-z)| >= sin 3 there, so M = 7.1. tanh z = 2 sigmoid(2 z) - 1, so q = 1.5
and M = 15.2. With q = 3 for the normal distribution its density is at most 0.4 exp(9/2), so M <= 1 + 3 * 36 = 109.

At a distance of some r from the centre f has moved by at most r (|f'(c)| + r), as |f''| <= 1 for all three. Beyond a
reach, f is nearer to its limit than a unit.

An inverse root is Newton's, and tested: where y > 0 and |1 - c y^2| <= e <= 1/2, it is |c^(-1/2) - y| <= e y, for
(1 - e)^(-1/2) <= 1 + e. At a distance of r < c it has moved by at most r / 2 (c - r)^(-3/2).

Values at the multiples of 2^-5 are mpmath's, of 64 more bits than are used, and are taken to be off by 2^-32 of a unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from mpmath import mp
from torch import Tensor

from verale.bounds.fixed_point import NEAREST, UP, BeyondError, FixedPoint, TooManyBitsError
from verale.network.layers import Gaussian, Sigmoid, Tanh

__all__ = ["SMOOTH", "Smooth", "inverse_root"]

_STEP = 5
"""f is expanded at multiples of 2^-_STEP."""
_GUARD = 16
"""Bits more than asked for in what is added up."""
_BLOCK = 128
"""Coefficients are known to multiples of so many bits, so that layers share them."""
_AT_ONCE = 2**15
"""Numbers computed together, so that the memory near the processor holds their digits."""
_MOST_STEPS = 8
"""Of Newton's rule, each of which doubles how many bits are right."""


class Smooth(NamedTuple):
    """A function that rises from one limit to another.

    Attributes:
        slope: its derivative at numbers of float64, to within 2^-40.
        reach: beyond this, for places, it is nearer to its limits than 2^-places.
        taylor: for a number, the first coefficients of its Taylor series there, so many.
    """

    slope: Callable[[Tensor], Tensor]
    reach: Callable[[int], float]
    taylor: Callable[[Any, int], list[Any]]

    def of(self, given: FixedPoint, places: int) -> FixedPoint:
        """The function of numbers, to so many places. Raises BeyondError."""
        nearest, kept = given.nearest, places + _GUARD
        reach = math.ceil(self.reach(places))
        at = (nearest * 2**_STEP).round().clamp(-reach * 2**_STEP, reach * 2**_STEP)
        multiples, which = torch.unique(at, return_inverse=True)
        bits, terms = -(-kept // _BLOCK) * _BLOCK, math.ceil((kept + 8) / 6.5)
        series = [_coefficients(self, int(each), bits) for each in multiples.tolist()]
        table = []
        for n in range(terms):
            fewer = min(bits, max(8, kept - 6 * n))
            integers = [each[n] >> bits - fewer for each in series]
            table.append(FixedPoint.of_integers(integers, fewer, given.width).wider(2.0**-fewer))
        away = given.centre + -FixedPoint.of(at / 2**_STEP, _STEP, given.width)
        away = replace(away, digits=away.digits * (nearest.abs() <= reach)).view(-1)
        flat, starts = which.view(-1), range(0, which.numel(), _AT_ONCE)
        parts = [_summed(table, flat[k : k + _AT_ONCE], away[k : k + _AT_ONCE], places) for k in starts]
        found = FixedPoint.joined(parts).view(*nearest.shape).wider(2.0 ** (1 - places))
        steepest = self.slope(nearest).abs() + 2.0**-40 + nearest.abs() * (2 * NEAREST)
        return found.wider(given.radius * torch.minimum(steepest + given.radius, torch.ones_like(nearest)) * UP)


def _summed(table: Sequence[FixedPoint], which: Tensor, away: FixedPoint, places: int) -> FixedPoint:
    """Polynomials, by Horner's rule, with the digits that each power is worth."""
    found = table[-1][which]
    for each in reversed(table[:-1]):
        found = found.times(away, each.places) + each[which]
    return found.rounded(places)


@lru_cache(maxsize=2**14)
def _coefficients(function: Smooth, multiple: int, bits: int) -> list[int]:
    """The Taylor coefficients at a multiple of the step, as integers times 2^-bits, rounded down."""
    with mp.workprec(bits + 64):
        series = function.taylor(mp.ldexp(multiple, -_STEP), math.ceil((bits + 8) / 6.5))
        return [int(mp.floor(mp.ldexp(each, bits))) for each in series]


def _sigmoid(at: Any, count: int) -> list[Any]:
    """s' = s (1 - s)."""
    found = [1 / (1 + mp.exp(-at))]
    for n in range(count - 1):
        found.append((found[n] - mp.fdot(found, reversed(found))) / (n + 1))
    return found


def _tanh(at: Any, count: int) -> list[Any]:
    found = [mp.ldexp(each, n + 1) for n, each in enumerate(_sigmoid(2 * at, count))]
    return [found[0] - 1, *found[1:]]


def _gaussian(at: Any, count: int) -> list[Any]:
    """The density d has d' = -x d."""
    density = [mp.npdf(at), -at * mp.npdf(at)]
    for n in range(1, count):
        density.append(-(at * density[n] + density[n - 1]) / (n + 1))
    return [mp.ncdf(at), *(each / (n + 1) for n, each in enumerate(density[: count - 1]))]


SMOOTH: dict[type, Smooth] = {
    Sigmoid: Smooth(lambda x: x.sigmoid() * (-x).sigmoid(), lambda places: 0.7 * places, _sigmoid),
    Tanh: Smooth(lambda x: 1 - x.tanh().square(), lambda places: 0.35 * places + 1, _tanh),
    Gaussian: Smooth(lambda x: 0.4 * (-x.square() / 2).exp(), lambda places: math.sqrt(1.4 * places) + 1, _gaussian),
}
"""The function of each layer that is smooth, but for inverse roots."""


def inverse_root(given: FixedPoint, places: int) -> FixedPoint:
    """1 / sqrt(x), to so many places. Raises BeyondError where a number may be 0 or less."""
    nearest = given.nearest
    least = nearest * (1 - 2 * NEAREST) - given.radius * UP
    if not bool((least > 0).all()):
        raise BeyondError("which takes an inverse root of a number that may be 0 or less")
    kept = places + _GUARD + max(0, math.frexp(float(nearest.amax()))[1])
    one, half = (FixedPoint.of(torch.full_like(nearest, each), 1, given.width) for each in (1.0, 0.5))
    root, off = FixedPoint.of(nearest.rsqrt(), kept, given.width).centre, one
    for _ in range(_MOST_STEPS):
        off = one + -given.centre.times(root, kept).times(root, kept)
        if float(off.size.amax()) <= 2.0 ** (8 - kept):
            break
        root = (root + root.times(off, kept).times(half, kept)).centre
    if not bool((off.size <= 0.5).all() and (root.nearest > 0).all()):
        raise TooManyBitsError
    moved = given.radius / 2 * least.pow(-1.5) * UP
    return root.wider(off.size * root.size * UP + moved).rounded(places)
