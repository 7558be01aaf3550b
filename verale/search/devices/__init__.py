"""The search on a GPU: one launch for a batch of images, one block an image, in plain float64 (Triton).

The same search as `verale.search.compiled`. What it chooses is proved by the rounded tensor code like any other choice.
Without Triton, on devices that it does not have, and for heads and paradigms that the kernel does not have, the search
on tensors is used. docs/decisions/0007 says why it is Triton.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module

import torch

from verale.errors import VeraleError
from verale.search.devices.tables import admits, kernel_bytes

__all__ = ["NotCompiledError", "admits", "do_without", "is_available", "kernel_bytes"]

_log = logging.getLogger(__name__)

_without: set[str] = set()
"""The devices of which it was said that they do without."""


class NotCompiledError(VeraleError):
    """The kernel cannot be compiled for a device, or needs more than it has."""


def is_available(device: torch.device) -> bool:
    """Whether kernels run on a device; where they should but do not, a line says why, once. Ask this last.

    On the CPU they do not: there the search in machine code is faster than any interpreter.
    """
    return device.type != "cpu" and _runs_on(str(device)) and str(device) not in _without


def do_without(device: torch.device | str, error: Exception) -> None:
    """From now on kernels are not available on a device."""
    if str(device) not in _without:
        _without.add(str(device))
        _log.warning("the search on %s does without Triton, and is slower: %s: %s", device, type(error).__name__, error)


@cache
def _runs_on(device: str) -> bool:
    try:
        import_module("verale.search.devices.jit").probe(device)
    except Exception as error:  # a missing package, driver or compiler: each has its own
        do_without(device, error)
        return False
    return True
