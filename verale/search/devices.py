"""Where the search computes: the tensors of a head and of its images lie on one device, and one thread does it.

No operation of the search names a device. Tensors that it makes of numbers are made where it computes, because torch
makes them there within `computing_on`. What is solved on the host, such as matchings, is copied there and back.

The search computes with small matrices, one after the other. Threads of BLAS and torch wait for each other longer than
they compute, the more so where other work runs: on two busy cores, twice to six times the processor time of one thread
was measured. In one thread, sums are also taken in one order, whatever the number of cores.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  it loads a BLAS of its own, which has to be there when libraries are looked for
import torch
from threadpoolctl import ThreadpoolController
from torch import Tensor

from verale.head import Head


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

    def moved(part: Any) -> Any:
        """A dataclass that was checked. Its class would take its tensors back to the host."""
        there = copy(part)
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, Tensor):
                object.__setattr__(there, field.name, value.to(device))
        return there

    there: Head = moved(head)
    object.__setattr__(there, "pooling", moved(head.pooling))
    return there


_controller = cache(ThreadpoolController)
"""The libraries that are loaded; looking for them takes some 20 ms."""


class _Blocks:
    """The blocks of all threads of Python: how many there are, and how many threads there were before the first.

    Some numbers are those of the process, others of a thread of Python. So each thread sets them, and gives back what
    was before any did.
    """

    lock, count = threading.Lock(), 0
    blas: Any = None
    torch = 1

    def enter(self) -> None:
        with self.lock:
            limited = _controller().limit(limits=1, user_api="blas")
            if not self.count:
                self.blas, self.torch = limited, torch.get_num_threads()
            self.count += 1
            torch.set_num_threads(1)

    def leave(self) -> None:
        with self.lock:
            self.count -= 1
            self.blas.restore_original_limits()
            torch.set_num_threads(self.torch)


_blocks, _here = _Blocks(), threading.local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and torch compute in one thread within the block, or the function that this decorates.

    Blocks may lie within each other. Several threads of Python may have one each: where the first of them leaves, BLAS,
    of which a process has one, may have more threads again in the others. Afterwards all is as it was.
    """
    if getattr(_here, "is_within", False):
        yield
        return
    is_entered = False
    try:
        _blocks.enter()
        is_entered = _here.is_within = True
        yield
    finally:
        if is_entered:
            _here.is_within = False
            _blocks.leave()
