"""The few operations of the reading that need rounding, logarithms and the like, with either of two libraries.

`arb` (python-flint) is the fast one, `mpmath` the reference. Each is imported only when it is chosen, so either may be
missing. All else is exact: integers on a grid of 2^-bits, of which a range has two, rounded outward.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, TypeAlias

from .dyadic import ceil_shift, dot, floor_shift
from .limit import Clock

Rows: TypeAlias = list[list[int]]
Matrix: TypeAlias = list[tuple[int, Any]]
"""A matrix of integers as `Arithmetic.product` takes it: blocks, each with its number of rows."""

GUARD_BITS = 32
"""More than are asked for: so many are computed with."""
_GREATEST_ARGUMENT_BITS = 20
_ROWS, _COLUMNS, _ENTRIES = 64, 64, 2**14
"""Of a product that is computed at once, and the entries of its right matrix where that is flat: so the clock is looked
at every second or so."""


class Arithmetic(ABC):
    """Enclosures: integers (lo, hi) at 2^-bits with lo <= value 2^bits <= hi.

    Attributes:
        name: that a user chooses it by.
        packages: what it computes with, by the names in an index of packages.
        clock: what a proof may still take. Every operation but `number` and `matrix` looks at it.
    """

    name: ClassVar[str]
    packages: ClassVar[tuple[str, ...]]

    def __init__(self) -> None:
        self.clock = Clock()

    @abstractmethod
    def log(self, numerator: int, denominator: int, bits: int) -> tuple[int, int]:
        """ln(numerator / denominator), both positive."""

    def exp(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        """exp(mantissa 2^exponent), at most exp(2^20)."""
        self.clock.look()
        if mantissa == 0:
            return 1 << bits, 1 << bits
        if mantissa < 0 and ceil_shift(-mantissa, exponent) > bits:  # exp(x) < 2^x <= 2^-bits
            return 0, 1
        if floor_shift(mantissa, exponent - _GREATEST_ARGUMENT_BITS) > 0:
            raise OverflowError("exp of more than 2^20")
        return self._exp(mantissa, exponent, bits)

    @abstractmethod
    def _exp(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        """exp(mantissa 2^exponent), from about 2^-bits to exp(2^20)."""

    def normal(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        """The standard normal distribution function at mantissa 2^exponent: 1/2 + (1/2) erf(x / 2^(1/2)).

        Beyond 1 in size it is less than exp(-x^2 / 2) / 2 away from 0 or 1, and 2^-bits where that is no more.
        """
        self.clock.look()
        if mantissa == 0:
            return 1 << bits - 1, 1 << bits - 1
        if floor_shift(mantissa * mantissa, 2 * exponent) >= 2 * bits + 2:
            return (0, 1) if mantissa < 0 else ((1 << bits) - 1, 1 << bits)
        return self._normal(mantissa, exponent, bits)

    @abstractmethod
    def _normal(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        """The same where x^2 < 2 bits + 3."""

    def number(self, value: int) -> Any:
        """An integer as `matrix` and `product` take it, where it stands in many places."""
        return value

    def matrix(self, rows: Rows) -> Matrix:
        """A matrix of integers as `product` takes it."""
        blocks = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
        return [(len(block), self._block(block)) for block in blocks]

    def product(self, left: Matrix, right: Rows) -> Rows:
        """The product of two matrices of integers, exactly."""
        product: Rows = [[] for _ in range(sum(height for height, _ in left))]
        wide = max(_COLUMNS, _ENTRIES // len(right))
        for start in range(0, len(right[0]), wide):
            columns = self._block([row[start : start + wide] for row in right])
            top = 0
            for height, block in left:
                self.clock.look()
                for whole, part in zip(product[top : top + height], self._times(block, columns), strict=True):
                    whole += part
                top += height
        return product

    def _block(self, rows: Rows) -> Any:
        """A matrix, as `_times` takes it."""
        return rows

    def _times(self, left: Any, right: Any) -> Rows:
        """The product of two matrices, exactly. The entries of a row are the digits of one integer, so that it is
        multiplied at once; `half` is more than any entry of the product, and of the right matrix, is in size."""
        digit = (_bits(left) + _bits(right) + len(right).bit_length()) // 8 + 1  # bytes
        half, width = 1 << 8 * digit - 1, digit * len(right[0])
        offset = int.from_bytes(half.to_bytes(digit, "little") * len(right[0]), "little")
        whole = [int.from_bytes(b"".join([(x + half).to_bytes(digit, "little") for x in r]), "little") for r in right]
        whole = [row - offset for row in whole]
        product = []
        for row in left:
            digits = (dot(row, whole) + offset).to_bytes(width, "little")
            starts = range(0, width, digit)
            product.append([int.from_bytes(digits[at : at + digit], "little") - half for at in starts])
        return product


def _bits(rows: Rows) -> int:
    """How many binary digits no entry is longer than."""
    return max(max(max(row), -min(row)) for row in rows).bit_length()
