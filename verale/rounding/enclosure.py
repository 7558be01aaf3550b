"""Directed rounding, and `Enclosure`: a tensor of intervals that are proved to hold the real values.

A bare tensor is an estimate that nobody vouches for; only an Enclosure enters a certificate.

float64 alone, on a device that passes `verale.rounding.device`. `+ - * /` of tensors are correctly rounded (IEEE 754),
and so is `root`: one step of `nextafter` encloses the real result. Divide by a tensor, or by a power of two: torch may
multiply by the reciprocal of a number, which rounds twice. Sums of products whose order nobody controls are enclosed by
gamma_n; exp and log by a stated number of units in the last place.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NoReturn

import numpy as np
import torch
from torch import Tensor

from verale.errors import VeraleError

UNIT = 2.0**-53
"""u, the unit roundoff of float64: fl(x op y) = (x op y)(1 + delta) with |delta| <= u, above underflow."""

INFLATE = 1 + 2.0**-30
"""Error terms are sums of products >= 0, computed with fewer than 2**20 roundings: their own error is below this."""

UNDERFLOW = 2.0**-1022
"""The most that one operation may lose to underflow, gradual or flushed to zero: the smallest normal number."""

TRANSCENDENTAL_ULPS = 8
"""Stated bound, in units in the last place, on the error of torch's float64 exp, log and log1p.

The libraries underneath (SLEEF, libm) document at most 2; `tests/unit/rounding` measures it against 200-bit values.
"""


@cache
def _end(value: float, device: torch.device) -> Tensor:
    """A number on a device: CUDA's `nextafter` takes none of the host."""
    return torch.tensor(value, dtype=torch.float64, device=device)


def down(values: Tensor) -> Tensor:
    """The next float64 below: with a correctly rounded operation, a lower bound of its real result."""
    return torch.nextafter(values, _end(-math.inf, values.device))


def up(values: Tensor) -> Tensor:
    """The next float64 above: with a correctly rounded operation, an upper bound of its real result."""
    return torch.nextafter(values, _end(math.inf, values.device))


def root(values: Tensor) -> Tensor:
    """Square roots, correctly rounded, with the same bits on every processor; NaN below 0.

    On a CPU by numpy, which has the processor's own instruction. torch takes those of Intel's library where it was
    built with it: they are up to 0.74 units in the last place off, differently on each processor.
    """
    if values.device.type != "cpu":
        return values.sqrt()
    roots = torch.empty_like(values, memory_format=torch.contiguous_format)
    with np.errstate(invalid="ignore"):
        np.sqrt(values.numpy(), out=roots.numpy())
    return roots


def gamma(operations: int) -> float:
    r"""gamma_n = n u / (1 - n u), an upper bound of it.

    For a sum of products with n rounded operations on any path, in any order, with or without fused multiply-add:
    |fl(sum x_i y_i) - sum x_i y_i| <= gamma_n sum |x_i y_i| (underflow apart).

    Soundness: relative errors (1 + delta_1) ... (1 + delta_n) multiply to 1 + theta with |theta| <= gamma_n.
    Reference: Higham, Accuracy and Stability of Numerical Algorithms, lemma 3.1.
    """
    product = operations * UNIT
    return product / (1 - product) * (1 + 8 * UNIT)


class UndecidedError(VeraleError):
    """A comparison that intervals cannot decide: use `certainly_less`."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Intervals [lower, upper], elementwise, float64, ends included.

    Soundness: every operation returns intervals that hold the real result for all reals in its arguments. A
    NaN end widens to everything (invalid arithmetic never tightens a bound).
    """

    lower: Tensor
    upper: Tensor

    def __post_init__(self) -> None:
        if self.lower.dtype != torch.float64 or self.upper.dtype != torch.float64:
            raise VeraleError(f"enclosure ends are {self.lower.dtype} and {self.upper.dtype}, expected float64")
        object.__setattr__(self, "lower", self.lower.nan_to_num(-torch.inf, torch.inf, -torch.inf))
        object.__setattr__(self, "upper", self.upper.nan_to_num(torch.inf, torch.inf, -torch.inf))

    @classmethod
    def unchecked(cls, lower: Tensor, upper: Tensor) -> Enclosure:
        """An enclosure whose ends are not checked: neither their dtype nor that none is NaN.

        Soundness: only for ends that come from an enclosure by selection, clamping or change of sign. A NaN end here
        would not widen, and a proof could rest on it. Everything else goes through `Enclosure(lower, upper)`.
        """
        enclosure = object.__new__(cls)
        object.__setattr__(enclosure, "lower", lower)
        object.__setattr__(enclosure, "upper", upper)
        return enclosure

    @classmethod
    def exact(cls, values: Tensor) -> Enclosure:
        """Exact values: intervals without width."""
        values = values.to(torch.float64)
        return cls(values, values)

    @classmethod
    def around(cls, centre: Tensor, radius: Tensor | float) -> Enclosure:
        """[centre - radius, centre + radius], both ends rounded outward; radius is an upper bound >= 0."""
        return cls(down(centre - radius), up(centre + radius))

    @classmethod
    def cat(cls, parts: list[Enclosure]) -> Enclosure:
        """Enclosures one after the other along the first dimension; at least one."""
        return cls.unchecked(torch.cat([part.lower for part in parts]), torch.cat([part.upper for part in parts]))

    def __add__(self, other: Enclosure) -> Enclosure:
        return Enclosure(down(self.lower + other.lower), up(self.upper + other.upper))

    def __sub__(self, other: Enclosure) -> Enclosure:
        return Enclosure(down(self.lower - other.upper), up(self.upper - other.lower))

    def __mul__(self, other: Enclosure) -> Enclosure:
        products = torch.stack(
            torch.broadcast_tensors(  # type: ignore[no-untyped-call]
                self.lower * other.lower, self.lower * other.upper, self.upper * other.lower, self.upper * other.upper
            )
        )
        widest = products.isnan().any(0)
        lower, upper = products.amin(0), products.amax(0)
        return Enclosure(down(torch.where(widest, -torch.inf, lower)), up(torch.where(widest, torch.inf, upper)))

    def __truediv__(self, other: Enclosure) -> Enclosure:
        """Quotient; where the divisor may be 0, everything."""
        quotients = torch.stack(
            torch.broadcast_tensors(  # type: ignore[no-untyped-call]
                self.lower / other.lower, self.lower / other.upper, self.upper / other.lower, self.upper / other.upper
            )
        )
        widest = quotients.isnan().any(0) | ((other.lower <= 0) & (other.upper >= 0))
        lower, upper = quotients.amin(0), quotients.amax(0)
        return Enclosure(down(torch.where(widest, -torch.inf, lower)), up(torch.where(widest, torch.inf, upper)))

    def sqrt(self) -> Enclosure:
        """Square root of max(0, x)."""
        return Enclosure.unchecked(down(root(self.lower.clamp(min=0))).clamp(min=0), up(root(self.upper.clamp(min=0))))

    def exp(self) -> Enclosure:
        """exp, within TRANSCENDENTAL_ULPS."""
        return _within_ulps(self.lower.exp(), self.upper.exp()).clamp(lower=0.0)

    def log1p(self) -> Enclosure:
        """ln(1 + x) for x >= 0, within TRANSCENDENTAL_ULPS."""
        return _within_ulps(self.lower.clamp(min=0).log1p(), self.upper.clamp(min=0).log1p()).clamp(lower=0.0)

    def clamp(self, lower: float | None = None, upper: float | None = None) -> Enclosure:
        """The intervals cut to [lower, upper], where the real value is known to lie."""
        return Enclosure.unchecked(self.lower.clamp(lower, upper), self.upper.clamp(lower, upper))

    def intersect(self, other: Enclosure) -> Enclosure:
        """The intersection: the larger of the lower ends, the smaller of the upper ends."""
        return Enclosure.unchecked(torch.maximum(self.lower, other.lower), torch.minimum(self.upper, other.upper))

    def certainly_less(self, other: Enclosure) -> Tensor:
        """x < y for all x, y in the intervals."""
        return self.upper < other.lower

    def __getitem__(self, index: object) -> Enclosure:
        return Enclosure.unchecked(self.lower[index], self.upper[index])  # type: ignore[index]

    def view(self, *shape: int) -> Enclosure:
        """The same intervals in another shape, without a copy."""
        return Enclosure.unchecked(self.lower.view(*shape), self.upper.view(*shape))

    @property
    def shape(self) -> torch.Size:
        """Shape of the tensor of intervals."""
        return self.lower.shape

    def _undecided(self, *_: object) -> NoReturn:
        raise UndecidedError("intervals have no order and no truth value: use certainly_less")

    __lt__ = __le__ = __gt__ = __ge__ = __bool__ = _undecided
    __eq__ = __ne__ = _undecided
    __hash__ = None  # type: ignore[assignment]


def _within_ulps(lower: Tensor, upper: Tensor) -> Enclosure:
    # One ulp of x is at most 2 u |x|. Where ulps are those of the true value, 208 u^2 of it is missing here. The half
    # ulp that the outer step leaves covers it: proofs/ulps.py.
    slack = 2 * TRANSCENDENTAL_ULPS * UNIT * (1 + 4 * UNIT)
    return Enclosure(down(lower - up(lower.abs() * slack + UNDERFLOW)), up(upper + up(upper.abs() * slack + UNDERFLOW)))
