"""The search on a GPU: one launch for a batch of images, one block an image, in plain float64 (Triton).

The same search as `verale.search.compiled`, which proves what it chooses, on the CPU, as what machine code chooses. All
that it does not have is searched on the CPU, and that is said. docs/decisions/0007 says why it is Triton, and what was
measured.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

import torch

from verale.errors import UsageError, VeraleError, first_line, option
from verale.search.devices.tables import admits, kernel_bytes

__all__ = ["NotCompiledError", "admits", "do_without", "is_available", "kernel_bytes", "require_device"]

_log = logging.getLogger(__name__)

_without: set[str] = set()
"""The devices of which it was said that they do without."""


class NotCompiledError(VeraleError):
    """The kernel cannot be compiled for a device, or needs more than it has."""


def require_device(device: str | torch.device) -> None:
    """Raise UsageError, which says what to do, unless torch has a device and float64 on it."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device).tolist()
    except (RuntimeError, AssertionError, TypeError) as error:
        name = str(device)
        raise UsageError(
            f"device {name!r} cannot be used here ({first_line(error)}); try {option('device', 'cpu')}"
        ) from error


def is_available(device: torch.device) -> bool:
    """Whether kernels run on a device; where they should but do not, a line says why, once. Ask this last.

    On the CPU they do not: there the search in machine code is faster than any interpreter.
    """
    return device.type != "cpu" and _runs_on(str(device)) and str(device) not in _without


def do_without(device: torch.device | str, error: Exception) -> None:
    """From now on kernels are not available on a device."""
    if str(device) not in _without:
        _without.add(str(device))
        _log.warning("kernels do not run on %s, so the CPU searches: %s: %s", device, type(error).__name__, error)


@cache
def _runs_on(device: str) -> bool:
    try:
        import_module("verale.search.devices.jit").probe(device)
    except Exception as error:  # a missing package, driver or compiler: each has its own
        do_without(device, error)
        return False
    return True
