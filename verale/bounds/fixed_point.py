r"""Numbers of many more bits than float64 has: fixed point, in digits that float64 multiplies and adds exactly.

A number is sum_k d_k 2^(w p_k), with integers d_k in [-2^(w-1), 2^(w-1)) for places p_k that fall one by one. These
digits are unique, and they order numbers from the first on.

**Lemma.** A sum of n products of two such digits, and of m such sums, is an integer of at most m n 2^(2w-2). Where this
is at most 2^51, float64 computes it exactly in whatever order, a digit besides too, and so it does the carries.
*Proof.* Each partial sum is an integer below 2^53. A carry, floor(x 2^-w + 1/2), has no more bits than x, and is less
than a unit more than x 2^-w.

What is cut off below the last place kept is at most 2^(w-1) (2^-w + 2^-2w + ...), less than 0.51 units of that place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from verale.rounding import gamma

__all__ = ["MOST_PAIRS", "FixedPoint", "width_for"]

MOST_PAIRS = 32
"""How many sums of products are added at a place, at most."""
_EXACT = 51


def width_for(terms: int) -> int:
    """w, the bits of a digit, with which sums of so many products are exact."""
    return (_EXACT - (MOST_PAIRS * terms - 1).bit_length()) // 2 + 1


@dataclass(frozen=True, eq=False)
class FixedPoint:
    """A tensor of numbers.

    Attributes:
        digits: float64 (K, ...), the first ones those of the highest place.
        low: the place of the last ones.
        width: w.
    """

    digits: Tensor
    low: int
    width: int

    @property
    def unit(self) -> float:
        """One in the last place."""
        return 2.0 ** (self.width * self.low)

    @classmethod
    def of_sums(cls, sums: Mapping[int, Tensor], low: int, width: int) -> FixedPoint:
        """Integers of at most 2^51, by place, as digits; what lies below `low` is cut off."""
        digits, place, carry = [], min(sums), torch.zeros_like(next(iter(sums.values())))
        while place <= max(sums) or bool(carry.any()):
            value = sums[place] + carry if place in sums else carry
            carry = torch.floor(value * 2.0**-width + 0.5)
            digits.append(value - carry * 2.0**width)
            place += 1
        first = place - len(digits)
        kept = digits[max(0, low - first) :] or [torch.zeros_like(carry)]
        kept = [torch.zeros_like(carry)] * max(0, first - low) + kept
        return cls(torch.stack(kept[::-1]), low, width)

    @classmethod
    def of_floats(cls, values: Tensor, low: int, width: int) -> tuple[FixedPoint, bool]:
        """float64 numbers, cut off below `low`; and whether they are exact."""
        left, digits, place = values, [], low
        while float(values.abs().amax()) >= 2.0 ** (width * (place + 1) - 1):
            place += 1
        for each in range(place, low - 1, -1):
            digit = torch.round(left * 2.0 ** (-width * each))
            left = left - digit * 2.0 ** (width * each)
            digits.append(digit)
        while len(digits) > 1 and not bool(digits[-1].any()):
            digits.pop()
        return cls(torch.stack(digits), place - len(digits) + 1, width), not bool(left.any())

    @classmethod
    def of_fractions(cls, values: Sequence[Fraction], low: int, width: int) -> FixedPoint:
        """Numbers (n,), rounded down to `low`."""
        units = [int(value * Fraction(2) ** (-width * low) // 1) for value in values]
        most = max(map(abs, units)).bit_length() // width + 2
        half, base, rows = 1 << (width - 1), 1 << width, []
        for _ in range(most):
            row = [((unit + half) % base) - half for unit in units]
            units = [(unit - digit) // base for unit, digit in zip(units, row, strict=True)]
            rows.append(row)
        return cls(torch.tensor(rows[::-1], dtype=torch.float64), low, width).trimmed()

    def trimmed(self) -> FixedPoint:
        """Without places that are 0 for all numbers, before the first one that is not."""
        used = self.digits.flatten(1).any(1).tolist()
        first = used.index(True) if True in used else len(used) - 1
        return FixedPoint(self.digits[first:], self.low, self.width)

    def mapped(self, change: Callable[[Tensor], Tensor]) -> FixedPoint:
        """What only moves numbers, or makes some of them 0."""
        return FixedPoint(change(self.digits), self.low, self.width)

    def to_float(self) -> tuple[Tensor, Tensor]:
        """The numbers in float64, and no less than how far these are off."""
        places = range(self.low + len(self.digits) - 1, self.low - 1, -1)
        scaled = torch.stack(
            [digit * 2.0 ** (self.width * place) for digit, place in zip(self.digits, places, strict=True)]
        )
        off = scaled.abs().sum(0) * gamma(2 * len(places) + 2)
        return scaled.flip(0).sum(0), off

    def by_place(self) -> dict[int, Tensor]:
        """The digits of each place."""
        return dict(enumerate(self.digits.flip(0), self.low))

    def sign(self) -> Tensor:
        """-1, 0 or 1: that of the first digit that is not 0; those behind it are less than one unit of its place."""
        found = torch.zeros_like(self.digits[0])
        for digit in self.digits.flip(0):
            found = torch.where(digit != 0, digit.sign(), found)
        return found

    def maximum(self, other: FixedPoint) -> FixedPoint:
        """The greater of two, number by number; both have the same places."""
        greater = torch.zeros_like(self.digits[0], dtype=torch.bool)
        equal = ~greater
        for own, its in zip(self.digits, other.digits, strict=True):
            greater |= equal & (own > its)
            equal &= own == its
        return self.mapped(lambda digits: torch.where(greater, digits, other.digits))

    def times(self, weight: FixedPoint, product: Callable[[Tensor, Tensor], Tensor], low: int) -> FixedPoint:
        """Sums of products, cut off below `low`.

        Args:
            weight: with what to multiply.
            product: the sums for the digits of numbers (K, ...), and those of one place of the weight.
            low: the last place to keep.

        Returns:
            The sums, off by less than one unit if w is at least 14 and the weight has at most 7 * MOST_PAIRS digits.
            Pairs of places that add up to less than `low` - 3 are left out: of MOST_PAIRS digits of the weight at each
            such place t, by the lemma, a sum of at most 2^51 2^(w (t - low)) units, so of all less than 2^(52 - 4 w);
            and 0.51 are cut off.
        """
        first = self.low + len(self.digits) - 1
        sums: dict[int, Tensor] = {}
        for number, digit in enumerate(weight.digits):
            place = weight.low + len(weight.digits) - 1 - number
            kept = min(len(self.digits), place + first - (low - 3) + 1)
            if kept < 1:
                continue
            if number and number % MOST_PAIRS == 0:  # digits again, to which as many products are added exactly
                sums = FixedPoint.of_sums(sums, min(sums), self.width).by_place()
            for index, part in enumerate(product(self.digits[:kept], digit)):
                at = place + first - index
                sums[at] = sums[at] + part if at in sums else part
        if not sums:
            sums[low] = product(self.digits[:1], weight.digits[0])[0] * 0
        return FixedPoint.of_sums(sums, low, self.width).trimmed()

    @classmethod
    def total(cls, given: Sequence[FixedPoint], low: int) -> FixedPoint:
        """The sum of several, cut off below `low`: off by less than one unit."""
        sums: dict[int, Tensor] = {}
        for each in given:
            for place, digit in each.by_place().items():
                sums[place] = sums[place] + digit if place in sums else digit
        return cls.of_sums(sums, low, given[0].width).trimmed()
