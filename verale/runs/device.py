"""The device to compute on, by name."""

from __future__ import annotations

__all__ = ["DEVICES", "device_named"]

DEVICES = ("auto", "cpu", "cuda")
"""Devices that every installation of torch knows by name; `auto` is CUDA where there is one."""


def device_named(name: str) -> str:
    """Check that torch can compute in float64 on a device, and return its name; `auto` is CUDA where there is one, else
    the CPU.

    Torch gets one CPU thread: the tensors are small. Raises UsageError: the device cannot be used.
    """
    import torch

    from verale.rounding import require_float64

    torch.set_num_threads(1)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    require_float64(name)
    return name
