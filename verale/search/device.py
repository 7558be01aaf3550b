"""The device whose tensors the search computes with."""

from __future__ import annotations

import torch

from verale.errors import UsageError, first_line, option

__all__ = ["require_device"]


def require_device(device: str | torch.device) -> None:
    """Raise UsageError, which says what to do, unless torch has a device and float64 on it."""
    try:
        torch.zeros(1, dtype=torch.float64, device=device).tolist()
    except (RuntimeError, AssertionError, TypeError) as error:
        name = str(device)
        raise UsageError(
            f"device {name!r} cannot be used here ({first_line(error)}); try {option('device', 'cpu')}"
        ) from error
