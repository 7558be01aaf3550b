"""Steps of work. What a certificate's shape tells is counted before a proof begins (`cost`), the rest as it is done.

What the shape does not tell: how many bits decide a statement, how many rivals a dropped statement leaves proved, how
many matchings show that it is needed, how many similarities a mean needs. Nothing is proved about the counts, and no
proof depends on them: a limit can cost a proof, never soundness.

A step is 25 ns at most, on a processor of 2024: a fourth of a multiplication of two such integers by Python.
`benchmarks/prices.py` measures what a step of each kind of work takes.
"""

from __future__ import annotations

from ..errors import UnprovedError

__all__ = ["OPERATION", "Work"]

OPERATION = 10
"""Steps of one operation of Python on such an integer, with its share of the loop around it."""
_KERNELS = {"arb": (1, 250), "mpmath": (16, 16_000)}
"""Steps of four terms of a matrix product, and of a logarithm or an exponential."""
_BITS = 512


class Work:
    """The steps that one certificate may still take.

    Attributes:
        series: steps of a logarithm or an exponential.
        bits: of the head's integers, for `scaled`.

    Args:
        kernel: its name.
        bits: of the head's integers.
    """

    def __init__(self, kernel: str, bits: int) -> None:
        self._product, self.series = _KERNELS[kernel]
        self.bits = bits
        self._limit: int | None = None
        self._left = 0

    def allow(self, limit: int | None, taken: int = 0) -> None:
        """Begin to count again; None allows everything.

        Args:
            taken: steps that are counted already.
        """
        self._limit, self._left = limit, (limit or 0) - taken

    def products(self, terms: int) -> int:
        """The steps of matrix products with so many terms in all."""
        return terms * self._product // 4

    def scaled(self, steps: int, bits: int = 0) -> int:
        """Steps on integers of the head's bits, or of more: to multiply two takes the square of their length."""
        bits = max(bits, self.bits)
        return steps * (_BITS**2 + bits**2) // _BITS**2

    def take(self, steps: int, bits: int = 0) -> None:
        """Count steps. Raises UnprovedError if they are more than are left."""
        if self._limit is None:
            return
        self._left -= self.scaled(steps, bits)
        if self._left < 0:
            raise UnprovedError(
                "limit",
                f"proving takes more than {self._limit} steps, the most for files of this size; raise the limit",
            )
