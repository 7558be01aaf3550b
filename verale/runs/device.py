"""The device to compute on, by name."""

from __future__ import annotations

from verale.errors import UsageError, first_line

__all__ = ["DEVICES", "device_named"]

DEVICES = ("auto", "cpu", "cuda")
"""Devices that every installation of torch knows by name; `auto` is CUDA where there is one."""


def device_named(name: str) -> str:
    """Check that torch can use a device, and return its name; `auto` is CUDA where there is one, else the CPU.

    Torch gets one CPU thread: the tensors are small. Raises UsageError: the device cannot be used.
    """
    import torch

    torch.set_num_threads(1)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used here ({first_line(error)}); try --device cpu") from error
    return name
