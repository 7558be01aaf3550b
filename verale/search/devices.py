"""Where the search computes: the tensors of a head and of its images lie on one device.

No operation of the search names a device. Tensors that it makes of numbers are made where it computes, because torch
makes them there within `computing_on`. What is solved on the host, such as matchings, is copied there and back.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from typing import Any

import torch
from torch import Tensor

from verale.head import Head

__all__ = ["computing_on", "head_on", "is_host"]


def is_host(device: str) -> bool:
    """Whether a device is the CPU, where tensors lie anyway."""
    return torch.device(device).type == "cpu"


@contextmanager
def computing_on(device: str) -> Iterator[None]:
    """Within the block, or the function that this decorates, torch makes new tensors on a device."""
    if is_host(device):  # the block would cost time at each operation
        yield
        return
    with torch.device(device):
        yield


def head_on(head: Head, device: str) -> Head:
    """The same head with its tensors on a device.

    Soundness: a copy changes no bit. Certificates name the digest of the head that was given.
    """
    if is_host(device):
        return head
    there: Head = _moved(head, device)
    object.__setattr__(there, "pooling", _moved(head.pooling, device))
    return there


def _moved(part: Any, device: str) -> Any:
    """A dataclass that was checked, with its tensors on a device. Its class would take them back to the host."""
    there = copy(part)
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Tensor):
            object.__setattr__(there, field.name, value.to(device))
    return there
