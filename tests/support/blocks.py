"""Triton's interpreter as a device would run a kernel, which needs barriers.

Between two barriers the threads of a block run in any order, so no thread may read what another one writes there, and
none may write what another one reads or writes. The interpreter runs one operation after the other and would not
notice; `Barriers` does, and counts. It takes every operation for threads of its own, so it asks for more than needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from triton.runtime import interpreter
from triton.runtime.interpreter import GridExecutor, InterpreterBuilder

__all__ = ["Barriers", "interpreted"]


class Barriers:
    """What a kernel's blocks read and write between their barriers.

    Args:
        races: whether to look for races, which takes most of the time.

    Attributes:
        races: pairs of accesses without a barrier between them: "read after write" and the like.
        passed: barriers.
        loads, stores: operations.
        read, written: bytes, without those that are masked out.
        blocks: how many ran.
    """

    def __init__(self, races: bool = True) -> None:
        self.races: list[str] = []
        self._looks = races
        self.passed = self.loads = self.stores = self.read = self.written = self.blocks = 0
        self._read: set[int] = set()
        self._written: set[int] = set()

    def begin(self) -> None:
        """Another block."""
        self.blocks += 1
        self._read, self._written = set(), set()

    def barrier(self) -> None:
        self.passed += 1
        self._read, self._written = set(), set()

    def load(self, addresses: Any, size: int) -> None:
        self.loads, self.read = self.loads + 1, self.read + size * addresses.size
        if not self._looks:
            return
        where = set(addresses.tolist())
        if where & self._written:
            self.races.append("read after write")
        self._read |= where

    def store(self, addresses: Any, size: int) -> None:
        self.stores, self.written = self.stores + 1, self.written + size * addresses.size
        if not self._looks:
            return
        where = set(addresses.tolist())
        if where & self._written:
            self.races.append("write after write")
        if where & self._read:
            self.races.append("write after read")
        self._written |= where


@contextmanager
def interpreted(races: bool = True) -> Iterator[Barriers]:
    """Kernels are watched. TRITON_INTERPRET has to be 1."""
    watch = Barriers(races)
    call, load, store = (
        GridExecutor.__call__,
        InterpreterBuilder.create_masked_load,
        InterpreterBuilder.create_masked_store,
    )
    number, prepare = InterpreterBuilder.set_grid_idx, interpreter._patch_lang
    prepared: set[str] = set()

    def called(self: Any, *arguments: Any, **options: Any) -> None:
        prepared.clear()
        call(self, *arguments, **options)

    def once(function: Any) -> Any:
        """The language is prepared for the functions of a module once a launch: the interpreter does so in every call,
        which takes a third of the time."""
        if function.__module__ in prepared:
            return None
        prepared.add(function.__module__)
        return prepare(function)

    def loaded(self: Any, pointers: Any, mask: Any, *rest: Any) -> Any:
        watch.load(*_touched(pointers, mask))
        return load(self, pointers, mask, *rest)

    def stored(self: Any, pointers: Any, value: Any, mask: Any, *rest: Any) -> Any:
        watch.store(*_touched(pointers, mask))
        return store(self, pointers, value, mask, *rest)

    def numbered(self: Any, *place: int) -> None:
        watch.begin()
        number(self, *place)

    with (
        patch.object(GridExecutor, "__call__", called),
        patch.object(interpreter, "_patch_lang", once),
        patch.object(InterpreterBuilder, "create_masked_load", loaded),
        patch.object(InterpreterBuilder, "create_masked_store", stored),
        patch.object(InterpreterBuilder, "create_barrier", lambda self: watch.barrier()),
        patch.object(InterpreterBuilder, "set_grid_idx", numbered),
    ):
        yield watch


def _touched(pointers: Any, mask: Any) -> tuple[Any, int]:
    """The addresses, and how many bytes there are at each."""
    return np.unique(pointers.data[mask.data]), pointers.get_element_ty().primitive_bitwidth // 8
