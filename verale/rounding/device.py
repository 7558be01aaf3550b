"""Whether a device computes in float64 as the bounds need it.

The bounds rest on IEEE 754 in float64: `+ - * /` and square roots are rounded to nearest, sums of products lose no more
than `gamma`, and exp and log are off by at most `TRANSCENDENTAL_ULPS`. NVIDIA promises this of CUDA: the CUDA C++
Programming Guide ("Mathematical Functions", "Double-Precision Floating-Point Functions") gives 0 ulp for the first and
for square roots, 1 ulp for exp, log and log1p. Two things void it:

- A device without float64, such as Apple's `mps`, or without numbers at all, such as `meta`. So a sum is computed there
  and read back.
- `CUBLAS_EMULATE_DOUBLE_PRECISION=1`, with which cuBLAS multiplies matrices in fixed point, through integers of as many
  bits as it finds sufficient: an entry may lose all its bits beside a large one of its row, and `gamma` says nothing.
"""

from __future__ import annotations

import os

import torch

from verale.errors import UsageError, first_line

__all__ = ["require_float64"]

_EMULATION = "CUBLAS_EMULATE_DOUBLE_PRECISION"


def require_float64(device: str | torch.device) -> None:
    """Raise UsageError, which says what to do, unless a device computes in float64."""
    name = str(device)
    try:
        total = float(torch.full((8,), 0.1, dtype=torch.float64, device=device).cumsum(0)[-1])
        kind = torch.device(device).type
    except (RuntimeError, AssertionError, TypeError) as error:
        raise UsageError(f"device {name!r} cannot be used here ({first_line(error)}); try --device cpu") from error
    if not abs(total - 0.8) < 1e-12:
        raise UsageError(
            f"device {name!r} cannot be used here (in float64, eight times 0.1 gives {total}); try --device cpu"
        )
    if kind == "cuda" and os.environ.get(_EMULATION, "0") not in ("", "0"):
        raise UsageError(
            f"device {name!r} cannot be used while {_EMULATION} is set: matrix products would not be float64's;"
            f" unset {_EMULATION}, or try --device cpu"
        )
