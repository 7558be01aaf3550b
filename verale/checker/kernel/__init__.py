"""Kernels: two independent implementations of the few operations that need rounding, logarithms and exponentials.

`arb` (python-flint) is the fast one, `mpmath` the reference. Each is imported only when it is chosen, so either may be
missing. A third kernel, `proved`, takes the place of all rules too, and is not loaded here (`verale.checker.proved`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ..errors import KernelError

__all__ = [
    "CHOICES",
    "EITHER",
    "KERNELS",
    "PROVED",
    "VARIABLE",
    "Kernel",
    "Matrix",
    "Rows",
    "in_words",
    "load_kernel",
    "never_proved",
    "program_in_words",
]

Rows: TypeAlias = list[list[int]]
Matrix: TypeAlias = Any
"""A kernel's own form of a matrix of integers."""

KERNELS = ("arb", "mpmath")
PROVED = "proved"
VARIABLE = "VERALE_PROVED"
"""The environment variable that names the program which `proved` asks."""
EITHER = "proved-or-arb"
"""The default: each claim is proved by `proved`, or by `arb` where that does not prove it or is not there; a verdict
says by which (`by`)."""
CHOICES: dict[str, tuple[str, ...]] = {
    EITHER: (PROVED, "arb"),
    **{name: (name,) for name in (PROVED, *KERNELS)},
    "both": KERNELS,
    "all": (*KERNELS, PROVED),
}
"""What a user can choose, and the kernels that it asks. What is proved is what each of them proves, but for
`EITHER`."""


class Kernel(Protocol):
    """Enclosures: integers (lo, hi) at 2^-bits with lo <= value 2^bits <= hi."""

    name: str
    packages: tuple[str, ...]
    """What it computes with, by the names in an index of packages."""

    def log(self, numerator: int, denominator: int, bits: int) -> tuple[int, int]:
        """ln(numerator / denominator), both positive."""

    def exp(self, mantissa: int, exponent: int, bits: int) -> tuple[int, int]:
        """exp(mantissa 2^exponent), at most exp(2^20)."""

    def exp_sum(self, mantissas: Sequence[int], exponent: int, bits: int) -> tuple[int, int]:
        """The sum of exp(mantissa 2^exponent), all mantissas <= 0."""

    def matrix(self, rows: Rows) -> Matrix:
        """A matrix of integers as `product` takes it."""

    def product(self, left: Matrix, right: Rows) -> Rows:
        """The product of two matrices of integers, exactly."""


def program_in_words(checker: Mapping[str, Any]) -> str:
    """Which program the kernel `proved` asked, by a record's `run.checker`: the environment variable that names it, or
    `JavaScript`; "" for verale's own executable."""
    return str(checker.get("variable") or checker.get("language") or "")


def in_words(name: str, program: str = "") -> str:
    """What proved, by the name of a choice that asks for all of its kernels, or of one kernel.

    Args:
        program: which one was asked (`program_in_words`).
    """
    proved = f"the proved checker ({program})" if program else "the proved checker"
    *others, last = (proved if each == PROVED else each for each in CHOICES[name])
    return f"{', '.join(others)} and {last}" if others else last


def never_proved(name: str | None, deployment: bool) -> str | None:
    """Why an audit that asks for deployment cannot prove it with these kernels; None if it can. So nobody waits for all
    the other proofs in vain. Where none is chosen, `proved` is never asked alone."""
    if name is None or name == EITHER or PROVED not in CHOICES.get(name, ()) or not deployment:
        return None
    return (
        f"deployment is not covered by the proof of the kernel {PROVED}, which"
        f" kernel {name} asks; leave it out, or choose one of {EITHER}, {', '.join(KERNELS)}, both"
    )


def load_kernel(name: str) -> Kernel:
    """The kernel of that name. Raises KernelError if it is unknown or not installed."""
    try:
        if name == "arb":
            from .arb_kernel import ArbKernel

            return ArbKernel()
        if name == "mpmath":
            from .mpmath_kernel import MpmathKernel

            return MpmathKernel()
    except ImportError as error:
        package = {"arb": "python-flint", "mpmath": "mpmath"}[name]
        raise KernelError(f"kernel {name} needs {package} ({error}): install it, or choose the other kernel") from error
    raise KernelError(f"kernel {name!r} is unknown, expected one of {', '.join(CHOICES)}")
