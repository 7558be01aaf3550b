"""Steps of work. What a certificate's shape tells is counted before a proof begins (`cost`), the rest as it is done.

What the shape does not tell: how many bits decide a statement, how many rivals a dropped statement leaves proved, how
many matchings show that it is needed, how many similarities a mean needs. Nothing is proved about the counts, and no
proof depends on them: a limit can cost a proof, never soundness.

A step is 25 ns at most, on a processor of 2024: a fourth of a multiplication of two such integers by Python.
`benchmarks/prices.py` measures what a step of each kind of work takes.
"""

from __future__ import annotations

from ..errors import UnprovedError
from ..limit import seconds_in_words

__all__ = [
    "OPERATION",
    "TERM",
    "Work",
    "inverse_steps",
    "move_steps",
    "patch_steps",
    "point_steps",
    "quick_steps",
    "target_steps",
]

OPERATION = 10
"""Steps of one operation of Python on such an integer, with its share of the loop around it."""
TERM = 3
"""Steps of a term of an inner product."""
_SERIES = {"arb": 250, "mpmath": 16_000}
"""Steps of a logarithm or an exponential."""
_BITS = 512


def patch_steps(depth: int, statements: int) -> int:
    """The steps of what is computed once for a patch with so many statements: products and an inverse."""
    return TERM * depth * statements**2 + 16 * statements**3


def target_steps(depth: int, statements: int, shares: int = 1) -> int:
    """The steps of a lower end of a combination of so many observables, given such a patch. Where intervals are wide,
    moves of the weights are counted besides, one by one."""
    return TERM * depth * (shares + statements + 3) + 110 * statements**2 + 400 * statements + 2000


def quick_steps(depth: int, statements: int) -> int:
    """The steps of both ends of an observable by quick weights (`quadratic.every`), given such a patch."""
    return TERM * depth * statements // 10 + 8 * statements**2 + 60 * statements + 400


def move_steps(facts: int) -> int:
    """The steps of one move of the weights of so many facts."""
    return 60 * facts**2 + 500


def point_steps(depth: int, statements: int, shares: int = 1) -> int:
    """The steps of a point at which such a combination is least. Exact inverses are counted besides."""
    return target_steps(depth, statements, shares) + TERM * depth * (6 * statements + 15) + 70 * statements**2


def inverse_steps(size: int) -> int:
    """The steps of an exact inverse."""
    return 14 * size**3


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
        self.series = _SERIES[kernel]
        self.bits = bits
        self._limit: int | None = None
        self._left = 0

    def allow(self, limit: int | None, taken: int = 0) -> None:
        """Begin to count again; None allows everything.

        Args:
            taken: steps that are counted already.
        """
        self._limit, self._left = limit, (limit or 0) - taken

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
                f"proving takes more than {seconds_in_words(self._limit)} of processor time, the most for files of this"
                " size; raise the limit to try it",
            )
