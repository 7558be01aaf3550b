"""Triton: what it compiles for a device or, told to by TRITON_INTERPRET=1, interprets on the CPU; whether it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import torch
import triton
import triton.language as tl

from verale.errors import VeraleError
from verale.search.caches import OpenToOthersError, own_folder

__all__ = ["interprets", "part", "probe"]

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = frozenset({"cuda", "xpu"})
"""Devices that Triton compiles for; CUDA's name is ROCm's too. Its interpreter takes the tensors of any device."""


def part(function: F) -> F:
    """A kernel, or a function that kernels call."""
    return cast(F, triton.jit(function))


def interprets() -> bool:
    """Whether kernels are interpreted, with numpy, rather than compiled."""
    return bool(triton.knobs.runtime.interpret)


def probe(device: str) -> None:
    """Raise what goes wrong when a kernel computes in float64 on a device."""
    if torch.device(device).type not in _KINDS and not interprets():
        raise VeraleError(f"Triton does not compile for {device}")
    if not interprets():
        _require_own_cache()
    numbers = torch.tensor([1 / 3, -0.1, 2.0**-1000, 1e300], dtype=torch.float64)
    there, doubles = numbers.to(device), torch.zeros(4, dtype=torch.float64).to(device)
    launch: Any = _double
    launch[(1,)](there, doubles, num_warps=1, enable_fp_fusion=True)
    if doubles.tolist() != (2 * numbers).tolist():
        raise VeraleError(f"a kernel on {device} does not compute in float64")


def _require_own_cache() -> None:
    """Raise OpenToOthersError where others may write machine code that Triton would run."""
    try:
        own_folder(triton.knobs.cache.dir)
    except OpenToOthersError as error:
        raise OpenToOthersError(f"{error}; or name a folder that is yours alone in TRITON_CACHE_DIR") from error


@part
def _double(numbers: tl.tensor, doubles: tl.tensor) -> None:
    each = tl.arange(0, 4)
    tl.store(doubles + each, 2 * tl.load(numbers + each))
