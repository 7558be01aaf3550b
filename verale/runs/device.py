"""Where to compute."""

from __future__ import annotations

from verale.errors import UsageError, first_line

__all__ = ["device_named"]


def device_named(name: str) -> str:
    """A torch device by name; `auto` is CUDA where there is one. One CPU thread: the tensors are small."""
    import torch

    torch.set_num_threads(1)
    if name == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=name)
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"device {name!r} cannot be used here ({first_line(error)}); try --device cpu") from error
    return name
