"""Directed rounding of correctly rounded operations, and a-priori bounds for other operations.

float64 alone, on a device that passes `verale.rounding.device`. `+ - * /` of tensors are correctly rounded (IEEE 754),
and so is `root`: one step of `nextafter` encloses the real result. Divide by a tensor, or by a power of two: torch may
multiply by the reciprocal of a number, which rounds twice. Sums of products whose order nobody controls are enclosed by
gamma_n; exp and log by a stated number of units in the last place.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor

__all__ = ["INFLATE", "TRANSCENDENTAL_ULPS", "UNDERFLOW", "UNIT", "down", "gamma", "root", "up"]

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
