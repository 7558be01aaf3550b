r"""Numbers of more bits than a float64 has, on tensors: integers in several digits, and how far off they may be.

A tensor of numbers x is known as a centre and a radius, |x - c| <= r entry by entry. The centre is an integer,

    c 2^places = sum_k d_k 2^(w k),    digits d_k from -2^(w-1) up to, not including, 2^(w-1)

whose digits float64 holds. What sums products is computed digit by digit: the digits of inputs with those of weights,
as matrices of float64. Every product and partial sum there is an integer of at most 2^52 in size, so nothing rounds, in
whatever order they are added, and whether multiplications are fused or not. Only then digits are carried: the quotient
by 2^w, rounded down, goes to the next digit. What is cut off is added to the radius.

**Lemma** (leading digits). A number whose leading digit that is not 0 has the place m is on this digit's side of 0, at
least 0.49 2^(wm) from it. *Proof.* The rest is at most 2^(w-1) (2^(wm) - 1) / (2^w - 1) <= 0.51 2^(wm), for w >= 8.

**Lemma** (`nearest`). Horner's rule, from the leading digit on, gives the centre with a relative error of at most
2^-45, and its sign. *Proof.* Multiplying by 2^w is exact. Each of m + 1 <= 120 sums rounds by at most u = 2^-53 of what
it gives: |c|, and of the place k 0.51 2^(wk) besides. Together that is u ((m + 1) |c| + 0.52 2^(wm)), and 2^(wm) <= |c|
/ 0.49.

Radii are sums of products that are not negative, in float64: `UP` covers their own rounding, and 2^-1000 what products
of them lose by underflow. Where something overflows, a radius is infinite or no number, and stays so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from verale.network.layers import Convolution, FullConnection

MOST_PLACES = 800
"""Bits behind the point, so that float64 holds the unit, and what it is multiplied with."""
UP = 1 + 2.0**-20
"""More than what a radius, a sum of fewer than 2^30 positive terms, is rounded by."""
NEAREST = 2.0**-45
"""The relative error of `FixedPoint.nearest`."""
_GREATEST = 2.0**100
"""No number that is written in digits, or multiplied with a weight, is greater."""
_MOST_DIGITS = 120
_LARGEST_BITS = 52
"""No partial sum of products of digits is greater in size than 2 to the power of this."""
_SKIPPED = 2
"""Products of digits are not computed whose place is so many below the lowest digit that is kept."""
_LOST = 2.0**-1000
"""More than what products that a radius is made of lose by underflow."""


class BeyondError(ArithmeticError):
    """A layer's numbers cannot be enclosed: the message goes on behind its name, and says what would help."""


class TooManyBitsError(BeyondError):
    """Numbers that take more digits, or places, than there are."""

    def __init__(self) -> None:
        super().__init__(
            f"where numbers take more than {MOST_PLACES} bits: take a network of fewer layers, or an earlier layer for"
            " the latents"
        )


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """Numbers of one shape, each within its radius of a centre.

    Attributes:
        digits: (K, *shape) float64 integers, the lowest first.
        places: the centre is the integer times 2^-places.
        radius: of the shape, at least 0.
        width: w, the bits of a digit.

    Raises:
        TooManyBitsError: there are too many digits.
    """

    digits: Tensor
    places: int
    radius: Tensor
    width: int

    def __post_init__(self) -> None:
        if len(self.digits) > _MOST_DIGITS:
            raise TooManyBitsError

    @classmethod
    def of(cls, values: Tensor, places: int, width: int) -> FixedPoint:
        """Float64 numbers, each cut to a multiple of 2^-places. Raises BeyondError."""
        digits, exact = _written(values, places, width)
        return cls(digits, places, torch.full_like(values, 0.0 if exact else 2.0**-places), width)

    @classmethod
    def of_integers(cls, values: Sequence[int], places: int, width: int) -> FixedPoint:
        """Integers times 2^-places. Raises BeyondError."""
        greatest = max(map(int.bit_length, values))
        _require(places, 2.0 ** (greatest - places))
        count = greatest // 8 + 1
        data = b"".join(value.to_bytes(count, "little", signed=True) for value in values)
        octets = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(-1, count).T.double()
        octets[-1] -= (octets[-1] >= 128).double() * 256
        parts = octets.new_zeros(8 * count // width + 1, len(values))
        for k, octet in enumerate(octets):
            parts[8 * k // width].add_(octet, alpha=2.0 ** (8 * k % width))
        return cls(_trimmed(carried(parts, width)), places, torch.zeros_like(parts[0]), width)

    @classmethod
    def joined(cls, numbers: Sequence[FixedPoint], axis: int = 0) -> FixedPoint:
        """Numbers one after the other along an axis."""
        parts = aligned(numbers)
        digits, radius = torch.cat([each.digits for each in parts], axis + 1), [each.radius for each in parts]
        return replace(parts[0], digits=digits, radius=torch.cat(radius, axis))

    @property
    def nearest(self) -> Tensor:
        """The centres, with a relative error of at most `NEAREST`, and their signs."""
        found = torch.zeros_like(self.digits[0])
        for digit in self.digits.flip(0):
            found.mul_(2.0**self.width).add_(digit)
        return found.mul_(2.0**-self.places)

    @property
    def size(self) -> Tensor:
        """No less than the size of any of the numbers."""
        return (self.nearest.abs() + self.radius) * UP

    def __getitem__(self, index: Any) -> FixedPoint:
        """Some of the numbers, by an index of their tensor's last axes."""
        return replace(self, digits=self.digits[..., index], radius=self.radius[..., index])

    def view(self, *shape: int) -> FixedPoint:
        """The same numbers in another shape."""
        return replace(self, digits=self.digits.reshape(len(self.digits), *shape), radius=self.radius.reshape(shape))

    def wider(self, by: Tensor | float) -> FixedPoint:
        """The same with greater radii."""
        return replace(self, radius=(self.radius + by) * UP)

    @property
    def centre(self) -> FixedPoint:
        """The centres, as if they were known exactly."""
        return replace(self, radius=torch.zeros_like(self.radius))

    def finer(self, places: int) -> FixedPoint:
        """The same numbers with so many places, no fewer than they have."""
        more = places - self.places
        if not more:
            return self
        shifted = self.digits * 2.0 ** (more % self.width)
        low = shifted.new_zeros(more // self.width, *shifted.shape[1:])
        return replace(self, digits=carried(torch.cat([low, shifted]), self.width), places=places)

    def rounded(self, places: int) -> FixedPoint:
        """The same numbers without the digits that are not needed for so many places."""
        return self._without((self.places - places) // self.width)

    def _without(self, lowest: int) -> FixedPoint:
        """The same numbers without so many digits, which are worth less than one unit of the others."""
        digits = _trimmed(self.digits)
        if lowest <= 0:
            return replace(self, digits=digits)
        kept = digits[lowest:].clone() if len(digits) > lowest else torch.zeros_like(digits[:1])
        places = self.places - lowest * self.width
        return replace(self, digits=kept, places=places, radius=(self.radius + 2.0**-places) * UP)

    def __neg__(self) -> FixedPoint:
        return replace(self, digits=carried(-self.digits, self.width))

    def __add__(self, other: FixedPoint) -> FixedPoint:
        first, second = aligned([self, other])
        radius = (self.radius + other.radius) * UP
        return replace(first, digits=carried(first.digits + second.digits, self.width), radius=radius)

    def greater(self, other: FixedPoint) -> FixedPoint:
        """The maxima. |max(x, y) - max(c, d)| is no more than the greater radius, and than that of the greater centre
        where the numbers are certainly in the same order as the centres."""
        first, second = aligned([self, other])
        difference = (first + -second).nearest
        is_first, radius = difference > 0, torch.maximum(self.radius, other.radius)
        decided = difference.abs() * (1 - 2 * NEAREST) > (self.radius + other.radius) * UP
        radius = torch.where(decided, torch.where(is_first, self.radius, other.radius), radius)
        return replace(first, digits=torch.where(is_first, first.digits, second.digits), radius=radius)

    def rectified(self) -> FixedPoint:
        """max(0, x). It moves no two numbers further apart."""
        nearest = self.nearest
        never = nearest * (1 - 2 * NEAREST) <= -self.radius
        return replace(self, digits=self.digits * (nearest > 0), radius=torch.where(never, 0.0, self.radius))

    def times(self, other: FixedPoint, places: int) -> FixedPoint:
        """The products, rounded to so many places. Numbers of the other are repeated along axes of which it has one.

        No more than 120 products of digits are summed, each of at most 2^38.

        |x y - c d| <= |c| s + r (|d| + s) for x within r of c and y within s of d.
        """
        first, second = self.digits, other.digits
        parts = first.new_zeros(len(first) + len(second), *first.shape[1:])
        for k, digit in enumerate(second):
            parts[k : k + len(first)].add_(first * digit)
        radius = (self.nearest.abs() * UP * other.radius + self.radius * other.size + _LOST) * UP
        return FixedPoint(carried(parts, self.width), self.places + other.places, radius, self.width).rounded(places)

    def summed(self, operation: Convolution | FullConnection, places: int) -> FixedPoint:
        """What a layer gives, rounded to so many places. Raises BeyondError.

        With n weights w within e of W: |sum w x - sum W c| <= sum |w| r + n e max |c|. Products of two digits whose
        places make less than s together are not computed. Each is at most 2^(2w-2) 2^(w (s-1)) in size, there are no
        more of one place than n for each digit of weights, and all lower places are worth less than this one.
        """
        width, weight, columns = self.width, operation.weight.double(), _Columns(operation)
        most = float(self.nearest.abs().amax()) * (1 + 2 * NEAREST)
        _require(places, most)
        at = places + max(0, math.frexp(columns.terms * most)[1])
        written, exact = _written(weight, at, width)
        written, cut = _trimmed(written), 0
        while cut + 1 < len(written) and not bool(written[cut].any()):  # lowest digits that are 0 everywhere
            cut += 1
        written = written[cut:]
        at += self.places - cut * width
        drop = max(0, (at - places) // width)
        lowest, unit = max(0, drop - _SKIPPED), 2.0 ** -(at - drop * width)
        parts = self._products(columns, written, lowest)
        off = 0.0 if exact else columns.terms * most * 2.0 ** (self.places - cut * width - at) * UP
        if lowest:
            off += columns.terms * len(written) * 2.0 ** (2 * width - 1 - width * (drop - lowest + 1)) * unit
        if operation.bias is not None:
            bias, bias_exact = _written(operation.bias.double(), at - drop * width, width)
            off += 0.0 if bias_exact else unit
            bias = torch.cat([bias.new_zeros(drop - lowest, len(bias[0])), bias])[..., None]
            count = max(len(parts), len(bias))
            parts = _with(parts, count).add_(_with(bias, count))
        radius = (columns.applied(self.radius, weight.abs()[None])[0] + (off + _LOST)) * UP
        found = FixedPoint(carried(parts, width), at - lowest * width, radius, width)._without(drop - lowest)
        return found.view(*columns.shape(self.radius.shape))

    def _products(self, columns: _Columns, written: Tensor, lowest: int) -> Tensor:
        """(S, O, N) sums of products of digits, by the places that these make together, from `lowest` on."""
        count = len(written)
        if columns.terms > most_terms(self.width):
            raise TooManyBitsError
        parts: Tensor | None = None
        for k, digit in enumerate(self.digits):
            first = max(0, lowest - k)
            if first >= count:
                continue
            product = columns.applied(digit, written[first:])
            if parts is None:
                parts = product.new_zeros(len(self.digits) + count - lowest, *product.shape[1:])
            parts[k + first - lowest : k + count - lowest].add_(product)
        if parts is None:
            return written.new_zeros(1, *columns.applied(self.radius, written[:1]).shape[1:])
        return parts


@dataclass(frozen=True)
class _Columns:
    """The sums of a layer as products of matrices: G groups of channels, n terms, N places."""

    operation: Convolution | FullConnection

    @property
    def terms(self) -> int:
        """n."""
        return self.operation.weight[0].numel()

    def shape(self, read: Sequence[int]) -> tuple[int, ...]:
        """That of what the layer gives for inputs of a shape."""
        operation = self.operation
        if isinstance(operation, FullConnection):
            return (len(operation.weight),)
        reach = operation.dilation[0] * (operation.weight.shape[2] - 1) + 1
        height = (read[1] + 2 * operation.padding[0] - reach) // operation.stride[0] + 1
        return len(operation.weight), height, -1

    def _read(self, plane: Tensor, groups: int) -> Tensor:
        """(G, n, N) what the sums are made of."""
        operation = self.operation
        if isinstance(operation, FullConnection):
            return plane.reshape(1, -1, 1)
        kernel = tuple(operation.weight.shape[2:])
        if kernel == tuple(operation.stride) == (1, 1) and tuple(operation.padding) == (0, 0):
            return plane.reshape(groups, self.terms, -1)
        columns = functional.unfold(plane[None], kernel, operation.dilation, operation.padding, operation.stride)
        return columns.view(groups, self.terms, -1)

    def applied(self, plane: Tensor, weights: Tensor) -> Tensor:
        """(K, O, N) the sums, for K tensors of weights (K, O, ...)."""
        count, outputs = weights.shape[:2]
        groups = self.operation.groups if isinstance(self.operation, Convolution) else 1
        columns = self._read(plane, groups)
        if self.terms == 1 and outputs == groups:
            return weights.view(count, outputs, 1) * columns[:, 0]
        grouped = weights.view(count, groups, outputs // groups, self.terms).transpose(0, 1)
        product = torch.matmul(grouped.reshape(groups, -1, self.terms), columns)
        return product.view(groups, count, outputs // groups, -1).transpose(0, 1).reshape(count, outputs, -1)


def aligned(numbers: Sequence[FixedPoint]) -> list[FixedPoint]:
    """The same numbers with as many places and digits as any of them has."""
    places = max(each.places for each in numbers)
    finer = [each.finer(places) for each in numbers]
    count = max(len(each.digits) for each in finer)
    return [replace(each, digits=_with(each.digits, count)) for each in finer]


def carried(parts: Tensor, width: int) -> Tensor:
    """Digits in their range, of integers of at most 2^52 in size, which are overwritten. Nothing here rounds."""
    half, base = 2.0 ** (width - 1), 2.0**width
    carry = torch.zeros_like(parts[0])
    for digit in parts:
        digit.add_(carry)
        torch.add(digit, half, out=carry)
        carry.mul_(1 / base).floor_()
        digit.sub_(carry, alpha=base)
    more = []
    while bool(carry.any()):
        digit, carry = carry, ((carry + half) / base).floor()
        more.append(digit - carry * base)
    return torch.cat([parts, torch.stack(more)]) if more else parts


def most_terms(width: int) -> int:
    """How many terms a sum may have, for digits of so many bits: its products of digits are at most 2^52 together.

    Each is at most 2^(2w-2). A weight has 53 bits, which reach into no more than 52 / w digits, rounded up, and one
    more; and a carry into another.
    """
    return (1 << _LARGEST_BITS - 2 * width + 2) // (-(-52 // width) + 2)


def _require(places: int, greatest: float) -> None:
    if not greatest <= _GREATEST:
        raise BeyondError(f"where numbers are beyond {_GREATEST:.3g}: scale the weights before it down")
    if places > MOST_PLACES:
        raise TooManyBitsError


def _written(values: Tensor, places: int, width: int) -> tuple[Tensor, bool]:
    """The digits of float64 numbers, each cut to a multiple of 2^-places that is nearest, and whether all are exact.

    Scaling by a power of two is exact. So is each remainder: where it is not the number itself, it is a multiple of
    whatever the number is one of, and smaller.
    """
    greatest = float(values.abs().amax())
    _require(places, greatest)
    rest = values * 2.0**places
    count = max(0, math.frexp(greatest)[1] + places + 1) // width + 1
    digits = values.new_empty(count, *values.shape)
    for k in reversed(range(count)):
        torch.mul(rest, 2.0 ** (-width * k), out=digits[k]).round_()
        rest = rest - digits[k] * 2.0 ** (width * k)
    return carried(digits, width), not bool(rest.any())


def _trimmed(digits: Tensor) -> Tensor:
    """Without leading digits that are 0 everywhere."""
    count = len(digits)
    while count > 1 and not bool(digits[count - 1].any()):
        count -= 1
    return digits[:count]


def _with(digits: Tensor, count: int) -> Tensor:
    """With so many digits."""
    missing = count - len(digits)
    return torch.cat([digits, digits.new_zeros(missing, *digits.shape[1:])]) if missing else digits
