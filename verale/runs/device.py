"""The device that searches, by name."""

from __future__ import annotations

__all__ = ["device_named"]


def device_named(name: str) -> str:
    """Examine a device, and return its name. Torch gets one thread: the tensors are small.

    Raises UsageError: the device cannot be used, or does not compute as proofs need it.
    """
    import torch

    from verale.rounding.device import require_device

    torch.set_num_threads(1)
    name = "cpu" if name == "auto" else name
    require_device(name)
    return name
