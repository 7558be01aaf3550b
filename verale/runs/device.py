"""The device that searches, by name."""

from __future__ import annotations

__all__ = ["DEVICES", "device_named"]

DEVICES = ("auto", "cpu", "cuda")
"""Devices by name; `auto` is the fastest, which so far is the CPU: docs/decisions/0007 has the measurements."""


def device_named(name: str) -> str:
    """Check that torch has a device, and return its name. Torch gets one thread: the tensors are small.

    Raises UsageError: the device cannot be used.
    """
    import torch

    from verale.search.device import require_device

    torch.set_num_threads(1)
    name = "cpu" if name == "auto" else name
    require_device(name)
    return name
