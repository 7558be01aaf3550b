"""One thread for the search.

The search computes with small matrices, one after the other. Threads of BLAS and torch wait for each other longer than
they compute, the more so where other work runs: on two busy cores, twice to six times the processor time of one thread
was measured. In one thread, sums are also taken in one order, whatever the number of cores.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import scipy.linalg  # noqa: F401  it loads a BLAS of its own, which has to be there when libraries are looked for
import torch
from threadpoolctl import ThreadpoolController

__all__ = ["one_thread"]


@cache
def _controller() -> ThreadpoolController:
    """The libraries that are loaded; looking for them takes some 20 ms."""
    return ThreadpoolController()


class _Blocks:
    """The blocks of all threads of Python: how many there are, and how many threads BLAS had before the first of them.

    Some libraries have one number for the process, others one for each thread of Python. So each thread limits them,
    and gives back what was before any did.
    """

    def __init__(self) -> None:
        self._lock, self._count = threading.Lock(), 0
        self._before: Any = None

    def enter(self) -> None:
        with self._lock:
            limited = _controller().limit(limits=1, user_api="blas")
            if not self._count:
                self._before = limited
            self._count += 1

    def leave(self) -> None:
        with self._lock:
            self._count -= 1
            self._before.restore_original_limits()


_blocks, _here = _Blocks(), threading.local()


@contextmanager
def one_thread() -> Iterator[None]:
    """Let BLAS and torch compute in one thread within the block, or the function that this decorates.

    Blocks may lie within each other, and threads of Python may have one each; afterwards all is as it was.
    """
    if getattr(_here, "is_within", False):
        yield
        return
    before, _here.is_within = torch.get_num_threads(), True
    _blocks.enter()
    try:
        torch.set_num_threads(1)
        yield
    finally:
        torch.set_num_threads(before)
        _blocks.leave()
        _here.is_within = False
